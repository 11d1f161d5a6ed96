// Package prediction turns states into messages. A task passes through one pure step,
// from the state and what was decided by the clock to the message, or to the reason
// why there is none. So the same tasks give the same messages, bit for bit, which is
// what a replay relies on.
package prediction

import (
	"time"

	"github.com/dgm-robotics/dgm/estimator"
	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/feature"
	"github.com/dgm-robotics/dgm/estimator/history"
	"github.com/dgm-robotics/dgm/estimator/node/internal/intake"
	"github.com/dgm-robotics/dgm/estimator/node/journal"
	"github.com/dgm-robotics/dgm/estimator/trust"
	"github.com/dgm-robotics/dgm/estimator/wire"
)

// Task is one prediction to be made: the state, and what was decided by the clock.
type Task struct {
	Arrival   *intake.Arrival
	Tick      uint64 // 0 = the answer to a state
	Due       int64  // ns, steady: the tick, or when work on the state began
	Level     int    // of the horizon
	Fresh     bool   // the first task of its state
	Contested bool   // a peer instance answers for the vehicle

	// Clock is read once, when the prediction is ready: ns, unix is 0 where the
	// robot's clock is another.
	Clock func() (unix, steady int64)
}

// Age returns how old the state of a task is at its time, ns.
func (t *Task) Age() int64 { return max(t.Arrival.Age+t.Due-t.Arrival.At, 0) }

// Start returns when the time of the deadline began, ns: with the tick, or when the
// state came.
func (t *Task) Start() int64 {
	if t.Tick > 0 {
		return t.Due
	}
	return t.Arrival.At
}

// Message is what a task becomes.
type Message struct {
	wire.Prediction
	Bytes       []byte // the encoded prediction
	Ready, Unix int64  // ns, steady and on the wall clock, when the prediction was ready
}

// Engine predicts with one model at a time. It is for one goroutine.
type Engine struct {
	Loaded *Loaded
	Shadow *Shadow // nil = none

	settings *journal.Settings
	monitor  *trust.Monitor // nil = switched off

	message     Message
	made        *estimator.Prediction // of the last step; nil = none
	query       estimator.Query
	resets      [history.Resets]uint64
	plans       plans
	planFlags   wire.Flags // of the present task
	propagated  bool       // the propagator starts at the state of the present task
	factor      []float64  // T×K
	std, obsStd []float64  // T×K, widened
	untilCheck  int        // predictions until the next consistency check
}

// NewEngine returns an engine that predicts under the settings.
func NewEngine(s *journal.Settings, l *Loaded) *Engine {
	e := &Engine{settings: s, plans: plans{timed: s.TimedPlans}}
	e.Use(l)
	return e
}

// Use replaces the model, and what is known of the intervals of the last one by what
// is known of this one's. The samples of the stream stay, where the last model read
// history; its shadow does not.
func (e *Engine) Use(l *Loaded) {
	if e.Loaded != nil {
		l.adaptation.replace(e.Loaded.adaptation)
		l.Ladder.Propagation, l.Pace.echo = e.Loaded.Ladder.Propagation, e.Loaded.Pace.echo
		l.past.stream.CopyFrom(e.Loaded.past.stream)
	}
	e.Loaded, e.Shadow, e.propagated = l, nil, false // a shadow was compared with the last model
	m := l.Model
	o := &e.message.Prediction
	o.Vehicle, o.Model, o.Instance = e.settings.Vehicle, m.ID, e.settings.Instance
	o.Channels, o.Units = nil, nil
	period := make([]float64, m.K)
	for k, c := range m.Channels[:m.K] {
		o.Channels = append(o.Channels, c.Name)
		o.Units = append(o.Units, channel.CanonicalUnit(c.Unit))
		period[k] = c.Period
	}
	e.monitor, e.factor = nil, nil
	if e.settings.NoTrust {
		return
	}
	e.monitor = trust.New(trust.Config{K: m.K, Times: l.Times, Period: period, Every: time.Duration(e.settings.FalseAlarms).Seconds()})
	if l.Trust != nil {
		_ = e.monitor.Restore(l.Trust, m.ID) // of another model, or damaged: it begins anew
	}
	e.factor = make([]float64, len(l.Times)*m.K)
}

// Take adds an arrival to the history that predictions read. It is called once for each
// that is taken from the mailbox, in their order and before the step that predicts from it.
func (e *Engine) Take(a *intake.Arrival) {
	e.Loaded.estimate.take(a, e.Loaded.past, e.Loaded.adaptation)
	if a.Dropped || a.Late {
		return
	}
	if !a.Unasked {
		e.plans.take(&a.State, e.Loaded.Model.P)
	}
	e.resets[e.Loaded.past.add(&a.State)]++
	e.Loaded.adaptation.take(a)
	e.Shadow.take(a)
	if a.Unasked {
		e.observe(a)
	}
}

