// Package model defines a trained model as data, and its file (FORMAT.md).
//
// A Model is what the onboard runtime loads: channels, scalers, nets, frequencies
// and the closed-form posterior. Package estimator predicts from it.
package model

import (
	"iter"
	"slices"

	"github.com/dgm-robotics/dgm/estimator/actuator"
	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/direct"
	"github.com/dgm-robotics/dgm/estimator/feature"
	"github.com/dgm-robotics/dgm/estimator/history"
	"github.com/dgm-robotics/dgm/estimator/linear"
	"github.com/dgm-robotics/dgm/estimator/numeric/mlp"
	"github.com/dgm-robotics/dgm/estimator/ood"
	"github.com/dgm-robotics/dgm/estimator/priordynamics"
)

// Readout is the input that a posterior is conditioned on. Both share the nets.
type Readout uint8

// The readouts. Their numbers are in model files and never change.
const (
	Plan     Readout = 0 // the input over the horizon is known
	Hold     Readout = 1 // the last input is held
	Readouts         = 2
)

// String returns the readout's name on the wire.
func (r Readout) String() string {
	if r == Hold {
		return "hold"
	}
	return "plan"
}

// Model is a trained model.
//
// In the windows form (Displacement) the state at time t after x0 is
// x0 + Scale·mean(t), in the paper's form Origin + Scale·mean(t).
type Model struct {
	ID       string // first 16 hex digits of the SHA-256 of the file's body; set by Encode and Decode
	Format   int    // version of the format that it was read in and is written in again, 2 at least; 0 = Version
	Vehicle  string
	Channels []channel.Channel // K states, then P inputs
	K, P     int
	Horizon  float64 // H, s
	Points   int     // default number of points, equally spaced up to H

	Displacement bool
	Inputs       feature.Inputs // how a row of the net's input is made
	Origin       []float64      // K, state units (paper's form)
	Scale        []float64      // K, state units for one output unit, all > 0
	NoiseKnots   []float64      // Q, τ of the noise knots, ascending; one knot = constant noise

	Members         []Member            // the ensemble: means are averaged, spread is added; the first and all others with an InverseFactor have variances
	Refits          []Member            // bootstrap refits: means only (no InverseFactor)
	Sensor          []float64           // K, variance R of the sensor of each state, state units squared
	NetworkWeight   [][]float64         // per condition: K×Q weight of the nets' part of the mean at the noise knots, 0…1; none = 1 (key gain)
	ScaleFactor     [][]float64         // per readout: K×Q calibration factors of the intervals at the noise knots, all > 0 (key widen)
	OODExponent     []float64           // per readout: exponent of the distance with which intervals grow, ≥ 0; see ood.Detector.DistanceFactor (key growth)
	OOD             ood.Detector        // (key region)
	RMSDisplacement ood.RMSDisplacement // (key motion)
	Calibration     []Calibration       // per condition; none = by ScaleFactor, OODExponent and RMSDisplacement
	Joint           []Joint             // per condition; none = not known how errors go together
	Bound           []float64           // K×Q: rms error of holding the start state at the noise knots (of the block that moves most, where blocks calibrate), state units; see Calibration; none = no bound
	Dynamics        Dynamics
	Stack           []Component         // the prior dynamics, which the nets' mean and vector field add to; none = the start state is held
	History         history.Spec        // what the stack reads before the start
	Actuators       []actuator.Response // P, how the inputs that the stack's equations read follow their commands; none = at once
	Baseline        linear.Model        // the best simple predictor, for comparison; no A = none was fitted
	LinearStd       []float64           // K×Q: std of its errors on held-out data at the noise knots, state units; none = unknown
	Adaptation      Adaptation          // what adaptation to the robot of today needs; the zero value = the model cannot adapt
	Filter          *Filter             // what estimates the states that nothing measures; nil = all are measured
	Latency         []Latency           // P, when each input acts; none = not learned
	Ridge           Ridge               // the direct ridge regression, for comparison; no levels = none was fitted
	Provenance      Provenance
	Checks          []SelfCheck // re-evaluated at load
}

// Member is one fit: a feature map and its posterior for each readout.
type Member struct {
	Map       feature.Map
	OmegaSeed uint64      // what Omega was drawn from
	Posterior []Posterior // one, or Readouts of them
}

// At returns the posterior of a readout; a member with only one has it for both.
func (m *Member) At(r Readout) *Posterior {
	if int(r) < len(m.Posterior) {
		return &m.Posterior[r]
	}
	return &m.Posterior[0]
}

// GivesVariance reports whether the member has an InverseFactor in all readouts; else
// only its mean counts.
func (m *Member) GivesVariance() bool {
	return slices.ContainsFunc(m.Posterior, func(p Posterior) bool { return len(p.InverseFactor) > 0 })
}

// All yields the members, then the refits.
func (m *Model) All() iter.Seq[*Member] {
	return func(yield func(*Member) bool) {
		for _, set := range [][]Member{m.Members, m.Refits} {
			for i := range set {
				if !yield(&set[i]) {
					return
				}
			}
		}
	}
}

// EqualTimes returns n times, s, at equal steps of the horizon, the last at its end.
func (m *Model) EqualTimes(n int) []float64 {
	times := make([]float64, n)
	for i := range times {
		times[i] = m.Horizon * float64(i+1) / float64(n)
	}
	return times
}

// Posterior is the closed-form posterior of every channel.
type Posterior struct {
	Weights       [][]float64 // K × T: w; with the exact kernel K × N: α
	InverseFactor [][]float64 // K × T(T+1)/2: L⁻¹, lower triangle packed by rows; none where only the mean counts
	LogSigma      []float64   // K×Q: log σ at the noise knots, output units
	Exact         *Exact      // only with the exact kernel
}

// Exact holds the observations that an exact kernel is conditioned on.
type Exact struct {
	N    int
	Z    [][]float64 // K × N×D
	Gate []float64   // N
	B    []float64   // N×Q, linear basis
}

// Dynamics is the learned vector field: f and sD in output units by standardised
// time, of the lifted, standardised state and the standardised input.
type Dynamics struct {
	Net mlp.Net // L+P → 2K
}

// Provenance is the origin of a model.
type Provenance struct {
	Tool     string
	DataHash string // SHA-256 of the logs, hex
	Config   string // the trainer's configuration, TOML
	Seed     uint64
	Scores   string   // held-out table, JSON
	Partial  string   // why training stopped early; empty = it did not
	Verdict  string   // the report's first line
	Segments []string // fingerprint of each recording trained on, hex; at most 4096
}

// Ridge is a direct ridge regression that the model is compared with. Predictions do not use
// it.
type Ridge struct {
	Direct  direct.Model
	History history.Spec // what it reads before the start
}

// Adaptation is what adaptation in flight needs of the training data, see package adapt.
type Adaptation struct {
	Rate     []float64           // K, rms rate of each state under the difference equation, state units per second; none = no adaptation
	Equation priordynamics.Model // (optional) where the stack has no difference equation; degree 0 = none
}

// SelfCheck is a prediction that the trainer made from the file's own numbers.
type SelfCheck struct {
	Readout           Readout
	X0                []float64 // K
	U                 []float64 // P
	Plan              []float64 // rows×P; none for Hold
	History           []float64 // rows×(K+P), as in a query; none = without
	Times             []float64 // T, s
	Mean, Std, ObsStd []float64 // T×K
}
