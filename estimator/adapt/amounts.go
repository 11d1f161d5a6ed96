package adapt

import (
	"errors"
	"fmt"
	"math"

	"github.com/dgm-robotics/dgm/estimator"
	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/priordynamics"
)

// Amount is one parameter for people.
type Amount struct {
	Name  string  `json:"name"`  // "bias vx", "gain m1", "damping vx", "mass"
	Unit  string  `json:"unit"`  // of a bias the state's per second, of a gain and the mass %, of a damping 1/s
	Value float64 `json:"value"` // a gain of −20 % is an input that has a fifth less effect
	Std   float64 `json:"std"`
}

// Amounts returns all parameters of a state, for a model of its kind that can adapt.
func (s *State) Amounts(m *model.Model) []Amount {
	e, a, err := Parameters(m)
	if err != nil || a.Parameters(e) != len(s.Theta) {
		return nil
	}
	var out []Amount
	add := func(name, unit string, scale float64) {
		i := len(out)
		out = append(out, Amount{Name: name, Unit: unit, Value: scale * s.Theta[i], Std: math.Abs(scale) * math.Sqrt(s.Covariance[i*len(s.Theta)+i])})
	}
	for k, c := range m.Channels[:m.K] {
		unit := channel.CanonicalUnit(c.Unit)
		if unit == "" {
			unit = "1"
		}
		add("bias "+c.Name, channel.CanonicalUnit(unit+"/s"), s.Rate[k])
	}
	for _, c := range m.Channels[m.K:] {
		add("gain "+c.Name, "%", 100)
	}
	for _, k := range a.Damped {
		add("damping "+m.Channels[k].Name, "1/s", -s.Rate[k]/e.Lift.Std[e.Own(k)])
	}
	if len(out) < len(s.Theta) {
		add("mass", "%", 100)
	}
	return out
}

// surely is how much of what θ adds must be in what is published at least before the filter of the state moves by θ, too.
const surely = 0.75

// Change sets dst to the change of the model's equation by θ, to the extent that θ is certain to count. This is
// less than in published predictions, because a state estimated with a wrong θ worsens all predictions, also
// those without adaptation.
func (f *Filter) Change(dst *priordynamics.Change) {
	dst.Set(f.equation, &f.of, f.state.Theta, math.Max(0, (f.state.counting()-surely)/(1-surely)))
}

// counting returns how much of what θ adds is in what is published where the input is known: the mean over channels and buckets, by how far they move.
func (s *State) counting() float64 {
	sum, all := 0.0, 1e-12
	for i := range len(s.Variances) / s.readouts() {
		moves := s.Ledger[i*ledgerSums+ledgerMoves]
		sum += moves * mixtureOf(s.Weights[i*experts:(i+1)*experts], 0, 0, 0).slope * s.trusted(i)
		all += moves
	}
	return sum / all
}

// Share returns the weight of adaptation in the published mean where the input over the horizon is known: the mean over
// channels and buckets of the weights of all experts except the one without adaptation.
func (s *State) Share() float64 { return s.share(shifted) }

// share returns the mean weight of the experts from one on, where the input over the horizon is known.
func (s *State) share(first int) float64 {
	sum := 0.0
	known := s.Weights[:len(s.Weights)/s.readouts()]
	for i := 0; i < len(known); i += experts {
		for _, w := range known[i+first : i+experts] {
			sum += w
		}
	}
	return sum / float64(len(known)/experts)
}

// Predictor predicts at fixed times: an estimator.Fast or an estimator.Predictor.
type Predictor interface {
	Predict(dst *estimator.Prediction, q *estimator.Query) (ok bool)
	NewPrediction() *estimator.Prediction
}

// ErrNone is why a model cannot adapt.
var ErrNone = errors.New("the model has nothing to adapt: no rates, or no difference equation; train it again")

// mostParameters bounds the time of learning, which grows with the cube of their number: a
// window of 96 takes a few milliseconds, one of 400 half a second, in which no state is
// answered.
const mostParameters = 96

// Parameters returns the difference equation of a model that adaptation changes, and its
// parameters.
func Parameters(m *model.Model) (*priordynamics.Model, priordynamics.Adaptation, error) {
	e := model.EquationOf(m.Stack)
	if e == nil && m.Adaptation.Equation.Degree > 0 {
		e = &m.Adaptation.Equation
	}
	a := priordynamics.Adaptation{Rate: m.Adaptation.Rate, Fade: biasFade * m.Horizon}
	if e == nil || !m.Displacement || len(a.Rate) != m.K {
		return nil, a, ErrNone
	}
	for k, c := range m.Channels[:m.K] {
		if c.Derivative == "" && !e.Body.Determines(k) && e.Own(k) >= 0 {
			a.Damped = append(a.Damped, k)
		}
	}
	if n := a.Parameters(e); n > mostParameters {
		return nil, a, noneOf(n)
	}
	return e, a, nil
}

// noneOf is ErrNone of a model with too many parameters.
type noneOf int

func (n noneOf) Error() string {
	return fmt.Sprintf("the model cannot adapt: its %d parameters take too long to learn, at most %d are possible; train a model of fewer states", int(n), mostParameters)
}

func (n noneOf) Is(err error) bool { return err == ErrNone }