// observe compares predictions with an arrival that is not answered.
func (e *Engine) observe(a *intake.Arrival) {
	if e.monitor != nil && !a.Unsettled {
		e.monitor.Observed(a.State.T, compared(a))
	}
}

// CopyHistory copies the samples of the stream to dst, none where the model reads no
// history.
func (e *Engine) CopyHistory(dst *history.Buffer) { dst.CopyFrom(e.Loaded.past.stream) }

// Step makes the message of a task, or returns the reason why none must be sent; the
// times are those of the attempt then. It changes nothing that is known: see Learn.
// The message belongs to the engine, until the next step.
func (e *Engine) Step(t *Task) (*Message, wire.Reason) {
	m := &e.message
	e.made = nil
	d, reason := e.predict(t)
	m.Unix, m.Ready = t.Clock()
	if reason == wire.OK {
		reason = e.compose(t, d)
	}
	if reason == wire.OK {
		e.made = d
	}
	return m, reason
}

// predict returns the prediction from the state of a task, propagated to its tick.
func (e *Engine) predict(t *Task) (*estimator.Prediction, wire.Reason) {
	if t.Arrival.Unsettled {
		return nil, wire.Unsettled
	}
	s := &t.Arrival.State
	q := &e.query
	*q = estimator.Query{X0: s.X, P0: orNil(s.P0), U: orNil(s.U)}
	e.setPlan(s, t.Level)
	age := t.Age()
	if t.Fresh {
		e.propagated = false
	}
	l := &e.Loaded.levels[t.Level]
	if t.Tick == 0 && age > e.validity(l.dst) {
		return nil, wire.Expired
	}
	if _, _, ok := widening(age, e.settings.AgeLimit); !ok {
		return nil, wire.TooOld
	}
	past := e.Loaded.past
	if t.Tick == 0 {
		q.History = past.beforeState(s)
	} else {
		p, first := e.Loaded.propagator, !e.propagated
		if first {
			q.History = past.beforeState(s)
			if e.propagated = p.start(q, e.Loaded.Model.Sensor); !e.propagated {
				return nil, wire.NonFinite
			}
		}
		planned := feature.Plan{Values: q.Plan, P: p.inputs, Step: q.PlanStep}
		if q.PlanStep == 0 && len(q.Plan) > 0 {
			planned.Step = p.horizon / float64(len(q.Plan)/p.inputs)
		}
		q.History = past.beforeTick(s, planned, age, first, p)
		q.X0, q.P0, q.Plan = p.x, p.P, p.planFrom(q.Plan, q.PlanStep, seconds(age))
	}
	if !l.rollout.predict(l.dst, q) {
		return nil, wire.NonFinite
	}
	return l.dst, wire.OK
}

// validity returns for how long after its state a prediction is valid, ns.
func (e *Engine) validity(d *estimator.Prediction) int64 {
	return min(e.settings.Validity, int64(d.Times[len(d.Times)-1]*1e9))
}

// setPlan sets the plan of the query and the flags of the plan of a state, for a level of the
// horizon.
func (e *Engine) setPlan(s *wire.State, level int) {
	m, q := e.Loaded.Model, &e.query
	var unused bool
	q.Plan, q.PlanStep, unused = e.plans.of(s, m.P, m.Horizon)
	e.planFlags = 0
	switch {
	case unused:
		e.planFlags = wire.PlanUnused
		if q.U == nil {
			q.U = s.Plan[:m.P]
		}
	case s.PlanDt > 0 && len(q.Plan) > 0:
		times := e.Loaded.levels[level].dst.Times
		e.planFlags = PlanFlags(span(s, m.P), m.Horizon, times[len(times)-1], e.Loaded.Times[len(e.Loaded.Times)-1])
	}
}

// compose writes the message of a prediction, unless that is over already.
func (e *Engine) compose(t *Task, d *estimator.Prediction) wire.Reason {
	m, o := &e.message, &e.message.Prediction
	s, age := &t.Arrival.State, t.Age()
	stamp, waited := s.T, m.Ready-t.Arrival.At+t.Arrival.Age // since it was measured
	o.Age = 0
	if t.Tick > 0 {
		stamp, waited = s.T+age, m.Ready-t.Due
		o.Age = float64(age) * 1e-9
	}
	validity := e.validity(d)
	// By the wall clock too, which continues where a suspended computer's steady one
	// does not, and by which planners judge.
	if waited > validity || (m.Unix != 0 && m.Unix > stamp+validity) {
		return wire.Expired
	}
	o.Seq, o.T, o.ValidUntil, o.Tick = s.Seq, stamp, stamp+validity, t.Tick
	o.Horizon, o.Mean, o.Std, o.ObsStd = d.Times, d.Mean, d.Std, d.ObsStd
	factor, flags, _ := widening(age, e.settings.AgeLimit)
	if factor > 1 {
		e.std, e.obsStd = scaled(e.std, d.Std, factor), scaled(e.obsStd, d.ObsStd, factor)
		o.Std, o.ObsStd = e.std, e.obsStd
	}
	o.Inputs, o.OOD = d.Readout.String(), d.OOD
	if o.Tube = o.Tube[:0]; d.Tube[0] > 0 {
		tube := d.Tube
		if e.monitor != nil {
			tube = estimator.Tube(e.monitor.Tube(trust.Tube(tube)))
		}
		o.Tube = append(o.Tube, tube[:]...)
	}
	o.Factor = e.factor[:min(len(e.factor), len(d.Mean))]
	if e.monitor != nil {
		e.monitor.Factors(o.Factor)
	}
	o.Flags = flags | e.planFlags | e.flags(t, d)
	m.Bytes = o.Append(m.Bytes[:0])
	return wire.OK
}

