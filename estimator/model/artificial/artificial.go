// Package artificial makes models of any size from a seed, for tests and
// benchmarks of the programs around a model. They are complete, finite and
// deterministic, and describe no robot.
package artificial

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/direct"
	"github.com/dgm-robotics/dgm/estimator/feature"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/numeric/mlp"
	"github.com/dgm-robotics/dgm/estimator/ood"
	"github.com/dgm-robotics/dgm/estimator/priordynamics"
)

// Size is the size of a model.
type Size struct {
	K, P     int     // states x0…, inputs u0…
	Features int     // F, random features of a channel, even
	Basis    int     // (optional) terms of the linear basis; 0 = none
	Points   int     // default points over the horizon
	Horizon  float64 // s
	Members  int     // (optional) of which the first gives variances, all give means; defaults to 1
	D        int     // (optional) smoother features of a channel; defaults to 3
	Core     []int   // (optional) widths of the core; one = linear, else sigmoids; defaults to 10-5
	Equation int     // (optional) degree of the prior dynamics, with a secondary linear model
	Nets     int     // (optional) with Equation: members of a further component, each with a net of 32-32
	Paper    bool    // (optional) the paper's form; else the windows form

	History []float64 // (optional) edges, s, of the history that a direct map reads, see history.Spec
}

// Quadrotor is the size of a quadrotor's model with one member and no basis.
var Quadrotor = Size{K: 12, P: 4, Features: 100, Points: 100, Horizon: 1}

// New returns a model, both readouts of which share a posterior. It panics if the
// size is invalid.
func New(s Size, seed uint64) *model.Model {
	rng := rand.New(rand.NewPCG(seed, 0))
	if s.Core == nil {
		s.Core = []int{10, 5}
	}
	if s.D == 0 {
		s.D = 3
	}
	m := &model.Model{
		Vehicle: "artificial", K: s.K, P: s.P, Horizon: s.Horizon, Points: s.Points, Displacement: !s.Paper,
		NoiseKnots: []float64{0, 0.1, 1},
		Inputs: feature.Inputs{
			Horizon: s.Horizon, TimeMean: s.Horizon / 2, TimeStd: s.Horizon / math.Sqrt(12), Causal: !s.Paper,
		},
		Provenance: model.Provenance{Tool: "artificial", Seed: seed},
	}
	for k := range s.K {
		m.Channels = append(m.Channels, channel.Channel{Name: fmt.Sprintf("x%d", k), Unit: "m", Role: channel.State})
		m.Scale = append(m.Scale, 1)
		m.Origin = append(m.Origin, 0)
		m.Sensor = append(m.Sensor, 1e-4)
	}
	m.Inputs.Lift = channel.NewLift(m.Channels)
	if s.P > 0 {
		m.Inputs.Knots = 5
	}
	for p := range s.P {
		m.Channels = append(m.Channels, channel.Channel{Name: fmt.Sprintf("u%d", p), Unit: "N", Role: channel.Input})
		m.Inputs.InputMean = append(m.Inputs.InputMean, 0)
		m.Inputs.InputStd = append(m.Inputs.InputStd, 1)
	}
	for i := range max(s.Members, 1) {
		m.Members = append(m.Members, member(s, m, rng))
		if i > 0 {
			m.Members[i].Posterior[0].InverseFactor = nil
		}
	}
	if s.Equation > 0 {
		first, second := equation(m, s.Equation, rng), equation(m, 1, rng)
		weights := slices.Repeat([]float64{0.5}, s.K*len(m.NoiseKnots))
		m.Stack = []model.Component{
			{Kind: model.Equation, Members: []priordynamics.Model{first}},
			{Kind: model.Equation, Members: []priordynamics.Model{second}, Weights: [][]float64{weights, weights}},
		}
	}
	if s.Nets > 0 {
		weights := slices.Repeat([]float64{0.2}, s.K*len(m.NoiseKnots))
		m.Stack = append(m.Stack, model.Component{Kind: model.Equation, Members: nets(m, s.Nets, rng), Weights: [][]float64{weights, weights}})
	}
	if len(s.History) > 0 {
		m.History.Edges = s.History
		if m.Stack == nil {
			m.Stack = []model.Component{{Kind: model.Velocity}}
		}
		weights := slices.Repeat([]float64{0.3}, s.K*len(m.NoiseKnots))
		m.Stack = append(m.Stack, model.Component{Kind: model.Direct, Direct: directMap(m, rng), Weights: [][]float64{weights, weights}})
	}
	if s.Equation > 0 {
		m.Calibration = []model.Calibration{calibration(m), calibration(m)}
		m.RMSDisplacement = ood.RMSDisplacement{Typical: slices.Repeat([]float64{0.5}, s.K*len(m.NoiseKnots)), Min: 1, Max: 1}
		m.Bound = slices.Repeat([]float64{2}, s.K*len(m.NoiseKnots))
	}
	m.OOD = around(m.Inputs.Lift.Dim(), rng)
	m.Dynamics.Net = mlp.New([]int{m.Inputs.Lift.Dim() + s.P, 20, 20, 2 * s.K}, []mlp.Activation{mlp.Sigmoid, mlp.Sigmoid, mlp.Linear})
	m.Dynamics.Net.Glorot(rng)
	return identified(m)
}

// Adaptable returns a model of two states and an input that can adapt. Its equation has the given
// step, s: state 0 is driven by the input, state 1 by state 0, both are damped. Its nets count
// nothing.
func Adaptable(seed uint64, step float64) *model.Model {
	m := New(Size{K: 2, P: 1, Features: 4, Basis: 2, Members: 1, D: 1, Core: []int{4}, Points: 20, Horizon: 0.5, Equation: 1}, seed)
	e := model.EquationOf(m.Stack)
	e.Step = step
	clear(e.Weights)
	input := 1 + e.Lift.Dim()
	e.Weights[(1+0)*2+0], e.Weights[input*2+0] = -0.02, 0.016
	e.Weights[(1+0)*2+1], e.Weights[(1+1)*2+1] = 0.01, -0.02
	m.Stack = m.Stack[:1]
	m.Scale = []float64{0.005, 0.005}
	for i := range m.Members {
		for j := range m.Members[i].Posterior {
			clear(m.Members[i].Posterior[j].LogSigma)
		}
	}
	for range model.Conditions {
		m.NetworkWeight = append(m.NetworkWeight, make([]float64, 2*len(m.NoiseKnots)))
	}
	m.Adaptation.Rate = []float64{2, 1}
	return identified(m)
}

// identified sets the ID of a model. It panics if the model contradicts itself.
func identified(m *model.Model) *model.Model {
	if _, err := m.Encode(); err != nil {
		panic("artificial: " + err.Error())
	}
	return m
}

func calibration(m *model.Model) model.Calibration {
	c := model.Calibration{LogScale: make([]float64, m.K*len(m.NoiseKnots)), Centre: make([]float64, model.Covariates), Half50: model.Gaussian50}
	for range model.Covariates {
		c.Coefficient = append(c.Coefficient, slices.Repeat([]float64{0.2}, m.K))
	}
	return c
}

func member(s Size, m *model.Model, rng *rand.Rand) model.Member {
	acts := make([]mlp.Activation, len(s.Core))
	if len(acts) > 1 {
		for i := range acts {
			acts[i] = mlp.Sigmoid
		}
	}
	e := model.Member{
		Map:       feature.NewMap(m.Inputs.Dim(), s.K, s.D, s.Features, s.Core, acts, feature.Basis{Terms: s.Basis}, !s.Paper),
		OmegaSeed: rng.Uint64(),
	}
	e.Map.Core.Glorot(rng)
	e.Map.Head.Glorot(rng)
	e.Map.DrawOmega(rand.New(rand.NewPCG(e.OmegaSeed, 0)))
	var p model.Posterior
	T := e.Map.Features()
	for range s.K {
		weights, inverse := make([]float64, T), make([]float64, T*(T+1)/2)
		for i := range weights {
			weights[i] = 0.3 * rng.NormFloat64()
		}
		for row, o := 0, 0; row < T; row++ {
			for j := range row {
				inverse[o+j] = 0.005 * rng.NormFloat64()
			}
			inverse[o+row] = 0.1
			o += row + 1
		}
		p.Weights = append(p.Weights, weights)
		p.InverseFactor = append(p.InverseFactor, inverse)
		p.LogSigma = append(p.LogSigma, -4, -3, -2)
	}
	e.Posterior = []model.Posterior{p}
	return e
}

