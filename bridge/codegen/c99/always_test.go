package c99_test

import (
	"os"
	"regexp"
	"testing"
)

// always are the models whose source is compiled without DGM_SLOW too, and the type of its numbers then. Compiling all models in both
// types takes two minutes.
var always = map[string]string{
	"history at 3 times": "double", "motion": "double", "v3-body.dgm": "double", "v3-chain.dgm": "double", "v3-exact.dgm": "double", "at once": "float", "paper": "float",
}

// skipCompiling skips a test that compiles more than is always compiled, without DGM_SLOW.
func skipCompiling(t *testing.T, compiled bool) {
	t.Helper()
	if !compiled && os.Getenv("DGM_SLOW") == "" {
		t.Skip("compiles one more model; DGM_SLOW=1 runs it")
	}
}

// What is compiled in every run has every function of C that any source has.
func TestEveryFunctionIsAlwaysCompiled(t *testing.T) {
	name := regexp.MustCompile(`\b[a-z0-9]+(?:_[a-z0-9]+)+\(`)
	compiled, somewhere := map[string]bool{}, map[string]string{}
	for model, m := range models(t) {
		for _, f := range name.FindAllString(string(sourceOf(t, model, m).Body), -1) {
			if somewhere[f] = model; always[model] != "" {
				compiled[f] = true
			}
		}
	}
	for f, model := range somewhere {
		if !compiled[f] {
			t.Errorf("%s) of the source of %q is in none that is always compiled", f, model)
		}
	}
	if len(compiled) < 60 {
		t.Errorf("only %d functions are found", len(compiled))
	}
}
