package live

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/dgm-robotics/dgm/bridge/internal/number"
	"github.com/dgm-robotics/dgm/estimator/flightlog"
	"github.com/dgm-robotics/dgm/estimator/wire"
)

// PlayConfig describes which log is played and how.
type PlayConfig struct {
	Log      string
	Vehicle  string        // (optional) instead of the log's
	Speed    float64       // (optional) times the original pace; defaults to 1
	MaxPause time.Duration // (optional) longest wait between two samples, so that pauses of a log are short; 0 = as they were
	From, To time.Duration // (optional) part of the log that is played, from its first sample; To 0 = to the end
	Sensors  bool          // (optional) states that are measured in the same samples are sent as a sensor of their own; else samples that lack a state are left out
}

// PlaySummary counts what happened to the samples of a log.
type PlaySummary struct {
	Vehicle    string
	Sent       int
	Unmeasured int      // a state or an input was not measured
	Backwards  int      // stamped before the one before it
	Unsent     int      // the link was down or refused them
	Damages    int      // places at which the log is damaged
	Sensors    []string // that the states were sent by; none = whole
}

// Play publishes the states of a log on dgm.state.<vehicle> until its end or that
// of the context, which is no error.
func Play(ctx context.Context, nc *nats.Conn, c PlayConfig) (sum PlaySummary, err error) {
	f, err := os.Open(c.Log)
	if err != nil {
		return sum, err
	}
	defer f.Close()
	r, err := flightlog.NewReader(f, c.Log)
	if err != nil {
		return sum, err
	}
	c.Speed = cmp.Or(c.Speed, 1)
	sum.Vehicle = cmp.Or(c.Vehicle, r.Header().Vehicle)
	if err := wire.CheckVehicle(sum.Vehicle); err != nil {
		return sum, fmt.Errorf("%s: the vehicle cannot be part of a subject: %w; give another with --vehicle", c.Log, err)
	}
	p := &player{c: c, sum: &sum, nc: nc, subject: wire.StateSubject(sum.Vehicle)}
	p.state.Layout = wire.Layout(r.Header().Channels)
	if c.Sensors {
		if p.sensors, err = sensors(c.Log); err != nil {
			return sum, err
		}
		for _, s := range p.sensors {
			sum.Sensors = append(sum.Sensors, s.name)
		}
	}
	for rec, err := range r.Records(func(error) { sum.Damages++ }) {
		if err != nil {
			return sum, err
		}
		if ctx.Err() != nil || !p.sample(ctx, &rec) {
			break
		}
	}
	return sum, nil
}

// sample sends a sample when it is due. It returns false at the end of the part that
// is played.
func (p *player) sample(ctx context.Context, rec *flightlog.Record) bool {
	if rec.Kind == flightlog.KindPlan {
		p.plan, p.planDt, p.planAt = append(p.plan[:0], rec.Plan...), float64(rec.Step)*1e-9, rec.T
	}
	if rec.Kind != flightlog.KindSample {
		return true
	}
	if !p.begun {
		p.begun, p.first, p.last, p.due = true, rec.T, rec.T, time.Now()
	}
	at := time.Duration(rec.T - p.first)
	step := time.Duration(rec.T - p.last)
	p.last = rec.T
	if p.c.From > 0 && at < p.c.From {
		return true
	}
	if p.c.To > 0 && at > p.c.To {
		return false
	}
	if step < 0 {
		p.sum.Backwards++ // another recording begins, or the clock was set
		step = 0
	}
	step = time.Duration(float64(step) / p.c.Speed)
	if p.c.MaxPause > 0 {
		step = min(step, p.c.MaxPause)
	}
	p.due = p.due.Add(step)
	if !p.wait(ctx) {
		return false
	}
	// What is behind by more than this is not sent faster to catch up: the pace
	// of the log is kept from here on.
	if late := time.Since(p.due); late > time.Second {
		p.due = p.due.Add(late)
	}
	if !number.Finite(rec.U) || len(p.sensors) == 0 && !number.Finite(rec.X) {
		p.sum.Unmeasured++
		return true
	}
	p.state.T, p.state.X, p.state.U, p.state.Plan, p.state.PlanDt = p.due.UnixNano(), rec.X, rec.U, nil, 0
	if p.planAt == rec.T {
		p.state.Plan, p.state.PlanDt = p.plan, p.planDt
	}
	if len(p.sensors) > 0 {
		p.bySensor(rec)
	} else {
		p.publish()
	}
	return true
}

// wait waits until the sample is due. It returns false where the context ended.
func (p *player) wait(ctx context.Context) bool {
	d := time.Until(p.due)
	if d <= 0 {
		return true
	}
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}
