package estimation_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/filter"
	"github.com/dgm-robotics/dgm/trainer/estimation"
	"github.com/dgm-robotics/dgm/trainer/window"
)

// driven are flights of a driven pendulum every 5 ms: its angle every so many samples, its rate each time, and where a mass on its axis has a
// place, that too, whose rate nothing measures; behind them the exact states (4 each).
func driven(seed uint64, count, every, samples int) (flights []window.Flight, exact [][]float64, states []channel.Channel) {
	rng := rand.New(rand.NewPCG(seed, 1))
	states = []channel.Channel{
		{Name: "theta", Unit: "rad", Role: channel.State, Period: 2 * math.Pi, Derivative: "omega"}, {Name: "omega", Unit: "rad/s", Role: channel.State},
		{Name: "z", Unit: "m", Role: channel.State},
	}
	for i := range count {
		var s window.Series
		var truth []float64
		th, om, z, w, u := rng.NormFloat64(), 0., 0., 0., 0.
		for j := range samples {
			if j%60 == 0 {
				u = 6 * rng.NormFloat64()
			}
			y := math.NaN()
			if j%every == 0 {
				y = th + 0.005*rng.NormFloat64()
			}
			s.T, s.U = append(s.T, int64(j)*5e6), append(s.U, u)
			s.X, truth = append(s.X, y, om+0.05*rng.NormFloat64(), z+0.002*rng.NormFloat64()), append(truth, th, om, z, w)
			for range 5 {
				om += 1e-3 * (u - 10*math.Sin(th) - 0.2*om - 0.3*math.Tanh(20*om))
				th += 1e-3 * om
				w += 1e-3 * (2*math.Sin(th) - 4*z - 0.5*w)
				z += 1e-3 * w
			}
		}
		flights, exact = append(flights, window.Prepare(i, s, states, 1, window.Options{})...), append(exact, truth)
	}
	return flights, exact, states
}

// Where sensors measure a position and its rate apart, the filter has both, beside a rate that nothing measures: between its samples a
// slow position is known better than its sensor measures it, as well as the covariance says.
func TestSensorsApartAreFiltered(t *testing.T) {
	const every = 20
	train, _, states := driven(1, 4, every, 1600)
	all := estimation.WithRates(states, []int{2})
	choice, err := estimation.Choose(train, window.Task{States: all, Inputs: 1, Horizon: 0.5}, false)
	if err != nil {
		t.Fatal(err)
	}
	spec := choice.Filter
	if len(spec.Chains) != 2 || spec.Equation.Degree == 0 {
		t.Fatalf("chains %+v, an equation of degree %d", spec.Chains, spec.Equation.Degree)
	}
	if !slices.Equal(spec.Changing, []int{2, 0, 1}) && !slices.Equal(spec.Changing, []int{0, 1, 2}) {
		t.Errorf("states whose values never repeat: %v", spec.Changing)
	}
	x, next := []float64{1, 2, 0.1, -0.3}, make([]float64, 4)
	step := spec.Equation.Step
	filter.NewLearned(&spec.Equation, 4, 1).Step(next, make([]float64, 16), make([]float64, 16), x, []float64{1}, step)
	for k, rate := range map[int]int{0: 1, 2: 3} {
		if by, want := next[k]-x[k], step/2*(x[rate]+next[rate]); math.Abs(by-want) > 1e-12 {
			t.Errorf("in a step %s moves by %v, its rate by %v", all[k].Name, by, want)
		}
	}
	held, exact, _ := driven(2, 3, every, 1600)
	f, err := filter.Of(spec, all, 1)
	if err != nil {
		t.Fatal(err)
	}
	p := make([]float64, 16)
	var square, normalised [4]float64
	n := 0.
	for i := range held {
		f.Reset()
		for j := range held[i].N() {
			f.Update(int64(j)*5e6, append(append([]float64(nil), held[i].X[3*j:3*j+3]...), math.NaN()), held[i].Input(j))
			if j < 200 {
				continue
			}
			f.Covariance(p)
			for k, x := range f.Estimate() {
				e := math.Remainder(x-exact[i][4*j+k], 2*math.Pi)
				square[k], normalised[k] = square[k]+e*e, normalised[k]+e*e/p[5*k]
			}
			n++
		}
	}
	for k, most := range []float64{0.0035, 0.02, 0.001, 0.02} {
		if rms, z := math.Sqrt(square[k]/n), normalised[k]/n; !(rms < most) || !(z > 0.3) || z > 2 {
			t.Errorf("%s: off by %.4f, squared over its variance %.2f", all[k].Name, rms, z)
		}
	}
}

// A gyroscope with an offset does not move the angle: it is found, and the angle is as good as without it.
func TestOffsetOfARate(t *testing.T) {
	const every, offset = 20, 0.1
	train, exact, states := driven(1, 3, every, 1600)
	for i := range train {
		for j := 1; j < len(train[i].X); j += 3 {
			train[i].X[j] += offset
		}
	}
	spec, err := estimation.Fit(train, states, []estimation.Pair{{Position: 0, Rate: 1}})
	if err != nil {
		t.Fatal(err)
	}
	out, score, err := estimation.Apply(train, spec, states)
	if err != nil {
		t.Fatal(err)
	}
	square, n := 0., 0.
	for i := range out {
		for j := 200; j < out[i].N(); j++ {
			e := math.Remainder(out[i].X[3*j]-exact[i][4*j], 2*math.Pi)
			square, n = square+e*e, n+1
		}
	}
	if rms, c := math.Sqrt(square/n), spec.Chains[0]; math.Abs(c.Offset-offset) > 0.01 || math.Abs(math.Sqrt(spec.R[0])-0.005) > 0.001 || rms > 0.004 || math.Abs(score.NIS-1) > 0.1 {
		t.Errorf("offset %.3f, noise of the angle %.4f; off by %.4f; normalised innovations squared %.2f", c.Offset, math.Sqrt(spec.R[0]), rms, score.NIS)
	}
	train, _, _ = driven(1, 3, every, 1600)
	if spec, err = estimation.Fit(train, states, []estimation.Pair{{Position: 0, Rate: 1}}); err != nil || spec.Chains[0].Offset != 0 {
		t.Errorf("without an offset one of %v is found: %v", spec.Chains[0].Offset, err)
	}
}

// Where all is measured at once and exactly, rates that nothing measures are all that is filtered.
func TestExactPairsAreLeft(t *testing.T) {
	train, exact, states := driven(1, 3, 1, 800)
	for i := range train {
		for j := range train[i].N() {
			copy(train[i].X[3*j:3*j+2], exact[i][4*j:4*j+2])
		}
	}
	all := estimation.WithRates(states, []int{2})
	choice, err := estimation.Choose(train, window.Task{States: all, Inputs: 1, Horizon: 0.5}, false)
	if err != nil {
		t.Fatal(err)
	}
	spec := choice.Filter
	if len(spec.Chains) != 1 || spec.Chains[0].Position != 2 || choice.Ratio != 0 {
		t.Errorf("%+v, %v", spec, choice.Ratio)
	}
	if !slices.Equal(spec.Changing, []int{2}) {
		t.Errorf("states whose values never repeat: %v", spec.Changing)
	}
	choice, err = estimation.Choose(train[:2], window.Task{States: all, Inputs: 1, Horizon: 0.5}, true)
	if err != nil || len(choice.Filter.Chains) != 2 {
		t.Errorf("all: %+v: %v", choice.Filter, err)
	}
}
