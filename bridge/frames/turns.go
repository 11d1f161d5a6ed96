package frames

import "math"

// Turns looks for an angle that is wrapped among the values of a signal, by jumps of a turn
// that stay: either two or more of them, or one of a signal in a unit of angles.
type Turns struct {
	last  float64
	begun bool
	jumps [2]int // by a turn in radians, in degrees
}

// turns are a turn in radians and in degrees.
var turns = [2]float64{2 * math.Pi, 360}

// Add adds the next value. NaN is passed over.
func (t *Turns) Add(v float64) {
	if math.IsNaN(v) {
		return
	}
	for i, turn := range turns {
		// Jumps within one turn: what is far outside of it is another quantity.
		if t.begun && math.Abs(math.Abs(v-t.last)-turn) < 0.05*turn && math.Abs(v) <= 1.01*turn && math.Abs(t.last) <= 1.01*turn {
			t.jumps[i]++
		}
	}
	t.last, t.begun = v, true
}

// Period returns the period of a signal in a unit ("" = not known) that spans low to high:
// a turn where it looks like an angle, else 0, and the unit.
func (t *Turns) Period(unit string, low, high float64) (period float64, of string) {
	for i, name := range []string{"rad", "deg"} {
		scale, _, known := Unit(name, unit)
		known = known && unit != "" && scale == 1
		if known && (t.jumps[i] > 0 || high-low > turns[i]) || unit == "" && t.jumps[i] > 1 {
			return turns[i], name
		}
	}
	return 0, unit
}
