package estimation

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/filter"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/trainer/window"
)

// NEES returns the sum of the normalised errors squared of what a filter makes of flights that Apply returned and whose exact
// states are known since, over the number of states, and of how many samples: eᵀ P⁻¹ e / n, of mean 1 in a consistent filter. States that the filter does not move, or of which the exact value is not known, do not count.
func NEES(flights []window.Flight, spec *model.Filter, states []channel.Channel) (sum float64, samples int, err error) {
	K := len(states)
	p := make([]float64, K*K)
	var moved []int
	for _, c := range spec.Chains {
		moved = append(moved, c.Position, c.Rate)
	}
	for i := range flights {
		err := again(&flights[i], spec, states, func(j int, f *filter.Filter, _ []float64) bool {
			if !f.Settled() {
				return true
			}
			f.Covariance(p)
			if v := normalised(f.Estimate(), flights[i].Exact[j*K:(j+1)*K], p, states, moved); !math.IsNaN(v) {
				sum, samples = sum+v, samples+1
			}
			return true
		})
		if err != nil {
			return 0, 0, err
		}
	}
	return sum, samples, nil
}

// normalised returns eᵀ P⁻¹ e over the number of those states of some that are known; NaN without one.
func normalised(x, exact, p []float64, states []channel.Channel, some []int) float64 {
	var e []float64
	var known []int
	for _, k := range some {
		d := x[k] - exact[k]
		if period := states[k].Period; period > 0 {
			d = math.Remainder(d, period)
		}
		if !math.IsNaN(d) {
			e, known = append(e, d), append(known, k)
		}
	}
	n := len(known)
	if n == 0 {
		return math.NaN()
	}
	block := mat.NewSymDense(n, nil)
	for a, i := range known {
		for b, j := range known {
			block.SetSym(a, b, p[i*len(states)+j])
		}
	}
	var chol mat.Cholesky
	var solved mat.VecDense
	v := mat.NewVecDense(n, e)
	if !chol.Factorize(block) || chol.SolveVecTo(&solved, v) != nil {
		return math.NaN()
	}
	return mat.Dot(v, &solved) / float64(n)
}
