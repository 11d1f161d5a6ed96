package estimator

// Predictions are the answers to N questions. The caller has the memory; a nil field is not
// written. Where Mean, OOD and NoHistory alone are not nil no variance is computed, and OOD
// is that of Fast.Means. Where derivatives and covariances are not asked for, no covariance of the start is
// given, and there are as many questions as a plan has rows and sixteen at least, sixteen are evaluated at
// once: their answers differ from those of a Fast by about 10⁻⁵ standard deviations.
type Predictions struct {
	Mean          []float64 // N×T×K
	Std, ObsStd   []float64 // N×T×K
	Jacobian      []float64 // N×T×K×K, see Prediction; the windows form alone has one
	InputJacobian []float64 // N×T×K×(rows·P), see Prediction
	Covariance    []float64 // N×T×K×K, see Prediction.Covariance
	StartGradient []float64 // N×K, of Questions.MeanAdjoint and StdAdjoint by the states, see Predictor.Adjoint
	PlanGradient  []float64 // N×(rows·P), the same by the plan, or by the input held
	Tube          []float64 // N×model.TubeLevels, see Prediction; not with the means alone
	OOD           []float64 // N
	Half50        []float64 // N, see Prediction; not with the means alone
	NoHistory     []bool    // N
}

// meansAlone reports whether nothing is asked for that needs variances.
func (d *Predictions) meansAlone() bool {
	return d.Std == nil && d.ObsStd == nil && d.Jacobian == nil && d.InputJacobian == nil && d.Half50 == nil && d.Covariance == nil && d.Tube == nil
}
