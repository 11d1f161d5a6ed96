package estimator

import (
	"fmt"
	"math"

	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/numeric/simd"
	"github.com/dgm-robotics/dgm/estimator/program"
)

// Batch answers many questions concurrently on several processors. It allocates nothing after NewBatch, except
// for gradients and for means of plans of another size or step. It is not safe for concurrent use.
type Batch struct {
	m       *model.Model
	workers []batchWorker
	next    chan int // the first question that no worker has, passed from one to the other
	done    chan any // of each worker: what it panicked with
	chunk   int      // questions that a worker takes at once
	n       int
	q       *Questions
	dst     *Predictions
	blocks  bool // sixteen questions are answered at once
}

// Corrected corrects the means and deviations of all later answers, but not their derivatives, by what
// adaptation has learned. next returns a correction for one worker; nil ends it.
func (b *Batch) Corrected(next func() Correction) {
	for i := range b.workers {
		if b.workers[i].correction = nil; next != nil {
			b.workers[i].correction = next()
		}
	}
}

// batchWorker answers questions on a goroutine of its own.
type batchWorker struct {
	of     *Batch
	fast   *Fast
	block  *questionBlock // nil = questions or answers need more than it has
	own    *Prediction    // memory for what is not asked for
	bars   *Gradient      // nil = none was asked for
	answer Prediction     // in the caller's memory
	query  Query
	failed int    // the first question without a finite answer
	run    func() // until no question is left

	correction Correction // nil = none
}

// NewBatch allocates the memory for predictions of a model at the given times, as New does, by at least one
// worker. Each worker keeps a processor busy.
func NewBatch(m *model.Model, times []float64, workers int) (*Batch, error) {
	first, err := NewFast(m, times)
	if err != nil {
		return nil, err
	}
	return newBatch(first, workers)
}

// Batch returns a Batch for other times, which shares with f the data that depend on the model alone. Different
// goroutines may use the two.
func (f *Fast) Batch(times []float64, workers int) (*Batch, error) {
	first, err := f.For(times)
	if err != nil {
		return nil, err
	}
	return newBatch(first, workers)
}

// newBatch returns a Batch whose first worker has the given Fast.
func newBatch(first *Fast, workers int) (*Batch, error) {
	b := &Batch{m: first.Model(), next: make(chan int, 1), done: make(chan any, workers), workers: make([]batchWorker, workers)}
	for i := range b.workers {
		w, fast := &b.workers[i], first
		if i > 0 {
			var err error
			if fast, err = first.For(first.plain.times); err != nil {
				return nil, err
			}
		}
		*w = batchWorker{of: b, fast: fast, own: fast.NewPrediction(), run: w.ask}
	}
	return b, nil
}

// Times returns the T times of the predictions, s.
func (b *Batch) Times() []float64 { return b.workers[0].own.Times }

// Model returns the model that is evaluated. It must not be changed.
func (b *Batch) Model() *model.Model { return b.m }

// Predict answers questions. It returns a *QuestionError if a row does not fit the model, is not finite or has
// no finite answer; dst is then invalid. It panics if a length of dst does not fit the questions.
func (b *Batch) Predict(dst *Predictions, q *Questions) error {
	n, err := q.Count(b.m)
	if err != nil {
		return err
	}
	b.dst, b.q, b.n = dst, q, n
	b.fits(dst)
	if err := b.adjoints(); err != nil {
		return err
	}
	workers := b.workers[:min(len(b.workers), n)]
	b.chunk = max(1, n/(16*len(workers)))
	if b.setBlocks(); b.blocks {
		b.chunk = (b.chunk + simd.Width - 1) / simd.Width * simd.Width
	}
	b.next <- 0
	for i := range workers[1:] {
		go workers[i+1].run()
	}
	workers[0].run()
	var panicked any
	for range workers {
		if p := <-b.done; p != nil {
			panicked = p
		}
	}
	<-b.next
	b.dst, b.q = nil, nil // the caller's memory
	if panicked != nil {
		panic(panicked)
	}
	if b.blocks {
		b.workers[0].block.rest(dst, b.workers[0].fast.plain)
	}
	failed := math.MaxInt
	for i := range workers {
		failed = min(failed, workers[i].failed)
	}
	if failed < math.MaxInt {
		return &QuestionError{Field: "states", Text: fmt.Sprintf("the answer to question %d is not finite; are state, inputs and plan plausible?", failed), NotFinite: true}
	}
	return nil
}

