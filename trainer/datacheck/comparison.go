package datacheck

import "math"

// comparison is how far a channel moves over a time and the integral of its measured
// derivative over it, from the first sample to the last.
type comparison struct {
	seg             *segment
	first, last     int
	moved, integral float64
}

// comparisons lists the stretches of about lag seconds over which state k and its
// derivative d are both there.
func (r *recording) comparisons(k, d int, lag float64) []comparison {
	var out []comparison
	for _, s := range r.segs {
		for _, piece := range s.pieces() {
			out = append(out, r.compare(s, k, d, piece, math.Max(2*s.dt, math.Min(lag, 200*s.dt)))...)
		}
	}
	return out
}

func (r *recording) compare(s *segment, k, d int, piece []int, lag float64) []comparison {
	v, n := s.col[d], len(piece)
	// Running sums, so that a stretch costs two subtractions. Wrong values stay out of
	// them; no stretch that holds some is used.
	moved, integral, bad := make([]float64, n), make([]float64, n), make([]int, n+1)
	for m, b := range piece {
		bad[m+1] = bad[m]
		if !s.good(k, b) || !s.good(d, b) {
			bad[m+1]++
		}
		if m == 0 {
			continue
		}
		moved[m], integral[m] = moved[m-1], integral[m-1]
		if a := piece[m-1]; bad[m+1] == bad[m-1] {
			moved[m] += r.change(s, k, a, b)
			integral[m] += 0.5 * (v[a] + v[b]) * (s.t[b] - s.t[a])
		}
	}
	var out []comparison
	j := 0
	for i := range piece {
		for j < n && s.t[piece[j]] < s.t[piece[i]]+lag-0.1*s.dt {
			j++
		}
		if j == n {
			break
		}
		if bad[j+1] == bad[i] {
			out = append(out, comparison{s, piece[i], piece[j], moved[j] - moved[i], integral[j] - integral[i]})
		}
	}
	return out
}

// moments returns the sums of moved², moved·integral and integral² over rows.
func moments(rows []comparison) (mm, mi, ii float64) {
	for _, r := range rows {
		mm += r.moved * r.moved
		mi += r.moved * r.integral
		ii += r.integral * r.integral
	}
	return mm, mi, ii
}
