package plot

import (
	"math"
	"slices"
	"strconv"
)

// axis maps values to places.
type axis struct {
	min, max float64 // values
	from, to float64 // places
	log      bool
}

func (a axis) at(v float64) float64 {
	lo, hi := a.min, a.max
	if a.log {
		lo, hi, v = math.Log10(lo), math.Log10(hi), math.Log10(v)
	}
	return a.from + (v-lo)/(hi-lo)*(a.to-a.from)
}

// shows reports whether the axis has a place for a value.
func (a axis) shows(v float64) bool { return !a.log || v > 0 }

// tick is a mark on an axis.
type tick struct {
	value float64
	label string
}

// ticks returns about n marks at round values.
func (a axis) ticks(n int) []tick {
	if a.log {
		if out := a.decades(n); len(out) >= 3 {
			return out
		}
		// Less than a decade apart: round values are more useful than powers of ten.
	}
	step := niceStep((a.max - a.min) / float64(n))
	var out []tick
	for i := math.Ceil(a.min/step - 1e-9); i*step <= a.max+1e-9*step; i++ {
		v := i * step
		if math.Abs(v) < 1e-9*step {
			v = 0
		}
		out = append(out, tick{v, label(v, step)})
	}
	return out
}

// niceStep returns the smallest 1, 2 or 5 times a power of ten from v on.
func niceStep(v float64) float64 {
	p := math.Pow(10, math.Floor(math.Log10(v)))
	for _, m := range []float64{1, 2, 5, 10} {
		if m*p >= v*(1-1e-9) {
			return m * p
		}
	}
	return 10 * p
}

// label prints a tick with as many decimals as its step has.
func label(v, step float64) string {
	if a := math.Abs(v); a >= 1e5 || (a > 0 && a < 1e-4) {
		return strconv.FormatFloat(v, 'g', 3, 64)
	}
	d := 0
	if step < 1 {
		d = int(math.Ceil(-math.Log10(step) - 1e-9))
	}
	return minus(strconv.FormatFloat(v, 'f', min(d, 8), 64))
}

// decades returns the powers of ten within, and 2 and 5 times them if these are few:
// two decades may hold only two powers.
func (a axis) decades(n int) []tick {
	var out []tick
	lo, hi := math.Ceil(math.Log10(a.min)-1), math.Floor(math.Log10(a.max)+1)
	multiples := []float64{1}
	if span := math.Log10(a.max / a.min); span < 1.2 {
		multiples = []float64{1, 2, 3, 5, 7}
	} else if span < 3 {
		multiples = []float64{1, 2, 5}
	}
	every := math.Max(1, math.Ceil((hi-lo-1)/float64(n)))
	for e := lo; e <= hi; e++ {
		if len(multiples) == 1 && math.Mod(hi-1-e, every) != 0 {
			continue
		}
		for _, m := range multiples {
			v := m * math.Pow(10, e)
			if v >= a.min*(1-1e-9) && v <= a.max*(1+1e-9) {
				out = append(out, tick{v, minus(power(v))})
			}
		}
	}
	return out
}

// power prints a value of a logarithmic axis: in full up to a million.
func power(v float64) string {
	if v >= 1e3 && v < 1e7 {
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	return strconv.FormatFloat(v, 'g', 3, 64)
}

// minus replaces the hyphen of a negative number by a minus sign.
func minus(s string) string {
	if len(s) > 0 && s[0] == '-' {
		return "\u2212" + s[1:]
	}
	return s
}

// Logarithmic reports whether positive, rising values span enough for a logarithmic
// axis.
func Logarithmic(v []float64) bool { return len(v) >= 3 && v[0] > 0 && v[len(v)-1] >= 8*v[0] }

// Padded returns the smallest and the largest value with a margin, a fraction of the span.
func Padded(v []float64, margin float64) (lo, hi float64) {
	if len(v) == 0 {
		return 0, 1
	}
	lo, hi = slices.Min(v), slices.Max(v)
	span := hi - lo
	if span <= 1e-9*math.Max(math.Abs(lo), math.Abs(hi)) {
		span, margin = math.Max(math.Abs(hi), 1), 0.1
	}
	return lo - margin*span, hi + margin*span
}

// positive returns the smallest and the largest value above zero; ok is false without one.
func positive(v []float64) (lo, hi float64, ok bool) {
	lo = math.Inf(1)
	for _, x := range v {
		if x > 0 {
			lo, hi = math.Min(lo, x), math.Max(hi, x)
		}
	}
	return lo, hi, hi > 0
}
