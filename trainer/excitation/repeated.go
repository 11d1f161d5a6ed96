package excitation

import (
	"math"

	"github.com/dgm-robotics/dgm/trainer/window"
)

const (
	points = 100  // of two flights that are compared
	shifts = 20   // by which one may begin later, each a hundredth of its time
	alike  = 0.95 // share of the motion of one that the other has
)

// Repeated returns how many flights there are where all are, but for their beginning, the same in all states whose value matters; else 0.
// Flights that are shorter than four horizons do not count.
func Repeated(flights []window.Flight, task window.Task) int {
	var first *window.Flight
	n := 0
	for i := range flights {
		switch f := &flights[i]; {
		case f.Duration() < 4*task.Horizon:
			continue
		case first == nil:
			first = f
		case !repeats(first, f, task):
			return 0
		}
		n++
	}
	if n < 2 {
		return 0
	}
	return n
}

// repeats reports whether two flights are the same where one begins somewhat later.
func repeats(a, b *window.Flight, task window.Task) bool {
	for shift := -shifts; shift <= shifts; shift++ {
		if common(a, b, float64(shift)/points, task) > alike {
			return true
		}
	}
	return false
}

// common returns the least share of the variance of a state in one flight that the other has, which begins later by a share of the time;
// 0 where too little is known.
func common(a, b *window.Flight, later float64, task window.Task) float64 {
	time := math.Min(a.Duration(), b.Duration())
	span := (1 - math.Abs(later)) * time
	fromA, fromB := a.T[0]+math.Max(later, 0)*time, b.T[0]+math.Max(-later, 0)*time
	x, y := make([]float64, a.K), make([]float64, a.K)
	sums := make([]struct{ n, x, xx, apart, apart2 float64 }, a.K)
	for i := range points {
		t := span * float64(i) / points
		if !a.StateAt(x, fromA+t) || !b.StateAt(y, fromB+t) {
			continue
		}
		for k := range sums {
			if s, d := &sums[k], y[k]-x[k]; !math.IsNaN(d) {
				s.n, s.x, s.xx, s.apart, s.apart2 = s.n+1, s.x+x[k], s.xx+x[k]*x[k], s.apart+d, s.apart2+d*d
			}
		}
	}
	least := 1.0
	for k, s := range sums {
		variance, apart := s.xx/s.n-s.x*s.x/(s.n*s.n), s.apart2/s.n
		if task.States[k].Invariant {
			apart -= s.apart * s.apart / (s.n * s.n)
		}
		if s.n < points/2 || !(variance > 0) {
			return 0
		}
		least = math.Min(least, 1-apart/variance)
	}
	return least
}