// fits panics if a length of dst does not fit the questions.
func (b *Batch) fits(dst *Predictions) {
	all := b.n * len(b.workers[0].own.Mean)
	for _, f := range [...]struct {
		x    []float64
		want int
	}{{dst.Mean, all}, {dst.Std, all}, {dst.ObsStd, all}, {dst.Jacobian, all * b.m.K}, {dst.InputJacobian, all * max(b.q.Plans.Size, b.m.P)}, {dst.Covariance, all * b.m.K}, {dst.StartGradient, b.n * b.m.K}, {dst.PlanGradient, b.n * max(b.q.Plans.Size, b.m.P)}, {dst.Tube, b.n * len(Tube{})}, {dst.OOD, b.n}, {dst.Half50, b.n}} {
		if f.x != nil && len(f.x) != f.want {
			panic(wrongLength)
		}
	}
	if dst.NoHistory != nil && len(dst.NoHistory) != b.n || dst.Jacobian != nil && !b.m.Displacement {
		panic(wrongLength)
	}
}

// adjoints takes the workers' memory for gradients where these are asked for, or returns what
// is wrong with their questions.
func (b *Batch) adjoints() error {
	of, size, numbers := &b.q.MeanAdjoint, len(b.workers[0].own.Mean), max(b.q.Plans.Size, b.m.P)
	switch asked := b.gradients(); {
	case !asked:
		return nil
	case len(of.X) == 0:
		return of.wrong("is missing: the derivatives of a cost by the means, which gradients are taken of")
	case of.Size != size || len(b.q.StdAdjoint.X) > 0 && b.q.StdAdjoint.Size != size:
		panic(wrongLength)
	}
	first := b.q.At(0) // all questions are of one condition
	for i := range b.workers {
		w := &b.workers[i]
		if w.bars == nil || len(w.bars.Plan) != numbers {
			w.bars = w.fast.NewGradient(numbers)
		}
		w.fast.prepareAdjoint(&first, len(b.q.StdAdjoint.X) > 0)
	}
	return nil
}

// setBlocks sets blocks, and takes the workers' memory for them.
func (b *Batch) setBlocks() {
	kind, ok := b.blockKindOf()
	if b.blocks = ok; !ok {
		return
	}
	var code *program.Program // the workers'
	for i := range b.workers {
		w := &b.workers[i]
		if w.block != nil && w.block.kind == kind {
			code = w.block.code
			continue
		}
		if code == nil {
			code = compileBlock(w.fast, kind)
		}
		w.block = newQuestionBlock(w.fast, kind, code)
	}
}

// mostBlockTimes is at how many times sixteen questions are answered at once: at more their numbers leave the processor's
// cache.
const mostBlockTimes = 512

