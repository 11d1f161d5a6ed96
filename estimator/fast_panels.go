package estimator

import "github.com/dgm-robotics/dgm/estimator/numeric/simd"

// take cuts so many rows of Width, filled up to whole panels, off room.
func take(room *[]float32, rows int) []float32 {
	n := simd.Padded(rows) * simd.Width
	out := (*room)[:n]
	*room = (*room)[n:]
	return out
}
