package node

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/dgm-robotics/dgm/estimator"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/node/journal"
	"github.com/dgm-robotics/dgm/estimator/wire"
)

// recorder writes down what the worker takes and makes. It is the worker's; a nil
// one records nothing.
type recorder struct {
	w          *journal.Writer
	state      journal.State
	prediction journal.Prediction
	ood        [1]float64
}

// newRecorder begins the journal of a node.
func newRecorder(cfg *Config) (*recorder, error) {
	w, err := journal.Create(cfg.Record, header(cfg), cfg.RecordLimit)
	if err != nil {
		return nil, fmt.Errorf("recording: %w", err)
	}
	return &recorder{w: w}, nil
}

// header is what a replay must know of a configuration.
func header(c *Config) *journal.Header {
	return &journal.Header{
		Vehicle: c.Vehicle, Instance: c.Instance, Platform: platform(),
		Times: c.Times, Rate: c.Rate, RobotClock: c.RobotClock, Validity: int64(c.Validity), Deadline: int64(c.Deadline),
		AgeLimit: int64(c.AgeLimit), FalseAlarms: int64(c.FalseAlarms), NoTrust: c.NoTrust, Chain: c.Chain, Fast: !c.Plain,
	}
}

// platform says on what a program rounds: processor, its vectors, compiler,
// revision.
func platform() string {
	s := runtime.GOOS + "/" + runtime.GOARCH + " " + estimator.Vectors() + " " + runtime.Version()
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, v := range info.Settings {
			if v.Key == "vcs.revision" && len(v.Value) >= 12 {
				s += " " + v.Value[:12]
			}
		}
	}
	return s
}

// model records that a model was taken.
func (r *recorder) model(c *craft) {
	if r == nil {
		return
	}
	r.w.Model(&journal.Model{File: c.file, Trust: c.trust})
}

// task records a task, its state if that is a new one, and what came of it.
func (r *recorder) task(k *task, outcome wire.Reason, o *wire.Prediction) {
	if r == nil {
		return
	}
	if k.fresh {
		s := &r.state
		s.At, s.Age, s.Period = k.a.at, k.a.age, k.a.period
		s.Message = k.a.state.Append(s.Message[:0])
		r.w.State(s)
	}
	describe(&r.prediction, k, outcome, o, &r.ood)
	r.w.Prediction(&r.prediction)
}

// describe writes to p what came of a task; o is the message, where there is one.
func describe(p *journal.Prediction, k *task, outcome wire.Reason, o *wire.Prediction, ood *[1]float64) {
	*p = journal.Prediction{
		Tick: k.tick, Due: k.due, End: k.end, Unix: k.unix, Rung: k.rung,
		Fresh: k.fresh, Contested: k.contested, Outcome: outcome.String(),
	}
	if outcome != wire.OK {
		return
	}
	p.Seq, p.T, p.ValidUntil, p.Flags, p.Points = o.Seq, o.T, o.ValidUntil, uint64(o.Flags), len(o.Horizon)
	ood[0] = o.OOD
	for i, v := range [...][]float64{o.Mean, o.Std, o.ObsStd, o.Factor, ood[:]} {
		p.Digests[i] = journal.Digest(v)
	}
}

// close ends the journal.
func (r *recorder) close() error {
	if r == nil {
		return nil
	}
	return r.w.Close()
}

// asFile returns the bytes of a model's file, for the journal, and the model that
// they hold: a file rounds some numbers, and what is recorded must be what flies.
func asFile(m *model.Model) ([]byte, *model.Model, error) {
	b, err := m.Encode()
	if err != nil {
		return nil, nil, fmt.Errorf("recording: %w", err)
	}
	m, err = model.Decode(b)
	if err != nil {
		return nil, nil, fmt.Errorf("recording: %w", err)
	}
	return b, m, nil
}
