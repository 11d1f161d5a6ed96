package estimator_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/dgm-robotics/dgm/estimator"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/model/artificial"
)

// questions draws n questions to a model, each with all that it reads.
func questions(rng *rand.Rand, m *model.Model, n int) estimator.Questions {
	rows := m.History.Rows()
	q := estimator.NewQuestions(m, 5, rows)
	q.States.X, q.U.X, q.Plans.X = normal(rng, n*m.K), normal(rng, m.P), normal(rng, n*5*m.P)
	q.History.X = normal(rng, rows*(m.K+m.P))
	return q
}

func newBatch(t testing.TB, m *model.Model, times []float64, workers int) *estimator.Batch {
	t.Helper()
	b, err := estimator.NewBatch(m, times, workers)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// room returns memory for n answers of a batch.
func room(b *estimator.Batch, n int) *estimator.Predictions {
	all := n * len(b.Times()) * b.Model().K
	d := &estimator.Predictions{
		Mean: make([]float64, all), Std: make([]float64, all), ObsStd: make([]float64, all),
		OOD: make([]float64, n), Half50: make([]float64, n), NoHistory: make([]bool, n),
	}
	d.InputJacobian = make([]float64, all*5*b.Model().P)
	if b.Model().Displacement {
		d.Jacobian = make([]float64, all*b.Model().K)
	}
	return d
}

func TestBatchAnswersAsFast(t *testing.T) {
	all, n := fastModels(t), 9
	for name := range shapes {
		all[name], _ = make1(name, 61)
	}
	if os.Getenv("DGM_SLOW") == "" {
		n = 4
	}
	for name, m := range all {
		rng := rand.New(rand.NewPCG(62, 1))
		q := questions(rng, m, n)
		b := newBatch(t, m, mixed(m, 19), 3)
		d := room(b, n)
		if err := b.Predict(d, &q); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		f, err := estimator.NewFast(m, mixed(m, 19))
		if err != nil {
			t.Fatal(err)
		}
		one, means := f.NewPrediction(), f.NewPrediction()
		one.WithInputJacobian(5 * m.P)
		if d.Jacobian != nil {
			one.WithJacobian()
		}
		size := len(one.Mean)
		for i := range n {
			query := q.At(i)
			if !f.Predict(one, &query) || !f.Means(means, &query) {
				t.Fatalf("%s: question %d: not finite", name, i)
			}
			same := slices.Equal(d.Mean[i*size:(i+1)*size], one.Mean) && slices.Equal(d.Std[i*size:(i+1)*size], one.Std) &&
				slices.Equal(d.ObsStd[i*size:(i+1)*size], one.ObsStd) && d.OOD[i] == one.OOD && d.Half50[i] == one.Half50 && d.NoHistory[i] == one.NoHistory
			same = same && slices.Equal(d.InputJacobian[i*len(one.InputJacobian):(i+1)*len(one.InputJacobian)], one.InputJacobian)
			if !same || !slices.Equal(d.Jacobian[i*len(one.Jacobian):(i+1)*len(one.Jacobian)], one.Jacobian) {
				t.Fatalf("%s: the answer to question %d is not the prediction", name, i)
			}
			if !slices.Equal(means.Mean, one.Mean) || means.OOD > one.OOD || means.NoHistory != one.NoHistory {
				t.Fatalf("%s: means of question %d differ from those with standard deviations", name, i)
			}
		}
		alone := &estimator.Predictions{Mean: make([]float64, len(d.Mean))}
		if err := b.Predict(alone, &q); err != nil || !slices.Equal(alone.Mean, d.Mean) {
			t.Fatalf("%s: means alone differ: %v", name, err)
		}
	}
}

// A batch takes no memory for its answers; with more than one worker the runtime may take some for their goroutines.
func TestBatchDoesNotAllocate(t *testing.T) {
	all, n := fastModels(t), 4
	for name := range shapes {
		all[name], _ = make1(name, 61)
	}
	for name, m := range all {
		for _, workers := range []int{1, 3} {
			q := questions(rand.New(rand.NewPCG(62, 1)), m, n)
			plans := q
			if m.Displacement && m.P > 0 {
				plans.States.X = plans.States.X[:m.K] // in blocks of sixteen
			}
			b := newBatch(t, m, mixed(m, 19), workers)
			derivatives := room(b, n)
			means := &estimator.Predictions{Mean: make([]float64, len(derivatives.Mean))}
			least := math.Inf(1) // of four tries: other programs that have the processor make some
			for try := 0; try < 4 && least > float64(3*(workers-1)); try++ {
				least = min(least, testing.AllocsPerRun(3, func() {
					if b.Predict(derivatives, &q) != nil || b.Predict(means, &q) != nil || b.Predict(means, &plans) != nil {
						t.Fatalf("%s: not finite", name)
					}
				}))
			}
			if least > float64(3*(workers-1)) {
				t.Errorf("%s, %d workers: %v allocations", name, workers, least)
			}
		}
	}
}

// Means of many plans from one start are those of a Fast but for rounding: in blocks of
// sixteen, the last of which is not full.
func TestBatchOfPlans(t *testing.T) {
	for name, m := range fastModels(t) {
		if !m.Displacement || m.P == 0 {
			continue
		}
		rng := rand.New(rand.NewPCG(65, 1))
		n := 37
		for _, step := range []float64{0, 0.37 * m.Horizon} {
			q := questions(rng, m, n)
			q.States.X, q.PlanStep = q.States.X[:m.K], step
			b := newBatch(t, m, mixed(m, 19), 2)
			d := &estimator.Predictions{Mean: make([]float64, n*19*m.K), OOD: make([]float64, n), NoHistory: make([]bool, n)}
			f, err := estimator.NewFast(m, mixed(m, 19))
			if err != nil {
				t.Fatal(err)
			}
			one := f.NewPrediction()
			if err := b.Predict(d, &q); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			worst := 0.0
			for i := range n {
				query := q.At(i)
				if !f.Predict(one, &query) {
					t.Fatalf("%s: question %d: not finite", name, i)
				}
				for j, want := range one.Mean {
					worst = math.Max(worst, math.Abs(d.Mean[i*len(one.Mean)+j]-want)/one.ObsStd[j])
				}
				if f.Means(one, &query); math.Abs(d.OOD[i]-one.OOD) > 1e-5*one.OOD || d.NoHistory[i] != one.NoHistory {
					t.Fatalf("%s: question %d: score %v, expected %v", name, i, d.OOD[i], one.OOD)
				}
			}
			if worst > 1e-4 {
				t.Errorf("%s, rows of %g s: means differ by %.2g standard deviations", name, step, worst)
			}
			t.Logf("%s: %.2g", name, worst)
		}
	}
}

// correlated returns a covariance of K states whose first two have these covariances and variances of 1.
func correlated(K int, upper, lower float64) []float64 {
	P := make([]float64, K*K)
	for k := range K {
		P[k*K+k] = 1
	}
	P[1], P[K] = upper, lower
	return P
}

func TestBatchRefuses(t *testing.T) {
	m, rng := make1("windows", 63)
	b := newBatch(t, m, nil, 2)
	paper, _ := make1("paper", 63)
	for name, c := range map[string]struct {
		m     *model.Model
		spoil func(q *estimator.Questions)
		field string
	}{
		"no state":           {m, func(q *estimator.Questions) { q.States.X = nil }, "states"},
		"part of a state":    {m, func(q *estimator.Questions) { q.States.X = q.States.X[1:] }, "states"},
		"NaN":                {m, func(q *estimator.Questions) { q.States.X[3] = math.NaN() }, "states"},
		"too far":            {m, func(q *estimator.Questions) { q.States.X[5] = 1e300 }, "states"},
		"infinite plan":      {m, func(q *estimator.Questions) { q.Plans.X[7] = math.Inf(1) }, "plans"},
		"other number":       {m, func(q *estimator.Questions) { q.Plans.X = q.Plans.X[:len(q.Plans.X)/2] }, "plans"},
		"inputs":             {m, func(q *estimator.Questions) { q.U.X = []float64{1} }, "u"},
		"negative step":      {m, func(q *estimator.Questions) { q.PlanStep = -1 }, "plan_step"},
		"history, none read": {m, func(q *estimator.Questions) { q.History.Size, q.History.X = 6, make([]float64, 6) }, "history"},
		"P0, paper's form":   {paper, func(q *estimator.Questions) { q.P0.X = make([]float64, 9) }, "P0"},
		"negative variance":  {m, func(q *estimator.Questions) { q.P0.X = make([]float64, m.K*m.K); q.P0.X[0] = -1 }, "P0"},
		"not symmetric":      {m, func(q *estimator.Questions) { q.P0.X = correlated(m.K, 0.5, 0.4) }, "P0"},
		"correlation 1.1":    {m, func(q *estimator.Questions) { q.P0.X = correlated(m.K, 1.1, 1.1) }, "P0"},
		"plan, no inputs":    {paper, func(q *estimator.Questions) { q.Plans.X = make([]float64, 9) }, "plans"},
	} {
		own := b
		if c.m != m {
			own = newBatch(t, c.m, nil, 2)
		}
		q := questions(rng, c.m, 4)
		c.spoil(&q)
		d := &estimator.Predictions{Mean: make([]float64, 4*len(own.Times())*c.m.K)}
		var e *estimator.QuestionError
		if err := own.Predict(d, &q); !errors.As(err, &e) || e.Field != c.field {
			t.Errorf("%s: %v, want one of %s", name, err, c.field)
		}
		q = questions(rng, c.m, 4)
		if err := own.Predict(d, &q); err != nil {
			t.Errorf("after %s: %v", name, err)
		}
	}
	q := questions(rng, m, 4)
	defer func() {
		if p := recover(); p != estimator.WrongLength {
			t.Errorf("memory of a wrong length: %v", p)
		}
	}()
	_ = b.Predict(&estimator.Predictions{Mean: make([]float64, 3)}, &q)
}

// The Jacobian is that of the mean: where the input is held, to the precision of central
// differences; that of a Fast is the plain one's in single precision.
func TestJacobian(t *testing.T) {
	for name := range shapes {
		m, rng := make1(name, 64)
		if !m.Displacement {
			continue
		}
		q := query(rng, m, 0)
		times := grid(19)
		p := newPredictor(t, m, times)
		plain, without := p.NewPrediction().WithJacobian(), p.NewPrediction()
		f, err := estimator.NewFast(m, times)
		if err != nil {
			t.Fatal(err)
		}
		fast, bare := f.NewPrediction().WithJacobian(), f.NewPrediction()
		if !p.Predict(plain, &q) || !f.Predict(fast, &q) || !p.Predict(without, &q) || !f.Predict(bare, &q) {
			t.Fatalf("%s: not finite", name)
		}
		for j := range plain.Std {
			if plain.Std[j] != without.Std[j] || fast.Std[j] != bare.Std[j] || fast.Mean[j] != bare.Mean[j] {
				t.Fatalf("%s: the Jacobian changes the prediction", name)
			}
		}
		tolerance := 1e-4
		if len(m.Actuators) > 0 { // whose outputs change within the steps
			tolerance = 3e-3
		}
		want := jacobian(t, m, times, q)
		for i := range times {
			for j, w := range want[i] {
				near(t, name+": Jacobian", plain.Jacobian[i*m.K*m.K+j], w, 1e-6)
				near(t, name+": Jacobian of a Fast", fast.Jacobian[i*m.K*m.K+j], w, tolerance)
			}
		}
	}
}

// BenchmarkBatch is 1,000 plans: as a planner's samples ask for them, beside a loop over
// single predictions and beside 200 trajectories drawn from the prediction of each.
func BenchmarkBatch(b *testing.B) {
	for name, c := range map[string]struct {
		size  artificial.Size
		times int
	}{
		"5x56":  {artificial.Size{K: 5, P: 2, Features: 100, Basis: 2, Members: 3, D: 3, Core: []int{32, 32}, Points: 56, Horizon: 0.5, Equation: 2}, 56},
		"12x20": {artificial.Size{K: 12, P: 4, Features: 100, Basis: 2, Members: 3, D: 3, Core: []int{32, 32}, Points: 20, Horizon: 0.5, Equation: 2}, 20},
	} {
		m := artificial.New(c.size, 1)
		benchmarkBatch(b, name, m, 1000)
	}
}

func benchmarkBatch(b *testing.B, name string, m *model.Model, n int) {
	rng := rand.New(rand.NewPCG(1, 1))
	q := questions(rng, m, n)
	q.States.X = q.States.X[:m.K]
	for _, workers := range []int{1, 4} {
		batch := newBatch(b, m, nil, workers)
		d := room(batch, n)
		for what, dst := range map[string]*estimator.Predictions{"means": {Mean: d.Mean}, "std": {Mean: d.Mean, Std: d.Std}, "jacobian": {Mean: d.Mean, Jacobian: d.Jacobian}} {
			b.Run(fmt.Sprintf("%s/batch/%s/%d", name, what, workers), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if err := batch.Predict(dst, &q); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
	f, err := estimator.NewFast(m, nil)
	if err != nil {
		b.Fatal(err)
	}
	p := f.NewPrediction()
	b.Run(name+"/loop", func(b *testing.B) {
		for b.Loop() {
			for i := range n {
				query := q.At(i)
				f.Predict(p, &query)
			}
		}
	})
	s, err := estimator.NewTrajectories(m, nil)
	if err != nil {
		b.Fatal(err)
	}
	b.Run(name+"/200 trajectories, of one plan", func(b *testing.B) {
		one := make([]float64, len(p.Mean))
		for b.Loop() {
			query := q.At(0)
			f.Predict(p, &query)
			s.Start(p, &query)
			for range 200 {
				s.Draw(one, rng.NormFloat64)
			}
		}
	})
}

// doubled predicts from twice the plan and adds one to the means: a Correction whose answers are known.
type doubled struct{ query estimator.Query }

func (d *doubled) Effective(q *estimator.Query) *estimator.Query {
	d.query = *q
	d.query.Plan = append([]float64(nil), q.Plan...)
	for i := range d.query.Plan {
		d.query.Plan[i] *= 2
	}
	return &d.query
}

func (d *doubled) Correct(dst *estimator.Prediction, _ *estimator.Query) bool {
	for j := range dst.Mean {
		dst.Mean[j]++
		dst.Std[j] *= 2
	}
	return true
}

// A batch corrects its answers, whether it predicts sixteen at once or one after the other.
func TestBatchIsCorrected(t *testing.T) {
	m, rng := make1("stack", 91)
	const n = 40
	q := questions(rng, m, n)
	q.P0.X = nil
	b := newBatch(t, m, nil, 2)
	b.Corrected(func() estimator.Correction { return &doubled{} })
	f, err := estimator.NewFast(m, nil)
	if err != nil {
		t.Fatal(err)
	}
	one := f.NewPrediction()
	size := len(one.Mean)
	for _, together := range []bool{true, false} {
		d := &estimator.Predictions{Mean: make([]float64, n*size), Std: make([]float64, n*size), ObsStd: make([]float64, n*size)}
		if !together {
			d.Covariance = make([]float64, n*size*m.K)
		}
		if err := b.Predict(d, &q); err != nil {
			t.Fatal(err)
		}
		for i := range n {
			query := q.At(i)
			if !f.Predict(one, (&doubled{}).Effective(&query)) {
				t.Fatal("not finite")
			}
			for j, mean := range one.Mean {
				near(t, "mean", d.Mean[i*size+j], mean+1, 1e-4)
				near(t, "std", d.Std[i*size+j], 2*one.Std[j], 1e-4)
			}
		}
	}
}
