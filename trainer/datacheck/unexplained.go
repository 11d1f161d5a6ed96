package datacheck

import (
	"math"
	"slices"

	"github.com/dgm-robotics/dgm/estimator/channel"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
)

// unexplained fits a linear regression of every change of a velocity (of a state without a
// measured derivative) on the state and the inputs: linear, with sines and cosines of
// angles, products of pairs, and the sign of motion. Where the robot was pushed, thrown or
// held by something that is not in the log, it explains nothing.
func (r *recording) unexplained() {
	d := &regression{recording: r}
	for _, s := range r.segs {
		for _, piece := range s.pieces() {
			d.addRows(s, piece)
		}
	}
	if len(d.rows) < 100 {
		return
	}
	d.coordinates()
	d.fillFeatures()
	for _, k := range r.places(channel.State) {
		if r.channels[k].Derivative == "" && !r.isConstant(k) {
			d.target(k)
		}
	}
}

func (r *recording) isConstant(k int) bool {
	first := r.segs[0].col[k][0]
	return !slices.ContainsFunc(r.segs, func(s *segment) bool {
		return slices.ContainsFunc(s.col[k], func(v float64) bool { return finite(v) && v != first })
	})
}

// row is one stretch over which the change of a state is looked at: two halves of equal
// duration, samples [first, mid] and [mid, last] of a segment.
type row struct {
	seg              *segment
	first, mid, last int
}

// regression holds what all targets share.
type regression struct {
	*recording
	rows     []row
	base     [][]float64 // coordinates × rows, standardised weighted means over the row
	features *mat.Dense  // rows × features
}

// addRows lists the stretches of one piece that are whole, a quarter of a half apart.
func (d *regression) addRows(s *segment, piece []int) {
	half := math.Max(halfRow, 3*s.dt)
	at := func(i int, t float64) int {
		for i < len(piece) && s.t[piece[i]] < t-0.1*s.dt {
			i++
		}
		return i
	}
	used := d.used()
	bad := make([]int, len(piece)+1) // number of samples ahead that are not good
	for i, k := range piece {
		bad[i+1] = bad[i]
		if slices.ContainsFunc(used, func(c int) bool { return !s.good(c, k) }) {
			bad[i+1]++
		}
	}
	mid, last, next := 0, 0, math.Inf(-1)
	for i, k := range piece {
		if s.t[k] < next-0.1*s.dt {
			continue
		}
		next = s.t[k] + half/4
		mid = at(max(mid, i), s.t[k]+half)
		last = at(max(last, mid), s.t[k]+2*half)
		if last >= len(piece) {
			return
		}
		if bad[last+1] == bad[i] {
			d.rows = append(d.rows, row{s, k, piece[mid], piece[last]})
		}
	}
}

// mean returns the mean of f over a row with the weights of a tent: what the change of the
// mean from one half to the other is the integral of.
func (rw row) mean(f func(x float64) float64, x []float64) float64 {
	t := rw.seg.t
	sum, weight := 0.0, 0.0
	for i := rw.first; i <= rw.last; i++ {
		w := 1 - math.Abs(t[i]-t[rw.mid])/(0.5*(t[rw.last]-t[rw.first])+1e-12)
		if w <= 0 {
			continue
		}
		sum += w * f(x[i])
		weight += w
	}
	return sum / weight
}

// coordinates fills base: every state (an angle by sine and cosine, a position not at all)
// and every input, in the order of the header.
func (d *regression) coordinates() {
	for k, ch := range d.channels {
		switch {
		case ch.Role == channel.Aux:
		case ch.Period > 0:
			w := 2 * math.Pi / ch.Period
			d.addCoordinate(k, func(x float64) float64 { return math.Sin(w * x) })
			d.addCoordinate(k, func(x float64) float64 { return math.Cos(w * x) })
		case !ch.Invariant:
			d.addCoordinate(k, func(x float64) float64 { return x })
		}
	}
}

// addCoordinate adds a function of channel k, standardised; none of a constant.
func (d *regression) addCoordinate(k int, f func(x float64) float64) {
	v := make([]float64, len(d.rows))
	for r, rw := range d.rows {
		v[r] = rw.mean(f, rw.seg.col[k])
	}
	mean, std := stat.PopMeanStdDev(v, nil)
	if std == 0 {
		return
	}
	for r := range v {
		v[r] = (v[r] - mean) / std
	}
	d.base = append(d.base, v)
}

// fillFeatures fills features from base.
func (d *regression) fillFeatures() {
	var data []float64
	for r := range d.rows {
		data = append(data, 1)
		for i, v := range d.base {
			data = append(data, v[r], math.Tanh(3*v[r]))
			with := d.base[i:]
			if len(d.base) > maxBase {
				with = with[:1]
			}
			for _, w := range with {
				data = append(data, v[r]*w[r])
			}
		}
	}
	d.features = mat.NewDense(len(d.rows), len(data)/len(d.rows), data)
}

