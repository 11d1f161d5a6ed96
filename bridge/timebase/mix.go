package timebase

import (
	"math"

	"github.com/dgm-robotics/dgm/bridge/frames"
)

// mix finds signal s at share r (0 to 1) between samples a and b.
func mix(dst []float64, s *Signal, a, b []float64, r float64) {
	if s.How == Rotation {
		q, okA := quaternion(a, s.At).Unit()
		p, okB := quaternion(b, s.At).Unit()
		if !okA || !okB {
			return // dst is NaN: no attitude
		}
		m := frames.Slerp(q, p, r)
		copy(dst, m[:])
		return
	}
	for i, k := range s.At {
		d := b[k] - a[k]
		if s.How == Turning {
			d -= s.Period * math.Round(d/s.Period)
		}
		dst[i] = a[k] + r*d
	}
}

func quaternion(x []float64, at []int) (q frames.Quaternion) {
	for i, k := range at {
		q[i] = x[k]
	}
	return q
}
