//go:build cgo

package main

import (
	"errors"
	"fmt"

	"github.com/dgm-robotics/dgm/estimator"
)

// failure is an error with what a function returns for it.
type failure struct {
	code int
	text string
}

func (f *failure) Error() string { return f.text }

func fail(code int, format string, args ...any) error {
	return &failure{code, fmt.Sprintf(format, args...)}
}

// codeOf returns what a function returns for an error.
func codeOf(err error) int {
	var f *failure
	var q *estimator.QuestionError
	switch {
	case err == nil:
		return codeOK
	case errors.As(err, &f):
		return f.code
	case errors.As(err, &q) && q.NotFinite:
		return codeNotFinite
	}
	return codeWrong
}
