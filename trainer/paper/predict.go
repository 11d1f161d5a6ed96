package paper

import (
	"math"

	"github.com/dgm-robotics/dgm/estimator/feature"
	"github.com/dgm-robotics/dgm/trainer/posterior"
)

// setRow writes row i of a smoother's input: time and standardised start.
func setRow(r *feature.Rows, in *feature.Inputs, i int, t float64, x0 []float64) {
	I := in.Dim()
	in.Row(r.S[i*I:(i+1)*I], r.DS[i*I:(i+1)*I], t, x0, nil, nil)
	r.Fill(i, in, false, feature.Basis{}, t)
}

// rowsAt returns a smoother's inputs at times after the start x0 (K, raw units).
func rowsAt(in *feature.Inputs, x0, times []float64) *feature.Rows {
	start := make([]float64, len(x0))
	in.Lift.Apply(start, x0)
	rows := feature.NewRows(len(times), in, feature.Basis{})
	rows.N = len(times)
	for i, t := range times {
		setRow(rows, in, i, t, start)
	}
	return rows
}

// channels evaluates a map at rows and calls use with μ (n) and φ (n×F) of each channel in
// turn, which are overwritten by the next.
func channels(m *feature.Map, rows *feature.Rows, use func(k int, mu, phi []float64)) {
	n := rows.N
	eval, phi := feature.NewEval(m, n), feature.NewPhi(m, n)
	m.Forward(eval, rows, false)
	mu := make([]float64, n)
	for k := range m.K {
		m.RandomFeatures(phi, eval, k)
		for i := range mu {
			mu[i], _ = m.Mu(eval, i, k)
		}
		use(k, mu, phi.Phi[:n*m.F])
	}
}

// predict writes mean and, unless it is nil, variance of the state (both len(times)×K
// row-major, raw units) at times after the start x0: those of a map with the posterior of
// its weights, which sets mean and variance of the features' part of a channel (n each).
func predict(
	mean, variance []float64, m *feature.Map, in *feature.Inputs, x0, times []float64,
	posterior func(k int, phi, mean, variance []float64),
) {
	n := len(times)
	part, v := make([]float64, n), make([]float64, n)
	channels(m, rowsAt(in, x0, times), func(k int, mu, phi []float64) {
		posterior(k, phi, part, v)
		s := in.Lift.Std[k]
		for i := range n {
			mean[i*m.K+k] = in.Lift.Mean[k] + s*(mu[i]+part[i])
			if variance != nil {
				variance[i*m.K+k] = s * s * v[i]
			}
		}
	})
}

// Predict writes mean and variance of the state at times after the start x0
// (both len(times)×K row-major, raw units). It is not safe for concurrent use.
func (f *Fit) Predict(mean, variance, x0, times []float64) {
	predict(mean, variance, &f.Params.Map, f.Inputs, x0, times, func(k int, phi, mean, variance []float64) {
		f.post[k].At(phi, len(times), mean, variance)
	})
}

// condition sets the posteriors of all channels given all rows of the batch; ok is false
// where one cannot be computed.
func (f *Fit) condition() (ok bool) {
	m, N := &f.Params.Map, f.batch.Obs.N
	const leastRows = 256 // that a posterior has room to predict at a time
	f.post, ok = nil, true
	channels(m, f.batch.Obs, func(k int, mu, phi []float64) {
		r, prec := f.residuals(mu, k)
		s := posterior.NewSum(m.Features(), max(N, leastRows))
		s.Reset()
		s.Add(phi, N, r, prec)
		ok = s.Solve() && ok
		f.post = append(f.post, s)
	})
	return ok
}

// residuals returns the differences between the observations of channel k and the prior
// mean mu, and their precisions; 0 where nothing was measured.
func (f *Fit) residuals(mu []float64, k int) (r, prec []float64) {
	b, K := f.batch, f.Params.Map.K
	r, prec = make([]float64, len(mu)), make([]float64, len(mu))
	for i := range mu {
		y := b.Y[i*K+k]
		if math.IsNaN(y) {
			continue
		}
		r[i] = y - mu[i]
		ls := 0.0
		for q := range noiseKnots {
			ls += b.Noise[i*noiseKnots+q] * f.Params.LogSigma[k*noiseKnots+q]
		}
		prec[i] = math.Exp(-2 * ls)
	}
	return r, prec
}
