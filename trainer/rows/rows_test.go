package rows_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/dgm-robotics/dgm/estimator"
	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/feature"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/numeric/mlp"
	"github.com/dgm-robotics/dgm/trainer/objective"
	"github.com/dgm-robotics/dgm/trainer/rows"
	"github.com/dgm-robotics/dgm/trainer/window"
)

var channels = []channel.Channel{
	{Name: "angle", Unit: "rad", Role: channel.State, Period: channel.Angle, Derivative: "rate"},
	{Name: "rate", Unit: "rad/s", Role: channel.State},
	{Name: "place", Unit: "m", Role: channel.State, Invariant: true},
	{Name: "force", Unit: "N", Role: channel.Input},
}

const points = 6

// recording is what happened, in seconds and SI units; rescaled is how it is
// written down.
type recording struct {
	second        float64 // ticks of the clock for one second
	rate, place   float64 // units of these channels for one SI unit
	force, offset float64
}

// batch cuts the recording into windows of half a second and takes all of them.
func batch(t *testing.T, r recording, readout model.Readout) (*rows.Frame, *objective.Batch, []window.Flight, []window.Window) {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 1))
	var flights []window.Flight
	for i := range 2 {
		var s window.Series
		angle, rate, place := rng.NormFloat64(), 3.0, 0.0
		for j := range 150 {
			force := rng.NormFloat64()
			s.T = append(s.T, int64(math.Round(r.second*float64(j)*1e7)))
			s.X = append(s.X, angle, rate*r.rate, place*r.place)
			s.U = append(s.U, force*r.force+r.offset)
			rate += 0.05 * (force - math.Sin(angle))
			angle += 0.01 * rate
			place += 0.01 * math.Cos(angle)
		}
		flights = append(flights, window.Prepare(i, s, channels[:3], 1, window.Options{})...)
	}
	H := 0.5 * r.second
	windows := window.Cut(flights, H, H/5)
	f, err := rows.NewFrame(channels, flights, windows, rows.Settings{Horizon: H, Knots: 3, Basis: 2, NoiseKnots: []float64{0, 0.1, 1}, Prior: estimator.PriorDynamicsSpec{Stack: []model.Component{{Kind: model.Velocity}}}})
	if err != nil {
		t.Fatal(err)
	}
	m := feature.NewMap(f.Inputs.Dim(), f.K, 1, 2, []int{2}, []mlp.Activation{mlp.Tanh}, f.Basis, true)
	b := objective.NewBatch(&m, &f.Inputs, 3, len(windows)*points, 0)
	s := rows.Sampler{Frame: f, Flights: flights, Windows: windows, Readout: readout, Points: points}
	if n := s.Take(b, windows, rand.New(rand.NewPCG(2, 2))); n != len(windows)*points || n != b.Obs.N {
		t.Fatalf("%d rows of %d windows", n, len(windows))
	}
	return f, b, flights, windows
}

// What the nets see does not depend on the clock or on the units.
func TestUnitsDoNotMatter(t *testing.T) {
	si := recording{second: 1, rate: 1, place: 1, force: 1}
	f, b, _, _ := batch(t, si, model.Plan)
	for name, r := range map[string]recording{
		"a clock that runs twice as fast": {second: 2, rate: 0.5, place: 1, force: 1},
		"millimetres":                     {second: 1, rate: 1, place: 1000, force: 1},
		"grams, from a tared zero":        {second: 1, rate: 1, place: 1, force: 102, offset: -37},
	} {
		g, c, _, _ := batch(t, r, model.Plan)
		for what, v := range map[string][2][]float64{
			"inputs": {b.Obs.S, c.Obs.S}, "their derivatives": {b.Obs.DS, c.Obs.DS}, "gates": {b.Obs.Gate, c.Obs.Gate},
			"derivatives of the gates": {b.Obs.DGate, c.Obs.DGate}, "basis": {b.Obs.B, c.Obs.B}, "targets": {b.Y, c.Y}, "base": {b.Base, c.Base},
			"slope of the base": {b.SDBase, c.SDBase}, "inputs of the dynamics": {b.U, c.U}, "noise weights": {b.Noise, c.Noise},
		} {
			for i := range v[0] {
				// Standardising subtracts means of the size of the numbers themselves.
				if math.Abs(v[0][i]-v[1][i]) > 1e-11*(1+math.Abs(v[0][i])) {
					t.Errorf("%s: %s: number %d is %v, expected %v", name, what, i, v[1][i], v[0][i])
					break
				}
			}
		}
		for k, unit := range []float64{1, r.rate, r.place} {
			if math.Abs(g.Scale[k]/f.Scale[k]/unit-1) > 1e-12 {
				t.Errorf("%s: scale of channel %d is %v, expected %v times %v", name, k, g.Scale[k], unit, f.Scale[k])
			}
		}
	}
}

