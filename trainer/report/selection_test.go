package report

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/model/modeltest"
)

// The selection shows the weights and factors of the model: weights linear and factors
// geometric in √t between the knots.
func TestSelectionIsThatOfTheModel(t *testing.T) {
	m := modeltest.New(modeltest.Shape{K: 2, P: 1, F: 4, Readouts: 2, Calibrated: true, Prior: 1}, rand.New(rand.NewPCG(3, 3)))
	m.Horizon, m.NoiseKnots = 1, []float64{0.1, 1}
	m.Sensor = []float64{0.04, 9}
	weights := []float64{0.2, 0.6, 0, 1}
	m.Stack[1].Weights = [][]float64{weights, weights}
	m.NetworkWeight = [][]float64{{1, 0, 0.5, 0.5}, {0, 0, 0, 0}}
	for r, factors := range [][]float64{{1, 4, 2, 2}, {3, 3, 5, 5}} {
		for i, f := range factors {
			m.Calibration[r].LogScale[i] = math.Log(f)
		}
	}
	m.Calibration[0].Coefficient = make([][]float64, model.Covariates)
	m.Calibration[0].Coefficient[model.CovariateLeverage] = []float64{0.5, 0.3}
	m.Calibration[0].Most, m.Calibration[0].Further = []float64{1, 2}, []float64{0, 0.15}
	d := SelectionOf(m)
	last := d.Horizons[len(d.Horizons)-1]
	if len(d.Horizons) < 3 || last.T != 1 || len(last.Channels) != 2 {
		t.Fatalf("%+v", d.Horizons)
	}
	for i, want := range []struct{ sensor, linear, network, factor, hold float64 }{{0.2, 0.6, 0, 4, 3}, {3, 1, 0.5, 2, 5}} {
		c := last.Channels[i]
		for name, pair := range map[string][2]float64{"sensor": {c.SensorStd, want.sensor}, "linear": {c.StackWeights[1], want.linear}, "equation": {c.StackWeights[0], 1 - want.linear}, "network": {c.NetworkWeight, want.network}, "factor": {c.ScaleFactor, want.factor}, "hold": {c.ScaleFactorHold, want.hold}} {
			if math.Abs(pair[0]-pair[1]) > 1e-12 {
				t.Errorf("channel %d: %s %v, want %v", i, name, pair[0], pair[1])
			}
		}
	}
	for _, h := range d.Horizons {
		share := (math.Sqrt(h.T) - math.Sqrt(0.1)) / (1 - math.Sqrt(0.1))
		if h.T > 0.1 && (math.Abs(h.Channels[0].ScaleFactor-math.Pow(4, share)) > 1e-12 || math.Abs(h.Channels[0].NetworkWeight-(1-share)) > 1e-12) {
			t.Errorf("at %v s: factor %v, network weight %v", h.T, h.Channels[0].ScaleFactor, h.Channels[0].NetworkWeight)
		}
	}
	text := ""
	for _, rule := range SelectionOf(m).Rules {
		text += rule.Name + ": " + rule.Value + "\n"
	}
	for _, want := range []string{"0.4 for the leverage (0.15 beyond what folds show)", "heavy tails", "within 0.60 standard", "none declared", "farther than 3 from"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in\n%s", want, text)
		}
	}
	for _, c := range []struct {
		members, refits int
		want            string
	}{{1, 0, "1 fit; 0 refits to resampled data"}, {1, 1, "1 fit; 1 refit to resampled data"}, {3, 2, "3 fits, their means averaged and their spread added to the variance; 2 refits to resampled data"}} {
		if got := members(&model.Model{Members: make([]model.Member, c.members), Refits: make([]model.Member, c.refits)}); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
	none := SelectionOf(&model.Model{K: 1, Channels: m.Channels[:1], Sensor: []float64{1}, Horizon: 1, NoiseKnots: []float64{1}})
	if c := none.Horizons[0].Channels[0]; c.NetworkWeight != 1 || c.ScaleFactor != 1 || len(c.StackWeights) != 0 || c.ScaleFactorHold != 0 {
		t.Errorf("nothing was selected: %+v", c)
	}
}

// A map of residuals shares the weight of the equation that it is added to: that of both together is its own, the rest the equation's alone.
func TestWeightsOfResiduals(t *testing.T) {
	m := modeltest.New(modeltest.Shape{K: 4, P: 2, F: 4, Readouts: 2, Prior: 1, Motion: true, Direct: true, Residual: true}, rand.New(rand.NewPCG(4, 3)))
	at := func(w float64) [][]float64 {
		all := make([]float64, 4*len(m.NoiseKnots))
		for i := range all {
			all[i] = w
		}
		return [][]float64{all, all}
	}
	for _, c := range []struct {
		motion int // component
		want   []float64
	}{{0, []float64{0.1, 0.2, 0.3, 0.4}}, {1, []float64{0.5, -0.2, 0.3, 0.4}}} {
		if c.motion == 1 {
			m.Stack[0], m.Stack[1] = m.Stack[1], m.Stack[0]
		}
		m.Stack[0].Weights = nil
		for i, w := range []float64{0.2, 0.3, 0.4} {
			m.Stack[1+i].Weights = at(w)
		}
		got := stackWeights(m, 1, m.Horizon)
		for i, w := range c.want {
			if math.Abs(got[i]-w) > 1e-12 {
				t.Errorf("equation of motion in place %d: weights %v, want %v", c.motion, got, c.want)
				break
			}
		}
	}
}
