package stack

import (
	"testing"

	"github.com/dgm-robotics/dgm/estimator/model"
)

// Components fade from the usual leverage on, unless windows of several folds show that they are better than the first component
// farther out: then from there.
func TestFadesFrom(t *testing.T) {
	const good, bad = 0.9, 5.
	windows := func(folds int, second func(leverage float64) float64) *predictions {
		p := &predictions{K: 1, T: 1, J: 2, taus: []float64{1}, fades: []bool{false, true}, conditions: []model.Condition{model.Plan.Condition(false), model.Plan.Condition(true)}}
		for i, leverage := range []float64{1, 2, 5, 350, 410, 600, 900, 2000, 5000} {
			by := [][]float64{{0.5 + 0.01*float64(i)}, {second(leverage)}}
			w := heldWindow{fold: i % folds, measured: []float64{1}, leverage: leverage, by: [][][]float64{by, by}, ranges: [][]float64{{1}, {1}}}
			if leverage > 1000 { // begins before there is history
				w.by[0], w.ranges[0] = nil, nil
			}
			p.windows = append(p.windows, w)
		}
		return p
	}
	for _, c := range []struct {
		name   string
		folds  int
		second func(leverage float64) float64
		want   float64
	}{
		{"better everywhere", 2, func(float64) float64 { return good }, 5000},
		{"worse far out", 2, func(l float64) float64 { return map[bool]float64{true: bad, false: good}[l > near] }, near},
		{"better up to 900", 2, func(l float64) float64 { return map[bool]float64{true: bad, false: good}[l > 900] }, 900},
		{"seen in one fold", 1, func(float64) float64 { return good }, near},
	} {
		weights := [][][]float64{{{1}, nil, {1}}}
		if got := windows(c.folds, c.second).fadesFrom(0, weights, []float64{0}); got != c.want {
			t.Errorf("%s: components fade from a leverage of %v on, want %v", c.name, got, c.want)
		}
	}
}
