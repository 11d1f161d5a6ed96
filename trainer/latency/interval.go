package latency

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"
)

const (
	blocks = 40    // of the log, whose scores give the intervals
	draws  = 20000 // from the distribution of dead times and lags

	together = 1e-6 // share of the diagonal that keeps what does the same apart
)

// value is a dead time or a lag, with the interval of 95 %, s.
type value struct{ mean, low, high float64 }

// values returns dead time, lag and their sum of each group, in turn, and the residuals. ok is false where the flights
// do not determine them. Dead times and lags are normally distributed about the minimum of the cost, and positive: of a
// dead time and a lag that are both short, or of commands that change slowly, only the sum is determined.
func (p *problem) values(at []pair) (out []value, residuals matrix, ok bool) {
	all := newProjector(p.columns(at))
	if !all.ok {
		return nil, residuals, false
	}
	C := all.coefficients(p.Y)
	residuals = less(p.Y, all.columns, C)
	n := 2 * len(p.groups)
	J := make([]matrix, 0, n)
	from := p.A.Cols
	for g := range p.groups {
		own := matrix{C.General}
		own.Rows = p.columnsOf(g)
		own.Data = C.Data[from*C.Cols : (from+own.Rows)*C.Cols]
		from += own.Rows
		for i := range 2 {
			J = append(J, all.rest(times(p.slopeOf(g, at[g], i), own)))
		}
	}
	H, S, slope := p.scores(J, residuals)
	// Windows overlap: only so many are independent, and the columns are fitted to them.
	independent := p.independent()
	if independent <= 2*float64(all.columns.Cols) {
		return nil, residuals, false
	}
	S.ScaleSym(independent/(independent-float64(all.columns.Cols)), S)
	for i := range n { // a dead time and a lag that are both near 0 do the same
		H.Set(i, i, H.At(i, i)*(1+together))
		S.SetSym(i, i, S.At(i, i)*(1+together))
	}
	centre := make([]float64, n)
	var inverse, cov mat.Dense
	if invert(&inverse, H) != nil {
		return nil, residuals, false
	}
	var newton mat.VecDense
	newton.MulVec(&inverse, mat.NewVecDense(n, slope))
	for i := range centre {
		centre[i] = at[i/2][i%2] + newton.AtVec(i)
	}
	t := distuv.StudentsT{Nu: blocks - 1, Sigma: 1}.Quantile(0.975) / distuv.UnitNormal.Quantile(0.975)
	cov.Product(&inverse, S, inverse.T())
	cov.Scale(t*t, &cov)
	var precision mat.Dense
	if invert(&precision, &cov) != nil {
		return nil, residuals, false
	}
	for i := range centre {
		if v := precision.At(i, i); !(v > 0) || math.IsInf(v, 0) || math.IsNaN(centre[i]) {
			return nil, residuals, false // scores of all blocks that are one another's multiples
		}
	}
	out = shortest(withSums(positive(centre, &precision, at)))
	for _, v := range out {
		if s := v.mean + v.low + v.high; math.IsNaN(s) || math.IsInf(s, 0) {
			return nil, residuals, false
		}
	}
	return out, residuals, true
}

// invert inverts a matrix, however bad its condition.
func invert(dst *mat.Dense, m mat.Matrix) error {
	err := dst.Inverse(m)
	var condition mat.Condition
	if errors.As(err, &condition) && !math.IsInf(float64(condition), 0) {
		return nil
	}
	return err
}

// scores returns the Gauss-Newton matrix of the costs, the covariance of their gradients by blocks of the log, and the gradients
// downwards: row i of the derivative of the cost of the group that value i is of. J are the derivatives of what the columns explain.
func (p *problem) scores(J []matrix, residuals matrix) (H *mat.Dense, S *mat.SymDense, slope []float64) {
	n, rows, v := len(J), residuals.Rows, variances(residuals)
	H, S, slope = mat.NewDense(n, n, nil), mat.NewSymDense(n, nil), make([]float64, n)
	parts := make([][]float64, blocks)
	for b := range parts {
		parts[b] = make([]float64, n)
		for r := b * rows / blocks; r < (b+1)*rows/blocks; r++ {
			for i := range n {
				p.score(H, parts[b], i, r, J, residuals, v)
			}
		}
		for i, s := range parts[b] {
			slope[i] += s
		}
	}
	for _, part := range parts {
		for i := range part {
			part[i] -= slope[i] / blocks
		}
		S.SymRankOne(S, float64(blocks)/(blocks-1), mat.NewVecDense(n, part))
	}
	return H, S, slope
}

// score adds what row r of the residuals has of value i: to its gradient, and to its row of H.
func (p *problem) score(H *mat.Dense, gradient []float64, i, r int, J []matrix, residuals matrix, variances []float64) {
	counts := p.counts(i / 2)
	for c, e := range residuals.row(r) {
		if counts != nil && !counts[c] {
			continue
		}
		a := J[i].row(r)[c] / variances[c]
		gradient[i] += a * e
		for k := range J {
			H.Set(i, k, H.At(i, k)+a*J[k].row(r)[c])
		}
	}
}

// positive draws from a normal distribution that is cut off at 0, value by value given the others (Gibbs), draws for each.
func positive(centre []float64, precision *mat.Dense, at []pair) [][]float64 {
	n := len(centre)
	r := rand.New(rand.NewPCG(1, 2))
	x, out := make([]float64, n), make([][]float64, n)
	for i := range x {
		x[i] = at[i/2][i%2]
	}
	for draw := range draws + draws/10 {
		for i := range x {
			mean := centre[i]
			for k := range x {
				if k != i {
					mean -= precision.At(i, k) / precision.At(i, i) * (x[k] - centre[k])
				}
			}
			x[i] = above(r, mean, 1/math.Sqrt(precision.At(i, i)))
			if draw >= draws/10 {
				out[i] = append(out[i], x[i])
			}
		}
	}
	return out
}

// withSums returns the draws of dead time, lag and their sum for each group.
func withSums(draws [][]float64) (out [][]float64) {
	for g := 0; g < len(draws); g += 2 {
		sum := slices.Clone(draws[g])
		floats.Add(sum, draws[g+1])
		out = append(out, draws[g], draws[g+1], sum)
	}
	return out
}

// above draws from a normal distribution that is cut off at 0.
func above(r *rand.Rand, mean, std float64) float64 {
	low := -mean / std
	if low > 5 { // far out its tail is an exponential distribution
		return std * r.ExpFloat64() / low
	}
	p := distuv.UnitNormal.CDF(low)
	return math.Max(0, mean+std*distuv.UnitNormal.Quantile(p+(1-p)*r.Float64()))
}

// shortest returns mean and shortest interval of 95 % of each row of draws; one that begins at the least draw begins at 0.
func shortest(all [][]float64) (out []value) {
	for _, v := range all {
		slices.Sort(v)
		width := len(v) * 95 / 100
		best := 0
		for i := range len(v) - width {
			if v[i+width]-v[i] < v[best+width]-v[best] {
				best = i
			}
		}
		q := value{floats.Sum(v) / float64(len(v)), v[best], v[best+width]}
		if best < len(v)/500 && v[0] < 0.05*q.high {
			q.low = 0
		}
		out = append(out, q)
	}
	return out
}
