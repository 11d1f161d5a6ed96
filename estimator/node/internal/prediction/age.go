package prediction

import "github.com/dgm-robotics/dgm/estimator/wire"

// What is predicted from a state of some age, in multiples of the age limit.
const (
	staleAfter = 2 // beyond it is flagged
	// SilentAfter is the age beyond which nothing is predicted.
	SilentAfter = 4
)

// widening returns the factor of the standard deviations for the age of a state, and
// the flags that go with it; ok is false beyond the last limit. All times are in ns.
func widening(age, limit int64) (factor float64, f wire.Flags, ok bool) {
	switch {
	case age <= limit:
		return 1, 0, true
	case age > SilentAfter*limit:
		return 0, 0, false
	case age > staleAfter*limit:
		f = wire.Stale
	}
	return float64(age) / float64(limit), f | wire.Widened, true
}