// A row is a sample of its window: x = x0 + Scale·y; the last sample of every
// window is there, and the others are in order.
func TestRowsAreSamples(t *testing.T) {
	f, b, flights, windows := batch(t, recording{second: 1, rate: 1, place: 1, force: 1}, model.Plan)
	I := f.Inputs.Dim()
	for w, at := range windows {
		fl := &flights[at.Flight]
		last := 0.0
		for j := range points {
			i := w*points + j
			time := f.Inputs.TimeMean + f.Inputs.TimeStd*b.Obs.S[i*I]
			if time <= last {
				t.Fatalf("window %d: time %v after %v", w, time, last)
			}
			last = time
			s := at.Start + int(math.Round(time/0.01))
			for k, x := range fl.State(s) {
				if got := b.Origin[i*f.K+k] + f.Scale[k]*b.Y[i*f.K+k]; math.Abs(got-x) > 1e-12 {
					t.Fatalf("window %d, point %d, channel %d: %v, the sample is %v", w, j, k, got, x)
				}
				if b.Origin[i*f.K+k] != fl.State(at.Start)[k] {
					t.Fatal("the origin is not the window's start")
				}
			}
			base := fl.State(at.Start)[1] * time / f.Scale[0]
			if math.Abs(b.Base[i*f.K]-base) > 1e-12 || b.Base[i*f.K+1] != 0 || b.Base[i*f.K+2] != 0 {
				t.Fatalf("base %v, expected %v and nothing where no derivative is measured", b.Base[i*f.K:(i+1)*f.K], base)
			}
			sum := 0.0
			for _, v := range b.Noise[i*3 : (i+1)*3] {
				sum += v
			}
			if math.Abs(sum-1) > 1e-14 || math.Abs(b.Obs.Gate[i]-time/0.5) > 1e-12 {
				t.Fatalf("noise weights sum to %v, the gate is %v at %v s", sum, b.Obs.Gate[i], time)
			}
		}
		if math.Abs(last-0.5) > 1e-12 {
			t.Fatalf("window %d ends at %v s", w, last)
		}
	}
}

// Outputs have a mean square of one over all windows, after the base.
func TestScaleIsTheRMSOfWhatTheBaseLeaves(t *testing.T) {
	f, b, _, _ := batch(t, recording{second: 1, rate: 1, place: 1, force: 1}, model.Plan)
	for k := range f.K {
		sum := 0.0
		for i := range b.Obs.N {
			e := b.Y[i*f.K+k] - b.Base[i*f.K+k]
			sum += e * e
		}
		// Other points of the same windows.
		if ms := sum / float64(b.Obs.N); ms < 0.7 || ms > 1.4 {
			t.Errorf("channel %d: mean square %v", k, ms)
		}
	}
}

// Plan reads the recorded input, Hold the one at the window's start.
func TestReadoutsReadTheirInput(t *testing.T) {
	r := recording{second: 1, rate: 1, place: 1, force: 1}
	f, plan, flights, windows := batch(t, r, model.Plan)
	_, hold, _, _ := batch(t, r, model.Hold)
	I := f.Inputs.Dim()
	mean := make([]float64, 1)
	for w, at := range windows {
		fl := &flights[at.Flight]
		i := w*points + points - 1 // the whole horizon
		t0 := fl.T[at.Start]
		for j := range 3 {
			fl.InputMean(mean, t0+0.5*float64(j)/3, t0+0.5*float64(j+1)/3)
			for what, c := range map[string]struct{ got, u float64 }{
				"plan": {plan.Obs.S[i*I+I-3+j], mean[0]},
				"hold": {hold.Obs.S[i*I+I-3+j], fl.Input(at.Start)[0]},
			} {
				want := (c.u - f.Inputs.InputMean[0]) / f.Inputs.InputStd[0]
				if math.Abs(c.got-want) > 1e-10 {
					t.Fatalf("window %d, knot %d, %s: %v, expected %v", w, j, what, c.got, want)
				}
			}
		}
	}
}

