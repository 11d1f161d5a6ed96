package flightlog

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
)

// Log is a whole log in memory.
type Log struct {
	Header
	Segments []Segment
	Notes    []Note
	Damage   *DamageError   // the first damage, nil = the log is intact
	Damages  []*DamageError // all of it
	Unknown  int            // records of unknown kinds, skipped
	Path     string
}

// Segment is an unbroken stretch of recording, of one sample or more.
type Segment struct {
	Name  string    // may be shared by segments, e.g. the parts of a flight around a gap
	X0    []float64 // K, the exact state at the first sample; nil = unknown
	T     []int64   // n, ns, as recorded: not necessarily rising
	X     []float64 // n×K row-major, NaN = not measured
	U     []float64 // n×P
	Aux   []float64 // n×A
	Plans []Plan    // in the order of recording
}

// Plan is a plan of inputs, made at T.
type Plan struct {
	T    int64     // ns
	Step int64     // ns between rows
	U    []float64 // rows×P row-major; row i is held from T + i·Step
}

// InvalidNote begins the notes of an importer about values that it left out because the
// robot's own estimator declared them invalid.
const InvalidNote = "invalid: "

// ImportNote begins the other notes of an importer about what it did. The import has reported
// them.
const ImportNote = "import: "

// Note is a remark for people.
type Note struct {
	T    int64 // ns
	Text string
}

// FileReader is the Reader of an open file.
type FileReader struct {
	*Reader
	io.Closer
}

// OpenFile opens a log and reads its header. The error is a *FormatError or one of package os,
// and names the file.
func OpenFile(path string) (*FileReader, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	r, err := NewReader(f, path)
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return &FileReader{r, f}, nil
}

// ReadFile reads a log. Damage is no error as long as anything could be read: it
// is in Log.Damages, and a segment that was damaged continues as a new one of the
// same name, because the length of what is missing is unknown. The error is a
// *FormatError, a *DamageError or one of package os, and names the file.
func ReadFile(path string) (*Log, error) {
	r, err := OpenFile(path)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return r.ReadAll()
}

// ReadAll reads what is left into memory.
func (r *Reader) ReadAll() (*Log, error) {
	log := &Log{Header: r.header, Path: r.path}
	name, broken := "", true
	var x0 []float64
	good := 0
	for {
		rec, err := r.Next()
		var damage *DamageError
		switch {
		case errors.Is(err, io.EOF):
			log.Unknown = r.unknown
			log.Segments = slices.DeleteFunc(log.Segments, func(s Segment) bool { return len(s.T) == 0 })
			return log, nil
		case errors.As(err, &damage):
			log.Damages = append(log.Damages, damage)
			log.Damage = log.Damages[0]
			if damage.Tail && good == 0 {
				damage.Err = fmt.Errorf("%w, and it has no whole record", damage.Err)
				return nil, damage
			}
			// Damage that starts at 0 is in the header, before any segment.
			broken, x0 = broken || damage.Offset > 0, nil
			continue
		case err != nil:
			return nil, err
		}
		good++
		if (rec.Kind == KindSample || rec.Kind == KindPlan) && broken {
			log.Segments = append(log.Segments, Segment{Name: name, X0: x0})
			broken = false
		}
		switch rec.Kind {
		case KindSegment:
			name, x0, broken = rec.Name, slices.Clone(rec.X0), true
		case KindSample:
			s := &log.Segments[len(log.Segments)-1]
			s.T = append(s.T, rec.T)
			s.X = append(s.X, rec.X...)
			s.U = append(s.U, rec.U...)
			s.Aux = append(s.Aux, rec.Aux...)
		case KindPlan:
			s := &log.Segments[len(log.Segments)-1]
			s.Plans = append(s.Plans, Plan{T: rec.T, Step: rec.Step, U: slices.Clone(rec.Plan)})
		case KindNote:
			log.Notes = append(log.Notes, Note{T: rec.T, Text: rec.Text})
		}
	}
}
