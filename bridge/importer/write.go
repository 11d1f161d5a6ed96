package importer

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dgm-robotics/dgm/estimator/flightlog"
)

// maxTexts is how many of the robot's texts go into a log.
const maxTexts = 1000

// write reads everything again, into the log.
func (j *job) write(ctx context.Context, s *Summary) error {
	file, err := flightlog.CreateFile(j.Out, flightlog.Header{Vehicle: j.Map.Vehicle, Channels: j.plan.header, Source: j.source(), Kinematics: j.kinematics})
	if err != nil {
		return err
	}
	defer file.Abort()
	texts := 0
	note := func(t int64, text string) {
		if texts++; texts <= maxTexts && text != "" && len(text) <= flightlog.MaxText {
			// An error is kept by the writer and returned at the next sample.
			_ = file.Note(t, text)
		}
	}
	var last int64
	turns, breaks := newAlternating(j.plan), newBreaks(j.plan)
	common, scaled := newShared(), newScales(j.plan.header)
	rows, err := j.rows(ctx, note, func(r *row) error {
		s.Rows++
		if len(j.files) > 1 {
			common.add(r)
			scaled.add(r)
		}
		if r.begins {
			s.Segments++
			if err := file.BeginSegment(r.name, nil); err != nil {
				return err
			}
		} else {
			s.Duration += r.t - last
		}
		last = r.t
		return file.Sample(r.t, r.values[0], r.values[1], r.values[2])
	}, turns, breaks)
	if err != nil {
		return err
	}
	if !j.Map.IsTable() {
		rows.settleRate()
	}
	s.Problems, s.Channels, s.Clocks = problems(j.files), rows.channels(s), clocks(j.files)
	s.Remarks = report(rows, turns.found())
	(*remarks)(&s.Remarks).slowTopics(j.plan, j.Format)
	breaks.into((*remarks)(&s.Remarks), j.plan)
	common.into((*remarks)(&s.Remarks), j)
	scaled.into((*remarks)(&s.Remarks), j)
	invalid := slices.Concat(j.plan.unknown, rows.judge.remarks())
	s.Remarks = slices.Concat(s.Remarks, invalid, losses(rows))
	lost := slices.DeleteFunc(slices.Clone(s.Remarks), func(r Remark) bool { return r.Severity != Loss })
	if len(lost) > 0 && !j.AllowLoss {
		return &LossError{j.files[0].path, lost}
	}
	for _, r := range s.Remarks {
		kind := flightlog.ImportNote
		if slices.Contains(invalid, r) {
			kind = flightlog.InvalidNote
		}
		text := kind + r.String()
		if err := file.Note(last, text); err != nil {
			return err
		}
	}
	for _, text := range s.Problems {
		if err := file.Note(last, flightlog.ImportNote+text); err != nil {
			return err
		}
	}
	return file.Commit()
}

// source names the files for the log's header, without their folders: a log does
// not depend on where it was made.
func (j *job) source() string {
	names := make([]string, len(j.Inputs))
	for i, path := range j.Inputs {
		names[i] = filepath.Base(path)
	}
	s := j.Format + ": " + strings.Join(names, ", ")
	if len(s) > flightlog.MaxSource {
		s = fmt.Sprintf("%s: %d files from %.1000s to %.1000s", j.Format, len(names), names[0], names[len(names)-1])
	}
	return s
}
