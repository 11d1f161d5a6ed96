package summary

import (
	"testing"

	"github.com/dgm-robotics/dgm/trainer/selection"
)

// What was not chosen for lack of time is told in one line with what to do.
func TestWarning(t *testing.T) {
	const untried = "the safe candidate was used without comparison, and intervals may be too wide. Give the training more time."
	for _, c := range []struct {
		name    string
		untried selection.Untried
		want    string
	}{
		{"nothing", selection.Untried{}, ""},
		{"temper", selection.Untried{Temperature: true}, "There was no time to choose likelihood temperature: " + untried},
		{"both", selection.Untried{Core: true, Temperature: true}, "There was no time to choose core and basis, and likelihood temperature: " + untried},
	} {
		r := Result{Choice: selection.Choice{Untried: c.untried}}
		if got := r.Warning(); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