// equation is a difference equation of a twentieth of the horizon a step.
func equation(m *model.Model, degree int, rng *rand.Rand) priordynamics.Model {
	r := priordynamics.Model{Step: m.Horizon / 20, Degree: degree, Lift: m.Inputs.Lift, UMean: m.Inputs.InputMean, UStd: m.Inputs.InputStd}
	for range r.Lift.Dim() + m.P {
		r.Bound = append(r.Bound, 4)
	}
	if degree > 1 {
		for row := range r.Bound {
			r.Ellipsoid = append(append(r.Ellipsoid, make([]float64, row)...), 0.25)
		}
	}
	r.Weights = make([]float64, r.Terms()*m.K)
	for i := range r.Weights {
		r.Weights[i] = 0.01 * rng.NormFloat64()
	}
	return r
}

// nets are linear equations, each with a net.
func nets(m *model.Model, n int, rng *rand.Rand) (out []priordynamics.Model) {
	for range n {
		e := equation(m, 1, rng)
		e.Net = mlp.New([]int{e.Lift.Dim() + m.P, 32, 32, m.K}, []mlp.Activation{mlp.Tanh, mlp.Tanh, mlp.Linear})
		e.Net.Glorot(rng)
		e.NetScale = slices.Repeat([]float64{0.01}, m.K)
		out = append(out, e)
	}
	return out
}

// directMap has a level with the model's history and one without for each readout.
func directMap(m *model.Model, rng *rand.Rand) direct.Model {
	d := direct.Model{Lift: m.Inputs.Lift, UMean: m.Inputs.InputMean, UStd: m.Inputs.InputStd, Blocks: 10}
	d.Range = slices.Repeat([]float64{3}, m.P)
	for range m.K {
		d.Derivative = append(d.Derivative, -1)
	}
	for readout := range model.Readouts {
		for _, rows := range []int{0, m.History.Rows()} {
			l := direct.Level{Readout: readout, Rows: rows, Degree: 1}
			for i := range 12 {
				l.Times = append(l.Times, m.Horizon*float64(i+1)/12)
			}
			l.Weights = make([]float64, len(l.Times)*m.K*d.Columns(&l))
			for i := range l.Weights {
				l.Weights[i] = 0.01 * rng.NormFloat64()
			}
			n := d.Columns(&l) - 1
			l.Mean, l.Std, l.Rest = make([]float64, n), slices.Repeat([]float64{1}, n), 1
			rows := min(40, n) // as many as a trained model has
			l.Factor = make([]float64, rows*n)
			for i := range rows {
				l.Factor[i*n+i] = 0.5
			}
			d.Levels = append(d.Levels, l)
		}
	}
	return d
}

// around describes states around zero by as many reference points as a trained
// model has.
func around(l int, rng *rand.Rand) ood.Detector {
	r := ood.Detector{Mean: make([]float64, l), Inverse: make([]float64, l*(l+1)/2), Limits: ood.Limits{Distance: 10}}
	for i, o := 0, 0; i < l; i++ {
		r.Inverse[o+i] = 1
		o += i + 1
	}
	for range 256 {
		p := make([]float64, l)
		for i := range p {
			p[i] = rng.NormFloat64()
		}
		r.Points = append(r.Points, p)
	}
	return r
}
