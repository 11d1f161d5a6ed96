package csv

import (
	"encoding/csv"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/dgm-robotics/dgm/bridge/input"
	"github.com/dgm-robotics/dgm/bridge/mapfile"
)

// fail makes an error about a place in the table.
func (t *table) fail(line int, field, reason, remedy string) error {
	return &mapfile.Error{File: t.path, Line: line, Field: field, Reason: reason, Remedy: remedy}
}

// failed makes an error of one of the libraries.
func (t *table) failed(err error) error {
	if errors.Is(err, os.ErrNotExist) || errors.Is(err, os.ErrPermission) {
		return err
	}
	var packed *input.PackError
	e := &mapfile.Error{File: t.path, Reason: strings.TrimPrefix(err.Error(), t.path+": "), Err: err}
	if parse, ok := errors.AsType[*csv.ParseError](err); ok {
		// A quote that is never closed is noticed at the end of the file: what is to
		// be corrected is where its row begins.
		e.Line, e.Reason, e.Remedy = parse.StartLine, parse.Err.Error(), "correct the quotes of the line or delete it"
	}
	var line *lineError
	switch {
	case errors.As(err, &line):
		e.Line, e.Reason, e.Remedy = line.line, line.reason, line.remedy
	case errors.As(err, &packed):
		e.Line, e.Reason, e.Remedy = 0, fmt.Sprintf("the %s data are damaged or cut off (%v)", packed.Packing, packed.Err), "compress or copy the file again"
	}
	return e
}
