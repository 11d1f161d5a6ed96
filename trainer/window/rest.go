package window

import (
	"math"
	"slices"

	"github.com/dgm-robotics/dgm/estimator/channel"
)

// Dry friction turns within the larger of these parts of a rate: of its root mean square, and of the standard deviation of its noise.
const (
	restOfRMS   = 0.05
	restOfNoise = 2.
)

// Rests returns how near to rest the dry friction of each state turns (K), in its unit; 0 of one that is no rate by its unit or relation, or never turns.
func Rests(flights []Flight, states []channel.Channel) []float64 {
	out := make([]float64, len(states))
	for k, c := range states {
		unit := channel.CanonicalUnit(c.Unit)
		if unit == "m/s" || unit == "rad/s" || slices.ContainsFunc(states, func(of channel.Channel) bool { return of.Derivative == c.Name }) {
			out[k] = rest(flights, k)
		}
	}
	return out
}

// rest returns how near to rest the dry friction of rate k turns, 0 of one that never turns.
func rest(flights []Flight, k int) float64 {
	var squares, noise, n, differences, low, high float64
	for i := range flights {
		f := &flights[i]
		for j := range f.N() {
			at := func(back int) float64 { return f.State(j - back)[k] }
			v := at(0)
			if math.IsNaN(v) {
				continue
			}
			squares, n, low, high = squares+v*v, n+1, math.Min(low, v), math.Max(high, v)
			if j < 3 {
				continue
			}
			if d := v - 3*at(1) + 3*at(2) - at(3); !math.IsNaN(d) { // of white noise 20 times its variance
				noise, differences = noise+d*d/20, differences+1
			}
		}
	}
	width := math.Max(restOfRMS*math.Sqrt(squares/math.Max(n, 1)), restOfNoise*math.Sqrt(noise/math.Max(differences, 1)))
	if low < -width && width < high {
		return width
	}
	return 0
}
