package mapfile

import (
	"errors"
	"strings"

	"github.com/BurntSushi/toml"
)

// Parse fills in into, a pointer to a map, from its text; name is what errors
// call it. Errors are *Error.
func Parse(name string, data []byte, into any) error {
	md, err := toml.Decode(string(data), into)
	if err != nil {
		e := &Error{File: name, Reason: err.Error(), Mend: "correct it", Err: err}
		var parse toml.ParseError
		if errors.As(err, &parse) {
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
		return &Error{File: name, Field: "key " + strings.Join(names, ", "), Reason: "is not known", Mend: "correct the spelling or remove it"}
	}
	return nil
}
