package motion

import (
	"math"
	"testing"

	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/motion"
	"github.com/dgm-robotics/dgm/trainer/window"
)

// A stiffness below zero, as noise or rest may leave one, is bounded: a roll-out from far outside of the data does not grow
// exponentially. Angles that turn on have no bound.
func TestJointsAreBounded(t *testing.T) {
	s := window.Series{T: []int64{0, 1e7, 2e7}, X: []float64{0.1, 1, -0.4, 2, 0.2, -3}}
	flights := window.Prepare(0, s, []channel.Channel{{Name: "q"}, {Name: "dq"}}, 0, window.Options{})
	for turns, most := range map[bool]float64{false: slack * 0.4, true: math.MaxFloat32} {
		e := motion.Equation{Roles: []motion.Role{{Name: "angle 1", State: 0, Scale: 1, Turns: turns}, {Name: "rate 1", State: 1, Scale: 1}}}
		got := bounds(flights, 2, 0, &e)
		if math.Abs(got[0]-most) > 1e-6 || math.Abs(got[1]-slack*3) > 1e-6 {
			t.Errorf("turns %v: bounds %v, want %v and %v", turns, got, most, slack*3)
		}
	}
}
