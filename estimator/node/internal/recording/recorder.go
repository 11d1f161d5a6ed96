// Package recording writes to a journal what is needed to make the same predictions
// again.
package recording

import (
	"fmt"

	"github.com/dgm-robotics/dgm/estimator/node/internal/intake"
	"github.com/dgm-robotics/dgm/estimator/node/internal/prediction"
	"github.com/dgm-robotics/dgm/estimator/node/journal"
	"github.com/dgm-robotics/dgm/estimator/wire"
)

// Recorder records the tasks of one worker. A nil one records nothing.
type Recorder struct {
	w          *journal.Writer
	state      journal.State
	prediction journal.Prediction
}

// New begins a journal at path, which ends at most bytes; an empty path records
// nothing.
func New(path string, s *journal.Settings, most int64) (*Recorder, error) {
	if path == "" {
		return nil, nil
	}
	w, err := journal.Create(path, &journal.Header{Platform: Platform(), Settings: *s}, most)
	if err != nil {
		return nil, fmt.Errorf("recording: %w", err)
	}
	return &Recorder{w: w}, nil
}

// Model records that a model is used.
func (r *Recorder) Model(l *prediction.Loaded) {
	if r != nil {
		r.w.Model(&journal.Model{File: l.File, Trust: l.Trust, Adaptation: l.Adaptation, Unix: l.Unix})
	}
}

// Reset records that what adaptation has learned was forgotten.
func (r *Recorder) Reset() {
	if r != nil {
		r.w.Reset()
	}
}

// State records a state that was taken.
func (r *Recorder) State(a *intake.Arrival) {
	if r == nil {
		return
	}
	s := &r.state
	s.At, s.Age, s.Period = a.At, a.Age, a.Period
	state := a.State
	if len(a.Measured) > 0 {
		state.X, state.P0, state.T = a.Measured, nil, a.Stamp // a replay filters it again
		if a.Carried {
			state.U = nil
		}
	}
	s.Message = state.Append(s.Message[:0])
	r.w.State(s)
}

// Task records a task, whose state was recorded when it was taken, and what came of it.
func (r *Recorder) Task(t *prediction.Task, m *prediction.Message, outcome wire.Reason) {
	if r == nil {
		return
	}
	Describe(&r.prediction, t, m, outcome)
	r.w.Prediction(&r.prediction)
}

// Describe writes to p what came of a task.
func Describe(p *journal.Prediction, t *prediction.Task, m *prediction.Message, outcome wire.Reason) {
	*p = journal.Prediction{
		Tick: t.Tick, Due: t.Due, End: m.Ready, Unix: m.Unix, Level: t.Level,
		Fresh: t.Fresh, Contested: t.Contested, Outcome: outcome.String(),
	}
	if outcome != wire.OK {
		return
	}
	p.Seq, p.T, p.ValidUntil, p.Flags, p.Points = m.Seq, m.T, m.ValidUntil, uint64(m.Flags), len(m.Horizon)
	ood := [1]float64{m.OOD}
	for i, v := range [...][]float64{m.Mean, m.Std, m.ObsStd, m.Factor, ood[:]} {
		p.Digests[i] = journal.Digest(v)
	}
}

// Status returns "on" or why the recording has ended, and how many records the disk
// was too slow for; "" where nothing is recorded.
func (r *Recorder) Status() (state string, lost uint64) {
	if r == nil {
		return "", 0
	}
	if err := r.w.Err(); err != nil {
		return err.Error(), r.w.Lost()
	}
	return "on", r.w.Lost()
}

// Close ends the journal.
func (r *Recorder) Close() error {
	if r == nil {
		return nil
	}
	return r.w.Close()
}
