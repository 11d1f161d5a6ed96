package estimator_test

import (
	"math"
	"slices"
	"testing"

	"github.com/dgm-robotics/dgm/estimator"
	"github.com/dgm-robotics/dgm/estimator/model"
)

// joined is falling with correlations at two levels, and tubes.
func joined() *model.Model {
	m := falling()
	j := model.Joint{
		Levels:      []float64{0.2, 0.8},
		Correlation: [][]float64{{0.5, 0, -0.25}, {0.875, -0.5, -0.25}},
		Tube:        []float64{1.5, 2.5, 3}, Flights: 9,
	}
	m.Joint = []model.Joint{j, j} // with a plan, with the input held
	return m
}

var starts = map[string]estimator.Query{
	"usual":            {X0: []float64{0.1, -0.2, 0.3}, U: []float64{0.5}},
	"uncertain start":  {X0: []float64{0.1, -0.2, 0.3}, U: []float64{0.5}, P0: []float64{0.04, 0.01, 0, 0.01, 0.09, 0, 0, 0, 0.01}},
	"degenerate start": {X0: []float64{0.1, -0.2, 0.3}, Plan: []float64{0.5, 1}, P0: []float64{0.04, 0.04, 0, 0.04, 0.04, 0, 0, 0, 0}},
}

// Draws have the covariance of the prediction at every time.
func TestTrajectoriesHaveTheCovarianceOfThePrediction(t *testing.T) {
	const n = 4000
	for name, q := range starts {
		for _, m := range []*model.Model{falling(), joined()} {
			_, all := draws(t, m, &q, n)
			p, err := estimator.NewFast(m, nil)
			if err != nil {
				t.Fatal(err)
			}
			d := p.NewPrediction().WithCorrelation()
			if !p.Predict(d, &q) {
				t.Fatal("no prediction")
			}
			const K = 3
			for i := range d.Times {
				for a := range K {
					for b := range a {
						sum := 0.0
						for _, x := range all {
							sum += (x[i*K+a] - d.Mean[i*K+a]) / d.Std[i*K+a] * (x[i*K+b] - d.Mean[i*K+b]) / d.Std[i*K+b] / n
						}
						if want := d.Correlation[(i*K+a)*K+b]; math.Abs(sum-want) > 5*math.Sqrt((1+want*want)/n) {
							t.Errorf("%s, %d known, time %d, states %d and %d: correlation %.3f of draws, %.3f of the prediction", name, len(m.Joint), i, a, b, sum, want)
						}
					}
				}
			}
		}
	}
}

// Correlations are those of the model, linear between levels, and leave the other numbers of
// a prediction as they are. Those of a Fast are a Predictor's.
func TestCorrelation(t *testing.T) {
	m := joined()
	times := []float64{0.1, 0.2, 0.5, 0.8, 1}
	plain, err := estimator.New(m, times)
	if err != nil {
		t.Fatal(err)
	}
	fast, err := estimator.NewFast(m, times)
	if err != nil {
		t.Fatal(err)
	}
	for name, q := range starts {
		want, got, bare := plain.NewPrediction().WithCorrelation(), fast.NewPrediction().WithCorrelation(), fast.NewPrediction()
		if !plain.Predict(want, &q) || !fast.Predict(got, &q) || !fast.Predict(bare, &q) {
			t.Fatal("no prediction")
		}
		if !slices.Equal(got.Mean, bare.Mean) || !slices.Equal(got.Std, bare.Std) || !slices.Equal(got.ObsStd, bare.ObsStd) {
			t.Errorf("%s: the correlation changes the prediction", name)
		}
		if got.Tube != (estimator.Tube{1.5, 2.5, 3}) || want.Tube != got.Tube {
			t.Errorf("%s: tubes %v and %v", name, got.Tube, want.Tube)
		}
		for j, r := range want.Correlation {
			if math.Abs(r-got.Correlation[j]) > 1e-4 || math.Abs(r) > 1+1e-12 {
				t.Errorf("%s: correlation %d is %v, of a Fast %v", name, j, r, got.Correlation[j])
			}
		}
		if name == "usual" {
			for i, r := range []float64{0.5, 0.5, 0.6875, 0.875, 0.875} { // states 1 and 0
				if math.Abs(want.Correlation[i*9+3]-r) > 1e-12 || math.Abs(want.Correlation[i*9+1]-r) > 1e-12 {
					t.Errorf("correlation %v at time %d, want %v", want.Correlation[i*9+3], i, r)
				}
			}
		}
		covariance := make([]float64, len(got.Correlation))
		got.Covariance(covariance)
		for j, s := range got.Std {
			if at := j/3*9 + j%3*4; covariance[at] != s*s {
				t.Errorf("%s: variance %v, standard deviation %v", name, covariance[at], s)
			}
		}
		if n := testing.AllocsPerRun(10, func() { fast.Predict(got, &q); got.Covariance(covariance) }); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

// Where nothing is known of correlations, a state goes with the one that is its derivative, and
// there are no tubes.
func TestCorrelationOfChannelsAlone(t *testing.T) {
	p, err := estimator.New(falling(), nil)
	if err != nil {
		t.Fatal(err)
	}
	d, q := p.NewPrediction().WithCorrelation(), starts["usual"]
	if !p.Predict(d, &q) {
		t.Fatal("no prediction")
	}
	if d.Tube != (estimator.Tube{}) {
		t.Errorf("tubes %v", d.Tube)
	}
	r := math.Sqrt(15) / 4
	for j, want := range []float64{1, r, 0, r, 1, 0, 0, 0, 1} {
		if math.Abs(d.Correlation[j]-want) > 1e-12 {
			t.Errorf("correlation %d is %v, want %v", j, d.Correlation[j], want)
		}
	}
}
