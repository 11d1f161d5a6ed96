package estimator

import (
	"github.com/dgm-robotics/dgm/estimator/dynamics"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/numeric/simd"
	"github.com/dgm-robotics/dgm/estimator/program"
)

// questionBlock answers sixteen questions at once, in single precision, by the program of the model: what is the same in
// all questions is evaluated once.
type questionBlock struct {
	kind      blockKind
	m         *model.Model
	code      *program.Program
	machine   *program.Machine[float32]
	condition model.Condition
	x, past   program.Reg
	plan      program.Reg
	mean, std program.Reg
	obs, ood  program.Reg
	rows      []float64  // T×K of one question
	score     []float64  // 1
	query     Query      // one question
	answer    Prediction // of one question, to correct
	none      []float64  // T×K, deviations that are not asked for
}

// blockKind is what a block is made for.
type blockKind struct {
	condition   model.Condition
	rows        int // of a plan
	step        float64
	x, past     bool // whether states and history differ between questions
	plan        bool
	widths, ood bool // what is asked for beside the means
}

// compileBlock returns the program of a kind of block.
func compileBlock(f *Fast, kind blockKind) *program.Program {
	outputs := []string{dynamics.Displacement}
	if kind.widths {
		outputs = append(outputs, dynamics.Std, dynamics.ObsStd)
	}
	if kind.ood {
		outputs = append(outputs, dynamics.OOD)
	}
	spec := dynamics.Spec{Condition: kind.condition, Times: f.plain.times, PlanRows: kind.rows, PlanStep: kind.step, MeansOnly: !kind.widths, Outputs: outputs}
	if f.c.interpolates {
		spec.Nodes = mostNodes
	}
	return dynamics.Compile(f.plain.m, spec)
}

// newQuestionBlock takes the memory for a program that compileBlock returned.
func newQuestionBlock(f *Fast, kind blockKind, p *program.Program) *questionBlock {
	m := f.plain.m
	var by []string
	for name, differs := range map[string]bool{dynamics.X: kind.x, dynamics.Past: kind.past || kind.x, dynamics.Plan: kind.plan} {
		if differs {
			by = append(by, name)
		}
	}
	b := &questionBlock{
		kind: kind, m: m, code: p, machine: program.NewOn[float32](p, program.Options{Lanes: simd.Width, ByLane: by}, f.c.unit), condition: kind.condition,
		rows: make([]float64, len(f.plain.times)*m.K), score: make([]float64, 1), none: make([]float64, len(f.plain.times)*m.K),
		answer: Prediction{Times: f.plain.times, Readout: kind.condition.Readout(), NoHistory: int(kind.condition) >= model.Readouts},
	}
	for name, r := range map[string]*program.Reg{dynamics.X: &b.x, dynamics.Past: &b.past, dynamics.Plan: &b.plan} {
		*r = portOf(p.Inputs, name)
	}
	for name, r := range map[string]*program.Reg{dynamics.Displacement: &b.mean, dynamics.Std: &b.std, dynamics.ObsStd: &b.obs, dynamics.OOD: &b.ood} {
		*r = portOf(p.Outputs, name)
	}
	return b
}

// start sets what is the same in all questions.
func (b *questionBlock) start(q *Query) {
	b.set(q, 0)
	b.machine.Start()
}

// set sets the inputs of one question.
func (b *questionBlock) set(q *Query, lane int) {
	m, machine := b.m, b.machine
	last := func(r program.Reg) int { return min(lane, machine.Lanes(r)-1) }
	for k, x := range q.X0 {
		machine.Set(b.x, k, 0, last(b.x), x)
	}
	row := m.K + m.P
	for i := 0; b.past != program.None && i < m.History.Rows()*row; i++ {
		v := q.History[i]
		if k := i % row; k < m.K {
			v -= q.X0[k]
		}
		machine.Set(b.past, i, 0, last(b.past), v)
	}
	if b.plan == program.None {
		return
	}
	u := q.Plan
	if len(u) == 0 {
		if u = q.U; u == nil {
			u = m.Inputs.InputMean
		}
	}
	for i, v := range u {
		machine.Set(b.plan, i%m.P, i/m.P, last(b.plan), v)
	}
}

// run predicts question first and the n-1 behind it, at most sixteen, and returns the place of the first whose answer is
// not finite; n = none. Answers are corrected by c, unless that is nil.
func (b *questionBlock) run(dst *Predictions, q *Questions, first, n int, c Correction) (failed int) {
	for lane := range simd.Width {
		b.query = q.At(first + min(lane, n-1)) // the last fills up
		b.set(effective(&b.query, c), lane)
	}
	b.machine.Run()
	K, size := b.m.K, len(b.rows)
	failed = n
	for lane := range n {
		at := first + lane
		x0 := q.States.Row(at)
		b.machine.Columns(b.rows, b.mean, lane)
		means := dst.Mean[at*size : (at+1)*size]
		for j, d := range b.rows {
			means[j] = x0[j%K] + d
		}
		b.answer.Mean, b.answer.Std, b.answer.ObsStd = means, b.none, b.none
		for _, width := range [...]struct {
			all []float64
			r   program.Reg
			to  *[]float64
		}{{dst.Std, b.std, &b.answer.Std}, {dst.ObsStd, b.obs, &b.answer.ObsStd}} {
			if width.all != nil {
				*width.to = width.all[at*size : (at+1)*size]
				b.machine.Columns(*width.to, width.r, lane)
			}
		}
		if c != nil {
			b.query = q.At(at)
			clear(b.none)
			c.Effective(&b.query) // what Correct is of
			c.Correct(&b.answer, &b.query)
		}
		finite := allFinite(means) && allFinite(b.answer.Std) && allFinite(b.answer.ObsStd)
		if dst.OOD != nil {
			b.machine.Columns(b.score, b.ood, lane)
			dst.OOD[at] = b.score[0]
		}
		if !finite {
			failed = min(failed, lane)
		}
	}
	return failed
}

// rest sets what is the same in all answers.
func (b *questionBlock) rest(dst *Predictions, p *Predictor) {
	half50 := model.Gaussian50
	if of, ok := model.ForCondition(b.m.Calibration, b.condition); ok {
		half50 = of.Half50
	}
	tube := p.correlations.tube(b.condition)
	for i := range dst.Half50 {
		dst.Half50[i] = half50
	}
	for i := range dst.Tube {
		dst.Tube[i] = tube[i%len(tube)]
	}
	for i := range dst.NoHistory {
		dst.NoHistory[i] = int(b.condition) >= model.Readouts
	}
}
