package stack

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/dgm-robotics/dgm/estimator"
	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/direct"
	"github.com/dgm-robotics/dgm/estimator/history"
	"github.com/dgm-robotics/dgm/estimator/model"
	prior "github.com/dgm-robotics/dgm/estimator/priordynamics"
	"github.com/dgm-robotics/dgm/trainer/priordynamics"
	"github.com/dgm-robotics/dgm/trainer/ridge"
	"github.com/dgm-robotics/dgm/trainer/rollouts"
	"github.com/dgm-robotics/dgm/trainer/window"
)

// decay is some flights of x⁺ = 0.98 x, exactly linear, with a little noise.
func decay(seed uint64, n int) []window.Flight {
	rng := rand.New(rand.NewPCG(seed, 0))
	var out []window.Flight
	for at := 0; at < n; at += 100 {
		s := window.Series{Name: "decay"}
		x := 2 * rng.NormFloat64()
		for i := range min(100, n-at) {
			s.T = append(s.T, int64(i)*1e7)
			s.X = append(s.X, x+1e-4*rng.NormFloat64())
			x -= 0.02 * x
		}
		out = append(out, window.Prepare(at, s, one, 0, window.Options{})...)
	}
	return out
}

var one = []channel.Channel{{Name: "x", Role: channel.State}}

// bent returns the equation with its slope multiplied.
func bent(m *prior.Model, factor float64) *prior.Model {
	c := *m
	c.Weights = append([]float64(nil), m.Weights...)
	for i := range c.Weights {
		c.Weights[i] *= factor
	}
	return &c
}

func equation(m *prior.Model) model.Component {
	return model.Component{Kind: model.Equation, Members: []prior.Model{*m}}
}

// fitted returns a task and the equation of its flights.
func fitted(t *testing.T) (Task, *prior.Model) {
	t.Helper()
	shape := priordynamics.Shape{Step: 0.01, Degree: 1, Ridge: 1e-9}
	task := Task{Task: window.Task{States: one, Horizon: 0.5}, Knots: []float64{0, 0.1, 1}, Readouts: 1}
	m, err := priordynamics.Fit(context.Background(), decay(1, 1000), task.Task, shape, priordynamics.Effort{Windows: 10, Iterations: 1})
	if err != nil {
		t.Fatal(err)
	}
	return task, m
}

