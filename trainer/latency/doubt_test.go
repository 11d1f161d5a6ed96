package latency

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/trainer/window"
)

// alone returns flights of which state k alone is recorded.
func alone(flights []window.Flight, p *plant, k int) []window.Flight {
	var out []window.Flight
	for i := range flights {
		f := &flights[i]
		s := window.Series{U: f.U}
		for j, t := range f.T {
			s.T, s.X = append(s.T, int64(math.Round(t*1e9))), append(s.X, f.X[j*f.K+k])
		}
		out = append(out, window.Prepare(i, s, p.channels()[k:k+1], p.inputs, window.Options{})...)
	}
	return out
}

// wheel is a shaft of which the angle is measured: its speed is a second lag.
var wheel = plant{
	name: "wheel", states: []string{"angle", "speed"}, inputs: 1, start: []float64{0, 0},
	field: func(dst, x, v []float64) { dst[0], dst[1] = x[1], 5*(v[0]-x[1]) },
	pilot: func(r *rand.Rand) func(float64, []float64) []float64 {
		to := jumps(r, 0.9, 1)
		return func(t float64, x []float64) []float64 { return []float64{to(t)} }
	},
}

// Where nothing measures the rate that an input acts on, no dead time and lag describe what the input does to the position: they are not known, or
// the intervals reach to what a second lag leaves of them. Equations read the inputs with those of greatest likelihood all the same.
func TestLatencyOfAHiddenRate(t *testing.T) {
	false95 := 0
	for _, p := range []*plant{&plants[0], &wheel} {
		for seed := range uint64(3) {
			truth := pair{0.02 + 0.05*float64(seed), 0.12 - 0.03*float64(seed)}
			channels := p.channels()
			res, err := Estimate(t.Context(), alone(p.fly(seed, 60, 0.01, 0.003, []pair{truth}), p, 0), append(channels[:1:1], channels[2:]...))
			if err != nil {
				t.Fatal(err)
			}
			l, fitted := res.Inputs[0], res.fitted[0]
			if fitted.Known && (fitted.DeadLow > truth[0] || truth[0] > fitted.DeadHigh) {
				false95++
			}
			if l.Known && (l.DeadLow > truth[0] || truth[0] > l.DeadHigh || l.LagLow > truth[1] || truth[1] > l.LagHigh) {
				t.Errorf("%s, seed %d: %v, expected %v", p.name, seed, l, truth)
			}
			if fitted.Known && res.Actuators() == nil {
				t.Errorf("%s, seed %d: equations read the inputs at once", p.name, seed)
			}
		}
	}
	if false95 < 3 {
		t.Errorf("%d intervals are false without a doubt, expected 3", false95)
	}
}

// An estimated rate follows the input as soon as its filter reads it. The slope of the measured position does not.
func TestLatencyOfAnEstimatedRate(t *testing.T) {
	p, truth := &plants[0], pair{0.06, 0.05}
	flights := p.fly(1, 60, 0.01, 0.003, []pair{truth})
	for i := range flights {
		f := &flights[i]
		ahead := 0.0 // what an equation makes too early of the command, which the measurements take back
		for j := range f.T {
			f.X[j*f.K+1] += ahead
			ahead += 0.01 * (2*f.U[j] - ahead/0.08)
		}
	}
	channels := p.channels()
	for _, own := range []bool{false, true} {
		if own {
			channels[0].Derivative, channels[1].Estimated = "omega", true
		}
		res, err := Estimate(t.Context(), flights, channels)
		if err != nil {
			t.Fatal(err)
		}
		l := res.Inputs[0]
		holds := l.Known && l.DeadLow <= truth[0] && truth[0] <= l.DeadHigh && math.Abs(l.Dead-truth[0]) < 0.01
		if holds != own {
			t.Errorf("estimated %v: %v, expected %v", own, l, truth)
		}
	}
}

// TestDoubtedApart has two motors of a kind. One has a latency of its own only where a dead time and a lag describe what it does: where they
// do not, it acts as its kind.
func TestDoubtedApart(t *testing.T) {
	kind := model.Latency{Known: true, Dead: 0.02, Lag: 0.01}
	late := model.Latency{Known: true, Dead: 0.19, DeadLow: 0.18, DeadHigh: 0.2, Lag: 0.01, LagLow: 0.005, LagHigh: 0.02}
	r := Result{Inputs: []model.Latency{late, kind}, Gain: 0.8, gainOfKinds: 0.9, step: 0.01, units: make([]string, 2), fitted: []model.Latency{late, kind}, kinds: []model.Latency{kind, kind}}
	for described, want := range map[bool]float64{true: late.Dead, false: kind.Dead} {
		r.Inputs[0].Known = described
		if of := r.Actuators(); len(of) != 2 || of[0].Dead != want || of[1].Dead != kind.Dead {
			t.Errorf("described: %v; the motors act after %v, want %v s and %v s", described, of, want, kind.Dead)
		}
	}
}

// Two tracks whose intervals do not distinguish them act alike; one whose interval does, or of another unit, acts by itself.
func TestInputsThatAreNotDistinguishedActAlike(t *testing.T) {
	left := model.Latency{Known: true, Dead: 0.12, DeadLow: 0.09, DeadHigh: 0.15, Lag: 0.06, LagLow: 0.03, LagHigh: 0.1}
	right := model.Latency{Known: true, Dead: 0.1, DeadLow: 0.01, DeadHigh: 0.18, Lag: 0.08, LagHigh: 0.17}
	clear := model.Latency{Known: true, Dead: 0.1, DeadLow: 0.098, DeadHigh: 0.102, Lag: 0.08, LagLow: 0.05, LagHigh: 0.1}
	for _, c := range []struct {
		other model.Latency
		units []string
		want  float64
	}{{right, []string{"m/s", "m/s"}, 0.11}, {clear, []string{"m/s", "m/s"}, 0.12}, {right, []string{"m/s", "rad"}, 0.12}} {
		both := []model.Latency{left, c.other}
		r := Result{Inputs: both, Gain: 0.8, gainOfKinds: 0.8, step: 0.01, units: c.units, fitted: both, kinds: both}
		if of := r.Actuators(); len(of) != 2 || math.Abs(of[0].Dead-c.want) > 1e-9 {
			t.Errorf("%v of %v: %v, want %v s", c.other, c.units, of, c.want)
		}
	}
}
