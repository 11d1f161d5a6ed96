package window

import (
	"math"
	"slices"
)

// Interval returns the median time from one sample to the next, s; 0 without any.
func Interval(flights []Flight) float64 {
	var dt []float64
	for i := range flights {
		t := flights[i].T
		for j := 1; j < len(t); j++ {
			dt = append(dt, t[j]-t[j-1])
		}
	}
	if len(dt) == 0 {
		return 0
	}
	slices.Sort(dt)
	return dt[len(dt)/2]
}

// Samples returns the number of samples of the flights.
func Samples(flights []Flight) int {
	n := 0
	for i := range flights {
		n += flights[i].N()
	}
	return n
}

// Duration returns how long the flights last in all, s.
func Duration(flights []Flight) float64 {
	sum := 0.0
	for i := range flights {
		sum += flights[i].Duration()
	}
	return sum
}

// Rate returns how often state k was measured, Hz.
func Rate(flights []Flight, k int) float64 {
	n := -len(flights) // as many steps as samples but one of each
	for i := range flights {
		for j := range flights[i].N() {
			if !math.IsNaN(flights[i].State(j)[k]) {
				n++
			}
		}
	}
	return float64(n) / Duration(flights)
}

// Longest returns the duration of the longest flight, s; 0 if there is none.
func Longest(flights []Flight) float64 {
	d := 0.0
	for i := range flights {
		d = max(d, flights[i].Duration())
	}
	return d
}
