package importer

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Severity is the importance of a remark.
type Severity string

// The severities.
const (
	Info    Severity = "info"    // what was done
	Warning Severity = "warning" // what makes the log worse than it need be
	Loss    Severity = "loss"    // why the import is refused: so much is left out
)

// Remark is one message to the user about an import.
type Remark struct {
	Kind     string   `json:"kind"` // a word for scripts, such as gap or clock
	Severity Severity `json:"severity"`
	Topic    string   `json:"topic"`  // "" = the log as a whole
	Text     string   `json:"text"`   // a sentence
	Remedy   string   `json:"remedy"` // what to do; "" = nothing need be done
}

// String returns it in one line.
func (r Remark) String() string {
	if r.Remedy == "" {
		return r.Text
	}
	return r.Text + ": " + r.Remedy
}

// remarks collects what there is to say. One text is said once.
type remarks []Remark

func (r *remarks) add(kind string, s Severity, topic, format string, args ...any) *Remark {
	text := fmt.Sprintf(format, args...)
	for i := range *r {
		if (*r)[i].Text == text {
			return &(*r)[i]
		}
	}
	*r = append(*r, Remark{Kind: kind, Severity: s, Topic: topic, Text: text})
	return &(*r)[len(*r)-1]
}

// perFile is a text about files that are the same but for their names.
type perFile struct {
	files []string
	kind  string
	s     Severity
	topic string
	text  string
	fix   string
}

// grouped collects texts about several files: what is the same in many of them is said once.
type grouped []perFile

func (g *grouped) add(file, kind string, s Severity, topic, fix, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	for i := range *g {
		if x := &(*g)[i]; x.text == text && x.kind == kind {
			if !slices.Contains(x.files, file) {
				x.files = append(x.files, file)
			}
			return
		}
	}
	*g = append(*g, perFile{[]string{file}, kind, s, topic, text, fix})
}

// into adds the texts with the names of their files.
func (g grouped) into(r *remarks) {
	for _, x := range g {
		name := strings.Join(x.files[:min(len(x.files), 3)], ", ")
		if n := len(x.files) - 3; n > 0 {
			name += fmt.Sprintf(" and %d more", n)
		}
		r.add(x.kind, x.s, x.topic, "%s: %s", name, x.text).Remedy = x.fix
	}
}

// number prints a count with its noun: "1 row", "2 rows".
func number(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// seconds prints a time in ns.
func seconds(ns int64) string {
	if ns >= 1e12 || ns <= -1e12 {
		return strconv.FormatFloat(1e-9*float64(ns), 'f', 3, 64) + " s"
	}
	return strconv.FormatFloat(1e-9*float64(ns), 'g', 4, 64) + " s"
}
