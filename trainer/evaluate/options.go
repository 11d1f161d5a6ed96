package evaluate

import (
	"fmt"
	"math"
	"slices"

	"github.com/dgm-robotics/dgm/estimator"
	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/trust"
	"github.com/dgm-robotics/dgm/trainer/window"
)

// Options configures an evaluation. The zero value scores the default grid.
type Options struct {
	Horizons     []float64          // (optional) s, ascending, within the model's horizon; defaults to Grid of it
	Stride       float64            // (optional) s between windows; defaults to DefaultStride
	Readout      estimator.Readout  // Plan or Hold
	Truth        bool               // score Std, not ObsStd: the channels of the log are exact
	StartNoise   float64            // (optional) standard deviation of noise added to start states, over that of the sensors
	HideStartCov bool               // with StartNoise: the covariance of the start does not come with the state
	Channels     []string           // (optional) names of the states to score; defaults to those that are measured, with Truth to all
	Kinematics   channel.Kinematics // (optional) what the log declares, for a model that declares nothing
	Lead         []window.Flight    // (optional) for Adapt: what is flown before every flight
	Parts        []float64          // (optional) for Adapt: where the parts of Since begin, s, ascending from 0
	Checked      func(trust.Check)  // (optional) for Adapt: called with every check of predictions without adaptation, also in Lead
	Seed         uint64             // of the bootstrap and of StartNoise
}

// DefaultStride is the time between windows, s.
const DefaultStride = 0.02

// Grid returns the horizons scored by default: the round times (1, 2, 5 times a
// power of ten) from H/20 on, and H.
func Grid(H float64) []float64 {
	var out []float64
	for power := math.Floor(math.Log10(H / 20)); power <= math.Ceil(math.Log10(H)); power++ {
		for _, digit := range []float64{1, 2, 5} {
			t := digit * math.Pow(10, power)
			if power < 0 {
				t = digit / math.Pow(10, -power) // 0.2, not 0.2 plus a rounding error
			}
			if t >= H/20*(1-1e-9) && t < H*(1-1e-9) {
				out = append(out, t)
			}
		}
	}
	return append(out, H)
}

// withDefaults returns the options with their defaults, or an error that names what
// does not fit a model with horizon H.
func (o Options) withDefaults(H float64) (Options, error) {
	if o.Horizons == nil {
		o.Horizons = Grid(H)
	}
	o.Horizons = slices.Compact(slices.Sorted(slices.Values(o.Horizons)))
	if o.Stride == 0 {
		o.Stride = DefaultStride
	}
	switch first, last := o.Horizons[0], o.Horizons[len(o.Horizons)-1]; {
	case !(first > 0):
		return o, fmt.Errorf("horizon %g s is not positive", first)
	case last > H*(1+1e-9):
		return o, fmt.Errorf("horizon %g s is beyond the model's: it predicts up to %g s", last, H)
	}
	return o, nil
}

// tooShort returns the error that no window fits into the flights.
func tooShort(needed float64, flights []window.Flight) error {
	return fmt.Errorf("no window of %g s with all channels measured: the longest gap-free section has %.3g s; choose shorter horizons or a longer log", needed, window.Longest(flights))
}
