// Package dgm holds the source of the Python package's functions of a program, so that an export can write it beside
// the program.
package dgm

import (
	_ "embed"
	"strings"
)

//go:embed program.py
var reader string

//go:embed program_jax.py
var jax string

//go:embed program_casadi.py
var casadi string

// Module returns a Python file that reads the document dgm_model.program beside it and has its function as f, for the
// target jax or casadi; nothing for others. It needs that target, numpy and msgpack.
func Module(target string) string {
	source, ok := map[string]string{"jax": jax, "casadi": casadi}[target]
	if !ok {
		return ""
	}
	return head + reader + "\n\n" + ofOneFile(source) + end
}

// ofOneFile returns a source without its import of the reader, which stands above it.
func ofOneFile(source string) string {
	before, after, _ := strings.Cut(source, "from .program import (")
	_, after, _ = strings.Cut(after, ")\n")
	return before + after
}

// head says what the file is.
const head = `# A model as a function, written by dgm-bridge export; dgm_model.program beside it is the model. What it leaves out:
# adaptation in flight, filter of measurements, covariance of the start.
`

// end makes the function of the document.
const end = `

f = function(os.path.join(os.path.dirname(os.path.abspath(__file__)), "dgm_model.program"))
"""The function of the model: f(x, history, u, plan) → (mean, std)."""
`
