package paper

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/dgm-robotics/dgm/estimator/feature"
	"github.com/dgm-robotics/dgm/estimator/numeric/matmul"
)

// belief is the distribution of the true start of a trajectory of which X0 is a measurement,
// standardised: Gaussian, given the parameters of a flow.
type belief struct {
	x0     []float64 // K, raw units, what was measured
	offset []float64 // K, of the mean from it
	slope  []float64 // K×P, derivative of the mean by the parameters; nil = it does not depend on them
	factor []float64 // K×K: the covariance is factor factorᵀ
}

// newBelief returns what is known of a start before the trajectory was observed.
func newBelief(in *feature.Inputs, x0, std []float64) belief {
	K := len(x0)
	b := belief{x0: x0, offset: make([]float64, K), factor: make([]float64, K*K)}
	for k, s := range std {
		b.factor[k*K+k] = s / in.Lift.Std[k]
	}
	return b
}

// belief returns what the flow knows of the start of which x0 is a measurement: of a
// trajectory that it was refined on by all of its observations. nil = it is x0.
func (f *Flow) belief(x0 []float64) *belief {
	if f.startStd == nil {
		return nil
	}
	for i := range f.starts {
		if slices.Equal(f.starts[i].x0, x0) {
			return &f.starts[i]
		}
	}
	b := newBelief(f.Inputs, x0, f.startStd)
	return &b
}

// startOf returns the mean of a start, raw units, by the flows.
func (m *Model) startOf(x0 []float64) []float64 {
	out := slices.Clone(x0)
	for _, f := range m.Flows {
		if b := f.belief(x0); b != nil {
			for k, v := range b.offset {
				out[k] += v * f.Inputs.Lift.Std[k] / float64(len(m.Flows))
			}
		}
	}
	return out
}

// unknownStart is the start of a trajectory of a newton: x0 + D δ, D the diagonal matrix of
// its standard deviations and δ ~ N(0, I). It is eliminated from the normal equations: with J and
// B = ∂z/∂δ, both over σ, at the observations of the trajectory and BᵀB = V Λ Vᵀ,
//
//	W = (I + BBᵀ)^−½ = I − Y diag(1/(s(s + 1))) Yᵀ      Y = BV      s = √(1 + Λ)
//	J ← WJ      e ← W(e + Bδ)
//
// and after a step dθ of the parameters
//
//	dδ = V (1 + Λ)⁻¹ (Yᵀe − Vᵀδ − YᵀJ dθ)
type unknownStart struct {
	prior  belief
	delta  []float64 // K
	kept   []float64 // K, before a step
	Y      []float64 // rows×K; B at first
	V      []float64 // K×K
	lambda []float64 // K
	E      []float64 // K×P, YᵀJ
	c      []float64 // K, Yᵀe − Vᵀδ
	now    belief    // prior, its offset moved to the start
}

func newUnknownStart(in *feature.Inputs, d *Data, j, P int) *unknownStart {
	K, tr := d.K, &d.Trajectories[j]
	v := func(n int) []float64 { return make([]float64, n) }
	u := &unknownStart{prior: newBelief(in, tr.X0, d.StartStd), delta: v(K), kept: v(K), Y: v(len(tr.Y) * K), V: v(K * K), lambda: v(K), E: v(K * P), c: v(K)}
	u.now = u.prior
	u.now.offset = v(K)
	return u
}

// begin returns the start that the trajectory is integrated from.
func (u *unknownStart) begin() *belief {
	K := len(u.delta)
	for k, v := range u.delta {
		u.now.offset[k] = u.prior.factor[k*K+k] * v
	}
	return &u.now
}

