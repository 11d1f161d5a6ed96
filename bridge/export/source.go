package export

import (
	"context"
	"errors"
	"io"
	"os"

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
	size     int64
	progress func(float64)
}

func openLog(path string, progress func(float64)) (*log, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	l := &log{file: f, progress: progress}
	if info, err := f.Stat(); err == nil {
		l.size = info.Size()
	}
	if l.r, err = flightlog.NewReader(f, path); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return l, nil
}

// each calls f with every record. Damage is reported in s and skipped.
func (l *log) each(ctx context.Context, s *Summary, f func(*flightlog.Record) error) error {
	for n := 0; ; n++ {
		// At each: the predictions of a record may take milliseconds.
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if n%64 == 0 && l.progress != nil {
			l.progress(min(1, float64(l.r.Offset())/float64(max(1, l.size))))
		}
		rec, err := l.r.Next()
		var damage *flightlog.DamageError
		var bad *flightlog.FormatError
		switch {
		case errors.Is(err, io.EOF) && !errors.As(err, &damage):
			return nil
		case errors.As(err, &damage), errors.As(err, &bad):
			s.Damages = append(s.Damages, err.Error())
			if damage != nil && damage.Tail {
				return nil
			}
			continue
		case err != nil:
			return err
		}
		if err := f(&rec); err != nil {
			return err
		}
	}
}
