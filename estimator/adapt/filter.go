package adapt

import (
	"fmt"
	"math"
	"strings"

	"github.com/dgm-robotics/dgm/estimator"
	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/history"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/priordynamics"
)

// Constants of the prior of θ: an Ornstein-Uhlenbeck process.
const (
	memory     = 400. // s, time constant, that of the regressions of errors, too
	biasFade   = 0.35 // of the horizon, time constant with which a bias fades in a prediction
	biasStd    = 0.6  // stationary standard deviations
	gainStd    = 0.15
	dampingStd = 0.12
	massStd    = 0.2
	widest     = 4. // θ is within so many of them
)

// Constants of learning.
const (
	perHorizon = 8    // windows that begin in a horizon
	mostNear   = 9.   // z² from which on a row counts less
	mostFar    = 36   // z² from which on it is dropped
	doubted    = 0.04 // of the prior's variance, for a row that is dropped
	planRows   = 16   // rows of the recorded input in a bucket
	restPrior  = 1.   // stationary variance of the coefficients of a regression, over that of a measurement
	restMore   = 100. // variance of an error where windows do not overlap, over that of a measurement
)

// Buckets is how many predictors New makes, of one time each.
const Buckets = 5

// fractions of the horizon at which buckets end.
var fractions = [Buckets]float64{0.04, 0.1, 0.25, 0.5, 1}

// Filter learns how the robot differs from the training data. It is not safe for concurrent use.
type Filter struct {
	m          *model.Model
	equation   *priordynamics.Model
	of         priordynamics.Adaptation
	buckets    []float64 // B, s
	predictors []Predictor
	made       []*estimator.Prediction
	acting     []*estimator.Prediction // from the inputs that act
	rollout    *priordynamics.Adapted
	actuators  *estimator.Actuators
	corrector  *Corrector
	before     *past
	at         coordinates
	state      State
	prior      []float64 // q, stationary variances

	past    *history.Buffer
	inputs  *inputs
	windows []window // ring, oldest at first
	first   int
	n       int
	number  int   // of windows that have begun
	begun   int64 // ns, the newest
	seen    bool
	last    int64     // ns, of x
	x       []float64 // K, the last sample

	y           []float64 // K
	query       estimator.Query
	plan        []float64 // planRows×P
	sensitivity []float64 // K×q
	delta       []float64 // K
	away, gain  []float64 // q
	restGain    []float64 // F
	product     []float64 // q×q
}

// New allocates all memory. predict returns a predictor of the model for given times, s. The error wraps ErrNone
// for a model that cannot adapt.
func New(m *model.Model, predict func(times []float64) (Predictor, error)) (*Filter, error) {
	e, a, err := Parameters(m)
	if err != nil {
		return nil, err
	}
	K, P, q, R := m.K, m.P, a.Parameters(e), model.Readouts
	if P == 0 {
		R = 1
	}
	S := R * Buckets * K // series
	at := newCoordinates(e)
	F := len(at.at)
	f := &Filter{
		m: m, equation: e, of: a, at: at, rollout: priordynamics.NewAdapted(e, K, a, m.Horizon), actuators: estimator.NewActuators(m.Actuators, m.History, K, m.Horizon), corrector: NewCorrector(m),
		past: history.NewBuffer(m.Channels[:K], P, m.History), inputs: newInputs(P, m.Horizon), windows: make([]window, perHorizon+4),
		x: make([]float64, K), y: make([]float64, K), sensitivity: make([]float64, K*q), delta: make([]float64, K), away: make([]float64, q), gain: make([]float64, q), restGain: make([]float64, F), product: make([]float64, q*q),
		plan: make([]float64, planRows*P),
		state: State{
			Kind: kind(m, e, a), Rate: append([]float64(nil), a.Rate...), Theta: make([]float64, q), Covariance: make([]float64, q*q),
			Weights: make([]float64, S*experts), Errors: make([]float64, S*F), Rests: make([]float64, S*F), RestCovariances: make([]float64, R*Buckets*F*F), Acting: make([]float64, R), Variances: make([]float64, S), Ledger: make([]float64, S*ledgerSums),
		},
	}
	for i := range q {
		std := biasStd
		switch {
		case i == a.Mass(e):
			std = massStd
		case i >= K+P:
			std = dampingStd
		case i >= K:
			std = gainStd
		}
		f.prior = append(f.prior, std*std)
	}
	for _, part := range fractions {
		f.buckets = append(f.buckets, part*m.Horizon)
		p, err := predict([]float64{part * m.Horizon})
		if err != nil {
			return nil, err
		}
		f.predictors, f.made, f.acting = append(f.predictors, p), append(f.made, p.NewPrediction()), append(f.acting, p.NewPrediction())
	}
	f.before = newPast(m, e, a, f.buckets)
	for i := range f.windows {
		f.windows[i] = window{
			x: make([]float64, K), u: make([]float64, P), rows: make([]float64, m.History.Rows()*(K+P)),
			theta: make([]float64, q), covariance: make([]float64, q*q), errors: make([]float64, S*F), rests: make([]float64, S*F), weights: make([]float64, S*experts), past: make([]float64, S), pastBy: make([]float64, S*q),
		}
	}
	f.Reset()
	return f, nil
}

