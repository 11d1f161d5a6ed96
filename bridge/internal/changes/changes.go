// Package changes changes logs in the ways in which the logs of strangers differ, two ways at
// a time, and compares what an import makes of them with what was driven. It is for tests only.
//
// A log is a list of notes, which each format writes in its own way. The values of a note show
// its number, so that a row that joins what does not belong together shows it.
package changes

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dgm-robotics/dgm/bridge/importer"
	"github.com/dgm-robotics/dgm/bridge/telemetry"
	"github.com/dgm-robotics/dgm/estimator/flightlog"
)

// What is what a note holds.
type What int

// Notes: a state of the value I, another of 2·I with the same stamp, a command of the value
// I, which is given before the state I.
const (
	State What = iota
	Turn
	Command
	Other   // a Turn of another sender or instance, of any value
	Unknown // a message of a kind that is not known
	Setting // of the robot
	Define  // what the format says of its messages, once more
	Raw     // 11 bytes that are no message
	Cut     // the file ends within the message before
)

// Note is one message.
type Note struct {
	What   What
	I      int
	Stamp  int64 // µs since the sender's start
	Logged int64 // µs since 1970
	File   int
}

// N is how many states a log has.
const N = 150

const (
	step  = 20_000                // µs
	begin = 10_000_000            // µs
	unix  = 1_700_000_000_000_000 // µs
)

// Plain is a log without changes.
func Plain() (all []Note) {
	add := func(w What, i int, at, delay int64) {
		all = append(all, Note{What: w, I: i, Stamp: begin + at, Logged: unix + at + delay})
	}
	for i := range N {
		at := int64(i) * step
		add(Command, i, at-step/2, 300)
		add(State, i, at, 200)
		add(Turn, i, at, 400)
	}
	return all
}

// Change is a way in which a log can be changed.
type Change struct {
	Name  string
	Apply func([]Note) []Note
	Parts int // segments that it adds at most
	Lost  int // states that it removes at most
}

// shift moves the notes from a share of the log on.
func shift(share float64, stamps, logged int64) func([]Note) []Note {
	return func(n []Note) []Note {
		for i := int(share * float64(len(n))); i < len(n); i++ {
			n[i].Stamp += stamps
			n[i].Logged += logged
		}
		return n
	}
}

// again has the sender start once more at a share of the log.
func again(share float64) func([]Note) []Note {
	return func(n []Note) []Note {
		at := int(share * float64(len(n)))
		by, before := 3_000_000-n[at].Stamp, n[at].Stamp
		for i := at; i < len(n); i++ {
			if n[i].Stamp < before-1_000_000 {
				by = 0 // it starts again already
			}
			before = n[i].Stamp
			n[i].Stamp += by
			n[i].Logged += 15_000_000
		}
		define := n[at]
		define.What = Define
		return append(n[:at:at], append([]Note{define}, n[at:]...)...)
	}
}

// between adds notes of a kind behind every so many.
func between(w What, every int) func([]Note) []Note {
	return func(n []Note) (out []Note) {
		for i, x := range n {
			if out = append(out, x); i%every == every-1 {
				x.What = w
				x.Logged += 3
				out = append(out, x)
			}
		}
		return out
	}
}

// Common are the changes that every format can have.
func Common() []Change {
	return []Change{
		{"as it is", func(n []Note) []Note { return n }, 0, 0},
		{"doubled", func(n []Note) (out []Note) {
			for _, x := range n {
				out = append(out, x, x)
			}
			return out
		}, 0, 0},
		{"another sender", between(Other, 3), 0, 0},
		{"unknown kinds", between(Unknown, 17), 0, 0},
		{"settings and definitions late", func(n []Note) []Note {
			return between(Define, len(n)/2)(between(Setting, len(n)/3)(n))
		}, 0, 0},
		{"started again", again(0.4), 1, 0},
		{"started again late", again(0.8), 1, 0},
		{"a pause of 30 s", shift(0.6, 30_000_000, 30_000_000), 1, 0},
		{"set ahead by an hour", shift(0.3, 3_600_000_000, 3_600_000_000), 1, 0},
		{"set back by 2 s", shift(0.7, -2_000_000, -2_000_000), 1, 0},
		{"near the end of 32 bits of µs", shift(0, 1<<32-1_500_000-begin, 0), 0, 0},
		{"beyond 32 bits of µs", shift(0, 3<<32-1_000_000-begin, 0), 0, 0},
		{"neighbours turned", func(n []Note) []Note {
			for i := 10; i+3 < len(n); i += 50 {
				n[i], n[i+3] = n[i+3], n[i]
			}
			return n
		}, 0, 0},
		{"bytes that are no message", between(Raw, 211), 0, 3 * 2 * N / 211},
		{"cut off", func(n []Note) []Note {
			cut := n[len(n)-1]
			cut.What = Cut
			return append(n[:len(n):len(n)], cut)
		}, 0, 1},
		{"in two files", func(n []Note) []Note {
			for i := range n {
				if n[i].File == 0 && i >= len(n)/2 {
					n[i].File = 1
				}
			}
			return n
		}, 1, 0},
	}
}

