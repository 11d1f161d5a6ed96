// Package record writes the flights of a simulated robot into a flight log, as
// fast as they can be computed. Nothing in it reads a clock: the same options
// give the same bytes.
package record

import (
	"bytes"
	"context"
	"fmt"

	"github.com/dgm-robotics/dgm/estimator/flightlog"
	"github.com/dgm-robotics/dgm/firmware-sim/robot"
)

// Options describe a recording.
type Options struct {
	Robot    robot.Config
	Vehicle  string // name in the log
	Source   string // (optional) free text in the log
	Samples  int    // of each segment, both ends included
	Segments int
}

// Summary counts what was recorded.
type Summary struct {
	Samples int // written
	Lost    int // by dropouts
}

// pause is the time between the last sample of a segment and the first of the
// next, ns.
const pause = 1_000_000_000

// Header returns the header of the log, or of the log of the truth.
func (o *Options) Header(truth bool) flightlog.Header {
	return flightlog.Header{Vehicle: o.Vehicle, Source: o.Source, Channels: o.Robot.Channels(truth), Kinematics: o.Robot.Plant.Kinematics}
}

// File records into a log and, where truth is not empty, the exact states into a second one.
// Neither file appears unless both are complete.
func File(ctx context.Context, o Options, out, truth string) (sum Summary, err error) {
	log, err := flightlog.CreateFile(out, o.Header(false))
	if err != nil {
		return sum, err
	}
	defer log.Abort()
	if truth == "" {
		if sum, err = Run(ctx, o, log.Writer, nil); err != nil {
			return sum, err
		}
		return sum, log.Commit()
	}
	exact, err := flightlog.CreateFile(truth, o.Header(true))
	if err != nil {
		return sum, err
	}
	defer exact.Abort()
	if sum, err = Run(ctx, o, log.Writer, exact.Writer); err != nil {
		return sum, err
	}
	if err := exact.Commit(); err != nil {
		return sum, err
	}
	return sum, log.Commit()
}

// Log records into memory and returns the log as a file of it is read.
func Log(ctx context.Context, o Options) (*flightlog.Log, error) {
	var b bytes.Buffer
	w, err := flightlog.NewWriter(&b, o.Header(false))
	if err != nil {
		return nil, err
	}
	if _, err := Run(ctx, o, w, nil); err != nil {
		return nil, err
	}
	if err := w.Flush(); err != nil {
		return nil, err
	}
	r, err := flightlog.NewReader(&b, o.Source)
	if err != nil {
		return nil, err
	}
	return r.ReadAll()
}

// Run writes all segments to log and, where truth is not nil, the exact states
// of every sample at their true times to truth. It flushes neither at the end.
func Run(ctx context.Context, o Options, log, truth *flightlog.Writer) (sum Summary, err error) {
	r := robot.New(o.Robot)
	var first int64
	for segment := range o.Segments {
		r.Start(segment, first)
		name := fmt.Sprintf("%d", segment+1)
		if err := log.BeginSegment(name, r.Truth()); err != nil {
			return sum, err
		}
		if truth != nil {
			if err := truth.BeginSegment(name, r.Truth()); err != nil {
				return sum, err
			}
		}
		for i := range o.Samples {
			if i%256 == 0 && ctx.Err() != nil {
				return sum, context.Cause(ctx)
			}
			if i > 0 && !r.Step() {
				return sum, diverged(&o, segment, i)
			}
			s, ok := r.Sample()
			if !ok {
				return sum, diverged(&o, segment, i)
			}
			if err := write(&o, s, log, truth, &sum); err != nil {
				return sum, err
			}
		}
		first += o.Robot.At(o.Samples-1) + pause
	}
	return sum, nil
}

func write(o *Options, s *robot.Sample, log, truth *flightlog.Writer, sum *Summary) error {
	if truth != nil {
		if err := truth.Sample(s.At, s.Truth, s.U, nil); err != nil {
			return err
		}
	}
	if s.Lost {
		sum.Lost++
		return nil
	}
	sum.Samples++
	if s.Plan != nil {
		step := int64(o.Robot.PlanHorizon / float64(o.Robot.PlanRows) * 1e9)
		if err := log.Plan(s.Stamp, o.Robot.PlanRows, s.Plan, step); err != nil {
			return err
		}
	}
	return log.Sample(s.Stamp, s.X, s.U, nil)
}

func diverged(o *Options, segment, i int) error {
	return fmt.Errorf("%s: segment %d: the state is no longer finite after %.3f s; shorten the duration or change the start",
		o.Robot.Plant.Name, segment+1, float64(o.Robot.At(i))/1e9)
}
