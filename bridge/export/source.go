package export

import (
	"bufio"
	"context"
	"os"

	"github.com/dgm-robotics/dgm/estimator/durable"
	"github.com/dgm-robotics/dgm/estimator/flightlog"
)

// Summary reports what an export did.
type Summary struct {
	Out         string
	Samples     int
	Predictions int      // of all horizons
	NotMade     int      // states that no prediction was made from: not measured whole, or not finite
	Damages     []string // what could not be read of the log
}

// log is a flight log that is read from start to end, in bounded memory.
type log struct {
	file     *os.File
	r        *flightlog.Reader
	progress func(float64)
}

// convert writes what a log becomes into a file, which has its name only when it is whole.
func convert(path, out string, progress func(float64), write func(*log, *bufio.Writer, *Summary) error) (*Summary, error) {
	in, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	r, err := flightlog.NewReader(in, path)
	if err != nil {
		return nil, err
	}
	file, err := durable.Create(out)
	if err != nil {
		return nil, err
	}
	defer file.Abort()
	buffer, s := bufio.NewWriterSize(file, 256<<10), &Summary{Out: out}
	if err := write(&log{in, r, progress}, buffer, s); err != nil {
		return nil, err
	}
	if err := buffer.Flush(); err != nil {
		return nil, err
	}
	return s, file.Commit()
}

// each calls f with every record. Damage is reported in s and skipped.
func (l *log) each(ctx context.Context, s *Summary, f func(*flightlog.Record) error) error {
	info, err := l.file.Stat()
	if err != nil {
		return err
	}
	size, n := max(1, info.Size()), 0
	for rec, err := range l.r.Records(func(damage error) { s.Damages = append(s.Damages, damage.Error()) }) {
		// At each: the predictions of a record may take milliseconds.
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil {
			return err
		}
		if n%64 == 0 && l.progress != nil {
			l.progress(min(1, float64(l.r.Offset())/float64(size)))
		}
		n++
		if err := f(&rec); err != nil {
			return err
		}
	}
	return nil
}