// eliminate changes J (rows×P) and sets white (rows) from e (rows), Y being B.
func (u *unknownStart) eliminate(J, e, white []float64, work *matmul.Work) (ok bool) {
	K, R := len(u.delta), len(e)
	P := len(u.E) / K
	copy(white, e)
	for r := range white {
		white[r] += dot(u.delta, u.Y[r*K:])
	}
	if !u.diagonalise(R) {
		return false
	}
	Y, rows, shrink := matmul.Matrix(R, K, u.Y[:R*K]), matmul.Matrix(R, P, J), make([]float64, K)
	work.Mul(matmul.Matrix(K, P, u.E), 1, true, Y, false, rows, 0)
	scaled, along := slices.Clone(u.E), make([]float64, K) // along: Yᵀ(e + Bδ)
	for i, l := range u.lambda {
		s := math.Sqrt(1 + l)
		shrink[i] = 1 / (s * (s + 1))
		floats.Scale(shrink[i], scaled[i*P:(i+1)*P])
	}
	work.Mul(rows, -1, false, Y, false, matmul.Matrix(K, P, scaled), 1)
	for r := range R {
		y := u.Y[r*K : (r+1)*K]
		floats.AddScaled(u.c, e[r], y)
		floats.AddScaled(along, white[r], y)
	}
	floats.Mul(along, shrink)
	for r := range R {
		white[r] -= dot(along, u.Y[r*K:])
	}
	return true
}

// diagonalise sets V and lambda of B (rows×K), replaces it by Y, and sets c to −Vᵀδ.
func (u *unknownStart) diagonalise(rows int) (ok bool) {
	K := len(u.delta)
	B := mat.NewDense(rows, K, u.Y[:rows*K])
	var gram mat.SymDense
	gram.SymOuterK(1, B.T())
	var eigen mat.EigenSym
	if !eigen.Factorize(&gram, true) {
		return false
	}
	V := mat.NewDense(K, K, u.V)
	eigen.VectorsTo(V)
	for i, l := range eigen.Values(u.lambda) {
		u.lambda[i] = math.Max(l, 0)
	}
	var Y mat.Dense
	Y.Mul(B, V)
	B.Copy(&Y)
	c := mat.NewVecDense(K, u.c)
	c.MulVec(V.T(), mat.NewVecDense(K, u.delta))
	c.ScaleVec(-1, c)
	return true
}

// gain returns by how much the cost falls, to first order, where the start alone moves.
func (u *unknownStart) gain() (g float64) {
	for i, c := range u.c {
		g += 0.5 * c * c / (1 + u.lambda[i])
	}
	return g
}

// move takes the step of the start that belongs to one of the parameters (P).
func (u *unknownStart) move(step []float64) {
	K, P := len(u.delta), len(step)
	copy(u.kept, u.delta)
	for i, l := range u.lambda {
		a := (u.c[i] - dot(step, u.E[i*P:(i+1)*P])) / (1 + l)
		for k := range K {
			u.delta[k] += u.V[k*K+i] * a
		}
	}
}

// leverage adds that of the start to the leverages of its rows.
func (u *unknownStart) leverage(rows []float64) {
	K := len(u.delta)
	for r := range rows {
		for i, y := range u.Y[r*K : (r+1)*K] {
			rows[r] += y * y / (1 + u.lambda[i])
		}
	}
}

// logDet returns that of the start's precision over the prior's.
func (u *unknownStart) logDet() (sum float64) {
	for _, l := range u.lambda {
		sum += math.Log1p(l)
	}
	return sum
}

// posterior returns the belief given the trajectory.
func (u *unknownStart) posterior() belief {
	K := len(u.delta)
	P := len(u.E) / K
	b := belief{x0: u.prior.x0, offset: slices.Clone(u.begin().offset), slope: make([]float64, K*P), factor: make([]float64, K*K)}
	for k := range K {
		d := u.prior.factor[k*K+k]
		for i, l := range u.lambda {
			v := d * u.V[k*K+i]
			b.factor[k*K+i] = v / math.Sqrt(1+l)
			for p, e := range u.E[i*P : (i+1)*P] {
				b.slope[k*P+p] -= v / (1 + l) * e
			}
		}
	}
	return b
}
