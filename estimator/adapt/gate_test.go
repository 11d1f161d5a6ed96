package adapt

import (
	"math"
	"testing"
)

// Where one expert is right, what fixed share gives back to the others is not published.
func TestAnExpertThatIsRightIsPublishedAlone(t *testing.T) {
	w := make([]float64, experts)
	copy(w, gatePrior[:])
	scores := [experts]float64{unadapted: 50, shifted: 50, half: 40, adapted: 0, adaptedShifted: 50}
	for range 20 {
		share(w)
		updateWeights(w, &scores, 1)
	}
	const delta = 30. // deviations
	m := mixtureOf(w, 2, -3, 0)
	mean, square := m.slope*delta+m.shift, m.curve*delta*delta+2*m.cross*delta+m.square
	if math.Abs(mean-delta) > 1e-6 || math.Abs(square-mean*mean) > 1e-6 {
		t.Errorf("mean %v of %v, variance %v", mean, delta, square-mean*mean)
	}
	before := w[unadapted]
	for range 4 { // scores of shorter buckets
		updateWeights(w, &[experts]float64{}, 1)
	}
	if w[unadapted] > 2*before {
		t.Errorf("weight %v of the mean without adaptation became %v without a score for it", before, w[unadapted])
	}
	if share(w); w[unadapted] < gateShare*gatePrior[unadapted] {
		t.Errorf("weight %v of the mean without adaptation cannot recover", w[unadapted])
	}
}

// Before anything is learned the prior is published.
func TestThePriorIsPublished(t *testing.T) {
	m := mixtureOf(gatePrior[:], 0, 0, 0)
	if want := 0.5*gatePrior[half] + gatePrior[adapted] + gatePrior[adaptedShifted]; math.Abs(m.slope-want) > 1e-12 {
		t.Errorf("slope %v, expected %v", m.slope, want)
	}
}

// Errors that are far tell experts apart by their ratio, and no difference of near ones counts
// more than it does with a normal distribution twice as sure.
func TestScores(t *testing.T) {
	if d := scoreOf(30, 1) - scoreOf(10, 1); math.Abs(d-scoreOf(90, 1)+scoreOf(30, 1)) > 0.2 || d < 1 {
		t.Errorf("an error of 30 deviations costs %v more than one of 10", d)
	}
	for e := 0.0; e < 10; e += 0.1 {
		if d := scoreOf(e+0.1, 1) - scoreOf(e, 1); d <= 0 || d > (e+0.1)*(e+0.1)-e*e {
			t.Errorf("an error of %v deviations costs %v more than one of %v", e+0.1, d, e)
		}
	}
}

// Parameters are forgotten, and variances return to the prior's.
func TestForgetting(t *testing.T) {
	m := adaptable()
	f := filter(t, m)
	q := len(f.prior)
	for i := range q {
		f.state.Theta[i], f.state.Covariance[i*q+i] = 0.1, 1e-6
	}
	f.age(100)
	left := math.Exp(-100 / memory)
	for i, v := range f.state.Theta {
		if math.Abs(v-0.1*left) > 1e-12 {
			t.Errorf("parameter %d is %v after 100 s, expected %v", i, v, 0.1*left)
		}
		if got, want := f.state.Covariance[i*q+i], f.prior[i]+(1e-6-f.prior[i])*left*left; math.Abs(got-want) > 1e-12 {
			t.Errorf("variance %d is %v after 100 s, expected %v", i, got, want)
		}
	}
	if err := checkPositive(f.state.Covariance, q); err != nil {
		t.Error(err)
	}
}

// Whatever the errors are, weights are positive and add up to one.
func TestWeightsStaySound(t *testing.T) {
	w := make([]float64, experts)
	copy(w, gatePrior[:])
	for i, e := range []float64{0, 1e200, 1e-200, 1e100, 0, 1e308, 3} {
		var scores [experts]float64
		for j := range scores {
			scores[j] = scoreOf(e*float64((i+j)%experts), 1e-3)
		}
		for range 50 {
			updateWeights(w, &scores, 2)
		}
		sum := 0.0
		for _, v := range w {
			sum += v
			if !(v > 0) {
				t.Fatalf("errors about %v: weights %v", e, w)
			}
		}
		if math.Abs(sum-1) > 1e-6 {
			t.Fatalf("errors about %v: weights %v add up to %v", e, w, sum)
		}
	}
}
