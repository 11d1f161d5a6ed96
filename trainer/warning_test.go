package trainer

import (
	"math"
	"slices"
	"testing"

	"github.com/dgm-robotics/dgm/estimator/model"
)

// What was not chosen for lack of time, and factors on a bound, are told in one line
// with what to do; what is as it should be is not.
func TestWarning(t *testing.T) {
	// 2 channels at 5 knots for each of 2 readouts; as a file rounds them.
	widen := func(low, high int) [][]float64 {
		f := slices.Repeat([]float64{1.2}, 20)
		for i := range low {
			f[i] = float64(float32(1.0 / 3))
		}
		for i := range high {
			f[19-i] = 3 * (1 + 1e-12)
		}
		return [][]float64{f[:10], f[10:]}
	}
	const untried = "the careful choice was taken untried, and intervals may be too wide."
	for _, c := range []struct {
		name    string
		untried Untried
		widen   [][]float64
		want    string
	}{
		{"nothing", Untried{}, widen(0, 0), ""},
		{"no calibration", Untried{}, nil, ""},
		{"a tenth", Untried{}, widen(1, 1), ""},
		{"near", Untried{}, [][]float64{{0.36, 0.36, 2.8}}, ""},
		{"temper", Untried{Temper: true}, widen(1, 0), "There was no time to choose temper: " + untried + " Give the training more time."},
		{"both", Untried{Core: true, Temper: true}, nil, "There was no time to choose core and basis, and temper: " + untried + " Give the training more time."},
		{"low", Untried{}, widen(3, 0), "3 of 20 calibration factors lie on their lower bound, 1/3: intervals may be too wide. Give the training more time, or more data."},
		{"high", Untried{}, widen(0, 4), "4 of 20 calibration factors lie on their upper bound, 3: intervals may be too narrow. Give the training more time, or more data."},
		{"all of it", Untried{Temper: true}, widen(2, 1), "There was no time to choose temper: " + untried + " 3 of 20 calibration factors lie on a bound, 2 on the lower one, 1/3, and 1 on the upper one, 3: intervals may be too wide or too narrow. Give the training more time, or more data."},
	} {
		r := Result{Untried: c.untried, Model: &model.Model{ScaleFactor: c.widen}}
		if got := r.Warning(); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// Where every fold wants less than the least factor, or more than the largest, what is
// calibrated counts as on the bound.
func TestCalibrationBeyondBoundsIsSeen(t *testing.T) {
	for z, want := range map[float64][3]int{0.1: {3, 0, 3}, 20: {0, 3, 3}, 2: {0, 0, 3}} {
		folds := make([]*outcomes, 3)
		for i := range folds {
			points := slices.Repeat([]outcome{{z: z * (1 + 0.1*float64(i)), std: 1, grown: 1}}, 50)
			folds[i] = &outcomes{times: []float64{0.5}, points: [][][]outcome{{points, points, points}}}
		}
		f := factors(&model.Model{K: 3}, folds, true)
		low, high, all := factorsOnBounds(f)
		if got := [3]int{low, high, all}; got != want {
			t.Errorf("errors of %v: %v on bounds, want %v; factors %v (%v)", z, got, want, f, math.Log(f[0][0]))
		}
	}
}
