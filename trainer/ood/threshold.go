package ood

import (
	"math"
	"slices"

	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/ood"
	"github.com/dgm-robotics/dgm/trainer/window"
)

const (
	references = 256  // reference points of a detector
	maxWindows = 4000 // that a detector is made from
	blocks     = 40   // parts that are left out in turn, at most
	shortest   = 4.0  // horizons in a part, at least
	share      = 0.94 // of the windows that are left out is within the threshold
)

// States are the lifted, standardised states that windows start from.
type States struct {
	lift    *channel.Lift
	flights []window.Flight
	windows []window.Window
	x       []float64 // n×L
	L       int
}

// Starts lifts what the windows of flights start from.
func Starts(lift *channel.Lift, flights []window.Flight, all []window.Window) *States {
	s := &States{lift: lift, flights: flights, windows: window.Thin(all, maxWindows), L: lift.Dim()}
	s.x = make([]float64, len(s.windows)*s.L)
	for i, w := range s.windows {
		lift.Apply(s.state(i), flights[w.Flight].State(w.Start))
	}
	return s
}

func (s *States) state(i int) []float64 { return s.x[i*s.L : (i+1)*s.L] }

// Detector describes the states by reference points, without any threshold. ok is
// false if the states have no finite covariance.
func (s *States) Detector() (r ood.Detector, ok bool) { return Fit(s.lift, s.x, references) }

// Threshold returns the distance that 94 % of the windows stay within when they
// are not among those that the detector was made from: blocks of time are left out
// one by one, together with every window that overlaps them. It is 0 if there are
// fewer than 20.
func (s *States) Threshold(H float64) float64 {
	d := s.leftOut(H)
	if len(d) < 20 {
		return 0
	}
	slices.Sort(d)
	return d[min(int(math.Ceil(share*float64(len(d)))), len(d)-1)]
}

// leftOut returns the distances of the windows, each from a detector that was made
// without it.
func (s *States) leftOut(H float64) []float64 {
	var d []float64
	for _, part := range s.parts(H) {
		var kept []float64
		for i, w := range s.windows {
			if !part.touches(&s.flights[w.Flight], w, H) {
				kept = append(kept, s.state(i)...)
			}
		}
		r, ok := Fit(s.lift, kept, references)
		if !ok {
			continue
		}
		for i, w := range s.windows {
			if part.holds(&s.flights[w.Flight], w) {
				d = append(d, s.distance(&r, i))
			}
		}
	}
	return d
}

// distance is that of window i.
func (s *States) distance(r *ood.Detector, i int) float64 {
	white := make([]float64, s.L)
	r.Whiten(white, s.state(i))
	return r.Nearest(white)
}

// part is what is left out at a time: a span of some flights.
type part struct {
	flights  map[*window.Flight]bool
	from, to float64 // s, of the flights' own time
}

func (p *part) holds(f *window.Flight, w window.Window) bool {
	t := f.T[w.Start]
	return p.flights[f] && t >= p.from && t < p.to
}

func (p *part) touches(f *window.Flight, w window.Window, H float64) bool {
	t := f.T[w.Start]
	return p.flights[f] && t >= p.from-H && t < p.to+H
}

// parts cuts the flights into about as many blocks of time as allowed, or deals
// the flights out where they are more than that.
func (s *States) parts(H float64) []part {
	if len(s.flights) >= blocks {
		out := make([]part, blocks)
		for i := range s.flights {
			p := &out[i%blocks]
			if p.flights == nil {
				*p = part{map[*window.Flight]bool{}, math.Inf(-1), math.Inf(1)}
			}
			p.flights[&s.flights[i]] = true
		}
		return out
	}
	var out []part
	each := blocks / max(1, len(s.flights))
	for i := range s.flights {
		f := &s.flights[i]
		n := max(1, min(each, 5, int(f.Duration()/(shortest*H))))
		begin, length := f.T[0], f.Duration()/float64(n)
		for j := range n {
			p := part{flights: map[*window.Flight]bool{f: true}, from: begin + float64(j)*length, to: begin + float64(j+1)*length}
			if j == n-1 {
				p.to = math.Inf(1)
			}
			out = append(out, p)
		}
	}
	return out
}
