package export

import (
	"context"
	"errors"
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
	progress func(float64)
}

func openLog(path string, progress func(float64)) (*log, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	r, err := flightlog.NewReader(f, path)
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &log{f, r, progress}, nil
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
