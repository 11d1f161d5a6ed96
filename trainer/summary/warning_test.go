package summary

import (
	"slices"
	"testing"

	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/trainer/selection"
)

// What was not chosen for lack of time, and factors on a bound, are told in one line
// with what to do; what is as it should be is not.
func TestWarning(t *testing.T) {
	// 2 channels at 5 knots for each of 2 readouts; as a file rounds them.
	factors := func(low, high int) [][]float64 {
		f := slices.Repeat([]float64{1.2}, 20)
		for i := range low {
			f[i] = float64(float32(1.0 / 3))
		}
		for i := range high {
			f[19-i] = 3 * (1 + 1e-12)
		}
		return [][]float64{f[:10], f[10:]}
	}
	const untried = "the safe candidate was taken untried, and intervals may be too wide."
	for _, c := range []struct {
		name    string
		untried selection.Untried
		factors [][]float64
		want    string
	}{
		{"nothing", selection.Untried{}, factors(0, 0), ""},
		{"no calibration", selection.Untried{}, nil, ""},
		{"a tenth", selection.Untried{}, factors(1, 1), ""},
		{"near", selection.Untried{}, [][]float64{{0.36, 0.36, 2.8}}, ""},
		{"temper", selection.Untried{Temperature: true}, factors(1, 0), "There was no time to choose likelihood temperature: " + untried + " Give the training more time."},
		{"both", selection.Untried{Core: true, Temperature: true}, nil, "There was no time to choose core and basis, and likelihood temperature: " + untried + " Give the training more time."},
		{"low", selection.Untried{}, factors(3, 0), "3 of 20 scale factors lie on their lower bound, 1/3: intervals may be too wide. Give the training more time, or more data."},
		{"high", selection.Untried{}, factors(0, 4), "4 of 20 scale factors lie on their upper bound, 3: intervals may be too narrow. Give the training more time, or more data."},
		{"all of it", selection.Untried{Temperature: true}, factors(2, 1), "There was no time to choose likelihood temperature: " + untried + " 3 of 20 scale factors lie on a bound, 2 on the lower one, 1/3, and 1 on the upper one, 3: intervals may be too wide or too narrow. Give the training more time, or more data."},
	} {
		r := Result{Choice: selection.Choice{Untried: c.untried}, Model: &model.Model{ScaleFactor: c.factors}}
		if got := r.Warning(); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