// Format writes logs and reads them.
type Format struct {
	Name  string
	Map   string              // with the channels x, a (states) and u (input)
	Head  func(n Note) []byte // what a file begins with; its first note
	Write func(n Note) []byte // every note but Cut and Raw; nil = nothing
	Open  func(string, telemetry.Wants) (telemetry.Source, error)
}

// files writes the notes.
func (f *Format) files(notes []Note) (out [][]byte) {
	for _, n := range notes {
		for len(out) <= n.File {
			out = append(out, f.Head(n))
		}
		b := &out[n.File]
		switch n.What {
		case Cut:
			*b = (*b)[:len(*b)-5]
		case Raw:
			*b = append(*b, 0xA3, 0x95, 1, 2, 3, 0, 0, 6, 0xAA, 0xFD, 9)
		default:
			*b = append(*b, f.Write(n)...)
		}
	}
	return out
}

// Pairs makes all pairs of changes, in both orders, and fails where a row is not what was
// driven, or is missing though nothing is said. skip reports pairs that mean nothing.
func Pairs(t *testing.T, f *Format, changes []Change, skip func(a, b *Change) bool) {
	t.Helper()
	m, err := importer.ParseMap("map.toml", []byte(f.Map))
	if err != nil {
		t.Fatal(err)
	}
	tried, refused := 0, 0
	for i := range changes {
		for k := range changes {
			a, b := &changes[i], &changes[k]
			if skip != nil && skip(a, b) {
				continue
			}
			tried++
			r := result{parts: a.Parts + b.Parts, lost: a.Lost + b.Lost}
			if lost := r.imported(t, f, m, b.Apply(a.Apply(Plain()))); lost {
				refused++
			}
			if r.wrong != "" {
				t.Errorf("%s, then %s: %s\n%s", a.Name, b.Name, r.wrong, r.said)
			}
		}
	}
	t.Logf("%s: %d pairs of %d changes, %d of them refused", f.Name, tried, len(changes), refused)
	if 10*refused > tried {
		t.Errorf("%d of %d refused", refused, tried)
	}
}

// result is what an import made of a log.
type result struct {
	parts, lost int // allowed
	wrong       string
	said        string
}

// imported imports notes and reports whether the import was refused for a loss.
func (r *result) imported(t *testing.T, f *Format, m *importer.Map, notes []Note) (refused bool) {
	t.Helper()
	dir := t.TempDir()
	var in []string
	for i, b := range f.files(notes) {
		in = append(in, filepath.Join(dir, fmt.Sprint(i)))
		if err := os.WriteFile(in[i], b, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	out := filepath.Join(dir, "out")
	s, err := importer.Import(context.Background(), importer.Job{Format: f.Name, Map: m, Inputs: in, Out: out, Open: f.Open})
	if s != nil {
		r.said = strings.Join(append(s.Texts(), s.Problems...), "\n")
	}
	if lost, ok := errors.AsType[*importer.LossError](err); ok {
		r.said += "\n" + lost.Error()
		return true
	}
	if err != nil {
		r.wrong = err.Error()
		return false
	}
	log, err := flightlog.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	r.compare(log, s)
	return false
}

// compare compares the rows of a log with what was driven.
func (r *result) compare(log *flightlog.Log, s *importer.Summary) {
	seen := map[float64]int{}
	half, open, old := 0, 0, 0 // rows without a turn, without a command, with an older one
	for _, seg := range log.Segments {
		for i := range seg.T {
			x, a, u := seg.X[2*i], seg.X[2*i+1], seg.U[i]
			seen[x]++
			switch {
			case math.IsNaN(a):
				half++
			case a != 2*x:
				r.wrong = fmt.Sprintf("the state %v is beside %v", x, a)
				return
			}
			switch {
			case math.IsNaN(u):
				open++
			case u > x || u < x-2:
				r.wrong = fmt.Sprintf("the state %v is beside the command %v", x, u)
				return
			case u < x:
				old++
			}
		}
	}
	missing := 0
	for i := range N {
		switch seen[float64(i)] {
		case 0:
			missing++
		case 1:
		default:
			r.wrong = fmt.Sprintf("the state %d is there %d times", i, seen[float64(i)])
			return
		}
	}
	if missing > r.lost || half > r.lost+r.parts || open > r.parts+1 || old > r.lost+r.parts || len(log.Segments) > 1+r.parts+r.lost || len(seen) > N-missing {
		r.wrong = fmt.Sprintf("%d states are missing, %d have no turn, %d no command, %d an old one, %d segments, %d values", missing, half, open, old, len(log.Segments), len(seen))
	}
	if missing > 0 && len(s.Problems) == 0 {
		r.wrong = fmt.Sprintf("%d states are missing and nothing is said", missing)
	}
}
