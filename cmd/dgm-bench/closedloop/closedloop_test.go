package closedloop

import (
	"math"
	"testing"

	"github.com/dgm-robotics/dgm/cmd/dgm-bench/planning"
	"github.com/dgm-robotics/dgm/cmd/dgm-bench/study"
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
	v := planar()
	p := v.plant
	m := truth(v).predict(0)
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
// model of an exploring flight is worse; the rows have what scripts read.
func TestFigureEightOnTheTrueModel(t *testing.T) {
	s, v := &session{trained: map[string]*trained{}}, planar()
	var err error
	if s.of(v, 1).log, err = explore(t.Context(), v, 1); err != nil {
		t.Fatal(err)
	}
	if n := len(s.of(v, 1).log.Segments[0].T); n != 660 {
		t.Fatalf("%d samples", n)
	}
	rmse := map[string]float64{}
	var all []*study.Row
	for _, set := range []string{figure8, figure8Flyable} {
		for _, name := range []string{onTruth, onLinear} {
			r := study.NewRow(study.Key{Set: set, Variant: name, Seed: 1})
			r.Put("scenario", set).Put("planner", name)
			if err := s.figureEight(v, 1, name, r); err != nil {
				t.Fatal(err)
			}
			for _, key := range []string{"scenario", "planner", "tracking_rmse_m", "generalisation_rmse_m", "violations", "promised", "solve_p50_ms", "solve_p99_ms", "training_samples"} {
				if !r.Has(key) {
					t.Errorf("%s on the %s: no %s", set, name, key)
				}
			}
			rmse[set+name] = r.Number("tracking_rmse_m")
			all = append(all, r)
		}
	}
	if v := rmse[figure8+onTruth]; !(v < 0.051) {
		t.Errorf("tracking error %v m on the true model", v)
	}
	if v := rmse[figure8Flyable+onTruth]; !(v < 0.01) || !(rmse[figure8Flyable+onLinear] > 1.5*v) {
		t.Errorf("tracking error %v m on the true model, %v m on the linear one", v, rmse[figure8Flyable+onLinear])
	}
	tables, err := tables(nil, all)
	if err != nil || len(tables) != 1 || len(tables[0].Lines()) != 5 {
		t.Errorf("%v: %v", err, tables)
	}
}

// Plans on the true model bring the pendulum up in less than three of its periods and hold it there;
// derivatives of what its cost is of are those of its values.
func TestSwingUpOnTheTrueModel(t *testing.T) {
	v := pendulum()
	s := &swinging{predictor: truth(v), plant: v.plant}
	late, held, solves := swing(v, newDescent(v.config(rows), s), 1)
	if late > 3 || held > 0.05 || len(solves) != 600 {
		t.Errorf("not upright after %v s, off by %v rad, %d plans", late, held, len(solves))
	}
	m, x, plan := s.predict(0), []float64{1, 2}, make([]float64, rows)
	d := planning.Prediction{Mean: make([]float64, rows*swingOutputs), ByPlan: make([]float64, rows*swingOutputs*rows)}
	m(&d, x, plan)
	moved := planning.Prediction{Mean: make([]float64, rows*swingOutputs)}
	const h = 1e-5
	plan[2] = h
	m(&moved, x, plan)
	for j, v := range moved.Mean {
		if got, want := d.ByPlan[j*rows+2], (v-d.Mean[j])/h; math.Abs(got-want) > 1e-3 {
			t.Errorf("output %d by the plan: %v, want %v", j, got, want)
		}
	}
}

// With a margin that is wide enough nothing collides, in the plane and in space; a plan that
// keeps nothing free on a model that is wrong by a payload does.
func TestFieldsOfObstacles(t *testing.T) {
	collided := func(v *vehicle, flights int, margin, loadAt float64) (n int) {
		for seed := range uint64(flights) {
			c := v.config(rows)
			c.Steps, c.Penalty, c.Most, c.Blind = 2, v.penalty, 1.2, v.blind
			c.Obstacles = field(v, seed)
			for i := range c.Obstacles {
				c.Obstacles[i].Margin = margin
			}
			out := through(v, field(v, seed), newDescent(c, truth(v)), seed, loadAt)
			if out.collided {
				n++
			} else if !out.arrived || out.seconds < fieldEnd/3 {
				t.Errorf("%s, seed %d: arrived %v after %v s", v.plant.Name, seed, out.arrived, out.seconds)
			}
		}
		return n
	}
	if n := collided(planar(), 6, 0.05, -1); n != 0 {
		t.Errorf("%d flights collided with a margin of 5 cm", n)
	}
	if n := collided(flownQuadrotor(), 2, 0.07, 1); n != 0 {
		t.Errorf("%d flights in space collided with a margin of 5 cm", n)
	}
	if n := collided(planar(), 6, -0.01, 0.5); n == 0 {
		t.Error("no flight collided without a margin under a payload")
	}
}
