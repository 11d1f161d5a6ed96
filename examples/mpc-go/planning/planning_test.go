package planning

import (
	"math"
	"math/rand/v2"
	"testing"
)

// The solution of the quadratic problem satisfies its optimality conditions: no slope where
// it is free, and a slope that pushes outwards at a bound.
func TestBoxQPIsOptimal(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	bound := 0
	for range 200 {
		n := 1 + rng.IntN(12)
		q, root := newBoxQP(n), make([]float64, n*n)
		H, g, d := make([]float64, n*n), make([]float64, n), make([]float64, n)
		for i := range root {
			root[i] = rng.NormFloat64()
		}
		for i := range n {
			g[i] = 3 * rng.NormFloat64()
			q.low[i], q.high[i] = -rng.Float64(), rng.Float64()
			for j := range n {
				for c := range n {
					H[i*n+j] += root[i*n+c] * root[j*n+c]
				}
			}
			H[i*n+i] += 0.5
		}
		if !q.solve(d, H, g) {
			t.Fatal("no solution")
		}
		q.gradient(d, H, g)
		for i, s := range q.slope {
			switch {
			case d[i] < q.low[i] || d[i] > q.high[i]:
				t.Fatalf("%v is outside of %v … %v", d[i], q.low[i], q.high[i])
			case d[i] == q.low[i] && s > 0 || d[i] == q.high[i] && s < 0:
				bound++
			case math.Abs(s) > 1e-4:
				t.Fatalf("slope %v at %v, within %v … %v", s, d[i], q.low[i], q.high[i])
			}
		}
	}
	if bound == 0 {
		t.Error("no bound was active")
	}
	q := newBoxQP(1)
	q.low[0], q.high[0] = -1, 1
	if q.solve([]float64{0}, []float64{-1}, []float64{1}) {
		t.Error("solved a problem that is not convex")
	}
}

// point is a point mass in a plane, x, vx, y, vy, that is moved by its acceleration in steps of
// 0.1 s.
func point(dst *Prediction, x, plan []float64) bool {
	const h = 0.1
	n, T := len(plan), len(dst.Mean)/4
	clear(dst.ByPlan)
	clear(dst.Std)
	for t := range T {
		for a := range 2 {
			p, v := x[2*a], x[2*a+1]
			for r := range t + 1 {
				left := float64(t-r) + 0.5
				p, v = p+h*h*left*plan[r*2+a], v+h*plan[r*2+a]
				if len(dst.ByPlan) > 0 {
					dst.ByPlan[(t*4+2*a)*n+r*2+a], dst.ByPlan[(t*4+2*a+1)*n+r*2+a] = h*h*left, h
				}
			}
			dst.Mean[t*4+2*a], dst.Mean[t*4+2*a+1] = p+h*float64(t+1)*x[2*a+1], v
		}
	}
	return true
}

func pointConfig() Config {
	return Config{
		K: 4, P: 2, T: 10, R: 10, State: []float64{1, 0.1, 1, 0.1}, Input: []float64{0.001, 0.001},
		Rest: []float64{0, 0}, Low: []float64{-2, -2}, High: []float64{2, 2}, Steps: 3,
	}
}

// drive applies a planner's plans for some steps towards a goal that stands still, and calls see
// with every state.
func drive(improve func(x, reference []float64) bool, plan []float64, advance func(share float64), steps int, see func(x []float64)) (x []float64) {
	x = []float64{0, 0, 0, 0}
	reference := make([]float64, 40)
	for i := range reference {
		reference[i] = []float64{2, 0, 0.2, 0}[i%4]
	}
	for range steps {
		if !improve(x, reference) {
			return nil
		}
		d := Prediction{Mean: make([]float64, 4)}
		point(&d, x, plan[:2])
		copy(x, d.Mean)
		advance(1)
		see(x)
	}
	return x
}

