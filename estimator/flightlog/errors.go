package flightlog

import (
	"errors"
	"fmt"
	"strings"
)

// The causes that a caller can distinguish by errors.Is.
var (
	ErrEmpty   = errors.New("the file is empty")
	ErrNotLog  = errors.New("not a flight log")
	ErrVersion = errors.New("the log has a newer version than this program reads")
)

// FormatError is that a log cannot be read or written as it is.
type FormatError struct {
	Path   string // the name of the log
	Offset int64  // bytes from the start of the log
	Record int    // number of the record, from 0; -1 = the header
	Field  string // "" = none in particular
	Err    error  // the cause
	Remedy string // what the user can do
}

// Error returns everything in one line.
func (e *FormatError) Error() string {
	var b strings.Builder
	b.WriteString(e.Path)
	if e.Record >= 0 {
		fmt.Fprintf(&b, ": record %d at byte %d", e.Record, e.Offset)
	} else if e.Field != "" || e.Offset > 0 {
		b.WriteString(": header")
	}
	if e.Field != "" {
		b.WriteString(": " + e.Field)
	}
	b.WriteString(": " + e.Err.Error())
	if e.Remedy != "" {
		b.WriteString("; " + e.Remedy)
	}
	return b.String()
}

// Unwrap returns the cause.
func (e *FormatError) Unwrap() error { return e.Err }

// DamageError is bytes that are no whole record. What was read before is intact,
// and unless Tail is set the log continues at End.
type DamageError struct {
	Path   string // the name of the log
	Offset int64  // the first damaged byte
	End    int64  // the byte after the damage: the next whole record, or the end of the log
	Record int    // number of whole records before the damage
	Tail   bool   // nothing readable follows
	Err    error  // what is wrong at Offset; wraps io.ErrUnexpectedEOF where the log ends within a record
}

// Error returns everything in one line.
func (e *DamageError) Error() string {
	after := "the rest of the log is lost"
	switch {
	case !e.Tail:
		after = "the log continues after that"
	case errors.Is(e.Err, errTorn) || errors.Is(e.Err, errZeros) || errors.Is(e.Err, errNoCount):
		after = "everything before is intact"
	}
	return fmt.Sprintf("%s: damaged from byte %d to %d, after %d whole records: %v; %s",
		e.Path, e.Offset, e.End, e.Record, e.Err, after)
}

// Unwrap returns what is wrong at the first damaged byte.
func (e *DamageError) Unwrap() error { return e.Err }
