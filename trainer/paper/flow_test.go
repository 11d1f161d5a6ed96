package paper

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// Terms without evidence are left out: of two states with ten terms, a rotation has two.
func TestFlowFindsTheTerms(t *testing.T) {
	d := turning(5, 20, 0.02)
	r := small()
	f, err := Train(context.Background(), d, r.Settings, 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		fl   *Flow
		most int
	}{{f.newFlow(d, rawAndNet), 6}, {f.newFlow(d, sparse), 4}} {
		if !c.fl.Shoot(context.Background(), d, 12) {
			t.Fatalf("form %d: cannot be integrated", c.fl.part)
		}
		if n := len(c.fl.Poly.terms); n < 2 || n > c.most {
			t.Errorf("form %d: %d terms are left", c.fl.part, n)
		}
		if !(c.fl.Free <= 8) {
			t.Errorf("form %d: %v effective parameters", c.fl.part, c.fl.Free)
		}
	}
}

// A form that cannot be integrated from one member is refined from the next.
func TestAFlowIsTriedFromAnotherMember(t *testing.T) {
	d := turning(5, 8, 0.05)
	r := small()
	good, err := Train(context.Background(), d, r.Settings, 1)
	if err != nil {
		t.Fatal(err)
	}
	bad, err := Train(context.Background(), d, r.Settings, 2)
	if err != nil {
		t.Fatal(err)
	}
	last := &bad.Params.Dynamics.Layers[len(bad.Params.Dynamics.Layers)-1]
	for i := range last.B {
		last.B[i] = math.NaN()
	}
	m := &Model{K: d.K, Members: []*Fit{bad}}
	if flows := m.refineForms(context.Background(), d, r, []form{netAlone}); len(flows) != 0 || m.Dropped != 1 {
		t.Fatalf("%d flows of a field that is NaN, %d dropped", len(flows), m.Dropped)
	}
	m = &Model{K: d.K, Members: []*Fit{bad, good}}
	if flows := m.refineForms(context.Background(), d, r, []form{netAlone, sparse}); len(flows) != 2 || m.Dropped != 0 {
		t.Errorf("%d flows with a good member beside, %d dropped", len(flows), m.Dropped)
	}
}

// A dense field keeps all of its terms, and those of one degree and output share a
// precision: for a rotation that of the squares is high.
func TestDenseFlowSharesPrecisions(t *testing.T) {
	d := turning(5, 20, 0.02)
	r := small()
	f, err := Train(context.Background(), d, r.Settings, 1)
	if err != nil {
		t.Fatal(err)
	}
	fl := f.newFlow(d, quadratic)
	if !fl.Shoot(context.Background(), d, 12) {
		t.Fatal("cannot be integrated")
	}
	if len(fl.Theta) != 12 || len(fl.Alpha) != 6 {
		t.Errorf("%d weights, %d precisions", len(fl.Theta), len(fl.Alpha))
	}
	for k := range 2 {
		if ofStates, ofSquares := fl.Alpha[2+k], fl.Alpha[4+k]; ofSquares < 10*ofStates {
			t.Errorf("output %d: precision %v of states, %v of products", k, ofStates, ofSquares)
		}
	}
	if !(fl.Free <= 10) {
		t.Errorf("%v effective parameters", fl.Free)
	}
}

// Terms without evidence are left out, except for the last: of a constant state.
func TestFieldOfAConstantState(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 9))
	d := &Data{K: 1}
	for s := range 3 {
		tr := Trajectory{X0: []float64{1 + float64(s)}}
		for i := range 12 {
			tr.T, tr.Y = append(tr.T, 5*float64(i)/11), append(tr.Y, tr.X0[0]+0.05*rng.NormFloat64())
		}
		d.Trajectories = append(d.Trajectories, tr)
	}
	r := small()
	r.Rounds, r.Refits, r.Final.Steps = 8, 2, 400
	var stages []string
	r.Progress = func(what string) { stages = append(stages, what) }
	m, err := Learn(context.Background(), d, r, 1)
	if err != nil {
		t.Fatal(err)
	}
	if len(stages) < 20 || stages[0] != "members are trained" || !slices.Contains(stages, "the smoother is distilled, 50 %") && !slices.Contains(stages, "the smoother is distilled, 52 %") {
		t.Errorf("stages %q", stages)
	}
	mean, std := make([]float64, 2), make([]float64, 2)
	m.Predict(mean, std, []float64{2}, []float64{1, 5})
	for i, v := range mean {
		if !(math.Abs(v-2) < 0.15) || !(std[i] > 0 && std[i] < 0.3) {
			t.Errorf("%v ± %v of a state that stays at 2", v, std[i])
		}
	}
}

// Flows within five nats of the best are kept, however few the data are; of many data
// those within a hundredth of a nat per scalar measurement.
func TestLikelyFlowsAreKept(t *testing.T) {
	few := turning(2, 5, 0)    // 20 numbers
	many := turning(50, 20, 0) // 2000 numbers
	flows := []*Flow{{Evidence: 4.9}, nil, {Evidence: 0}, {Evidence: 5.1}, {Evidence: 19}, {Evidence: 21}}
	for _, c := range []struct {
		d    *Data
		want int
	}{{few, 2}, {many, 4}} {
		if got := keepLikely(flows, c.d); len(got) != c.want {
			t.Errorf("%d numbers: %d flows are kept, want %d", c.d.Rows()*c.d.K, len(got), c.want)
		}
	}
}
