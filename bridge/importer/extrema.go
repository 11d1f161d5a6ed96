package importer

import "math"

// extrema keeps the lowest and highest of several values.
type extrema struct {
	low, high []float64
}

// grow adds a value.
func (e *extrema) grow() {
	e.low, e.high = append(e.low, math.Inf(1)), append(e.high, math.Inf(-1))
}

func (e *extrema) add(x []float64) {
	for i, v := range x {
		if v < e.low[i] {
			e.low[i] = v
		}
		if v > e.high[i] {
			e.high[i] = v
		}
	}
}

// varies reports whether value i had more than one value.
func (e *extrema) varies(i int) bool { return e.high[i] > e.low[i] }