// scaled writes v times a factor to dst, in its memory.
func scaled(dst, v []float64, factor float64) []float64 {
	dst = append(dst[:0], v...)
	for i := range dst {
		dst[i] *= factor
	}
	return dst
}

// flags returns the flags of a prediction but for those of the state's age.
func (e *Engine) flags(t *Task, d *estimator.Prediction) wire.Flags {
	var f wire.Flags
	set := func(flag wire.Flags, on bool) {
		if on {
			f |= flag
		}
	}
	deadline := Deadline(e.settings, t.Arrival.Period)
	set(wire.Late, deadline > 0 && e.message.Ready-t.Start() > deadline)
	set(wire.OutOfDistribution, d.OutOfDistribution)
	set(wire.Contested, t.Contested)
	set(wire.Partial, e.Loaded.Model.Provenance.Partial != "")
	set(wire.Shortened, t.Level > 0)
	set(wire.Miscalibrated, e.monitor != nil && e.monitor.Miscalibrated() > 0)
	set(wire.CarriedCovariance, len(t.Arrival.State.P0) > 0 && e.Loaded.Model.Displacement)
	set(wire.NoHistory, e.Loaded.past.missed)
	set(wire.Adapted, e.Loaded.adaptation.applied())
	set(wire.Chained, t.Tick > 0 || e.Loaded.levels[t.Level].rollout.chained())
	return f
}

// Deadline returns the time that a prediction may take, ns; 0 = any. period is the
// time between states, ns.
func Deadline(s *journal.Settings, period int64) int64 {
	switch {
	case s.Deadline > 0:
		return s.Deadline
	case s.Rate > 0:
		return int64(1e9 / s.Rate)
	}
	return period
}

// checkEvery is how many tasks pass from one consistency check to the next.
const checkEvery = 32

// Learn adds the prediction that the last step made, and the state of its task, to
// what is known of the intervals, and the states that were taken to what is known of the
// robot. It is called after the message was published, so
// that it delays none. It reports whether the shadow has a full window, to be scored.
func (e *Engine) Learn(t *Task) (full bool) {
	if t.Arrival.Unsettled {
		return false
	}
	if e.monitor != nil {
		if d := e.made; d != nil {
			e.monitor.Predicted(e.message.T, d.Mean, d.ObsStd, trust.Tube(d.Tube))
		}
		if t.Fresh {
			e.monitor.Observed(t.Arrival.State.T, compared(t.Arrival))
		}
	}
	e.Loaded.adaptation.learn()
	if c := e.Loaded.consistency; c != nil {
		if e.untilCheck--; e.untilCheck <= 0 {
			e.untilCheck = checkEvery
			c.check(&e.query)
		}
	}
	return e.Shadow.learn(e, t)
}

// Report is what an engine knows beside the counters.
type Report struct {
	Model       string // ID of the model that Trust is about
	Trust       trust.Report
	Consistency float64 // score of the early consistency check, −1 = none yet
	HistoryRows int     // that the model reads
	Resets      [history.Resets]uint64
	Adaptation  AdaptationReport
	Estimate    Estimate // the zero value = all states are measured
	Pace        PaceReport
}

// Report writes what is known to r.
func (e *Engine) Report(r *Report) {
	r.Model = e.Loaded.Model.ID
	if e.monitor != nil {
		e.monitor.Report(&r.Trust)
	}
	r.Consistency = e.Loaded.consistency.score()
	r.HistoryRows, r.Resets = e.Loaded.past.stream.Rows(), e.resets
	r.Pace = e.Loaded.Pace.report(e.Loaded.Ladder.Ends)
	e.Loaded.report(&r.Adaptation)
	if e.Loaded.estimate != nil {
		r.Estimate = e.Loaded.estimate.report
	}
}

// AppendState appends the state of the trust monitor, if there is one, to dst.
func (e *Engine) AppendState(dst []byte) []byte {
	if e.monitor == nil {
		return dst
	}
	return e.monitor.Append(dst, e.Loaded.Model.ID)
}
