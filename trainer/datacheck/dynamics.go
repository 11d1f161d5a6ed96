package datacheck

import (
	"math"
	"slices"

	"github.com/dgm-robotics/dgm/estimator/channel"
	"gonum.org/v1/gonum/mat"
)

const (
	halfRow   = 0.1  // s, half of the time over which a change is looked at
	pushScore = 20   // times the usual rest of the regression
	fitRows   = 4000 // rows of the regression at most
	fitRounds = 3    // each without the rows that the last one could not explain
	maxBase   = 12   // coordinates up to which all their products are used
)

// dynamics asks a plain regression how much of every change of a velocity (of a
// state without a measured derivative) the state and the inputs explain: linear,
// with sines and cosines of angles, products of pairs, and the sign of motion.
// Where the robot was pushed, thrown or held by something that is not in the log,
// nothing explains it.
func (c *checker) dynamics() {
	d := newRegression(c)
	if d == nil {
		return
	}
	for _, k := range c.states() {
		if c.channels[k].Derivative != "" || c.isConstant(k) {
			continue
		}
		d.target(k)
	}
}

func (c *checker) isConstant(k int) bool {
	for _, s := range c.segs {
		for _, v := range s.col[k] {
			if finite(v) && v != c.segs[0].col[k][0] {
				return false
			}
		}
	}
	return true
}

// row is one stretch over which the change of a state is looked at: two halves
// of equal duration, samples [first, mid] and [mid, last] of a segment.
type row struct {
	seg              *segment
	first, mid, last int
}

// regression holds what all targets share.
type regression struct {
	*checker
	rows []row
	base [][]float64 // per row, the weighted mean of the coordinates over it
	feat [][]float64 // per row
}

func newRegression(c *checker) *regression {
	d := &regression{checker: c}
	for _, s := range c.segs {
		for _, p := range s.pieces() {
			d.addRows(s, s.keep[p[0]:p[1]])
		}
	}
	if len(d.rows) < 100 {
		return nil
	}
	d.coordinates()
	d.features()
	return d
}

// addRows lists the stretches of one piece that are whole, a quarter of a half
// apart.
func (d *regression) addRows(s *segment, keep []int) {
	half := math.Max(halfRow, 3*s.dt)
	at := func(i int, t float64) int {
		for i < len(keep) && s.t[keep[i]] < t-0.1*s.dt {
			i++
		}
		return i
	}
	bad := make([]int, len(keep)+1) // number of samples ahead that are not good
	for i, k := range keep {
		bad[i+1] = bad[i]
		if !d.good(s, k) {
			bad[i+1]++
		}
	}
	mid, last, next := 0, 0, math.Inf(-1)
	for i, k := range keep {
		if s.t[k] < next-0.1*s.dt {
			continue
		}
		next = s.t[k] + half/4
		mid = at(max(mid, i), s.t[k]+half)
		last = at(max(last, mid), s.t[k]+2*half)
		if last >= len(keep) {
			return
		}
		if bad[last+1] == bad[i] {
			d.rows = append(d.rows, row{s, k, keep[mid], keep[last]})
		}
	}
}

func (d *regression) good(s *segment, i int) bool {
	for k, ch := range d.channels {
		if ch.Role != channel.Aux && !s.good(k, i) {
			return false
		}
	}
	return true
}

// mean returns the mean of f over a row with the weights of a tent: what the
// change of the mean from one half to the other is the integral of.
func (rw row) mean(f func(i int) float64) float64 {
	t := rw.seg.t
	sum, weight := 0.0, 0.0
	for i := rw.first; i <= rw.last; i++ {
		w := 1 - math.Abs(t[i]-t[rw.mid])/(0.5*(t[rw.last]-t[rw.first])+1e-12)
		if w <= 0 {
			continue
		}
		sum += w * f(i)
		weight += w
	}
	return sum / weight
}

// coordinates fills base: every state (an angle by sine and cosine, a position
// not at all) and every input, standardised.
func (d *regression) coordinates() {
	n := len(d.rows)
	d.base = make([][]float64, n)
	add := func(f func(s *segment, i int) float64) {
		v := make([]float64, n)
		sum, sq := 0.0, 0.0
		for r, rw := range d.rows {
			v[r] = rw.mean(func(i int) float64 { return f(rw.seg, i) })
			sum += v[r]
		}
		mean := sum / float64(n)
		for _, x := range v {
			sq += (x - mean) * (x - mean)
		}
		std := math.Sqrt(sq / float64(n))
		if std == 0 {
			return
		}
		for r := range v {
			d.base[r] = append(d.base[r], (v[r]-mean)/std)
		}
	}
	for k, ch := range d.channels {
		switch {
		case ch.Role == channel.Aux:
		case ch.Period > 0:
			w := 2 * math.Pi / ch.Period
			add(func(s *segment, i int) float64 { return math.Sin(w * s.col[k][i]) })
			add(func(s *segment, i int) float64 { return math.Cos(w * s.col[k][i]) })
		case !ch.Invariant:
			add(func(s *segment, i int) float64 { return s.col[k][i] })
		}
	}
}

