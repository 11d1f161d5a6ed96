package node

import (
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/dgm-robotics/dgm/estimator/history"
	"github.com/dgm-robotics/dgm/estimator/node/internal/intake"
	"github.com/dgm-robotics/dgm/estimator/node/internal/prediction"
	"github.com/dgm-robotics/dgm/estimator/node/internal/recording"
	"github.com/dgm-robotics/dgm/estimator/node/internal/reporting"
	"github.com/dgm-robotics/dgm/estimator/node/journal"
	"github.com/dgm-robotics/dgm/estimator/node/realtime"
	"github.com/dgm-robotics/dgm/estimator/wire"
)

// worker predicts, from each state or at a fixed rate, and publishes. It is for one
// goroutine.
type worker struct {
	settings *journal.Settings
	priority int
	clock    Clock
	subject  string

	estimates string // subject
	estimate  []byte // the last message

	mailbox  *intake.Mailbox
	models   *models
	counters *reporting.Counters
	peers    *reporting.Peers
	snapshot *snapshot

	engine   *prediction.Engine
	recorder *recording.Recorder
	task     prediction.Task
	ended    int64           // ns, steady, when the last task did
	came     uint64          // states to be answered, of which the pace leaves some out
	newest   *intake.Arrival // at a fixed rate: what is predicted from
	kept     intake.Arrival  // its memory, where there are sensors

	requests chan request
	learned  learned
	windows  chan *prediction.Shadow // whose window is full
}

// request asks for something that must be done between two predictions.
type request struct {
	do   func()
	done chan struct{} // closed when it is done
}

func newWorker(n *Node, l *prediction.Loaded) *worker {
	w := &worker{
		settings: n.models.settings, priority: n.cfg.Priority, clock: n.cfg.Clock, subject: wire.PredictSubject(n.cfg.Vehicle), estimates: wire.EstimateSubject(n.cfg.Vehicle),
		mailbox: n.intake.Mailbox, models: &n.models, counters: n.counters, peers: n.peers, snapshot: &snapshot{report: prediction.Report{Consistency: -1}},
		engine: prediction.NewEngine(n.models.settings, l),
	}
	w.requests, w.windows, w.task.Clock = make(chan request), make(chan *prediction.Shadow, 1), n.cfg.Clock
	w.learned.publish(w.engine)
	if n.cfg.RobotClock {
		w.task.Clock = func() (unix, steady int64) {
			_, steady = w.clock()
			return 0, steady
		}
	}
	return w
}

// run predicts until stop is closed.
func (w *worker) run(nc *nats.Conn, stop <-chan struct{}) {
	if w.settings.Rate > 0 {
		w.runTicks(nc, stop)
		return
	}
	for stopped := false; !stopped; {
		select {
		case <-w.mailbox.Ready:
		case <-stop:
			stopped = true // after what has come is answered
		case r := <-w.requests:
			r.carryOut()
		}
		for a := w.mailbox.Get(); a != nil; a = w.mailbox.Get() {
			w.answer(nc, a)
			w.replyWaiting()
		}
	}
}

// answer predicts from an arrival. Where a newer one waits already the beginning of
// the horizon is all that it gets: the newer one must not be late for it.
func (w *worker) answer(nc *nats.Conn, a *intake.Arrival) {
	w.useNext()
	_, now := w.clock()
	t, ladder, pace := &w.task, &w.engine.Loaded.Ladder, &w.engine.Loaded.Pace
	w.models.period.Store(a.Period)
	pace.Fit(now, a.Period, w.settings.Validity/prediction.SilentAfter) // beyond that a prediction is old
	a.Period *= int64(pace.Every)
	if !w.take(nc, a) {
		return
	}
	w.models.covariance.Store(len(a.State.P0) > 0)
	if w.came++; w.came%uint64(pace.Every) != 0 {
		w.counters.Refuse(wire.Replaced, errPace)
		return
	}
	pace.Echo(now - max(a.At, w.ended))
	t.Arrival, t.Due, t.Fresh, t.Level = a, now, true, pace.Level
	if w.settings.Deadline > 0 {
		t.Level = ladder.Choose(pace.Level, a.At+w.settings.Deadline-now, false)
	}
	if waiting, _ := w.mailbox.Waiting(); waiting > 0 {
		t.Level = max(t.Level, ladder.Beginning(t.Age()))
	}
	if r, cause := w.serve(nc, now); r != wire.OK {
		w.counters.Refuse(r, cause)
	} else {
		w.counters.Use()
	}
}

