package queries

import (
	"errors"
	"fmt"

	"github.com/dgm-robotics/dgm/estimator"
	"github.com/dgm-robotics/dgm/estimator/wire"
)

// The codes of the service's errors, with their meanings in HTTP.
const (
	codeWrong    = 400
	codeTimeout  = 408
	codeLarge    = 413
	codeBusy     = 429
	codeNotSound = 500
	codeCannot   = 501
)

// refusal is why a query is not answered.
type refusal struct {
	code int
	key  string // of the query; "" = none is to blame
	text string
}

func (r *refusal) Error() string {
	if r.key == "" {
		return r.text
	}
	return r.key + ": " + r.text
}

// wrong refuses a query for a key.
func wrong(key, format string, args ...any) error {
	return &refusal{codeWrong, key, fmt.Sprintf(format, args...)}
}

// refusalOf returns the refusal for any error.
func refusalOf(err error) *refusal {
	if r, ok := errors.AsType[*refusal](err); ok {
		return r
	}
	r := &refusal{code: codeWrong, text: err.Error()}
	if e := new(estimator.QuestionError); errors.As(err, &e) {
		r.key, r.text = e.Field, e.Text
	}
	if e := new(wire.Error); errors.As(err, &e) {
		r.key = e.Field
		if e.Field != "" {
			r.text = e.Text
			if e.Err != nil {
				r.text = e.Err.Error()
			}
		}
	}
	return r
}

var errNotFinite = &refusal{codeNotSound, "states", "a result is not finite; are state, inputs and plan plausible?"}