// features fills feat from base.
func (d *regression) features() {
	d.feat = make([][]float64, len(d.base))
	for r, b := range d.base {
		f := make([]float64, 0, 1+len(b)*(len(b)+5)/2)
		f = append(f, 1)
		f = append(f, b...)
		for i, v := range b {
			f = append(f, math.Tanh(3*v))
			if len(b) <= maxBase {
				for _, w := range b[i:] {
					f = append(f, v*w)
				}
			} else {
				f = append(f, v*v)
			}
		}
		d.feat[r] = f
	}
}

// target looks at one state.
func (d *regression) target(k int) {
	y := make([]float64, len(d.rows))
	for r, rw := range d.rows {
		y[r] = d.change(k, rw)
	}
	f, ok := d.fit(y)
	if !ok {
		return
	}
	angle := slices.Contains(d.attitude(), k)
	for a := 0; a < len(y); a++ {
		if !f.unexplained(a) || angle && d.steepNear(d.rows[a].seg, d.rows[a].first, d.rows[a].last) {
			continue
		}
		b, worst := a, a
		for b+1 < len(y) && d.rows[b+1].seg == d.rows[a].seg && d.rows[b+1].first <= d.rows[b].last && f.unexplained(b+1) {
			b++
			if math.Abs(f.rest[b]) > math.Abs(f.rest[worst]) {
				worst = b
			}
		}
		d.pushed(k, d.rows[a], d.rows[b], d.rows[worst], f.rest[worst])
		a = b
	}
}

func (d *regression) pushed(k int, from, to, worst row, rest float64) {
	s := from.seg
	d.add(Outlier, Exclude, k, s, from.first, to.last+1,
		"%s changes by %s more than state and inputs explain, around %s: the robot was pushed, held or thrown by something that is not in the log, or the channel is wrong there. The span is left out; what follows it may lie outside of ordinary motion: look at it.",
		d.channels[k].Name, d.value(k, rest), sec(s.t[worst.mid]))
	s.mark(k, from.first, to.last+1, BadSpan)
}

// change returns by how much the mean of state k differs between the halves of a
// row. Where the channel that it is the derivative of is measured, that one says
// so with less noise.
func (d *regression) change(k int, rw row) float64 {
	s := rw.seg
	for p, ch := range d.channels {
		if ch.Derivative == d.channels[k].Name {
			x := s.col[p]
			a, b := wrapped(x[rw.mid]-x[rw.first], ch.Period), wrapped(x[rw.last]-x[rw.mid], ch.Period)
			return b/(s.t[rw.last]-s.t[rw.mid]) - a/(s.t[rw.mid]-s.t[rw.first])
		}
	}
	period := d.channels[k].Period
	x0 := s.col[k][rw.first]
	half := func(from, to int) float64 {
		sum := 0.0
		for i := from; i <= to; i++ {
			sum += wrapped(s.col[k][i]-x0, period)
		}
		return sum / float64(to-from+1)
	}
	return half(rw.mid, rw.last) - half(rw.first, rw.mid)
}

// wrapped returns an angle difference of at most half a period.
func wrapped(v, period float64) float64 {
	if period > 0 {
		v -= period * math.Round(v/period)
	}
	return v
}

// fitted is a robust regression of one target on the features.
type fitted struct {
	feat [][]float64
	rest []float64 // per row, what the fit leaves
	// The spread of the rest (0.9 quantile = 1.645), and what tells how far a row
	// lies from those that were fitted.
	spread float64
	chol   *mat.Cholesky
	rows   int
}

// fit fits y, thrice, each time without the rows that the last one could not
// explain.
func (d *regression) fit(y []float64) (f fitted, ok bool) {
	n := len(y)
	stride := max(1, n/fitRows)
	use := make([]bool, n)
	for r := 0; r < n; r += stride {
		use[r] = true
	}
	f = fitted{feat: d.feat, rest: make([]float64, n)}
	abs := make([]float64, n)
	for range fitRounds {
		var w []float64
		if w, f.chol, f.rows, ok = leastSquares(d.feat, y, use); !ok {
			return f, false
		}
		for r := range y {
			f.rest[r] = y[r] - dot(d.feat[r], w)
			abs[r] = math.Abs(f.rest[r])
		}
		limit := 4 * 1.4826 * median(abs)
		for r := 0; r < n; r += stride {
			use[r] = abs[r] <= limit
		}
	}
	f.spread = quantile(sketch(abs), 0.9) / 1.645
	return f, f.spread > 0
}

// unexplained reports whether the fit leaves far more of row r than it does
// usually. Away from the rows that were fitted it is allowed to be wrong, by the
// root of the leverage over its mean.
func (f fitted) unexplained(r int) bool {
	score := math.Abs(f.rest[r]) / f.spread
	if score < pushScore {
		return false
	}
	m := len(f.feat[r])
	v, z := mat.NewVecDense(m, f.feat[r]), mat.NewVecDense(m, nil)
	if err := f.chol.SolveVecTo(z, v); err != nil {
		if _, bad := err.(mat.Condition); !bad {
			return false
		}
	}
	leverage := mat.Dot(v, z) * float64(f.rows) / float64(m)
	return score > pushScore*math.Sqrt(math.Max(1, leverage))
}

func dot(a, b []float64) float64 {
	s := 0.0
	for i, v := range a {
		s += v * b[i]
	}
	return s
}