func TestMissingValuesStayMissing(t *testing.T) {
	f, b, flights, windows := batch(t, recording{second: 1, rate: 1, place: 1, force: 1}, model.Plan)
	end := windows[0].Start + 50
	flights[0].X[end*3+1] = math.NaN()
	s := rows.Sampler{Frame: f, Flights: flights, Windows: windows, Points: points}
	s.Take(b, windows[:1], rand.New(rand.NewPCG(3, 3)))
	y := b.Y[(points-1)*3 : points*3]
	if math.IsNaN(y[0]) || !math.IsNaN(y[1]) || math.IsNaN(y[2]) {
		t.Errorf("targets %v; the second was not measured", y)
	}
}

// Batches of the same seed are the same; a window with few samples gives as many
// rows as it has.
func TestDrawFollowsItsSource(t *testing.T) {
	f, a, flights, windows := batch(t, recording{second: 1, rate: 1, place: 1, force: 1}, model.Plan)
	draw := func(seed uint64) []float64 {
		s := rows.Sampler{Frame: f, Flights: flights, Windows: windows, Points: points}
		s.Draw(a, 4, rand.New(rand.NewPCG(seed, 0)))
		return append([]float64(nil), a.Y[:4*points*3]...)
	}
	first, again, other := draw(1), draw(1), draw(2)
	same, differs := true, false
	for i := range first {
		same = same && first[i] == again[i]
		differs = differs || first[i] != other[i]
	}
	if !same || !differs {
		t.Errorf("same seed, same rows: %v; another seed, others: %v", same, differs)
	}
	s := rows.Sampler{Frame: f, Flights: flights, Windows: windows, Points: 1000}
	big := objective.NewBatch(&feature.Map{K: 3, Basis: f.Basis}, &f.Inputs, 3, 60, 0)
	if n := s.Take(big, windows[:1], rand.New(rand.NewPCG(1, 0))); n != 50 {
		t.Errorf("%d rows of a window with 50 samples", n)
	}
}

// Windows of a pool have the same rows whenever they are drawn, those that a batch of this window has.
func TestDrawTakesWindowsOfThePool(t *testing.T) {
	f, b, flights, windows := batch(t, recording{second: 1, rate: 1, place: 1, force: 1}, model.Plan)
	s := rows.Sampler{Frame: f, Flights: flights, Windows: windows, Points: points, Pool: 2}
	rng := rand.New(rand.NewPCG(1, 0))
	seen := map[string]bool{}
	for range 10 {
		s.Draw(b, 4, rng)
		for i := range 4 {
			row := points * 3
			seen[fmt.Sprint(b.Y[i*row:(i+1)*row], b.Base[i*row:(i+1)*row], b.SDBase[i*row:(i+1)*row], b.U[i*points:(i+1)*points])] = true
		}
	}
	if len(seen) != 2 {
		t.Errorf("40 windows drawn from a pool of 2 have %d kinds of rows", len(seen))
	}
}

