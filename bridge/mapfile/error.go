package mapfile

import (
	"fmt"
	"strings"
)

// Error says what is wrong with a map, or with the table that it is for, where,
// and how to mend it.
type Error struct {
	File   string
	Line   int    // from 1; 0 = none in particular
	Field  string // the key or the column, "" = none in particular
	Reason string
	Mend   string
	Err    error // (optional) the cause
}

// Error returns everything in one line.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.File)
	if e.Line > 0 {
		fmt.Fprintf(&b, ": line %d", e.Line)
	}
	if e.Field != "" {
		b.WriteString(": " + e.Field)
	}
	b.WriteString(": " + e.Reason)
	if e.Mend != "" {
		b.WriteString("; " + e.Mend)
	}
	return b.String()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }
