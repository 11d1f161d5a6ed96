package speed

import (
	"math/rand/v2"

	"github.com/dgm-robotics/dgm/estimator"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/model/artificial"
	"github.com/dgm-robotics/dgm/firmware-sim/plant"
)

// job is what one row measures.
type job struct {
	system, form string
	m            *model.Model
	points       int
}

// standard returns the rows without a model of one's own.
func standard(points []int) []job {
	var jobs []job
	for _, name := range []string{"lotka-volterra", "lorenz", "double-pendulum", "quadrotor"} {
		p, _ := plant.Named(name)
		for _, size := range []struct {
			form     string
			features int
		}{{"paper", 50}, {"paper", 100}, {"paper", 200}, {"default", 100}} {
			counts := []int{100}
			if points != nil {
				counts = points
			} else if name == "quadrotor" && size.features == 100 {
				counts = []int{20, 50, 100}
			}
			for _, n := range counts {
				jobs = append(jobs, job{system: p.Name, form: size.form, m: invented(&p, size.form, size.features, nil), points: n})
			}
		}
	}
	return jobs
}

func ofFile(m *model.Model, points []int) []job {
	if points == nil {
		points = []int{m.Points}
	}
	var jobs []job
	for _, n := range points {
		jobs = append(jobs, job{system: m.Vehicle, form: "file", m: m, points: n})
	}
	return jobs
}

// invented returns an artificial model of a system's size. core is that of the paper's form; nil for the paper's.
func invented(p *plant.Plant, form string, features int, core []int) *model.Model {
	s := artificial.Size{K: len(p.States), Features: features, Points: 100, Horizon: p.Duration, Core: core, Paper: true}
	if form == "default" {
		s.Paper, s.P, s.Basis, s.Members, s.D, s.Core, s.Equation, s.Nets = false, len(p.Inputs), 2, 3, 3, []int{32, 32}, 2, 3
		for _, share := range []float64{0.02, 0.04, 0.06, 0.08, 0.1, 0.2, 0.4, 0.8} {
			s.History = append(s.History, share*p.Duration)
		}
	}
	m := artificial.New(s, 1)
	file, err := m.Encode()
	if err == nil {
		m, err = model.Decode(file) // rounded
	}
	if err != nil {
		panic("speed: " + err.Error())
	}
	check(m)
	return m
}

// check gives a model three checks of itself, as training does.
func check(m *model.Model) {
	p, err := estimator.New(m, []float64{m.Horizon / 10, m.Horizon / 2, m.Horizon})
	if err != nil {
		panic("speed: " + err.Error())
	}
	for _, x := range queries(m, 3) {
		dst := p.NewPrediction()
		u := m.Inputs.InputMean
		if p.Predict(dst, &estimator.Query{X0: x, U: u}) {
			m.Checks = append(m.Checks, model.SelfCheck{X0: x, U: u, Readout: dst.Readout, Times: dst.Times, Mean: dst.Mean, Std: dst.Std, ObsStd: dst.ObsStd})
		}
	}
}

// Times returns n points up to the horizon, s; nil for none.
func Times(horizon float64, n int) (out []float64) {
	for i := range n {
		out = append(out, horizon*float64(i+1)/float64(n))
	}
	return out
}

// history returns what a model reads before the start: the robot at rest in x0.
func history(m *model.Model, x0 []float64) (rows []float64) {
	for range m.History.Rows() {
		rows = append(append(rows, x0...), m.Inputs.InputMean...)
	}
	return rows
}

// covariance returns one of the start, nil for a model that reads none.
func covariance(m *model.Model) []float64 {
	if !m.Displacement {
		return nil
	}
	out := make([]float64, m.K*m.K)
	for k, r := range m.Sensor {
		out[k*m.K+k] = 2*r + 1e-6*m.Scale[k]*m.Scale[k]
	}
	return out
}

// queries returns different queries of a model: usual ones, none at all, and
// numbers far outside of anything: small ones, which processors may take for
// denormal, and large ones, of which sines are harder to find.
func queries(m *model.Model, n int) [][]float64 {
	rng := rand.New(rand.NewPCG(3, 1))
	lift := &m.Inputs.Lift
	out := make([][]float64, n)
	for i := range out {
		x := make([]float64, m.K)
		for l, k := range lift.Of {
			size := []float64{1, 1, 1, 0, 30, 1e3, 1e6, 1e10, 1e-20, 1e-300}[i%10]
			x[k] = lift.Mean[l] + size*lift.Std[l]*rng.NormFloat64()
			if i%10 >= 8 {
				x[k] = size * rng.NormFloat64()
			}
		}
		out[i] = x
	}
	return out
}
