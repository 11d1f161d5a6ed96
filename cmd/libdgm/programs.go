//go:build cgo

package main

import "github.com/dgm-robotics/dgm/estimator/dynamics"

// document is the programs of a model for plans of so many rows, encoded.
type document struct {
	planRows int
	encoded  []byte
}

// program returns the document of the model's programs for plans of so many rows.
func (l *loaded) program(planRows int) ([]byte, error) {
	l.lock.Lock()
	defer l.lock.Unlock()
	if l.document.encoded == nil || l.document.planRows != planRows {
		d, err := dynamics.DocumentOf(l.m, planRows)
		if err != nil {
			return nil, fail(codeWrong, "plan_rows: %v", err)
		}
		l.document = document{planRows, d.Encode()}
	}
	return l.document.encoded, nil
}
