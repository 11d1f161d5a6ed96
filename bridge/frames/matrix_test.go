package frames

import (
	"math"
	"testing"
)

// A rotation matrix is the attitude whose rotations of the axes are its columns.
func TestFromMatrix(t *testing.T) {
	for _, e := range [][3]float64{{}, {0.3, -0.5, 2}, {math.Pi, 0, 0}, {0, 0, math.Pi}, {3, 0.1, -3}, {-2, 1.2, 1}, {0, math.Pi / 2, 0}, {math.Pi, 0, math.Pi}} {
		q := FromEuler(e)
		var m [9]float64
		for k := range 3 {
			var axis [3]float64
			axis[k] = 1
			for i, v := range q.Rotate(axis) {
				m[3*i+k] = v
			}
		}
		got := FromMatrix(m)
		if dot := math.Abs(got[0]*q[0] + got[1]*q[1] + got[2]*q[2] + got[3]*q[3]); math.Abs(dot-1) > 1e-12 {
			t.Errorf("%v: %v, want %v", e, got, q)
		}
		m[4] += 0.2
		if got := FromMatrix(m); got != (Quaternion{}) {
			t.Errorf("%v: %v of a matrix that is no rotation", e, got)
		}
	}
	if got := FromMatrix([9]float64{1, 0, 0, 0, 1, 0, 0, 0, -1}); got != (Quaternion{}) {
		t.Errorf("%v of a reflection", got)
	}
	if got := FromMatrix([9]float64{1, 0, 0, 0, math.NaN(), 0, 0, 0, 1}); !math.IsNaN(got[0]) {
		t.Errorf("%v of a matrix with a part that is missing", got)
	}
}
