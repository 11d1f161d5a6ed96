// Package mapfile reads the files in which people describe how a recording becomes a
// flight log (map.toml), and reports what is wrong with them.
//
// [Read] fills in the map, whose own package describes and checks it. A key that is
// not known is an error: a name that is spelt wrongly must not become a default.
package mapfile

import (
	"encoding"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/BurntSushi/toml"

	"github.com/dgm-robotics/dgm/estimator/textlimit"
)

// most is the largest size of a map, bytes.
const most = 1 << 20

// Read fills in into from the map in a file. A recording that was given in its
// place is not read to its end. Errors are *Error, or of package os.
func Read(path string, into any) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, most+1))
	if err != nil {
		return err
	}
	if len(b) > most {
		return &Error{File: path, Reason: fmt.Sprintf("more than %d bytes are no map", most), Remedy: "give a map.toml here, and the recording as an argument"}
	}
	return Parse(path, b, into)
}

// Parse fills in into from the text of a map; name is its name in errors, which are
// *Error.
func Parse(name string, data []byte, into any) error {
	if err := textlimit.TOML(data); err != nil {
		return &Error{File: name, Reason: err.Error(), Remedy: "correct it", Err: err}
	}
	md, err := toml.Decode(string(data), into)
	if err != nil {
		e := &Error{File: name, Reason: err.Error(), Remedy: "correct it", Err: err}
		if parse, ok := errors.AsType[toml.ParseError](err); ok {
			e.Line, e.Reason = parse.Position.Line, parse.Message
			if e.Reason == "" {
				e.Reason = strings.TrimPrefix(parse.Error(), "toml: ")
			}
			if parse.LastKey != "" {
				e.Field = "key " + parse.LastKey
			}
		}
		return e
	}
	if unknown := md.Undecoded(); len(unknown) > 0 {
		var names []string
		for _, k := range unknown {
			names = append(names, k.String())
		}
		return &Error{File: name, Field: "key " + strings.Join(names, ", "), Reason: "is not known", Remedy: "correct the spelling or remove it"}
	}
	return nil
}

// Duration is a time.Duration written as "50ms".
type Duration time.Duration

var _ encoding.TextUnmarshaler = (*Duration)(nil)

// UnmarshalText reads "50ms" or "1.5s".
func (d *Duration) UnmarshalText(text []byte) error {
	v, err := time.ParseDuration(string(text))
	if err != nil {
		return fmt.Errorf("%q is not a duration such as \"50ms\" or \"5s\"", text)
	}
	if v < 0 {
		return fmt.Errorf("%q is negative", text)
	}
	*d = Duration(v)
	return nil
}

// Error reports what is wrong with a map, or with the table that it describes: the
// place, the reason and the remedy.
type Error struct {
	File   string
	Line   int    // from 1; 0 = none in particular
	Field  string // the key or the column, "" = none in particular
	Reason string
	Remedy string
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
	if e.Remedy != "" {
		b.WriteString("; " + e.Remedy)
	}
	return b.String()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }
