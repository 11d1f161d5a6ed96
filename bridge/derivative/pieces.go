package derivative

import (
	"math"
	"slices"
)

// stretches is the state for one length.
type stretches struct {
	steps int
	span  float64   // s, of the open stretch
	rise  []float64 // K, x(t) − x(t₀) of the open stretch
	area  []float64 // K, ∫ x dt of the open stretch
	pairs []moments // K×K, of rate of channel i (row) and mean of channel j
	votes []votes   // K×K

	rates, means []float64 // n×K row-major, of the n stretches of the open piece
	lasted       float64   // s, the open piece
	y, x         []float64 // of the pair at hand
}

// votes are pieces that took a pair for one, and that correlate with another slope.
type votes struct {
	agree, against int
	opposite       int     // of those against: with the slope of a derivative, and the other sign
	slope, corr    float64 // sums over those that agree
}

func (s *stretches) restart() {
	s.steps, s.span = 0, 0
	clear(s.rise)
	clear(s.area)
}

// close adds the open stretch to the open piece. A channel that was not measured
// somewhere in it is NaN by now. It returns the rates and means (K) of the stretch, views.
func (s *stretches) close(candidates []bool) (rates, means []float64) {
	K := len(s.rise)
	for k := range K {
		s.rates, s.means = append(s.rates, s.rise[k]/s.span), append(s.means, s.area[k]/s.span)
	}
	n := len(s.rates) / K
	rates, means = s.rates[(n-1)*K:n*K], s.means[(n-1)*K:n*K]
	if s.lasted += s.span; s.lasted >= pieceSpan && n >= pieceLeast || n >= pieceMost {
		s.settle(candidates)
	}
	return rates, means
}

// settle counts the open piece: its stretches for all candidate pairs (K×K),
// without those that are far from the usual of a channel, and its own moments
// of each pair.
func (s *stretches) settle(candidates []bool) {
	K := len(s.rise)
	fast, far := usual(s.rates, K), usual(s.means, K)
	for i := range K {
		for j := range K {
			if !candidates[i*K+j] {
				continue
			}
			s.votes[i*K+j].count(s.piece(i, j, fast[i], far[j], &s.pairs[i*K+j]))
		}
	}
	s.rates, s.means, s.lasted = s.rates[:0], s.means[:0], 0
}

// piece returns the moments of a pair in the open piece, of values up to fast and far,
// and adds them to all. What is far from the line through the rest does not count.
func (s *stretches) piece(i, j int, fast, far float64, all *moments) moments {
	K := len(s.rise)
	s.y, s.x = s.y[:0], s.x[:0]
	var sumY, sumX float64
	for n := 0; n < len(s.rates); n += K {
		if rate, mean := s.rates[n+i], s.means[n+j]; math.Abs(rate) <= fast && math.Abs(mean) <= far { // neither is NaN
			s.y, s.x = append(s.y, rate), append(s.x, mean)
			sumY += rate
			sumX += mean
		}
	}
	if len(s.y) == 0 {
		return moments{}
	}
	n := float64(len(s.y))
	own := about(s.y, s.x, sumY/n, sumX/n, 0, math.Inf(1))
	for range trims {
		if own.n < stretchesMin || own.xx <= 0 {
			break
		}
		slope, rest := own.xy/own.xx, 0.0
		for k, y := range s.y {
			rest += math.Abs(y - own.my - slope*(s.x[k]-own.mx))
		}
		own = about(s.y, s.x, own.my, own.mx, slope, offLine*rest/n)
	}
	all.merge(&own)
	return own
}

// usual returns, per channel (K), how large a value may be and be used.
func usual(rows []float64, K int) []float64 {
	out := make([]float64, K)
	var abs []float64
	for k := range K {
		abs = abs[:0]
		for n := k; n < len(rows); n += K {
			if v := math.Abs(rows[n]); v <= math.MaxFloat64 {
				abs = append(abs, v)
			}
		}
		out[k] = math.MaxFloat64
		slices.Sort(abs)
		if n := len(abs); n > 0 && abs[n*9/10] > 0 {
			out[k] = spike * abs[n*9/10]
		}
	}
	return out
}

func (v *votes) count(m moments) {
	if m.n < stretchesMin || m.xx <= 0 || m.yy <= 0 {
		return
	}
	slope, corr := m.xy/m.xx, m.xy/math.Sqrt(m.xx*m.yy)
	switch {
	case math.Abs(corr) < correlationMin:
	case slope >= slopeMin && slope <= slopeMax:
		v.agree++
		v.slope += slope
		v.corr += corr
	case slope < 1/contradictory || slope > contradictory:
		v.against++
		if slope >= -slopeMax && slope <= -slopeMin {
			v.opposite++
		}
	}
}

// moments are the running second moments of y (a rate) and x (a candidate)
// around their means.
type moments struct {
	n          int
	my, mx     float64
	yy, xx, xy float64
}

// about returns the moments of those values that are no further than limit from the
// line with a slope through (my, mx), which is about their mean: sums of squares of
// what is left cancel nothing.
func about(ys, xs []float64, my, mx, slope, limit float64) moments {
	var n, sy, sx, yy, xx, xy float64
	for k, y := range ys {
		dy, dx := y-my, xs[k]-mx
		if math.Abs(dy-slope*dx) <= limit {
			n++
			sy += dy
			sx += dx
			yy += dy * dy
			xx += dx * dx
			xy += dx * dy
		}
	}
	if n == 0 {
		return moments{}
	}
	return moments{n: int(n), my: my + sy/n, mx: mx + sx/n, yy: max(0, yy-sy*sy/n), xx: max(0, xx-sx*sx/n), xy: xy - sx*sy/n}
}

// merge adds the values of o (Chan, Golub and LeVeque 1979).
func (m *moments) merge(o *moments) {
	if o.n == 0 {
		return
	}
	a, b := float64(m.n), float64(o.n)
	dy, dx, w := o.my-m.my, o.mx-m.mx, a*b/(a+b)
	m.yy += o.yy + w*dy*dy
	m.xx += o.xx + w*dx*dx
	m.xy += o.xy + w*dx*dy
	m.my += dy * b / (a + b)
	m.mx += dx * b / (a + b)
	m.n += o.n
}
