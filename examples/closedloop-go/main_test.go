package main

import (
	"math"
	"testing"

	"github.com/dgm-robotics/dgm/examples/mpc-go/planning"
)

func TestReferenceIsTheBenchmarks(t *testing.T) {
	ref := figureEight(11)
	if n := len(ref) / 6; n != 660+1+ticks {
		t.Fatalf("%d samples", n)
	}
	for _, c := range []struct {
		at   int
		want [6]float64
	}{
		{0, [6]float64{0, 2 * math.Pi / 5.5, 1, 2 * math.Pi / 5.5}},
		{330, [6]float64{0, 2 * math.Pi / 5.5, 1, 2 * math.Pi / 5.5}}, // a cycle later
		{165, [6]float64{0, -2 * math.Pi / 5.5, 1, 2 * math.Pi / 5.5}},
	} {
		for k, want := range c.want {
			if got := ref[c.at*6+k]; math.Abs(got-want) > 1e-9 {
				t.Errorf("sample %d: state %d is %v, want %v", c.at, k, got, want)
			}
		}
	}
	for i := 1; i < 660; i++ { // velocities are the derivatives of positions
		for _, k := range []int{0, 2} {
			v := (ref[(i+1)*6+k] - ref[(i-1)*6+k]) / (2 * tick)
			if math.Abs(v-ref[i*6+k+1]) > 2e-3 {
				t.Fatalf("sample %d: velocity %d is %v, want %v", i, k, ref[i*6+k+1], v)
			}
		}
	}
}

// Derivatives by the plan are those of the means.
func TestDerivativesOfSteppers(t *testing.T) {
	p := &vehicle
	m := truth().predict(0)
	d := planning.Prediction{Mean: make([]float64, rows*6), Std: make([]float64, rows*6), ByPlan: make([]float64, rows*6*rows*2)}
	x, plan := []float64{0, 0.5, 1, -0.3, 0.1, 0.4}, make([]float64, rows*2)
	for i := range plan {
		plan[i] = p.U0[i%2] + 0.1*math.Sin(float64(i))
	}
	if !m(&d, x, plan) {
		t.Fatal("not finite")
	}
	up, down := planning.Prediction{Mean: make([]float64, rows*6)}, planning.Prediction{Mean: make([]float64, rows*6)}
	for i := range plan {
		const h = 1e-5
		was := plan[i]
		plan[i] = was + h
		m(&up, x, plan)
		plan[i] = was - h
		m(&down, x, plan)
		plan[i] = was
		for j := range d.Mean {
			want := (up.Mean[j] - down.Mean[j]) / (2 * h)
			if got := d.ByPlan[j*len(plan)+i]; math.Abs(got-want) > 1e-6*(1+math.Abs(want)) {
				t.Fatalf("mean %d by plan %d: %v, want %v", j, i, got, want)
			}
		}
	}
}

// On the true model the task is flown as well as the benchmark's own planner flies it on the
// true model (0.051 m), and on a reference with a start that can be flown far better; the linear
// model of an exploring flight is worse.
func TestFigureEightOnTheTrueModel(t *testing.T) {
	all, err := explore(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(all.Segments[0].T); n != 660 {
		t.Fatalf("%d samples", n)
	}
	of := &trained{seed: 1, log: all}
	fly := func(name string, flyable bool) float64 {
		r, err := of.figure(name, flyable)
		if err != nil {
			t.Fatal(err)
		}
		return r.tracking
	}
	if v := fly(onTruth, false); !(v < 0.051) {
		t.Errorf("tracking error %v m on the true model", v)
	}
	if v, w := fly(onTruth, true), fly(onLinear, true); !(v < 0.01) || !(w > 1.5*v) {
		t.Errorf("tracking error %v m on the true model, %v m on the linear one", v, w)
	}
}

// With a margin that is wide enough nothing collides; a plan that keeps nothing free on a model
// that is wrong by a payload does.
func TestFieldsOfObstacles(t *testing.T) {
	collided := func(flights int, margin, loadAt float64) (n int) {
		for seed := range uint64(flights) {
			out := through(field(seed), newDescent(avoiding(field(seed), margin, 0), truth()), seed, loadAt)
			if out.collided {
				n++
			} else if !out.arrived || out.seconds < fieldEnd/3 {
				t.Errorf("seed %d: arrived %v after %v s", seed, out.arrived, out.seconds)
			}
		}
		return n
	}
	if n := collided(6, 0.05, -1); n != 0 {
		t.Errorf("%d flights collided with a margin of 5 cm", n)
	}
	if n := collided(6, -0.01, 0.5); n == 0 {
		t.Error("no flight collided without a margin under a payload")
	}
}