// The better of two models gets the weight; one that is bad on a fold loses it; a velocity
// that is not measured is worth nothing, and left out.
func TestFit(t *testing.T) {
	task, good := fitted(t)
	bad := bent(good, 1.5)
	folds := []window.Fold{{Held: decay(2, 300)}, {Held: decay(3, 300)}, {Held: decay(4, 300)}}
	of := func(name string, whole *prior.Model, folds ...*prior.Model) Candidate {
		c := Candidate{Name: name, Whole: equation(whole)}
		for _, m := range folds {
			c.Folds = append(c.Folds, equation(m))
		}
		return c
	}
	stack := func(candidates ...Candidate) *Stack {
		s, err := Fit(folds, task, candidates)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	g, b := of("good", good, good, good, good), of("bad", bad, bad, bad, bad)
	for _, c := range [][]Candidate{{g, b}, {b, g}} {
		if s := stack(c...); !slices.Equal(s.Names, []string{"good"}) || s.Errors[0] > 0.01 || len(s.Folds) != 3 || len(s.Folds[2]) != 1 {
			t.Errorf("%v and %v: %v", c[0].Name, c[1].Name, s)
		}
	}
	// Two that err to opposite sides, the one by a little more: the weights are drawn to what their errors alone say, of
	// which a power counts, though least squares would have 0.44.
	high, low := bent(good, 1.1), bent(good, 0.92)
	s := stack(of("high", high, high, high, high), of("low", low, low, low, low))
	if !slices.Equal(s.Names, []string{"low", "high"}) || math.Abs(s.Components[1].Weights[0][2]-0.1) > 0.05 {
		t.Errorf("expected a tenth for the high one: %v, %v", s, s.Components[1].Weights)
	}
	if w := s.Folds[1][1].Weights[0]; !slices.Equal(w, s.Components[1].Weights[0]) {
		t.Errorf("a fold has the weights %v", w)
	}
	wild := bent(good, -40)
	if s := stack(g, of("mixed", good, good, good, wild)); len(s.Names) > 1 && s.Components[1].Weights[0][2] > 0.05 {
		t.Errorf("one that diverges on a fold: %v", s)
	}
	// One that is right on the folds, and diverges where it starts from elsewhere: a stiff equation.
	stiff := of("stiff", bent(good, -400), good, good, good)
	if s := stack(b, stiff); !slices.Equal(s.Names, []string{"bad"}) {
		t.Errorf("with one that diverges: %v", s)
	}
	// A physical one may be some times farther from what was measured than others.
	for by, diverges := range map[float64]bool{-3: false, -5: true} {
		c := of("fast", bent(good, by), good, good, good)
		if s := stack(b, c); !slices.Equal(s.Names, []string{"bad"}) {
			t.Errorf("with one that is fast, %g: %v", by, s.Names)
		}
		c.Physical = true
		if s := stack(b, c); s.Diverged != diverges || slices.Contains(s.Names, "fast") == diverges {
			t.Errorf("with a physical one that is fast, %g: %v, diverged %v", by, s.Names, s.Diverged)
		}
	}
	hold := Candidate{Name: "velocity", Whole: model.Component{Kind: model.Velocity}, Folds: make([]model.Component, 3)}
	for i := range hold.Folds {
		hold.Folds[i].Kind = model.Velocity
	}
	if s := stack(g, hold); !slices.Equal(s.Names, []string{"good"}) {
		t.Errorf("with a velocity: %v", s)
	}
	if _, err := Fit(folds, task, []Candidate{g, of("few", good)}); err == nil {
		t.Error("a candidate without folds is taken")
	}
	if s, err := Fit(nil, task, []Candidate{g, b}); err != nil || !slices.Equal(s.Names, []string{"good"}) {
		t.Errorf("without folds: %v, %v", s, err)
	}
}

// A direct map that needs all history has no weight without it, one that reads less, too, has, and it fades between leverages
// that the folds have shown.
func TestConditions(t *testing.T) {
	task := Task{Task: window.Task{States: one, Horizon: 0.5}, Knots: []float64{0, 1}, Readouts: 1, History: history.Spec{Edges: []float64{0.01, 0.02}}}
	// decay by x⁺ = 0.98 x, from the last difference alone: x' ≈ 100 (x − mean of the last row)/0.5
	direct := func(rows int, weight float64) direct.Level {
		l := direct.Level{Rows: rows, Degree: 1, Times: []float64{0.5}, Weights: make([]float64, 2+rows), Mean: make([]float64, 1+rows), Std: slices.Repeat([]float64{1}, 1+rows)}
		l.Rest = 10
		if rows > 0 {
			l.Weights[2] = weight
		}
		return l
	}
	gone := (1 - math.Pow(0.98, 50)) / 0.5 // share of x that decays in a second, by the displacement after H
	m := model.Component{Kind: model.Direct}
	m.Direct.Lift, m.Direct.Derivative = channel.NewLift(one), []int{-1}
	m.Direct.Lift.Mean, m.Direct.Lift.Std = []float64{0}, []float64{1}
	m.Direct.Levels = append(m.Direct.Levels, direct(0, 0), direct(2, -gone/0.0102))
	hold := model.Component{Kind: model.Velocity}
	folds := []window.Fold{{Held: decay(2, 300)}, {Held: decay(3, 300)}}
	fit := func(m model.Component) *Stack {
		s, err := Fit(folds, task, []Candidate{
			{Name: "velocity", Whole: hold, Folds: []model.Component{hold, hold}}, {Name: "direct", Whole: m, Folds: []model.Component{m, m}},
		})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	s := fit(m)
	if !slices.Equal(s.Names, []string{"velocity", "direct"}) || s.History.Rows() != 2 {
		t.Fatalf("stack %v, %d rows", s, s.History.Rows())
	}
	c := s.Components[1]
	if len(c.Weights) != model.Conditions-1 || c.Weights[0][1] < 0.8 || c.Weights[2][1] > 0.05 {
		t.Errorf("weights by condition %v", c.Weights)
	}
	if c.Near != near || c.Far != far {
		t.Errorf("fades between %v and %v", c.Near, c.Far)
	}
	// With a level of one row, starts with less history than all have its weight.
	m.Direct.Levels = append(m.Direct.Levels, direct(1, -gone/0.0051))
	if c := fit(m).Components[1]; c.Weights[2][1] < 0.8 {
		t.Errorf("weights by condition, where the map reads one row, too: %v", c.Weights)
	}
}

// A physical candidate is weighed against all others together: it takes over where it is right, and is left out where it is not.
func TestPhysical(t *testing.T) {
	task, good := fitted(t)
	folds := []window.Fold{{Held: decay(2, 300)}, {Held: decay(3, 300)}, {Held: decay(4, 300)}}
	of := func(name string, m *prior.Model, physical bool) Candidate {
		return Candidate{Name: name, Whole: equation(m), Folds: []model.Component{equation(m), equation(m), equation(m)}, Physical: physical}
	}
	slow, slower := bent(good, 0.8), bent(good, 0.6)
	s, err := Fit(folds, task, []Candidate{of("slow", slow, false), of("slower", slower, false), of("right", good, true)})
	if err != nil {
		t.Fatal(err)
	}
	if p := s.Physical; p == nil || !(p.Alone < 0.1*p.Without) || !(p.With < 0.3*p.Without) {
		t.Errorf("errors %+v", s.Physical)
	}
	// The others fade to it: it has what they leave of the weights.
	rest := 1.0
	for _, c := range s.Components[1:] {
		rest -= slices.Max(c.Weights[0])
	}
	if s.Names[0] != "right" || rest < 0.7 {
		t.Errorf("%v, of which the first has a weight of %v", s.Names, rest)
	}
	s, err = Fit(folds, task, []Candidate{of("good", good, false), of("slow", slow, false), of("wrong", slower, true)})
	if err != nil {
		t.Fatal(err)
	}
	for j, name := range s.Names {
		if name == "wrong" && j == 0 {
			t.Error("the others fade to a wrong equation")
		} else if name == "wrong" && slices.Max(s.Components[j].Weights[0]) > 0.1 {
			t.Errorf("a wrong equation has the weights %v", s.Components[j].Weights)
		}
	}
}

// A map of the residuals of a physical candidate is added to it, with a weight of its own; the candidate's is that of both.
func TestResiduals(t *testing.T) {
	task, good := fitted(t)
	slow := equation(bent(good, 0.8))
	all := slices.Concat(decay(2, 300), decay(3, 300), decay(4, 300))
	folds := window.Folds(all, task.Horizon, 3)
	f, err := ridge.Fit(context.Background(), all, folds, task.Task, ridge.Config{
		Times: []float64{0.1, 0.5}, Readouts: []model.Readout{model.Plan}, Blocks: 2,
		Base: func() ridge.Base {
			return rollouts.New(task.Task, rollouts.Spec{Component: slow, Times: []float64{0.1, 0.5}})
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	residuals := Candidate{Name: "residuals", Whole: model.Component{Kind: model.Direct, Direct: f.Residuals.Model}}
	for i := range f.Residuals.Folds {
		residuals.Folds = append(residuals.Folds, model.Component{Kind: model.Direct, Direct: f.Residuals.Folds[i]})
	}
	of := func(name string, c model.Component, physical bool) Candidate {
		return Candidate{Name: name, Whole: c, Folds: []model.Component{c, c, c}, Physical: physical}
	}
	for slope, leads := range map[float64]bool{0.5: true, 0.9: false} { // of the other; whether it fades to the physical one
		s, err := Fit(folds, task, []Candidate{of("other", equation(bent(good, slope)), false), residuals.OfResiduals(&Candidate{Name: "physical"}), of("physical", slow, true)})
		if err != nil {
			t.Fatal(err)
		}
		at, last := slices.Index(s.Names, "physical"), slices.Index(s.Names, "residuals")
		if leads != (at == 0) || last < 0 || !s.Components[last].Residual || !s.Folds[1][last].Residual {
			t.Fatalf("beside %v: %v", slope, s.Names)
		}
		weights := s.Components[last].Weights[0]
		if slices.Min(weights[1:]) < 0.8 || at > 0 && s.Components[at].Weights[0][2] < weights[2] {
			t.Errorf("beside %v: weights of the residuals %v, of the equation %v", slope, weights, s.Components[at].Weights)
		}
		d, x0 := []float64{0}, 0.7
		prior := estimator.NewPriorDynamics(one, 0, s.prior(task))
		prior.Start([]float64{x0}, nil, model.Plan, nil)
		prior.At(d, nil, 0.5)
		if want := x0 * (math.Pow(0.98, 50) - 1); math.Abs(d[0]-want) > 0.03*math.Abs(want) {
			t.Errorf("beside %v: a displacement of %v, expected %v", slope, d[0], want)
		}
	}
}

// prior returns the prior dynamics of the components fitted to all flights.
func (s *Stack) prior(task Task) estimator.PriorDynamicsSpec {
	spec := s.Spec(s.Components)
	spec.Knots, spec.Horizon = task.Knots, task.Horizon
	return spec
}
