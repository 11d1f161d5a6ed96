package estimation

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/filter"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/trainer/window"
)

// Targets returns flights that Apply returned with what training aims at: at every sample one draw of what the filter estimates,
// given the whole flight. Errors of predictions have the mean square then that they have of the state itself,
//
//	E(x − x̂)² = E(x_s − x̂)² + P_s
//
// since the error of the smoothed state x_s is independent of all measurements, from which x̂ is made. What the filter does not
// estimate is as it was measured. Rates that no sensor gives are not known until the filter has settled.
func Targets(flights []window.Flight, spec *model.Filter, states []channel.Channel) ([]window.Flight, error) {
	out := make([]window.Flight, len(flights))
	for i := range flights {
		f, err := filter.Of(spec, states, flights[i].P)
		if err != nil {
			return nil, err
		}
		of, settled := flights[i].Measured(), make([]bool, flights[i].N())
		var trace filter.Trace
		f.Record(&trace)
		l := newLayout(spec, states, of.K)
		l.run(f, &of, func(j int, _ filter.Result) { settled[j] = f.Settled() })
		p := make([]float64, len(trace.P))
		x := smoothed(&trace, p)
		d, target := draws{n: trace.N, rng: rand.New(rand.NewPCG(uint64(i), 0))}, append([]float64(nil), of.X...)
		for _, c := range spec.Chains {
			d.of = append(d.of, c.Position, c.Rate)
		}
		for j := range of.N() {
			row := target[j*of.K : (j+1)*of.K]
			d.draw(row, x[j*d.n:(j+1)*d.n], p[j*d.n*d.n:(j+1)*d.n*d.n])
			for k := range row {
				if states[k].Estimated && !settled[j] {
					row[k] = math.NaN()
				}
			}
		}
		out[i] = flights[i]
		out[i].Target = target
	}
	return out, nil
}

// draws draws states of a covariance.
type draws struct {
	n    int   // of the covariance
	of   []int // the states that are drawn
	rng  *rand.Rand
	chol mat.Cholesky
}

// draw writes states with the mean x (n) and the covariance p (n×n); where rounding has left it no square root, independent ones.
func (d *draws) draw(dst, x, p []float64) {
	m := len(d.of)
	e, sym := mat.NewVecDense(m, nil), mat.NewSymDense(m, nil)
	for a, k := range d.of {
		e.SetVec(a, d.rng.NormFloat64())
		for b, l := range d.of[:a+1] {
			sym.SetSym(a, b, 0.5*(p[k*d.n+l]+p[l*d.n+k]))
		}
	}
	if d.chol.Factorize(sym) {
		var l mat.TriDense
		d.chol.LTo(&l)
		e.MulVec(&l, e)
	} else {
		for a := range m {
			e.SetVec(a, e.AtVec(a)*math.Sqrt(math.Max(0, sym.At(a, a))))
		}
	}
	for a, k := range d.of {
		dst[k] = x[k] + e.AtVec(a)
	}
}
