package node

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/durable"
	"github.com/dgm-robotics/dgm/estimator/filter"
	"github.com/dgm-robotics/dgm/estimator/history"
	"github.com/dgm-robotics/dgm/estimator/node/internal/queries"
	"github.com/dgm-robotics/dgm/estimator/node/internal/reporting"
	"github.com/dgm-robotics/dgm/estimator/trust"
	"github.com/dgm-robotics/dgm/estimator/wire"
)

// status publishes statuses and saves the state of the trust monitor.
type status struct {
	reporter *reporting.Reporter
	snapshot *snapshot
	states   *nats.Subscription
	queries  *queries.Service // nil = none
	buf      []byte
	last     atomic.Value       // []byte, as it was published
	unsaved  bool               // the states of the monitor and of adaptation; it was logged
	alarms   map[string]lasting // by name
}

func newStatus(n *Node) *status {
	s := wire.Status{Vehicle: n.cfg.Vehicle, Instance: n.cfg.Instance, Mode: wire.ModeAnswer, Rate: n.cfg.Rate}
	if n.cfg.Rate > 0 {
		s.Mode = wire.ModeRate
	}
	return &status{reporter: reporting.New(s, n.cfg.Validity.Seconds(), n.counters, n.peers), snapshot: n.worker.snapshot}
}

// saveEvery is how many statuses pass between two writings of the trust monitor's
// state.
const saveEvery = 60

// reportUntil reports until ctx is done, or returns an error when the connection is
// closed.
func (n *Node) reportUntil(ctx context.Context, nc *nats.Conn) error {
	every := time.NewTicker(n.cfg.Every)
	defer every.Stop()
	n.report(nc)
	for i := 1; ; i++ {
		select {
		case <-ctx.Done():
			return nil
		case <-every.C:
			if nc.IsClosed() {
				err := nc.LastError()
				if err == nil {
					err = nats.ErrConnectionClosed
				}
				return fmt.Errorf("the link to NATS was closed: %w", err)
			}
			n.report(nc)
			n.refreshQueries()
			n.keepStates()
			n.status.snapshot.request(i%saveEvery == 0 && n.cfg.TrustFile != "")
		}
	}
}

// refreshQueries lets the service of queries describe the model in use.
func (n *Node) refreshQueries() {
	if q := n.status.queries; q != nil {
		q.Refresh()
	}
}

// report publishes a status. While the link is down nobody receives it.
func (n *Node) report(nc *nats.Conn) {
	s := n.status
	status := n.compose(nc.Stats().Reconnects)
	status.Reported = status.Alarms()
	n.logAlarms(status.Reported)
	s.buf = status.Append(s.buf[:0])
	s.last.Store(slices.Clone(s.buf))
	_ = nc.Publish(wire.StatusSubject(n.cfg.Vehicle), s.buf)
}

// lasting is an alarm that was logged and lasts.
type lasting struct {
	count uint64
	grown int64 // ns, steady, when the count was seen to grow
}

// logAlarms logs each alarm once while it lasts, and again where its count grows after it
// did not for a while.
func (n *Node) logAlarms(alarms []wire.Alarm) {
	_, now := n.cfg.Clock()
	before := n.status.alarms
	n.status.alarms = map[string]lasting{}
	for _, a := range alarms {
		was, lasts := before[a.Name]
		grows := a.Count > was.count
		if (!lasts || grows && now-was.grown > int64(repeatLog)) && !a.Known() {
			n.cfg.Log(a.Text)
		}
		if !lasts || grows {
			was = lasting{a.Count, now}
		}
		n.status.alarms[a.Name] = was
	}
	_, was := before[wire.PaceAlarm]
	if _, is := n.status.alarms[wire.PaceAlarm]; was && !is {
		n.cfg.Log("time is sufficient again: predictions have their whole horizon, and each state is answered")
	}
}

// compose returns the status of this moment. It belongs to the reporter.
func (n *Node) compose(reconnects uint64) *wire.Status {
	s := &n.status.reporter.Status
	unix, steady := n.cfg.Clock()
	s.T, s.Reconnects = unix, reconnects
	m, _ := n.models.inUse()
	s.Model, s.Channels, s.Swaps, s.Refused = m.ID, channel.Names(m.Channels[:m.K]), n.models.swaps.Load(), ""
	s.InputChannels = channel.Names(m.Channels[m.K : m.K+m.P])
	s.DeadTime, s.Lag = m.Delays()
	if text := n.models.refused.Load(); text != nil {
		s.Refused = *text
	}
	if id := n.models.permission.held.Load(); id != nil {
		s.Refused = fmt.Sprintf("model %s waits: %v", *id, errHeld)
	}
	n.reportModels(s, unix-steady)
	s.Recording, s.Unrecorded = n.worker.recorder.Status()
	s.Recording = reporting.Shorten(s.Recording)
	known := n.status.snapshot.read()
	t := &known.Trust
	if known.Model != s.Model {
		*t = trust.Report{} // of the model before: the one in use now has not answered for it
	}
	s.Health, s.Miscalibrated = known.Consistency, uint64(t.Alarms)
	s.History, s.HistoryGaps, s.HistoryBackward = uint64(known.HistoryRows), known.Resets[history.Gap], known.Resets[history.Backward]
	s.NIS, s.Whiteness, s.Rejected, s.FilterResets = known.Estimate.NIS, known.Estimate.Whiteness(), known.Estimate.Rejected, 0
	for _, n := range known.Estimate.Resets[filter.Gap:] {
		s.FilterResets += n
	}
	if p := &known.Pace; p.Every > 0 { // 0: no model was ready when the engine was last asked
		s.PaceLevel, s.PaceEvery = uint64(p.Level), uint64(p.Every)
		s.PaceReach, s.PaceCost, s.PaceOwn, s.PaceEcho, s.PaceTime = p.Reach, p.Cost, p.Own, p.Echo, p.Time
	}
	s.Adapt = n.cfg.Adapt
	s.AdaptNote, s.AdaptShare, s.Amounts = known.Adaptation.Note, 0, s.Amounts[:0]
	if a := known.Adaptation.State; a != nil {
		s.AdaptShare = a.Share()
		for _, v := range a.Amounts(known.Adaptation.Model) {
			s.Amounts = append(s.Amounts, wire.Amount(v))
		}
	}
	s.Buckets, s.Checks, s.Coverage, s.Recalibrated, s.Nees, s.Factor = t.Buckets, t.Checks, t.Coverage, t.Recalibrated, t.Nees, t.Factor
	if n.status.states != nil {
		if dropped, err := n.status.states.Dropped(); err == nil && dropped >= 0 { // else the subscription has ended
			n.counters.Drop(uint64(dropped))
		}
	}
	n.status.reporter.Compose(steady)
	return s
}

// keepStates writes the files of the states of the trust monitor and of adaptation. A disk
// that is full or gone is logged once; nothing depends on it while the program runs.
func (n *Node) keepStates() {
	s := n.status
	trust, adaptation := s.snapshot.newStates()
	if n.cfg.TrustFile == "" || len(trust)+len(adaptation) == 0 {
		return
	}
	var err error
	if len(trust) > 0 {
		err = durable.WriteFile(n.cfg.TrustFile, trust)
	}
	if len(adaptation) > 0 {
		err = errors.Join(err, durable.WriteFile(n.cfg.adaptFile(), adaptation))
	}
	if err != nil && !s.unsaved {
		n.cfg.Log("the states of the trust monitor and of adaptation are not saved: " + err.Error())
	}
	s.unsaved = err != nil
}
