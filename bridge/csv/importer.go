package csv

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dgm-robotics/dgm/bridge/derivative"
	"github.com/dgm-robotics/dgm/bridge/kinematics"
	"github.com/dgm-robotics/dgm/bridge/mapfile"
	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/flightlog"
)

// Summary says what an import did.
type Summary struct {
	Out      string
	Rows     int
	Segments int
	Duration int64              // ns, of all segments together
	Found    []derivative.Found // derivatives that the data show
	Near     []derivative.Found // what is nearly one; see Detector.Found
	Remarks  []string           // oddities, in sentences
}

// Import reads the tables in inputs (one or more) as m says and writes the log
// out. It writes nothing where anything is wrong. progress, if not nil, is
// called now and then with the share that is done, 0 to 1. The error is an
// *mapfile.Error, or what the file system says, or the cause of ctx's end.
func Import(ctx context.Context, m *Map, inputs []string, out string, progress func(share float64)) (*Summary, error) {
	if len(inputs) == 0 {
		panic("csv: no input")
	}
	// What cannot be written is said before anything is read.
	trial, err := flightlog.CreateFile(out, flightlog.Header{Vehicle: m.Vehicle, Channels: m.channels()})
	if err != nil {
		return nil, err
	}
	trial.Abort()
	if err := checkOut(inputs, out); err != nil {
		return nil, err
	}
	job := &job{m: m, inputs: inputs, progress: progress}
	if job.total, err = totalSize(inputs); err != nil {
		return nil, err
	}
	s := &Summary{Out: out}
	header := flightlog.Header{Vehicle: m.Vehicle, Channels: m.channels(), Source: source(inputs)}
	if header.Kinematics, err = m.kinematics(); err != nil {
		return nil, err
	}
	if s.Found, s.Near, err = job.detect(ctx, &header); err != nil {
		return nil, err
	}
	for _, f := range s.Found {
		header.Channels[channel.Index(header.Channels, f.Channel)].Derivative = f.Derivative
	}
	file, err := flightlog.CreateFile(out, header)
	if err != nil {
		return nil, err
	}
	defer file.Abort()
	if err := job.write(ctx, file, s); err != nil {
		return nil, err
	}
	return s, file.Commit()
}

// checkOut refuses to write over an input.
func checkOut(inputs []string, out string) error {
	there, err := os.Stat(out)
	if err != nil {
		return nil // it is not there
	}
	for _, path := range inputs {
		if info, err := os.Stat(path); err == nil && os.SameFile(info, there) {
			return &mapfile.Error{File: out, Reason: "is an input, too", Mend: "choose another name for the log"}
		}
	}
	return nil
}

// job is one import.
type job struct {
	m        *Map
	inputs   []string
	progress func(float64)
	total    int64 // bytes of both passes
	done     int64 // bytes of the files read to their end
	remarks  []string
}

// detect reads everything once: what is wrong is found before anything is
// written, and derivatives before the header is.
func (j *job) detect(ctx context.Context, h *flightlog.Header) (found, near []derivative.Found, err error) {
	states := channel.Select(h.Channels, channel.State)
	law := kinematics.New(h.Kinematics, states)
	for i := range states {
		// What the map says is final, "none" as well.
		states[i].Derivative = j.m.declared(states[i].Name)
	}
	detector := derivative.New(states)
	err = j.each(ctx, newOddities(j.m), func(r *row) error {
		if r.begins {
			detector.Break()
			law.Break()
		}
		detector.Add(r.t, r.x)
		law.Add(r.t, r.x)
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	wrong, remarks := law.Result()
	if wrong != nil {
		return nil, nil, &mapfile.Error{File: j.m.file, Field: "kinematics", Reason: wrong.Reason, Mend: wrong.Mend}
	}
	j.remarks = remarks
	found, near = detector.Found()
	return found, near, nil
}

// declared returns what the map says is the derivative of a channel.
func (m *Map) declared(name string) string {
	i := slices.IndexFunc(m.Channels, func(c Channel) bool { return c.Name == name })
	if i < 0 {
		return "" // one of an attitude
	}
	return m.Channels[i].Derivative
}

// write reads everything again, into the log.
func (j *job) write(ctx context.Context, file *flightlog.File, s *Summary) error {
	seen := newOddities(j.m)
	var last int64
	err := j.each(ctx, seen, func(r *row) error {
		s.Rows++
		if r.begins {
			s.Segments++
			if err := file.BeginSegment(r.name, nil); err != nil {
				return err
			}
		} else {
			s.Duration += r.t - last
		}
		last = r.t
		return file.Sample(r.t, r.x, r.u, r.aux)
	})
	if err != nil {
		return err
	}
	s.Remarks = append(seen.Texts(j.m.Time.OnDuplicate, j.m.Time.OnBackwards, s.Rows), j.remarks...)
	for _, text := range s.Remarks {
		if err := file.Note(last, text); err != nil {
			return err
		}
	}
	return nil
}

// each calls f with every row of every file.
func (j *job) each(ctx context.Context, seen *Oddities, f func(*row) error) error {
	for _, path := range j.inputs {
		r, err := newRows(j.m, path, len(j.inputs) > 1, seen)
		if err != nil {
			return err
		}
		err = j.file(ctx, r, f)
		r.close()
		if err != nil {
			return err
		}
	}
	return nil
}

func (j *job) file(ctx context.Context, r *rows, f func(*row) error) error {
	r.table.file.Until(ctx.Done())
	for n := 0; ; n++ {
		if n%4096 == 0 {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			j.tell(r.table.file.Taken())
		}
		row, err := r.next()
		if err != nil && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		if err := f(row); err != nil {
			return err
		}
	}
	if err := r.checkRate(); err != nil {
		return err
	}
	if err := r.checkTimes(); err != nil {
		return err
	}
	j.done += r.table.file.Taken()
	j.tell(0)
	return nil
}

// tell reports progress; read is what was read of the open file.
func (j *job) tell(read int64) {
	if j.progress != nil {
		j.progress(min(1, float64(j.done+read)/float64(max(1, j.total))))
	}
}

// totalSize is the number of bytes that both passes will read.
func totalSize(inputs []string) (int64, error) {
	var n int64
	for _, path := range inputs {
		info, err := os.Stat(path)
		if err != nil {
			return 0, err
		}
		n += 2 * info.Size()
	}
	return n, nil
}

// source names the files for the log's header, without their folders: a log
// does not depend on where it was made.
func source(inputs []string) string {
	names := make([]string, len(inputs))
	for i, path := range inputs {
		names[i] = filepath.Base(path)
	}
	s := "csv: " + strings.Join(names, ", ")
	if len(s) > flightlog.MaxSource {
		s = fmt.Sprintf("csv: %d files from %.1000s to %.1000s", len(inputs), names[0], names[len(names)-1])
	}
	return s
}
