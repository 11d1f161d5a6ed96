package trainer

import (
	"math"
	"testing"

	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/model"
)

// A sensor is as declared, else half of the noise that a displacement begins with, in
// units of the state, the members averaged.
func TestSensors(t *testing.T) {
	m := &model.Model{
		K: 2, Channels: []channel.Channel{{Name: "declared", Noise: 0.2}, {Name: "measured"}, {Name: "input", Noise: 7}},
		NoiseKnots: []float64{0, 0.1, 1}, Scale: []float64{3, 5},
	}
	for _, first := range []float64{0.04, 0.08} { // σ at τ = 0, output units
		ls := []float64{9, 9, 9, math.Log(first), 8, 8}
		m.Members = append(m.Members, model.Member{Posterior: []model.Posterior{{LogSigma: ls}, {LogSigma: []float64{1, 1, 1, 1, 1, 1}}}})
	}
	if got := sensors(m, false); math.Abs(got[0]-0.04) > 1e-15 || got[1] != 0 {
		t.Errorf("of constant noise: %v", got)
	}
	got := sensors(m, true)
	want := []float64{0.2 * 0.2, 0.5 * (0.04*0.04 + 0.08*0.08) / 2 * 5 * 5}
	if len(got) != 2 {
		t.Fatalf("%d sensors of two states", len(got))
	}
	for k, w := range want {
		if math.Abs(got[k]/w-1) > 1e-12 {
			t.Errorf("%s: R %v, expected %v", m.Channels[k].Name, got[k], w)
		}
	}
}
