package node

import "github.com/dgm-robotics/dgm/estimator/wire"

// What is said from a state of some age, in multiples of the age limit.
const (
	staleAfter = 2 // beyond it is flagged
	silentFrom = 4 // beyond it nothing is said
)

// judgeAge returns by how much the standard deviations are widened for the age of
// a state, and the flags that go with it; ok is false beyond the last limit. All
// times are in ns.
func judgeAge(age, limit int64) (widen float64, f wire.Flags, ok bool) {
	switch {
	case age <= limit:
		return 1, 0, true
	case age > silentFrom*limit:
		return 0, 0, false
	case age > staleAfter*limit:
		f = wire.Stale
	}
	return float64(age) / float64(limit), f | wire.Widened, true
}
