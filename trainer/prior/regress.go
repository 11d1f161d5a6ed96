package prior

import (
	"errors"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack/lapack64"

	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/rollout"
	"github.com/dgm-robotics/dgm/trainer/window"
)

// Shape is the size of a difference equation.
type Shape struct {
	Step   float64 // s
	Degree int
	Ridge  float64 // of the regression, relative to the number of rows

	Body rollout.Body `json:"-"` // (optional) declared laws, to which the equation adds
}

// boundSlack is how far beyond the data a coordinate is let.
const boundSlack = 1.3

var errSingular = errors.New("the regression of the difference equation is singular")

// regress fits single steps by ridge regression: x(t + step) − x(t), less what the
// declared laws say of it, on ψ.
func regress(flights []window.Flight, states []channel.Channel, p int, shape Shape) (*rollout.Model, error) {
	m := &rollout.Model{Step: shape.Step, Degree: shape.Degree, Lift: standardLift(flights, states), Body: shape.Body}
	m.UMean, m.UStd = window.InputScale(flights, p)
	n := m.Lift.Dim() + p
	m.Bound = make([]float64, n)
	for i := range m.Bound {
		m.Bound[i] = math.Inf(1)
	}
	K, N := len(states), m.Terms()
	gram, moment := make([]float64, N*N), make([]float64, N*K)
	v, psi, u := make([]float64, n), make([]float64, N), make([]float64, p)
	next, rise, left := make([]float64, K), make([]float64, K), make([]float64, K)
	widest := make([]float64, n)
	rows := 0.0
	sym := blas64.Symmetric{N: N, Stride: N, Data: gram, Uplo: blas.Lower}
	for i := range flights {
		f := &flights[i]
		for j := range f.N() {
			x, t := f.State(j), f.T[j]
			if t+shape.Step > f.T[f.N()-1] {
				break
			}
			if !f.StateAt(next, t+shape.Step) || !whole(x) {
				continue
			}
			if p > 0 {
				f.InputMean(u, t, t+shape.Step)
				if !whole(u) {
					continue
				}
			}
			m.Read(v, nil, x, u)
			for c, a := range v {
				widest[c] = math.Max(widest[c], math.Abs(a))
			}
			m.Monomials(psi, v)
			blas64.Syr(1, blas64.Vector{N: N, Inc: 1, Data: psi}, sym)
			for k := range K {
				rise[k] = next[k] - x[k]
			}
			copy(left, rise)
			shape.Body.Leave(left, x, rise, shape.Step)
			for a, c := range psi {
				for k := range K {
					moment[a*K+k] += c * left[k]
				}
			}
			rows++
		}
	}
	if rows < float64(N) {
		return nil, errSingular
	}
	for a := range N {
		gram[a*N+a] += rows * shape.Ridge
	}
	tri, ok := lapack64.Potrf(sym)
	if !ok {
		return nil, errSingular
	}
	lapack64.Potrs(tri, blas64.General{Rows: N, Cols: K, Stride: K, Data: moment})
	m.Weights = moment
	for i, w := range widest {
		m.Bound[i] = boundSlack*w + 1e-9
	}
	return m, nil
}

func whole(v []float64) bool {
	for _, x := range v {
		if math.IsNaN(x) {
			return false
		}
	}
	return true
}
