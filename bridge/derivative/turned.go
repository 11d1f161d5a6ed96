package derivative

import (
	"cmp"
	"math"

	"github.com/dgm-robotics/dgm/estimator/channel"
)

// kept are stretches of one length from the whole log, evenly spread: every so many of them.
type kept struct {
	rates, means []float64 // n×K row-major
	every, seen  int
}

const (
	mostKept   = 1 << 16 // numbers
	keptLength = 1       // of lengths
	turnedRest = 0.25    // part of the squares of what is left, below which a heading explains a rate
)

// add takes the rates and means (K) of a stretch.
func (s *kept) add(rates, means []float64) {
	K := len(rates)
	s.every = max(1, s.every)
	if s.seen++; (s.seen-1)%s.every != 0 {
		return
	}
	s.rates, s.means = append(s.rates, rates...), append(s.means, means...)
	if 2*len(s.rates) < mostKept || len(s.rates) < 4*K {
		return
	}
	n := 0
	for from := 0; from < len(s.rates); from += 2 * K {
		copy(s.rates[n:], s.rates[from:from+K])
		copy(s.means[n:], s.means[from:from+K])
		n += K
	}
	s.rates, s.means = s.rates[:n], s.means[:n]
	s.every *= 2
}

// turned returns the heading, a state k, along which channel j moves channel i; "" = there is none: the speed of a car is the rate of its x
// where it drives along x, and nowhere else.
//
//	Σ (ẋ_i − v_j cos θ_k)² or Σ (ẋ_i − v_j sin θ_k)²  <  ¼ Σ (ẋ_i − v_j)²
func (s *kept) turned(states []channel.Channel, i, j int) string {
	K := len(states)
	for k := range K {
		if k == i || k == j {
			continue
		}
		angle := cmp.Or(channel.Radians(states[k].Unit), 1)
		if p := states[k].Period; p > 0 {
			angle = 2 * math.Pi / p
		}
		plain, cosine, sine := 0., 0., 0.
		for from := 0; from < len(s.rates); from += K {
			rate, v := s.rates[from+i], s.means[from+j]
			sin, cos := math.Sincos(angle * s.means[from+k])
			a, b, c := rate-v, rate-v*cos, rate-v*sin
			if sum := a + b + c; !math.IsNaN(sum) && !math.IsInf(sum, 0) {
				plain, cosine, sine = plain+a*a, cosine+b*b, sine+c*c
			}
		}
		if min(cosine, sine) < turnedRest*plain {
			return states[k].Name
		}
	}
	return ""
}
