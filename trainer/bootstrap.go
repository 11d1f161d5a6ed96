package trainer

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/trainer/nets"
	"github.com/dgm-robotics/dgm/trainer/window"
)

// bootstrap adds refits of the members' posteriors to resampled data: what the mean
// would have been with other data of the same kind. Only their means ride along.
func (t *training) bootstrap(m *model.Model, d nets.Data, readouts int) error {
	rng := rand.New(rand.NewPCG(t.cfg.Seed, 0x626f6f74))
	block := max(1, int(math.Round(2*t.H/t.stride)))
	for i := range t.cfg.Refits {
		net := t.nets[i%len(t.nets)]
		e := model.Member{Map: net.Params.Map, OmegaSeed: net.OmegaSeed}
		again := d
		again.Windows = resample(d.Windows, block, rng)
		for r := range readouts {
			t.meter.say(fmt.Sprintf("refit %d of %d", i+1, t.cfg.Refits))
			trial := *net
			trial.Settings.NoisePasses = 0
			post, err := nets.Condition(&trial, again, model.Readout(r), m.Members[0].Posterior[r].LogSigma, t.cfg.Seed+uint64(i)+1)
			if err != nil {
				return err
			}
			post.InverseFactor = nil
			e.Posterior = append(e.Posterior, post)
		}
		m.Refits = append(m.Refits, e)
	}
	return nil
}

// resample draws as many windows as there are, in blocks of neighbours, since
// overlapping windows are not independent (Künsch 1989).
func resample(windows []window.Window, block int, rng *rand.Rand) []window.Window {
	out := make([]window.Window, 0, len(windows))
	for len(out) < len(windows) {
		at := rng.IntN(len(windows))
		for i := range min(block, len(windows)-len(out)) {
			out = append(out, windows[(at+i)%len(windows)])
		}
	}
	return out
}
