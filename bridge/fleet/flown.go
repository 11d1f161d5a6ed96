package fleet

import (
	"encoding/json"
	"math"
	"slices"
	"strings"

	"github.com/dgm-robotics/dgm/estimator/wire"
)

// Flown is what a status says of the model in use. Its text, written as a note, gets it into the index.
type Flown struct {
	Model    string   `json:"model"`
	Coverage *float64 `json:"coverage,omitempty"` // of 95 % intervals, all channels and the whole horizon
	Alarms   []string `json:"alarms,omitempty"`   // names
}

// FlownBy returns what a status says.
func FlownBy(s *wire.Status) Flown {
	f := Flown{Model: shortened(s.Model)}
	for _, a := range s.Alarms() {
		if len(f.Alarms) < mostFlown {
			f.Alarms = append(f.Alarms, shortened(a.Name))
		}
	}
	if c, ok := coverage(s, make([]string, len(s.Channels)))[""]; ok {
		c = math.Round(100*c) / 100 // a note for each change
		f.Coverage = &c
	}
	return f
}

const flownNote = "estimator: "

// Text returns the note.
func (f Flown) Text() string { return flownNote + string(encoded(&f)) }

// mostFlown is how many models and alarms the entry of a log has.
const mostFlown = 20

// remark adds a note to the entry.
func (l *Log) remark(text string) {
	var f Flown
	text, ok := strings.CutPrefix(text, flownNote)
	if !ok || json.Unmarshal([]byte(text), &f) != nil {
		return
	}
	add := func(to *[]string, name string) {
		if name = shortened(name); len(*to) < mostFlown && !slices.Contains(*to, name) {
			*to = append(*to, name)
		}
	}
	add(&l.Models, f.Model)
	for _, a := range f.Alarms {
		add(&l.Alarms, a)
	}
	if l.Coverage = f.Coverage; f.Coverage != nil && !(*f.Coverage >= 0 && *f.Coverage <= 1) {
		l.Coverage = nil
	}
}

// Part is a piece of a log, an object of its own.
type Part struct {
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"` // hex
}

// mostChecks is a number of comparisons that no vehicle makes.
const mostChecks = 1e15

// coverage returns the coverage over the whole horizon by unit of the channels.
func coverage(s *wire.Status, units []string) map[string]float64 {
	K := len(s.Channels)
	if K == 0 || len(s.Checks) != len(s.Coverage) || len(s.Checks)%K != 0 {
		return nil
	}
	if len(units) != K {
		units = make([]string, K)
	}
	covered, checks := map[string]float64{}, map[string]float64{}
	for i, n := range s.Checks {
		if c := s.Coverage[i]; n > 0 && n <= mostChecks && c >= 0 && c <= 1 {
			covered[units[i%K]] += n * s.Coverage[i]
			checks[units[i%K]] += n
		}
	}
	for u, n := range checks {
		covered[u] /= n
	}
	return covered
}
