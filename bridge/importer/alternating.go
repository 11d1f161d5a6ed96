package importer

import (
	"math"
	"strings"

	"github.com/dgm-robotics/dgm/estimator/channel"
)

// alternating finds states whose rows are in turns of two signals: of two publishers, or two
// robots, that nothing in the messages distinguishes.
type alternating struct {
	one, two     []float64 // of each state: the sums of the steps to the next row and to the one behind it
	before, last []float64
	n            int // rows since the last break, up to two
	rows         int
}

// alternates is the ratio of the second sum to the first below which there are two signals. Of
// one smooth signal it is 2, of noise 1.
const alternates = 0.4

func newAlternating(states int) *alternating {
	return &alternating{one: make([]float64, states), two: make([]float64, states), before: make([]float64, states), last: make([]float64, states)}
}

func (a *alternating) add(x []float64, begins bool) {
	if begins {
		a.n = 0
	}
	if a.n == 2 {
		for i, v := range x {
			one, two := math.Abs(v-a.last[i]), math.Abs(v-a.before[i])
			if d := one + two; d == d { // not NaN
				a.one[i], a.two[i] = a.one[i]+one, a.two[i]+two
			}
		}
	}
	copy(a.before, a.last)
	copy(a.last, x)
	a.n = min(2, a.n+1)
	a.rows++
}

// found returns the states that alternate.
func (a *alternating) found() (all []int) {
	for i := range a.one {
		if a.rows > 50 && a.two[i] < alternates*a.one[i] {
			all = append(all, i)
		}
	}
	return all
}

// alternating reports which states alternate, if any does.
func (out *remarks) alternating(states []channel.Channel, found []int) {
	if len(found) == 0 {
		return
	}
	var names []string
	for _, i := range found {
		names = append(names, states[i].Name)
	}
	out.add("alternating", Warning, "", "%s: every other row continues the one before the last: two senders or robots seem to take turns, and nothing in the messages distinguishes them", strings.Join(names, ", ")).Remedy = "record them apart, or select one with where"
}
