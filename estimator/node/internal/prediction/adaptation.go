package prediction

import (
	"errors"
	"sync"

	"github.com/dgm-robotics/dgm/estimator"
	"github.com/dgm-robotics/dgm/estimator/adapt"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/node/internal/intake"
	"github.com/dgm-robotics/dgm/estimator/priordynamics"
	"github.com/dgm-robotics/dgm/estimator/wire"
)

// Correction applies what adaptation has learned to the predictions of one model.
type Correction struct {
	State   *adapt.State // nil = predictions stay as they are
	Applied bool         // to the last prediction

	corrector *adapt.Corrector
}

// NewCorrection returns nil for a model that cannot adapt.
func NewCorrection(m *model.Model) *Correction {
	if c := adapt.NewCorrector(m); c != nil {
		return &Correction{corrector: c}
	}
	return nil
}

// corrected is a predictor whose predictions are corrected.
type corrected struct {
	Predictor
	by *Correction
}

func (c *corrected) Predict(dst *estimator.Prediction, q *estimator.Query) (ok bool) {
	c.by.Applied = false
	if ok = c.Predictor.Predict(dst, c.by.Effective(q)); ok {
		c.by.Correct(dst, q)
	}
	return ok
}

// Effective returns the query that is predicted from.
func (c *Correction) Effective(q *estimator.Query) *estimator.Query {
	if c.State == nil {
		return q
	}
	return c.corrector.Effective(q, c.State)
}

// Correct corrects a prediction from Effective of a query, and reports whether it did.
func (c *Correction) Correct(dst *estimator.Prediction, q *estimator.Query) bool {
	c.Applied = c.State != nil && c.corrector.Correct(dst, q, c.State)
	return c.Applied
}

// Adjoint returns the gradient of the model's mean and standard deviations, as the Jacobians of Predict are: without what is
// added to them, with the gains that act in the whole model.
func (c *corrected) Adjoint(dst *estimator.Gradient, q *estimator.Query, mean, std []float64) (ok bool) {
	if c.by.State == nil {
		return c.Predictor.Adjoint(dst, q, mean, std)
	}
	ok = c.Predictor.Adjoint(dst, c.by.Effective(q), mean, std)
	c.by.corrector.ByCommands(dst)
	return ok
}

// adaptation learns in flight how the robot differs from that of the training data.
type adaptation struct {
	filter     *adapt.Filter
	correction *Correction // nil = predictions stay as they are

	change  *priordynamics.Change // of the robot, as the filter of the model reads it
	samples []sample              // that were taken and not learned from, the first n
	n       int
	learned int64 // ns, steady, when the last sample came; 0 = none came
	reset   bool  // what was learned was forgotten on command
	without bool  // the last state came without its input
}

// sample is a state and the input that was applied from then on.
type sample struct {
	t    int64     // ns
	x, u []float64 // K, P
}

// mostSamples is how many samples wait at most; with more the oldest are learned from before
// a prediction is made.
const mostSamples = 256

// adapts reports whether a setting asks for adaptation.
func adapts(setting string) bool { return setting == wire.AdaptWatch || setting == wire.AdaptOn }

// verifyAdapt verifies this program's adaptation once.
var verifyAdapt = sync.OnceValue(adapt.VerifyBuild)

// newAdaptation returns nil for a setting that is off, or with why the model cannot adapt. of
// then makes predictors whose predictions are corrected, where the setting is on.
func newAdaptation(setting string, of *Predictors) (a *adaptation, note string, err error) {
	if !adapts(setting) {
		return nil, "", nil
	}
	m := of.Model
	f, err := adapt.New(m, func(times []float64) (adapt.Predictor, error) { return of.uncorrected(times) })
	if errors.Is(err, adapt.ErrNone) {
		return nil, err.Error(), nil
	}
	if err == nil {
		err = verifyAdapt()
	}
	if err != nil {
		return nil, "", err
	}
	a = &adaptation{filter: f, change: priordynamics.NewChange(m.K, m.P), samples: make([]sample, mostSamples)}
	for i := range a.samples {
		a.samples[i] = sample{x: make([]float64, m.K), u: make([]float64, m.P)}
	}
	if setting == wire.AdaptOn {
		a.correction = NewCorrection(m)
		a.correction.State = f.State()
		of.Correction = a.correction
	}
	return a, "", nil
}

