package frames

import "math"

// Turns looks for an angle that is wrapped among the values of a signal, or the counts of an encoder or of a number of 16
// bits: jumps by a turn between values near the ends of a range of one turn. The zero value is ready.
type Turns struct {
	last  float64
	n     int
	low   float64
	high  float64
	looks [len(turns)]turnCounts
}

// turnCounts are what speaks for a signal that is wrapped at a turn, and against it.
type turnCounts struct {
	jumps  int // steps of a turn
	middle int // steps of a quarter of a turn or more that are none: of noise, not of an angle
	beyond int // values that no range of one turn holds
}

// turns are a turn in radians, in degrees, half a turn in both, as of a line without direction, a turn in hundredths of degrees, mils and counts, and turnUnits their units.
var (
	turns     = [...]float64{2 * math.Pi, 360, math.Pi, 180, 36000, 6400, 1 << 10, 1 << 11, 1 << 12, 1 << 13, 1 << 14, 1 << 15, 1 << 16}
	turnUnits = [len(turns)]string{"rad", "deg", "rad", "deg", "cdeg", "mil", counts, counts, counts, counts, counts, counts, counts}
)

const counts = "counts"

const (
	turnShare  = 0.05 // of a turn: how far a jump, or a range, is from one turn at most
	rareBeyond = 0.01 // of the values may be beyond a range of one turn: spikes
)

// Add adds the next value. NaN is passed over.
func (t *Turns) Add(v float64) {
	if math.IsNaN(v) {
		return
	}
	step := math.Abs(v - t.last)
	for i, turn := range turns {
		c := &t.looks[i]
		switch {
		case math.Abs(v) > (1+turnShare)*turn:
			c.beyond++
		case t.n == 0 || math.Abs(t.last) > (1+turnShare)*turn:
		case math.Abs(step-turn) < turnShare*turn:
			c.jumps++
		case step > turn/4:
			c.middle++
		}
	}
	if t.n == 0 {
		t.low, t.high = v, v
	}
	t.low, t.high = min(t.low, v), max(t.high, v)
	t.last = v
	t.n++
}

// Period returns the period of a signal in a unit ("" = not known) and the unit: a turn
// where its values wrap, else 0. One jump shows it in a unit of angles; without a unit two
// do, for one may be the beginning of another recording.
func (t *Turns) Period(unit string) (period float64, of string) {
	for i, name := range turnUnits {
		scale, _, known := Unit(name, unit)
		known = known && unit != "" && scale == 1
		c, least := &t.looks[i], 2
		half := turns[i] == math.Pi || turns[i] == 180
		if known && !half {
			least = 1
		}
		// Of a whole turn there may be a value between the ends, which leaves two jumps of a half.
		if half && t.high-t.low > (1+turnShare)*turns[i] {
			continue
		}
		if (known || unit == "") && c.jumps >= least && c.jumps > c.middle && float64(c.beyond) <= rareBeyond*float64(t.n) {
			return turns[i], name
		}
	}
	return 0, unit
}
