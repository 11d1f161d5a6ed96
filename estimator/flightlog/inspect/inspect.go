package inspect

import (
	"errors"
	"math"

	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/flightlog"
)

// gapFactor times the median step is a gap.
const gapFactor = 3

// maxInvalid bounds how many impossible records are listed.
const maxInvalid = 100

// File describes the log at path. Errors are those of flightlog, for a log of
// which nothing can be read, or of package os. Damage and impossible records are
// part of the report.
func File(path string) (*Report, error) {
	r, err := flightlog.OpenFile(path)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	in := newInspector(path, r.Header())
	for rec, err := range r.Records(in.skipped) {
		if err != nil {
			return nil, err
		}
		in.record(&rec)
	}
	in.finish()
	in.rep.Bytes, in.rep.Unknown, in.rep.Counted = r.Offset(), r.Unknown(), r.Counted()
	return in.rep, nil
}

// skipped notes what could not be read.
func (in *inspector) skipped(err error) {
	if damage, ok := errors.AsType[*flightlog.DamageError](err); ok {
		in.damage(damage)
	} else if len(in.rep.Invalid) < maxInvalid {
		in.rep.Invalid = append(in.rep.Invalid, err.Error())
	}
}

// inspector collects a report record by record.
type inspector struct {
	rep      *Report
	places   [3][]int  // of the channels with each role: states, inputs, aux
	mean     []float64 // per channel, over finite values
	min, max []float64 // per channel
	open     Segment   // what the next samples belong to
	last     int64     // time of the last sample
	span     float64   // s, of the open segment
	steps    steps     // of the open segment
	back     steps     // of the open segment, those backwards
	all      steps
}

func newInspector(path string, h flightlog.Header) *inspector {
	rep := &Report{
		Log: path, Version: flightlog.Version, Vehicle: h.Vehicle, Source: h.Source, Kinematics: h.Kinematics.String(),
		Segments: []Segment{}, Notes: []Note{}, Damage: []Damage{}, Invalid: []string{},
	}
	in := &inspector{rep: rep}
	for i, c := range h.Channels {
		rep.Channels = append(rep.Channels, Channel{
			Name: c.Name, Unit: c.Unit, Role: string(c.Role), Derivative: c.Derivative,
			Period: c.Period, Invariant: c.Invariant, Noise: c.Noise, Frame: c.Frame,
		})
		role := 0
		switch c.Role {
		case channel.Input:
			role = 1
		case channel.Aux:
			role = 2
		}
		in.places[role] = append(in.places[role], i)
		in.mean = append(in.mean, 0)
		in.min, in.max = append(in.min, math.Inf(1)), append(in.max, math.Inf(-1))
	}
	rep.States, rep.Inputs, rep.Aux = len(in.places[0]), len(in.places[1]), len(in.places[2])
	return in
}

func (in *inspector) record(rec *flightlog.Record) {
	switch rec.Kind {
	case flightlog.KindSegment:
		in.close()
		in.open = Segment{Name: rec.Name, Exact: rec.X0 != nil}
	case flightlog.KindSample:
		in.sample(rec)
	case flightlog.KindPlan:
		in.open.Plans++
	case flightlog.KindNote:
		in.rep.Notes = append(in.rep.Notes, Note{rec.T, rec.Text})
	}
}

func (in *inspector) sample(rec *flightlog.Record) {
	s := &in.open
	if s.Samples == 0 {
		s.Start = rec.T
	} else {
		switch step := rec.T - in.last; {
		case step > 0:
			in.steps.add(step)
			in.span += 1e-9 * float64(step)
		case step == 0:
			s.Duplicates++
		default:
			s.Backwards++
			in.back.add(-step)
		}
	}
	s.Samples++
	in.last = rec.T
	for role, values := range [3][]float64{rec.X, rec.U, rec.Aux} {
		for i, v := range values {
			in.value(in.places[role][i], v)
		}
	}
}

func (in *inspector) value(i int, v float64) {
	c := &in.rep.Channels[i]
	switch {
	case math.IsNaN(v):
		c.Missing++
	case math.IsInf(v, 0):
		c.Infinite++
	default:
		c.Measured++
		// Written so that values near the limits of float64 do not overflow.
		in.mean[i] += v/float64(c.Measured) - in.mean[i]/float64(c.Measured)
		in.min[i], in.max[i] = min(in.min[i], v), max(in.max[i], v)
	}
}

func (in *inspector) damage(d *flightlog.DamageError) {
	in.rep.Damage = append(in.rep.Damage, Damage{Offset: d.Offset, End: d.End, Record: d.Record, Tail: d.Tail, Reason: d.Err.Error()})
	if d.Offset > 0 {
		// As when the log is read: what follows damage is another segment.
		name := in.open.Name
		in.close()
		in.open = Segment{Name: name}
	}
}

func (in *inspector) close() {
	s := &in.open
	if s.Samples > 0 {
		median := in.steps.median()
		if median > 0 {
			s.Rate = 1e9 / median
		}
		s.Gaps = in.steps.above(gapFactor * median)
		if s.Gaps > 0 {
			s.LongestGap = 1e-9 * float64(in.steps.max)
		}
		// Time stamps with jitter return by as much as they advanced too far; a clock
		// that was set does not.
		s.Duration = in.span - 1e-9*in.back.within(gapFactor*median)
		in.rep.Segments = append(in.rep.Segments, *s)
		in.rep.Samples += s.Samples
		in.rep.Duration += s.Duration
	}
	if in.steps.n > 0 {
		in.all.merge(&in.steps)
		in.steps = steps{}
	}
	if in.back.n > 0 {
		in.back = steps{}
	}
	in.span = 0
}

func (in *inspector) finish() {
	in.close()
	if median := in.all.median(); median > 0 {
		in.rep.Rate = 1e9 / median
	}
	for i := range in.rep.Channels {
		c := &in.rep.Channels[i]
		if in.rep.Samples > 0 {
			c.Rate = in.rep.Rate * float64(c.Measured) / float64(in.rep.Samples)
		}
		if c.Measured > 0 {
			c.Min, c.Max, c.Mean = &in.min[i], &in.max[i], &in.mean[i]
			c.Constant = in.min[i] == in.max[i]
		}
	}
}
