package telemetry

import (
	"cmp"
	"context"
	"errors"
	"io"
	"slices"

	"github.com/dgm-robotics/dgm/bridge/timebase"
)

// Count is what a survey found of one topic.
type Count struct {
	Topic       *Topic
	N           int
	First, Last int64 // ns, the lowest and the highest stamp
	From, To    int64 // ns, when its first and its last message were recorded

	latest int64 // stamp of the message before
	steps  timebase.Steps
	on     int // steps ahead
	broken int // steps back, or so far ahead that a clock was set
}

func (c *Count) add(t int64) {
	if c.N == 0 {
		c.First, c.Last = t, t
	} else {
		d := t - c.latest
		switch {
		case d < 0 || d > timebase.Far:
			c.broken++
		case d > 0: // messages that are there twice have no step
			c.steps.Add(d)
			c.on++
		}
	}
	c.N++
	c.latest = t
	c.First, c.Last = min(c.First, t), max(c.Last, t)
}

// Rate returns messages per second, 0 where fewer than two times are known. Neither a clock that
// was set nor pauses change it.
func (c *Count) Rate() float64 {
	if c.N < 2 || c.Last <= c.First {
		return 0
	}
	if 10*c.broken <= c.N && c.on > 0 {
		return c.steps.Rate() * float64(c.N-1-c.broken) / float64(c.on)
	}
	return float64(c.N-1) / (1e-9 * float64(c.Last-c.First)) // stored in no order
}

// Step returns the median step of time, ns, which gaps and repeated stamps do not change; 0
// where there is none.
func (c *Count) Step() int64 { return c.steps.Median() }

// UsualStep returns the step that three of four do not exceed, ns, as Step does: of messages in
// pairs the one between pairs.
func (c *Count) UsualStep() int64 { return c.steps.Usual() }

// Each reads a source to its end and calls f with every message. progress, if not
// nil, is called now and then with the share that is read, 0 to 1. The error is of f,
// of the source, or the cause of ctx's end.
func Each(ctx context.Context, s Source, progress func(share float64), f func(*Message) error) error {
	s.Until(ctx.Done())
	for n := 0; ; n++ {
		if n%4096 == 0 {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			if progress != nil {
				progress(float64(s.Consumed()) / float64(max(1, s.Size())))
			}
		}
		m, err := s.Next()
		if err != nil && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := f(m); err != nil {
			return err
		}
	}
}

// Survey reads a source to its end and counts the messages of each topic, sorted
// by name and instance. progress is as in Each; each, if not nil, is called with every
// message.
func Survey(ctx context.Context, s Source, progress func(share float64), each func(*Message)) ([]*Count, error) {
	var all []*Count // by Seq, nil where no message came
	err := Each(ctx, s, progress, func(m *Message) error {
		for m.Topic.Seq >= len(all) {
			all = append(all, nil)
		}
		c := all[m.Topic.Seq]
		if c == nil {
			c = &Count{Topic: m.Topic}
			all[m.Topic.Seq] = c
		}
		c.add(m.Time)
		if c.To = m.Logged; c.N == 1 {
			c.From = m.Logged
		}
		if each != nil {
			each(m)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(c *Count) bool { return c == nil })
	slices.SortFunc(all, func(a, b *Count) int {
		return cmp.Or(cmp.Compare(a.Topic.Name, b.Topic.Name), cmp.Compare(a.Topic.Instance, b.Topic.Instance), cmp.Compare(a.Topic.Seq, b.Topic.Seq))
	})
	return all, nil
}