// target reports where the change of one state is not explained.
func (d *regression) target(k int) {
	y := make([]float64, len(d.rows))
	for i, rw := range d.rows {
		y[i] = d.changeOver(k, rw)
	}
	f, ok := d.fit(y)
	if !ok {
		return
	}
	angle := slices.Contains(d.attitude(), k)
	outside := make([]bool, len(y))
	for i := range y {
		outside[i] = f.unexplained(i)
	}
	overlaps := func(_, i int) bool {
		a, b := d.rows[i-1], d.rows[i]
		return outside[i-1] && outside[i] && a.seg == b.seg && b.first <= a.last
	}
	type push struct{ a, b, worst int }
	var pushes []push
	for a, b := range runs(len(y), overlaps) {
		for a < b && (!outside[a] || angle && d.steepNear(d.rows[a].seg, d.rows[a].first, d.rows[a].last)) {
			a++
		}
		if a == b {
			continue
		}
		worst := a
		for i := a; i < b; i++ {
			if math.Abs(f.residual[i]) > math.Abs(f.residual[worst]) {
				worst = i
			}
		}
		pushes = append(pushes, push{a, b, worst})
	}
	// How a robot gets to a new speed is not linear, and no push.
	if after := responses(d.recording, pushTime, pushes, func(p push) (*segment, float64) { return d.rows[p.a].seg, d.rows[p.a].seg.t[d.rows[p.a].last] }); after != nil {
		pushes = slices.DeleteFunc(pushes, after)
	}
	for _, p := range pushes {
		s := d.rows[p.a].seg
		d.exclude(Outlier, k, span{s, d.rows[p.a].first, d.rows[p.b-1].last + 1}, BadSpan,
			"%s changes by %s more than state and inputs explain, around %s: an external force that is not in the log acted on the robot, or the channel is wrong there. The span is left out; the motion after it may be unusual: inspect it.",
			d.channels[k].Name, d.value(k, f.residual[p.worst]), sec(s.t[d.rows[p.worst].mid]))
	}
}

// changeOver returns by how much the mean of state k differs between the halves of a row.
// Where the channel that it is the derivative of is measured, that one shows it with less
// noise.
func (d *regression) changeOver(k int, rw row) float64 {
	t := rw.seg.t
	for p, ch := range d.channels {
		if ch.Derivative == d.channels[k].Name {
			path := d.path(p, rw)
			a, b := path[rw.mid-rw.first], path[rw.last-rw.first]
			return (b-a)/(t[rw.last]-t[rw.mid]) - a/(t[rw.mid]-t[rw.first])
		}
	}
	path := d.path(k, rw)
	return stat.Mean(path[rw.mid-rw.first:], nil) - stat.Mean(path[:rw.mid-rw.first+1], nil)
}

// path returns how far channel k is from the first sample of a row at each of its samples,
// over as many turns as an angle makes.
func (d *regression) path(k int, rw row) []float64 {
	path, last := make([]float64, rw.last-rw.first+1), rw.first
	for n := range path[1:] {
		path[n+1] = path[n]
		if i := rw.first + n + 1; rw.seg.good(k, i) {
			path[n+1] += d.change(rw.seg, k, last, i)
			last = i
		}
	}
	return path
}

// fitted is a robust regression of one target on the features.
type fitted struct {
	features *mat.Dense
	residual []float64     // by row
	spread   float64       // of the residual (0.9 quantile = 1.645)
	normal   *mat.Cholesky // of the normal equations
	rows     int           // that were fitted
}

// fit fits y in rounds, each without the rows that the last one did not explain.
func (d *regression) fit(y []float64) (f fitted, ok bool) {
	n := len(y)
	abs := make([]float64, n)
	f = fitted{features: d.features, residual: make([]float64, n)}
	limit := math.Inf(1)
	for range fitRounds {
		var use []int
		for i := 0; i < n; i += max(1, n/fitRows) {
			if abs[i] <= limit {
				use = append(use, i)
			}
		}
		w, normal := leastSquares(d.features, y, use)
		if w == nil {
			return f, false
		}
		f.normal, f.rows = normal, len(use)
		residual := mat.NewVecDense(n, f.residual)
		residual.MulVec(d.features, w)
		residual.SubVec(mat.NewVecDense(n, y), residual)
		for i, e := range f.residual {
			abs[i] = math.Abs(e)
		}
		limit = 4 * 1.4826 * median(abs)
	}
	f.spread = quantile(sketch(abs), 0.9) / 1.645
	return f, f.spread > 0
}

// leastSquares returns the weights w that minimise Σ (y − F·w)² over the rows in use, by
// the normal equations with a small ridge, and their matrix; nil from too few rows.
func leastSquares(F *mat.Dense, y []float64, use []int) (*mat.VecDense, *mat.Cholesky) {
	_, m := F.Dims()
	if len(use) < 2*m {
		return nil, nil
	}
	A, b := mat.NewDense(len(use), m, nil), mat.NewVecDense(len(use), nil)
	for i, r := range use {
		A.SetRow(i, F.RawRowView(r))
		b.SetVec(i, y[r])
	}
	var normal mat.SymDense
	var right, w mat.VecDense
	var chol mat.Cholesky
	normal.SymOuterK(1, A.T())
	for i := range m {
		normal.SetSym(i, i, normal.At(i, i)*(1+ridge)+ridge*float64(len(use)))
	}
	right.MulVec(A.T(), b)
	if !chol.Factorize(&normal) || !solve(&chol, &w, &right) {
		return nil, nil
	}
	return &w, &chol
}

// solve writes the solution of chol·x = b to x. A matrix that is nearly singular will do.
func solve(chol *mat.Cholesky, x, b *mat.VecDense) bool {
	err := chol.SolveVecTo(x, b)
	_, nearlySingular := err.(mat.Condition)
	return err == nil || nearlySingular
}

// unexplained reports whether the residual of row i is far larger than usual. Away from
// the rows that were fitted it is allowed to be, by the root of the leverage over its mean.
func (f fitted) unexplained(i int) bool {
	score := math.Abs(f.residual[i]) / f.spread
	if score < pushScore {
		return false
	}
	v := f.features.RowView(i).(*mat.VecDense)
	var z mat.VecDense
	if !solve(f.normal, &z, v) {
		return false
	}
	leverage := mat.Dot(v, &z) * float64(f.rows) / float64(v.Len())
	return score > pushScore*math.Sqrt(math.Max(1, leverage))
}