func TestPlansReachTheGoalWithinBounds(t *testing.T) {
	p := New(pointConfig(), point)
	most := 0.0
	x := drive(p.Improve, p.Plan, p.Advance, 60, func([]float64) {
		for _, u := range p.Plan {
			most = max(most, math.Abs(u))
		}
	})
	if x == nil || math.Hypot(x[0]-2, x[2]-0.2) > 0.01 {
		t.Errorf("ended at %v", x)
	}
	if most != 2 {
		t.Errorf("the largest command is %v, want the bound", most)
	}
	m := NewMPPI(pointConfig(), func(mean, x, plans []float64) bool {
		for i := range len(plans) / 20 {
			d := Prediction{Mean: mean[i*40 : (i+1)*40]}
			point(&d, x, plans[i*20:(i+1)*20])
		}
		return true
	}, 300, []float64{0.8, 0.8}, 0.02, 1)
	if x := drive(m.Improve, m.Plan, m.Advance, 60, func([]float64) {}); x == nil || math.Hypot(x[0]-2, x[2]-0.2) > 0.1 {
		t.Errorf("draws ended at %v", x)
	}
}

// An obstacle in the way is flown around, further away where more is kept free.
func TestObstaclesAreAvoided(t *testing.T) {
	nearest := func(margin, factor float64) (least float64, x []float64) {
		c := pointConfig()
		c.Penalty = 1e4
		c.Obstacles = []Obstacle{{Channels: [2]int{0, 2}, Centre: [2]float64{1, 0}, Radius: 0.3, Margin: margin, Factor: factor}}
		p := New(c, func(dst *Prediction, x, plan []float64) bool {
			point(dst, x, plan)
			for i := range dst.Std {
				dst.Std[i] = 0.02
			}
			return true
		})
		least = math.Inf(1)
		x = drive(p.Improve, p.Plan, p.Advance, 80, func(x []float64) { least = min(least, math.Hypot(x[0]-1, x[2])-0.3) })
		return least, x
	}
	for _, c := range []struct{ margin, factor, least float64 }{{0, 0, -0.01}, {0.1, 0, 0.09}, {0, 3, 0.05}} {
		least, x := nearest(c.margin, c.factor)
		if least < c.least || math.Hypot(x[0]-2, x[2]-0.2) > 0.05 {
			t.Errorf("margin %v m, factor %v: %v m from the obstacle, ended at %v", c.margin, c.factor, least, x)
		}
	}
}

// What is kept free is bounded, and the first times may be left out.
func TestCostOfObstacles(t *testing.T) {
	c := pointConfig()
	c.Penalty = 1
	c.Obstacles = []Obstacle{{Channels: [2]int{0, 2}, Radius: 1, Factor: 2}}
	d := Prediction{Mean: make([]float64, 40), Std: make([]float64, 40)}
	for i := range d.Std {
		d.Mean[i], d.Std[i] = 1, 0.1*float64(i/4)
	}
	p := New(c, point)
	cost := func(want float64) {
		t.Helper()
		if got := p.cost(&d, p.Plan, d.Mean[:4], d.Mean); math.Abs(got-want) > 1e-12 {
			t.Errorf("cost %v, want %v", got, want)
		}
	}
	free := math.Sqrt2 - 1
	want := 0.0
	for i := 3; i < 10; i++ {
		want += math.Pow(0.2*float64(i)-free, 2)
	}
	cost(want)
	p.cfg.Blind = 9
	cost(math.Pow(1.8-free, 2))
	p.cfg.Obstacles[0].Widest = 1
	cost(math.Pow(1-free, 2))
	p.cfg.Obstacles[0].Widest = 0.4
	cost(0)
}

func TestAPlanStandsWhereNothingIsPredicted(t *testing.T) {
	p := New(pointConfig(), func(*Prediction, []float64, []float64) bool { return false })
	p.Plan[3] = 1
	if p.Improve(make([]float64, 4), make([]float64, 40)) || p.Plan[3] != 1 || p.Plan[2] != 0 {
		t.Errorf("the plan is %v", p.Plan)
	}
	p.Advance(0.5)
	if p.Plan[1] != 0.5 {
		t.Errorf("moved on by half a row it is %v", p.Plan)
	}
	if p.Reset(); p.Plan[1] != 0 {
		t.Errorf("at rest it is %v", p.Plan)
	}
}

func TestPlanningAllocatesNothing(t *testing.T) {
	c := pointConfig()
	c.Penalty, c.Obstacles = 1e4, []Obstacle{{Channels: [2]int{0, 2}, Centre: [2]float64{0.5, 0}, Radius: 0.3}}
	p := New(c, point)
	x, reference := make([]float64, 4), make([]float64, 40)
	for i := range reference {
		reference[i] = 1
	}
	if n := testing.AllocsPerRun(20, func() { p.Improve(x, reference) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