// blockKindOf returns the kind of block that answers questions; ok is false where questions or answers need more.
func (b *Batch) blockKindOf() (kind blockKind, ok bool) {
	q, d, m := b.q, b.dst, b.m
	f := b.workers[0].fast
	if b.n < simd.Width || f.c == nil || len(b.Times()) > mostBlockTimes || !m.Displacement || d.Mean == nil || b.gradients() || d.Jacobian != nil || d.InputJacobian != nil || d.Covariance != nil {
		return kind, false
	}
	kind = blockKind{x: !q.States.Same(), past: !q.History.Same(), widths: d.Std != nil || d.ObsStd != nil, ood: d.OOD != nil}
	if kind.widths && len(q.P0.X) > 0 {
		return kind, false
	}
	readout := Plan
	switch {
	case m.P == 0:
	case len(q.Plans.X) > 0:
		kind.rows, kind.step, kind.plan = q.Plans.Size/m.P, q.PlanStep, !q.Plans.Same()
		if kind.step == 0 {
			kind.step = m.Horizon / float64(kind.rows)
		}
	default:
		readout, kind.rows, kind.step, kind.plan = Hold, 1, m.Horizon, !q.U.Same()
	}
	kind.condition = readout.Condition(len(q.History.X) == 0 && m.History.Rows() > 0 || q.History.Size < m.History.Rows()*(m.K+m.P))
	// To compile a program takes about so many questions.
	return kind, (kind.x || kind.past || kind.plan) && b.n >= kind.rows
}

// gradients reports whether any is asked for.
func (b *Batch) gradients() bool { return b.dst.StartGradient != nil || b.dst.PlanGradient != nil }

// ask answers questions until none is left.
func (w *batchWorker) ask() {
	defer func() { w.of.done <- recover() }()
	b := w.of
	w.failed = math.MaxInt
	if b.blocks {
		w.query = b.q.At(0)
		w.block.start(effective(&w.query, w.correction))
	}
	for {
		first := <-b.next
		last := min(first+b.chunk, b.n)
		b.next <- last
		if first >= b.n {
			return
		}
		for i := first; i < last && b.blocks; i += simd.Width {
			n := min(simd.Width, last-i)
			if failed := w.block.run(b.dst, b.q, i, n, w.correction); failed < n {
				w.failed = min(w.failed, i+failed)
			}
		}
		for i := first; i < last && !b.blocks; i++ {
			if !w.askOne(i) {
				w.failed = min(w.failed, i)
			}
		}
	}
}

// askOne answers question i.
func (w *batchWorker) askOne(i int) (ok bool) {
	dst, p, n := w.of.dst, &w.answer, w.of.n
	w.query = w.of.q.At(i)
	*p = *w.own
	for _, f := range [...]struct{ to, from *[]float64 }{
		{&p.Mean, &dst.Mean}, {&p.Std, &dst.Std}, {&p.ObsStd, &dst.ObsStd}, {&p.Jacobian, &dst.Jacobian}, {&p.InputJacobian, &dst.InputJacobian}, {&p.Correlation, &dst.Covariance},
	} {
		if size := len(*f.from) / n; size > 0 {
			*f.to = (*f.from)[i*size : (i+1)*size]
		}
	}
	q := effective(&w.query, w.correction)
	if dst.meansAlone() && w.correction == nil {
		ok = w.fast.Means(p, q)
	} else {
		ok = w.fast.Predict(p, q)
	}
	if ok && w.correction != nil {
		w.correction.Correct(p, &w.query)
	}
	if p.Correlation != nil {
		p.Covariance(p.Correlation) // in its place
	}
	if g := w.bars; w.of.gradients() {
		ok = w.fast.Adjoint(g, &w.query, w.of.q.MeanAdjoint.Row(i), w.of.q.StdAdjoint.Row(i)) && ok
		copyRow(dst.StartGradient, g.X0, i)
		copyRow(dst.PlanGradient, g.Plan, i)
	}
	if levels := len(p.Tube); dst.Tube != nil {
		copy(dst.Tube[i*levels:(i+1)*levels], p.Tube[:])
	}
	if dst.OOD != nil {
		dst.OOD[i] = p.OOD
	}
	if dst.Half50 != nil {
		dst.Half50[i] = p.Half50
	}
	if dst.NoHistory != nil {
		dst.NoHistory[i] = p.NoHistory
	}
	return ok
}

// copyRow copies row i to dst, unless that is nil.
func copyRow(dst, row []float64, i int) {
	if dst != nil {
		copy(dst[i*len(row):], row)
	}
}
