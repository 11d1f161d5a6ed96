package telemetry

import "fmt"

// Problem is a part of a log that could not be read, or that the log itself reports as
// is missing.
type Problem struct {
	Offset int64  `json:"offset"` // byte in the unpacked file
	Record string `json:"record"` // kind of the record that is or should be there
	Reason string `json:"reason"`
}

// String returns it in one line.
func (p Problem) String() string {
	return fmt.Sprintf("byte %d: %s: %s", p.Offset, p.Record, p.Reason)
}

// MaxProblems is how many problems are kept by their place; the others are
// counted.
const MaxProblems = 1000

// Problems is the list of what could not be read, in the order of the file.
type Problems struct {
	List []Problem
	More int // problems beyond the list
}

// Add adds one.
func (p *Problems) Add(offset int64, record, format string, args ...any) {
	if len(p.List) >= MaxProblems {
		p.More++
		return
	}
	p.List = append(p.List, Problem{offset, record, fmt.Sprintf(format, args...)})
}

// Count returns how many there are.
func (p *Problems) Count() int { return len(p.List) + p.More }

// All returns the list, with the number of those beyond it as its last entry.
func (p *Problems) All() []Problem {
	if p.More == 0 {
		return p.List
	}
	last := p.List[len(p.List)-1]
	return append(p.List[:len(p.List):len(p.List)], Problem{last.Offset, "log", fmt.Sprintf("%d more problems from here on", p.More)})
}

// Clip shortens a text of a log that is shown in a message.
func Clip(s string) string {
	if len(s) > 60 {
		return s[:60] + "…"
	}
	return s
}
