package actuator_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dgm-robotics/dgm/estimator/actuator"
)

var responses = []actuator.Response{{Dead: 0.06, Lag: 0.02}, {Dead: 0.035}, {Lag: 0.1}, {}}

// commands are some that are held for times of different length, from before 0 on.
func commands(rng *rand.Rand) (at []float64, u [][]float64) {
	for t := -0.3; t < 0.5; t += 0.002 + 0.05*rng.Float64() {
		row := make([]float64, len(responses))
		for p := range row {
			row[p] = rng.NormFloat64()
		}
		at, u = append(at, t), append(u, row)
	}
	return at, u
}

func output(at []float64, u [][]float64) *actuator.Output {
	o := actuator.NewOutput(responses)
	for i, t := range at {
		o.Hold(t, u[i])
	}
	return o
}

// The output is that of the differential equation, integrated in small steps; its means are those of its values.
func TestOutputFollowsTheEquation(t *testing.T) {
	at, u := commands(rand.New(rand.NewPCG(1, 2)))
	o := output(at, u)
	const h = 2e-5
	got := make([]float64, len(responses))
	for p, r := range responses {
		command := func(t float64) float64 {
			i := 0
			for i+1 < len(at) && at[i+1] <= t+1e-12 {
				i++
			}
			return u[i][p]
		}
		v, sum := command(at[0]), 0.0
		for i := range int(0.8 / h) {
			now := at[0] + float64(i)*h
			next := command(now + h/2 - r.Dead)
			before := v
			if v = next; r.Lag > 0 {
				v = next + (before-next)*math.Exp(-h/r.Lag)
			}
			sum += h * (v + before) / 2
			if i%997 != 0 || i < 1000 {
				continue
			}
			if o.At(got, now+h); math.Abs(got[p]-v) > 1e-2 {
				t.Fatalf("%+v: %v at %v s, want %v", r, got[p], now+h, v)
			}
			if o.Mean(got, at[0], now+h); math.Abs(got[p]-sum/(now+h-at[0])) > 1e-3 {
				t.Fatalf("%+v: mean %v until %v s, want %v", r, got[p], now+h, sum/(now+h-at[0]))
			}
		}
	}
}

// Shares of all commands add up to the outputs, and gradients are those shares.
func TestSharesAndGradients(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	at, u := commands(rng)
	o, got, bar := output(at, u), make([]float64, len(responses)), make([]float64, len(responses))
	for range 200 {
		a := -0.2 + 0.6*rng.Float64()
		b := a + 0.2*rng.Float64()*float64(rng.IntN(2))
		if o.Mean(got, a, b); b == a {
			o.At(got, a)
		}
		for p, r := range responses {
			o := output(at, u)
			clear(bar)
			bar[p] = 1
			o.Add(bar, a, b)
			by := o.Gradient()
			sum := 0.
			for i := range at {
				from, to := at[i], math.Inf(1)
				if i == 0 {
					from = math.Inf(-1)
				}
				if i+1 < len(at) {
					to = at[i+1]
				}
				share := r.Share(from, to, a, b)
				sum += share * u[i][p]
				if d := by[i*len(responses)+p] - share; math.Abs(d) > 1e-9 {
					t.Fatalf("%+v from %v to %v: gradient %v by command %d, share %v", r, a, b, by[i*len(responses)+p], i, share)
				}
			}
			if math.Abs(sum-got[p]) > 1e-9 {
				t.Fatalf("%+v from %v to %v: %v, shares add up to %v", r, a, b, got[p], sum)
			}
		}
	}
}

// A command that stays is the output, to the last bit, and times may be asked for in any order.
func TestConstant(t *testing.T) {
	o := actuator.NewOutput(responses)
	u, got := []float64{0.1, 0.2, 0.3, 0.7}, make([]float64, 4)
	for i := range 100 {
		o.Hold(0.01*float64(i), u)
	}
	for _, at := range []float64{0.5, -3, 1.7, 0.01, 0.6} {
		o.At(got, at)
		for p := range u {
			if got[p] != u[p] {
				t.Errorf("%v at %v s", got, at)
			}
		}
	}
	if n := testing.AllocsPerRun(10, func() {
		o.Clear()
		o.Hold(0, u)
		o.Hold(1, u)
		o.Mean(got, 0, 1)
		o.Add(got, 0, 1)
		o.Gradient()
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
