package window

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dgm-robotics/dgm/estimator/actuator"
	"github.com/dgm-robotics/dgm/estimator/channel"
)

// Acting inputs are those of a dead time before, also of what is known before a part of a flight; a constant one stays what it is, to
// the last bit, and one that is not known yet is not.
func TestActing(t *testing.T) {
	const n, P, dt = 100, 3, 0.01
	s := Series{}
	for i := range n {
		s.T = append(s.T, int64(i)*10e6)
		s.X = append(s.X, 0)
		unknown := math.NaN()
		if i >= 20 {
			unknown = float64(i)
		}
		s.U = append(s.U, float64(i), 0.1, unknown)
	}
	whole := Prepare(0, s, []channel.Channel{{Name: "x"}}, P, Options{})
	responses := []actuator.Response{{Dead: 0.05}, {Dead: 0.03, Lag: 0.1}, {Dead: 0.05}}
	part := whole[0].Following(40, 60)
	for _, f := range Acting([]Flight{whole[0], part}, responses) {
		in, got := Input{Flight: &f, Start: f.N() / 4}, make([]float64, P)
		in.Mean(got, 0, 0.02)
		want := f.T[f.N()/4]/dt - 5 + 0.5
		if math.Abs(got[0]-want) > 1e-9 || got[1] != 0.1 {
			t.Errorf("%v of %d samples, want %v and 0.1", got, f.N(), want)
		}
		if at := in.Next(0.015); math.Abs(at-0.02) > 1e-9 {
			t.Errorf("the next sample is at %v s", at)
		}
		f.InputMean(got, f.T[0], f.T[0]+dt)
		if known := f.N() < n; math.IsNaN(got[2]) == known {
			t.Errorf("%v of %d samples", got, f.N())
		}
		if f.Input(10)[0] != f.T[10]/dt {
			t.Error("the commands have changed")
		}
	}
	if again := Acting(whole, make([]actuator.Response, P)); &again[0] != &whole[0] {
		t.Error("inputs that act at once are others")
	}
}

// What acts of recorded commands is what the estimator makes of the same commands.
func TestActingIsThatOfTheEstimator(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	responses := []actuator.Response{{Dead: 0.033, Lag: 0.05}, {Lag: 0.02}}
	s, want := Series{}, actuator.NewOutput(responses)
	at := int64(0)
	for range 300 {
		u := []float64{rng.NormFloat64(), rng.NormFloat64()}
		s.T, s.X, s.U = append(s.T, at), append(s.X, 0), append(s.U, u...)
		want.Hold(1e-9*float64(at), u)
		at += 8e6 + int64(4e6*rng.Float64())
	}
	f := Acting(Prepare(0, s, []channel.Channel{{Name: "x"}}, 2, Options{}), responses)[0]
	got, as := make([]float64, 2), make([]float64, 2)
	for range 300 {
		a := 2.5 * rng.Float64()
		b := a + 0.3*rng.Float64()
		f.InputMean(got, a, b)
		want.Mean(as, a, b)
		for p := range got {
			if math.Abs(got[p]-as[p]) > 1e-4 {
				t.Fatalf("mean of input %d from %v to %v s is %v, want %v", p, a, b, got[p], as[p])
			}
		}
		f.InputAt(got, a)
		want.At(as, a)
		for p := range got {
			if math.Abs(got[p]-as[p]) > 1e-4 {
				t.Fatalf("input %d at %v s is %v, want %v", p, a, got[p], as[p])
			}
		}
	}
}

// What came before a log no longer acts where its settled flights begin, and what acts there is known.
func TestSettled(t *testing.T) {
	long, short := Series{}, Series{}
	for i := range 1000 {
		long.T, long.X, long.U = append(long.T, int64(i)*10e6), append(long.X, 0), append(long.U, math.Sin(float64(i)))
	}
	short.T, short.X, short.U = long.T[:100], long.X[:100], long.U[:100]
	states := []channel.Channel{{Name: "x"}}
	whole := Prepare(0, long, states, 1, Options{})[0]
	flights := []Flight{whole, whole.Following(30, 1000), whole.Following(50, 1000), Prepare(1, short, states, 1, Options{})[0]}
	responses := []actuator.Response{{Lag: 0.1}}
	acting := Acting(flights, responses)
	for i, f := range Settled(flights, responses) {
		if begin := []float64{0.4, 0.4, 0.5, 0.1}[i]; math.Abs(f.T[0]-begin) > 0.011 {
			t.Errorf("flight %d begins at %v s, want %v", i, f.T[0], begin)
		}
		got, want := []float64{0}, []float64{0}
		f.InputMean(got, f.T[0], f.T[0]+0.05)
		acting[i].InputMean(want, f.T[0], f.T[0]+0.05)
		if got[0] != want[0] {
			t.Errorf("flight %d: %v acts, want %v", i, got, want)
		}
	}
	if again := Settled(flights, make([]actuator.Response, 1)); again[0].N() != 1000 || again[3].N() != 100 {
		t.Error("flights are shorter where inputs act at once")
	}
}
