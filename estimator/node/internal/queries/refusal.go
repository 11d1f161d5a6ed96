package queries

import "fmt"

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
	text string
}

func (r *refusal) Error() string { return r.text }

func wrong(format string, args ...any) error {
	return &refusal{codeWrong, fmt.Sprintf(format, args...)}
}
