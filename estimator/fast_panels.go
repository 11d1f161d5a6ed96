package estimator

import "github.com/dgm-robotics/dgm/estimator/numeric/simd"

// padded returns the number of rows filled up to whole panels.
func padded(rows int) int { return simd.Panels(rows) * simd.Rows }

// packed returns rows×cols numbers, of which at(r, c) is one, as panels.
func packed(rows, cols int, at func(r, c int) float64) []float32 {
	out := make([]float32, padded(rows)*cols)
	simd.Pack(out, rows, cols, at)
	return out
}

// take cuts so many rows of Width, filled up to whole panels, off room.
func take(room *[]float32, rows int) []float32 {
	n := padded(rows) * simd.Width
	out := (*room)[:n]
	*room = (*room)[n:]
	return out
}
