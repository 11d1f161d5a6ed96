package feature

// Rows is a batch of inputs to the map, with a tangent: the derivative of every
// input along one direction, standardised time unless said otherwise.
type Rows struct {
	N         int
	S, DS     []float64 // N×I
	Gate      []float64 // N, τ in the windows form, 1 in the paper's
	DGate     []float64 // N
	B, DB     []float64 // N×Q
	dim, base int       // I, Q; maps with a smaller basis use the start of a row
}

// Basis is the linear part of the features: powers of time times (1, s).
type Basis struct {
	Terms int // number of powers of τ': 0 none, 1 [1, s], 2 [1, s, τ', τ's], …
}

// Dim returns Q for inputs of width I.
func (b Basis) Dim(inputs int) int { return b.Terms * inputs }

// NewRows takes the memory for up to n rows.
func NewRows(n int, in *Inputs, basis Basis) *Rows {
	I := in.Dim()
	Q := basis.Dim(I)
	return &Rows{
		S: make([]float64, n*I), DS: make([]float64, n*I),
		Gate: make([]float64, n), DGate: make([]float64, n),
		B: make([]float64, n*Q), DB: make([]float64, n*Q),
		dim: I, base: Q,
	}
}

// basis returns the first n numbers of the basis of row i and of its tangent.
func (r *Rows) basis(i, n int) (b, db []float64) {
	o := i * r.base
	return r.B[o : o+n], r.DB[o : o+n]
}

// Fill writes row i from S (already there), gate and basis, for time t. In the
// windows form the gate is t/H; its derivative by standardised time TimeStd/H.
func (r *Rows) Fill(i int, in *Inputs, gated bool, basis Basis, t float64) {
	r.Gate[i], r.DGate[i] = 1, 0
	if gated {
		r.Gate[i], r.DGate[i] = t/in.Horizon, in.TimeStd/in.Horizon
	}
	if r.base == 0 {
		return
	}
	s, ds := r.S[i*r.dim:(i+1)*r.dim], r.DS[i*r.dim:(i+1)*r.dim]
	expand(r.B[i*r.base:(i+1)*r.base], r.DB[i*r.base:(i+1)*r.base], s, ds, basis.Terms)
}

// JVP sets the basis' tangent of row i from the tangent DS (already there) of
// another direction, and the gate's to zero.
func (r *Rows) JVP(i int, basis Basis) {
	r.DGate[i] = 0
	if r.base == 0 {
		return
	}
	s, ds := r.S[i*r.dim:(i+1)*r.dim], r.DS[i*r.dim:(i+1)*r.dim]
	expand(r.B[i*r.base:(i+1)*r.base], r.DB[i*r.base:(i+1)*r.base], s, ds, basis.Terms)
}

// expand writes [v, τ'v, τ'²v, …] with v = [1, s without t], τ' = s[0], and its
// tangent.
func expand(b, db, s, ds []float64, terms int) {
	width := len(s)
	power, dpower := 1.0, 0.0
	for j := range terms {
		o := j * width
		b[o], db[o] = power, dpower
		for i := 1; i < width; i++ {
			b[o+i] = power * s[i]
			db[o+i] = dpower*s[i] + power*ds[i]
		}
		power, dpower = power*s[0], dpower*s[0]+power*ds[0]
	}
}