// runTicks predicts at a fixed rate until stop is closed. Ticks are due at multiples
// of the period after the start, so that the rate does not drift; one that could not
// begin before the next was due is counted and left out.
func (w *worker) runTicks(nc *nats.Conn, stop <-chan struct{}) {
	_, start := w.clock()
	sleeper := realtime.NewSleeper(start, w.priority)
	defer sleeper.Close()
	due := func(i int64) int64 { return start + int64(float64(i)*1e9/w.settings.Rate) }
	for i := int64(1); ; i++ {
		sleeper.Until(due(i))
		select {
		case <-stop:
			for w.mailbox.Get() != nil {
				w.counters.Refuse(wire.Replaced, nil) // by none: this is the end
			}
			return
		default:
		}
		_, now := w.clock()
		skipped := uint64(0)
		for due(i+1) <= now {
			i++
			skipped++
		}
		if skipped > 0 {
			w.counters.Tick(skipped)
			w.counters.Skip(wire.Overrun, skipped, nil)
		}
		w.tick(nc, uint64(i), due(i))
		w.replyWaiting()
	}
}

// tick makes the prediction that is due, from the newest state.
func (w *worker) tick(nc *nats.Conn, number uint64, due int64) {
	w.useNext()
	_, now := w.clock()
	w.counters.Tick(1)
	fresh := w.takeAll(nc)
	if w.newest == nil {
		w.counters.Skip(wire.NoInput, 1, nil)
		return
	}
	t, pace := &w.task, &w.engine.Loaded.Pace
	pace.Echo(now - max(due, w.ended))
	pace.Fit(now, int64(1e9/w.settings.Rate), 0)
	t.Arrival, t.Tick, t.Due, t.Fresh = w.newest, number, due, fresh
	t.Level = w.engine.Loaded.Ladder.Choose(pace.Level, due+prediction.Deadline(w.settings, 0)-now, t.Fresh)
	if r, cause := w.serve(nc, now); r != wire.OK {
		w.counters.Skip(r, 1, cause)
	}
}

// takeAll takes the arrivals that wait, of which the newest that is answered is predicted from. It reports whether there
// were any.
func (w *worker) takeAll(nc *nats.Conn) (any bool) {
	for a := w.mailbox.Get(); a != nil; a = w.mailbox.Get() {
		if !w.take(nc, a) {
			continue
		}
		if any {
			w.counters.Refuse(wire.Replaced, nil)
		}
		if w.newest, any = a, true; a.State.Sensor != "" { // one that is not answered may come after it
			w.kept.CopyFrom(a)
			w.newest = &w.kept
		}
		if waiting, _ := w.mailbox.Waiting(); waiting == 0 {
			break
		}
	}
	if any {
		w.counters.Use()
	}
	return any
}

var errPace = errors.New("predictions take so long that not every state is answered: see the alarm pace")

var errLate = errors.New("it is older than the states kept of the stream")

// take takes an arrival, and reports whether it is answered: not one of a sensor that came late or has no input.
func (w *worker) take(nc *nats.Conn, a *intake.Arrival) (answered bool) {
	w.engine.Take(a)
	w.recorder.State(a)
	switch {
	case a.Dropped:
		w.counters.Refuse(wire.OutOfOrder, errLate)
	case a.Late || a.Unasked:
		w.counters.Use()
		w.publishEstimate(nc, a)
	default:
		return true
	}
	return false
}

