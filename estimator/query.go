package estimator

import "github.com/dgm-robotics/dgm/estimator/model"

// Readout is the input that a prediction assumes.
type Readout = model.Readout

// The readouts.
const (
	Plan = model.Plan // the input over the horizon came with the query
	Hold = model.Hold // the last input is held
)

// Query is the start of a prediction.
type Query struct {
	X0   []float64 // K, measured state
	P0   []float64 // K×K row-major, covariance of X0; nil = the model's sensors
	U    []float64 // P, the input held now; nil = the model's mean input
	Plan []float64 // rows×P, input values at equal steps from the start on, the last is held after them; nil = readout Hold

	PlanStep float64 // s, of a row of Plan; 0 = the rows divide the model's horizon

	// History is rows×(K+P), the newest first, at most as many as the model reads; see
	// history.Spec; nil = none. With fewer rows than the model reads the prediction is one
	// without history.
	History []float64
}

// Prediction is the distribution of the state over the horizon. Angles are
// continuous: unwrapped from X0.
type Prediction struct {
	Times             []float64 // T, s after the state's time
	Mean              []float64 // T×K row-major, state units
	Std               []float64 // T×K, of the state
	ObsStd            []float64 // T×K, of a measurement of it
	DMean, DStd       []float64 // T×K, of the state's derivative, per second; nil = not computed
	Jacobian          []float64 // T×K×K, ∂mean(t)/∂x0, row k of it that of channel k; nil = not computed
	InputJacobian     []float64 // T×K×(rows·P), ∂mean(t)/∂Plan, or ∂mean(t)/∂U where no plan is given (rows = 1); nil = not computed
	Correlation       []float64 // T×K×K, of the states at a time, see Covariance; nil = not computed
	Readout           Readout
	NoHistory         bool      // the model reads history, and the query has too little
	Distance          float64   // from the training states, whitened, see ood.Detector; 0 = the model has none
	Leverage          float64   // of state, history and input, see direct.Map.Leverage; 0 = the model has none
	RMSRatio          []float64 // T, running RMS displacement of the prior dynamics over the typical one, see ood.RunningRMS; none = not measured
	InputScore        float64   // see ood.Detector.InputScore: the largest over the horizon
	Covariates        []float64 // T×K×model.Covariates, see model.Covariate; nil = not computed
	Prior             []float64 // T×K, displacement of the prior dynamics from x0, state units; nil = not computed
	Half50            float64   // half width of the central 50 % interval over Std, see model.MeasuredHalf50; that of 95 % is 1.96
	Tube              Tube      // factors of the standard deviations
	OOD               float64   // out-of-distribution score
	OutOfDistribution bool      // OOD > 1
}

// Tube has a factor for each of model.TubeLevels. With that probability a whole trajectory (all states at all
// times to the horizon) stays within Mean ± factor·Std, and a measured one within Mean ± factor·ObsStd. 0 = not
// known.
type Tube [len(model.TubeLevels)]float64

// condition returns what was predicted under.
func (d *Prediction) condition() model.Condition { return d.Readout.Condition(d.NoHistory) }

// WithDerivatives allocates DMean and DStd, which Predict then fills, and returns d.
func (d *Prediction) WithDerivatives() *Prediction {
	d.DMean, d.DStd = make([]float64, len(d.Mean)), make([]float64, len(d.Mean))
	return d
}

// WithJacobian allocates Jacobian, which Predict then fills, and returns d. Only the windows
// form starts its predictions at the state and has one: see model.Model.Displacement.
func (d *Prediction) WithJacobian() *Prediction {
	d.Jacobian = make([]float64, len(d.Mean)*len(d.Mean)/len(d.Times))
	return d
}

// WithInputJacobian allocates InputJacobian for plans of so many numbers, rows·P, or P for
// queries without a plan. Predict then fills it.
func (d *Prediction) WithInputJacobian(numbers int) *Prediction {
	d.InputJacobian = make([]float64, len(d.Mean)*numbers)
	return d
}

const wrongLength = "estimator: a length does not fit the model"

// Correction corrects a worker's answers by what adaptation has learned. The worker predicts from Effective of a
// query, and then calls Correct. Both run on the worker's goroutine.
type Correction interface {
	Effective(q *Query) *Query
	Correct(dst *Prediction, q *Query) bool
}

// effective returns the query that is predicted from.
func effective(q *Query, c Correction) *Query {
	if c == nil {
		return q
	}
	return c.Effective(q)
}