// Windows that are taken again are predicted once: the same rows are those that were taken before, others are not.
func TestTakenWindowsAreKept(t *testing.T) {
	f, b, flights, windows := batch(t, recording{second: 1, rate: 1, place: 1, force: 1}, model.Plan)
	b.SDBase = nil // as of posteriors
	take := func(f *rows.Frame, readout model.Readout, seed uint64) string {
		s := rows.Sampler{Frame: f, Flights: flights, Windows: windows, Readout: readout, Points: points}
		s.Take(b, windows, rand.New(rand.NewPCG(seed, 2)))
		return fmt.Sprint(b.Base)
	}
	first := take(f, model.Plan, 2)
	cost := func(seed uint64) float64 { return testing.AllocsPerRun(3, func() { take(f, model.Plan, seed) }) }
	seed := uint64(100)
	again, other := cost(2), testing.AllocsPerRun(3, func() { seed++; take(f, model.Plan, seed) })
	if got := take(f, model.Plan, 2); got != first || again >= other {
		t.Errorf("taken again: the same is %v, %v allocations, for %v of other samples", got == first, again, other)
	}
	for name, changed := range map[string]string{
		"samples": take(f, model.Plan, 3),
		"prior":   take(f.WithPrior(estimator.PriorDynamicsSpec{}), model.Plan, 2),
	} {
		if changed == first {
			t.Errorf("other %s have the same rows", name)
		}
	}
}

func TestConstantChannelIsReported(t *testing.T) {
	var s window.Series
	for j := range 100 {
		s.T = append(s.T, int64(j)*1e7)
		s.X = append(s.X, float64(j), 2, 0)
	}
	states := []channel.Channel{{Name: "a", Role: channel.State}, {Name: "stuck", Role: channel.State}, {Name: "c", Role: channel.State}}
	flights := window.Prepare(0, s, states, 0, window.Options{})
	_, err := rows.NewFrame(states, flights, window.Cut(flights, 0.2, 0.1), rows.Settings{Horizon: 0.2, NoiseKnots: []float64{0}})
	if err == nil || !strings.Contains(err.Error(), `channel "stuck" never moves`) {
		t.Error(err)
	}
}

// A frame with another basis fills rows of that basis, and nothing else changes: a
// further term is the last one times standardised time.
func TestFrameWithAnotherBasis(t *testing.T) {
	f, b, flights, windows := batch(t, recording{second: 1, rate: 1, place: 1, force: 1}, model.Plan)
	I := f.Inputs.Dim()
	g := f.WithBasis(3)
	wide := objective.NewBatch(&feature.Map{K: 3, Basis: g.Basis}, &g.Inputs, 3, len(windows)*points, 0)
	s := rows.Sampler{Frame: g, Flights: flights, Windows: windows, Points: points}
	s.Take(wide, windows, rand.New(rand.NewPCG(2, 2)))
	if f.Basis.Terms != 2 || len(wide.Obs.B) != 3*I*wide.Obs.N || !slices.Equal(wide.Y, b.Y) || !slices.Equal(wide.Base, b.Base) {
		t.Fatalf("basis of %d terms, %d numbers of it; or another target", f.Basis.Terms, len(wide.Obs.B))
	}
	for i := range wide.Obs.N {
		narrow, row := b.Obs.B[i*2*I:(i+1)*2*I], wide.Obs.B[i*3*I:(i+1)*3*I]
		time := b.Obs.S[i*I]
		for j, v := range narrow {
			if row[j] != v || math.Abs(row[2*I+j%I]-time*time*row[j%I]) > 1e-14 {
				t.Fatalf("row %d: %v, was %v", i, row, narrow)
			}
		}
	}
}

// With one noise over the horizon all knots have the same share at every time.
func TestConstantNoiseHasEqualShares(t *testing.T) {
	f, _, flights, windows := batch(t, recording{second: 1, rate: 1, place: 1, force: 1}, model.Plan)
	knots := []float64{0, 0.03, 0.1, 0.3, 1}
	g, err := rows.NewFrame(channels, flights, windows, rows.Settings{Horizon: f.Inputs.Horizon, NoiseKnots: knots, ConstantNoise: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, frame := range []*rows.Frame{g, g.WithBasis(1)} {
		b := objective.NewBatch(&feature.Map{K: 3, Basis: frame.Basis}, &frame.Inputs, len(knots), len(windows)*points, 0)
		s := rows.Sampler{Frame: frame, Flights: flights, Windows: windows, Points: points}
		s.Take(b, windows, rand.New(rand.NewPCG(2, 2)))
		if slices.ContainsFunc(b.Noise, func(w float64) bool { return w != 0.2 }) {
			t.Errorf("shares %v", b.Noise[:len(knots)])
		}
	}
}