// take keeps an arrival for learn. What comes without the input that was applied cannot be
// learned from.
func (a *adaptation) take(v *intake.Arrival) {
	if a == nil || v.Unsettled {
		return
	}
	s := &a.samples[a.n]
	if a.without = len(v.State.U) != len(s.u); a.without {
		return
	}
	s.t, a.learned = v.State.T, v.At
	copy(s.x, v.State.X)
	copy(s.u, v.State.U)
	if a.n++; a.n == len(a.samples) {
		a.learn()
	}
}

// learn learns from the samples that were taken.
func (a *adaptation) learn() {
	if a == nil {
		return
	}
	for i := range a.samples[:a.n] {
		s := &a.samples[i]
		a.filter.Observed(s.t, s.x, s.u)
	}
	a.n = 0
}

// changed returns how the robot differs from the model in what is published; nil = predictions stay as they are.
func (a *adaptation) changed() *priordynamics.Change {
	if a == nil || a.correction == nil {
		return nil
	}
	a.filter.Change(a.change)
	return a.change
}

// applied reports whether the last prediction was corrected.
func (a *adaptation) applied() bool { return a != nil && a.correction != nil && a.correction.Applied }

// replace continues what another one has learned of the robot, where the models' robots are of
// one kind.
func (a *adaptation) replace(before *adaptation) {
	if a == nil || before == nil {
		return
	}
	if a.filter.Adopt(before.filter.State()) == nil {
		a.learned, a.reset, a.without = before.learned, before.reset, before.without
	}
}

// AdaptationReport is what adaptation has learned.
type AdaptationReport struct {
	State *adapt.State // nil = nothing is learned
	Model *model.Model // of the state
	Note  string       // why nothing is learned; "" = something is, or adaptation is switched off
}

const noInputs = "states come without u, the input that is applied: send it in every state"

// report writes what was learned to r, in its memory.
func (l *Loaded) report(r *AdaptationReport) {
	a := l.adaptation
	r.Model, r.Note = l.Model, l.AdaptNote
	if a == nil {
		r.State = nil
		return
	}
	if a.without {
		r.Note = noInputs
	}
	if r.State == nil {
		r.State = new(adapt.State)
	}
	r.State.CopyFrom(a.filter.State())
}

// RestoreAdaptation restores what was learned by a model of the same kind and saved, at a
// time, ns, Unix. Without adaptation it does nothing.
func (l *Loaded) RestoreAdaptation(saved []byte, unix int64) error {
	if l.adaptation == nil || len(saved) == 0 {
		return nil
	}
	l.Adaptation, l.Unix = saved, unix
	return l.adaptation.filter.RestoreSaved(saved, unix)
}

// AdaptKind describes what is learned, "" = nothing is. Where it is the same for two models,
// the second continues with what the first has learned.
func (l *Loaded) AdaptKind() string { return l.adaptKind }

// ResetAdaptation forgets what was learned. It reports whether anything is.
func (e *Engine) ResetAdaptation() (ok bool) {
	a := e.Loaded.adaptation
	if a == nil {
		return false
	}
	a.filter.Reset()
	a.n, a.reset = 0, true
	return true
}

// CopyAdaptation copies to dst what predictions are corrected by. ok is false where they are
// not.
func (e *Engine) CopyAdaptation(dst *adapt.State) (ok bool) {
	a := e.Loaded.adaptation
	if a == nil || a.correction == nil {
		return false
	}
	dst.CopyFrom(a.filter.State())
	return true
}

// AppendAdaptation appends what was learned to dst, if anything is or was forgotten: the clock
// shows unix and steady, ns.
func (e *Engine) AppendAdaptation(dst []byte, unix, steady int64) []byte {
	a := e.Loaded.adaptation
	if a == nil || a.learned == 0 && !a.reset {
		return dst
	}
	if a.learned > 0 {
		unix -= max(steady-a.learned, 0)
	}
	return a.filter.State().Append(dst, unix)
}
