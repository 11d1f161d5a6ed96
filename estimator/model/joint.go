package model

import (
	"fmt"
	"math"
)

// Joint is how the errors of a prediction go together in one condition.
type Joint struct {
	Levels      []float64   // N, τ of the correlations, ascending, within (0, 1]
	Correlation [][]float64 // N × K(K−1)/2: of the states' errors at a level, below the diagonal by rows; linear in τ between levels
	Tube        []float64   // factor of the standard deviations for each of TubeLevels; none = not known
	Flights     int         // whole flights that the factors are of; 0 = blocks of the flights that the model was trained on
}

// TubeLevels are the probabilities with which a whole trajectory, all states at all times of
// the horizon, stays within the mean ± a factor of Joint.Tube times the standard deviation.
var TubeLevels = [...]float64{0.5, 0.9, 0.95}

// TubeExact reports whether so many flights suffice for a level by conformal prediction: the
// next flight is exchangeable with them, and its rank among them is above the level in the
// share p of all cases only if p (n+1) ≤ n. With fewer the factor is approximate.
func TubeExact(level float64, flights int) bool {
	return level*float64(flights+1) <= float64(flights)*(1+1e-12)
}

// At writes the correlation of the errors at τ to dst (K×K).
func (j *Joint) At(dst []float64, K int, tau float64) {
	last := len(j.Levels) - 1
	i, weight := 0, 0.0 // of level i+1
	switch {
	case tau >= j.Levels[last]:
		i = last
	case tau > j.Levels[0]:
		for j.Levels[i+1] < tau {
			i++
		}
		weight = (tau - j.Levels[i]) / (j.Levels[i+1] - j.Levels[i])
	}
	at := 0
	for a := range K {
		dst[a*K+a] = 1
		for b := range a {
			r := j.Correlation[i][at]
			if weight > 0 {
				r += weight * (j.Correlation[i+1][at] - r)
			}
			dst[a*K+b], dst[b*K+a] = r, r
			at++
		}
	}
}

// leastPivot is the least pivot of the Cholesky decomposition of a correlation.
const leastPivot = 1e-6

// definite reports whether a correlation (K×K), of which the lower triangle is overwritten, is
// positive definite.
func definite(r []float64, K int) bool {
	for j := range K {
		d := r[j*K+j]
		for _, v := range r[j*K : j*K+j] {
			d -= v * v
		}
		if !(d >= leastPivot) {
			return false
		}
		root := math.Sqrt(d)
		r[j*K+j] = root
		for i := j + 1; i < K; i++ {
			v := r[i*K+j]
			for n, w := range r[j*K : j*K+j] {
				v -= w * r[i*K+n]
			}
			r[i*K+j] = v / root
		}
	}
	return true
}

func (m *Model) checkJoint(c *checker) {
	c.that(len(m.Joint) <= Conditions, "joint", "%d conditions, at most %d", len(m.Joint), Conditions)
	r := make([]float64, m.K*m.K)
	for i := range m.Joint {
		j, field := &m.Joint[i], fmt.Sprintf("joint[%d]", i)
		n := len(j.Levels)
		c.that(m.Displacement, field, "belongs to a model of displacements")
		c.that(n >= 1 && n <= 64, field+".levels", "%d levels, expected 1…64", n)
		c.finite(field+".levels", j.Levels)
		for l, tau := range j.Levels {
			c.that(tau > 0 && tau <= 1 && (l == 0 || tau > j.Levels[l-1]), field+".levels", "must ascend within (0, 1]")
		}
		c.rows(field+".correlation", j.Correlation, n, m.K*(m.K-1)/2)
		if c.err != nil {
			return
		}
		for _, tau := range j.Levels {
			j.At(r, m.K, tau)
			c.that(definite(r, m.K), field+".correlation", "is not positive definite at τ = %v", tau)
		}
		if len(j.Tube) > 0 {
			c.length(field+".tube", j.Tube, len(TubeLevels))
			c.allPositive(field+".tube", j.Tube)
		}
	}
}

func jointFields(j *Joint, c *coder) {
	c.floats("levels", &j.Levels)
	c.matrix("correlation", &j.Correlation, single)
	c.floats("tube", &j.Tube)
	c.int("flights", &j.Flights)
}
