package evaluate

import (
	"math"
	"math/rand/v2"

	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/feature"
	"github.com/dgm-robotics/dgm/estimator/linear"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/numeric/mlp"
	"github.com/dgm-robotics/dgm/trainer/window"
)

// coaster is a shaft that turns at a constant rate, its angle measured with
// noise, and a motor current u that does nothing.
var coaster = []channel.Channel{
	{Name: "angle", Unit: "rad", Role: channel.State, Period: channel.Angle, Derivative: "rate"},
	{Name: "rate", Unit: "rad/s", Role: channel.State},
	{Name: "u", Unit: "A", Role: channel.Input},
}

const (
	angleNoise = 0.02
	rateNoise  = 0.001
	horizon    = 0.5
)

// handmade returns a model that predicts x0 + v0 t and whose noise is known: a
// displacement has that of both its ends. push is the weight of the input in the
// rate: 1 is a shaft that accelerates by u.
func handmade(push float64) *model.Model {
	m := &model.Model{
		ID: "00", Vehicle: "shaft", Channels: coaster, K: 2, P: 1, Horizon: horizon, Points: 10,
		Displacement: true, Stack: []model.Component{{Kind: model.Velocity}},
		Inputs: feature.Inputs{
			Horizon: horizon, TimeMean: horizon / 2, TimeStd: horizon / math.Sqrt(12),
			Lift: channel.NewLift(coaster[:2]), Knots: 2, InputMean: []float64{0}, InputStd: []float64{1}, Causal: true,
		},
		Scale: []float64{1, 1}, NoiseKnots: []float64{0},
		Sensor: []float64{angleNoise * angleNoise, rateNoise * rateNoise},
	}
	I := m.Inputs.Dim()
	e := model.Member{Map: feature.NewMap(I, 2, 1, 0, []int{1}, []mlp.Activation{mlp.Linear}, feature.Basis{Terms: 1}, true)}
	weights := [][]float64{make([]float64, I), make([]float64, I)}
	for j := range m.Inputs.Knots {
		// Gated by t/H: exact at the end of the horizon, where ∫u = (H/2) Σ q.
		weights[1][I-1-j] = push * horizon / 2
	}
	inverse := make([]float64, I*(I+1)/2)
	for i, o := 0, 0; i < I; i++ {
		inverse[o+i] = 1e-9
		o += i + 1
	}
	e.Posterior = []model.Posterior{{
		Weights: weights, InverseFactor: [][]float64{inverse, inverse},
		LogSigma: []float64{math.Log(math.Sqrt2 * angleNoise), math.Log(math.Sqrt2 * rateNoise)},
	}}
	m.Members = []model.Member{e}
	m.Dynamics.Net = mlp.New([]int{m.Inputs.Lift.Dim() + 1, 4}, []mlp.Activation{mlp.Linear})
	return m
}

// shaft records n samples of the shaft at 200 Hz from a given rate; u steps from 1 to 3
// every 0.4 s and accelerates it by push·u. Angles are wrapped.
func shaft(rng *rand.Rand, n int, rate, push, noise float64) []window.Flight {
	var s window.Series
	angle := 0.0
	for i := range n {
		u := 1 + 2*float64(i/80%2)
		s.T = append(s.T, int64(i)*5_000_000)
		s.X = append(s.X, math.Remainder(angle+noise*angleNoise*rng.NormFloat64(), channel.Angle), rate+noise*rateNoise*rng.NormFloat64())
		s.U = append(s.U, u)
		angle += 0.005*rate + 0.5*push*u*0.005*0.005
		rate += 0.005 * push * u
	}
	return window.Prepare(0, s, coaster[:2], 1, window.Options{})
}

// still is a linear model under which nothing but the angle moves, at 4 rad/s.
func still() linear.Model {
	s, c := math.Sincos(4 * 0.1)
	return linear.Model{Step: 0.1, A: []float64{c, s, 0, -s, c, 0, 0, 0, 1}, B: []float64{0, 0, 0}, C: []float64{0, 0, 0}}
}