func (w *worker) publishEstimate(nc *nats.Conn, a *intake.Arrival) {
	if !nc.IsConnected() {
		return
	}
	if w.estimate = w.engine.AppendEstimate(w.estimate[:0], a); len(w.estimate) > 0 {
		_ = nc.Publish(w.estimates, w.estimate) // what keeps it from the link keeps the prediction, which is counted
	}
}

// serve makes the message of the task and publishes it, began being the time now,
// and learns from its state. It returns why nothing was published, and the error that
// shows it, which may be nil.
func (w *worker) serve(nc *nats.Conn, began int64) (wire.Reason, error) {
	t := &w.task
	t.Contested = w.peers.Contested()
	m, made := w.engine.Step(t)
	reason, cause := made, error(nil)
	if made == wire.OK {
		reason, cause = w.publish(nc, m, began)
	}
	if t.Fresh {
		w.publishEstimate(nc, t.Arrival)
	}
	w.recorder.Task(t, m, made)
	if w.engine.Learn(t) {
		select {
		case w.windows <- w.engine.Shadow:
		default: // that of the shadow before is being scored
			w.engine.Shadow.Drop()
		}
	}
	w.learned.publish(w.engine)
	w.snapshot.update(w.engine, w.clock)
	_, w.ended = w.clock()
	if reason == wire.OK {
		w.engine.Loaded.Pace.Spent(t.Level, w.ended-began, t.Fresh && t.Tick > 0)
	}
	return reason, cause
}

// replyWaiting replies to a request that waits, if there is one.
func (w *worker) replyWaiting() {
	select {
	case r := <-w.requests:
		r.carryOut()
	default:
	}
}

func (r *request) carryOut() {
	r.do()
	close(r.done)
}

// copyHistory copies the samples of the stream to dst. It reports whether the worker did so
// within a time.
func (w *worker) copyHistory(dst *history.Buffer, within time.Duration) bool {
	return w.between(within, func() { w.engine.CopyHistory(dst) })
}

// between calls do between two predictions. It reports whether the worker did so within a
// time. It may be called from any goroutine.
func (w *worker) between(within time.Duration, do func()) bool {
	r := request{do, make(chan struct{})}
	timer := time.NewTimer(within)
	defer timer.Stop()
	select {
	case w.requests <- r:
		<-r.done
		return true
	case <-timer.C:
		return false
	}
}

// publish hands a message to the link and notes what it has cost.
func (w *worker) publish(nc *nats.Conn, m *prediction.Message, began int64) (wire.Reason, error) {
	t := &w.task
	if !nc.IsConnected() || (t.Tick == 0 && epoch(nc) != t.Arrival.Epoch) {
		return wire.Disconnected, nil
	}
	_, encoded := w.clock()
	switch err := nc.Publish(w.subject, m.Bytes); {
	case errors.Is(err, nats.ErrReconnectBufExceeded):
		return wire.Disconnected, nil
	case errors.Is(err, nats.ErrMaxPayload):
		return wire.Unsent, fmt.Errorf("a prediction has %d bytes, and the server permits %d: predict at fewer points", len(m.Bytes), nc.MaxPayload())
	case err != nil:
		return wire.Unsent, err
	}
	_, sent := w.clock()
	w.engine.Loaded.Ladder.Spend(t.Level, sent-began, t.Fresh && t.Tick > 0)
	w.counters.Publish(sent-t.Start(), m.Flags, m.Ready-began, encoded-m.Ready, sent-encoded)
	return wire.OK, nil
}

// useNext uses the model that was made ready, if there is one, and the shadow.
func (w *worker) useNext() {
	if w.models.next.Load() != nil {
		if l := w.models.next.Swap(nil); l != nil {
			w.engine.Use(l)
			w.recorder.Model(l)
			w.learned.publish(w.engine)
		}
	}
	if s := w.models.shadow.Load(); s == nil {
		w.engine.Shadow = nil
	} else if s.of == w.engine.Loaded.Model.ID {
		w.engine.Shadow = s.shadow
	}
}