// kind describes the meaning of the parameters.
func kind(m *model.Model, e *priordynamics.Model, a priordynamics.Adaptation) string {
	var b strings.Builder
	for _, c := range m.Channels {
		fmt.Fprintf(&b, "%s [%s] ", c.Name, channel.CanonicalUnit(c.Unit))
	}
	fmt.Fprintf(&b, "damped %d horizon %g", a.Damped, m.Horizon)
	if e.Motion.HasMass() {
		b.WriteString(" with a mass")
	}
	return b.String()
}

// Reset forgets all learned amounts.
func (f *Filter) Reset() {
	f.initialise(&f.state)
	f.forget()
}

// initialise sets a state to that in which nothing is known.
func (f *Filter) initialise(s *State) {
	clear(s.Theta)
	clear(s.Covariance)
	clear(s.Errors)
	clear(s.Rests)
	clear(s.RestCovariances)
	clear(s.Acting)
	clear(s.Variances)
	clear(s.Ledger)
	for i := range s.RestCovariances {
		if f.onDiagonal(i) {
			s.RestCovariances[i] = restPrior
		}
	}
	for i, v := range f.prior {
		s.Covariance[i*len(f.prior)+i] = v
	}
	for i := range s.Weights {
		s.Weights[i] = gatePrior[i%experts]
	}
}

// forget drops the windows that wait, as after a gap.
func (f *Filter) forget() {
	f.first, f.n, f.number, f.seen = 0, 0, 0, false
	f.past.Reset()
	f.inputs.reset()
}

// State returns the learned state. It is valid until the next call of a method.
func (f *Filter) State() *State { return &f.state }

// Restore takes a state learned elapsed s ago, by this filter's model or by one of the same kind. On an error
// nothing has changed.
func (f *Filter) Restore(s *State, elapsed float64) error {
	if err := s.check(&f.state); err != nil {
		return err
	}
	if !(elapsed >= 0) {
		return fmt.Errorf("adaptation: the state is from %v s ago", elapsed)
	}
	f.state.CopyFrom(s)
	copy(f.state.Rate, f.of.Rate)
	q := len(f.prior)
	for i := range q {
		scale := f.rescale(s, i)
		f.state.Theta[i] *= scale
		for j := range q {
			f.state.Covariance[i*q+j] *= scale
			f.state.Covariance[j*q+i] *= scale
		}
	}
	if elapsed > ledgerHorizons*f.m.Horizon {
		clear(f.state.Ledger) // it is of the last seconds
	}
	f.bound()
	f.forget()
	f.age(elapsed)
	return nil
}

// Adopt takes the parameters that the filter of another model of the same kind has learned. Its knowledge of the
// errors of its model is reset. On an error nothing has changed.
func (f *Filter) Adopt(s *State) error {
	own := f.state.Clone()
	f.initialise(own)
	own.Kind, own.Rate, own.Theta, own.Covariance = s.Kind, s.Rate, s.Theta, s.Covariance
	return f.Restore(own, 0)
}

// rescale returns the factor that takes parameter i of a state to this model's units.
func (f *Filter) rescale(s *State, i int) float64 {
	K := f.m.K
	if i >= K {
		if i -= K + f.m.P; i < 0 || i >= len(f.of.Damped) {
			return 1
		}
		i = f.of.Damped[i]
	}
	if f.of.Rate[i] == 0 || s.Rate[i] == 0 {
		return 1
	}
	return math.Min(s.Rate[i]/f.of.Rate[i], 10)
}

// onDiagonal reports whether number i of the covariances of the regressions is a variance.
func (f *Filter) onDiagonal(i int) bool {
	n := len(f.restGain)
	return i%(n*n)%(n+1) == 0
}

// age moves θ, the regressions and their variances on by dt s, towards those of which nothing is
// known.
func (f *Filter) age(dt float64) {
	q, a := len(f.prior), math.Exp(-dt/memory)
	for i := range f.state.Theta {
		f.state.Theta[i] *= a
	}
	for i := range f.state.Covariance {
		f.state.Covariance[i] *= a * a
	}
	for i, v := range f.prior {
		f.state.Covariance[i*q+i] += (1 - a*a) * v
	}
	for i := range f.state.Rests {
		f.state.Errors[i] *= a
		f.state.Rests[i] *= a
	}
	for i := range f.state.RestCovariances {
		f.state.RestCovariances[i] *= a * a
		if f.onDiagonal(i) {
			f.state.RestCovariances[i] += (1 - a*a) * restPrior
		}
	}
}
