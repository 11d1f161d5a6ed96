package ood_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dgm-robotics/dgm/estimator/ood"
)

func TestWhitenIsTheMatrixProduct(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	const L = 4
	r := ood.Detector{Mean: make([]float64, L)}
	full := make([]float64, L*L)
	for i := range L {
		r.Mean[i] = rng.NormFloat64()
		for j := range i + 1 {
			full[i*L+j] = rng.NormFloat64()
			r.Inverse = append(r.Inverse, full[i*L+j])
		}
	}
	x := []float64{1, -2, 3, 0.5}
	for _, dst := range [][]float64{make([]float64, L), x} { // in place last
		want := make([]float64, L)
		for i := range L {
			for j := range L {
				want[i] += full[i*L+j] * ([]float64{1, -2, 3, 0.5}[j] - r.Mean[j])
			}
		}
		r.Whiten(dst, x)
		for i := range want {
			if math.Abs(dst[i]-want[i]) > 1e-14 {
				t.Errorf("coordinate %d: %v, expected %v", i, dst[i], want[i])
			}
		}
	}
}

func TestNearest(t *testing.T) {
	r := ood.Detector{Points: [][]float64{{0, 0}, {3, 4}, {-1, 0}}}
	for _, c := range []struct{ x, y, want float64 }{{3, 4, 0}, {0, 2, 2}, {-5, 3, 5}, {6, 8, 5}} {
		if got := r.Nearest([]float64{c.x, c.y}); math.Abs(got-c.want) > 1e-15 {
			t.Errorf("(%v, %v): %v, expected %v", c.x, c.y, got, c.want)
		}
	}
	if got := (&ood.Detector{}).Nearest(nil); got != 0 {
		t.Errorf("without points: %v", got)
	}
}

func TestGrowthIsBetweenItsEnds(t *testing.T) {
	r := ood.Detector{Near: 2, Far: 8}
	for _, c := range []struct{ d, power, want float64 }{
		{0, 0.5, 1}, {2, 0.5, 1}, {8, 0.5, 2}, {4, 1, 2}, {1e9, 0.5, 2}, {4, 0, 1}, {math.Inf(1), 1, 4},
	} {
		if got := r.DistanceFactor(c.d, c.power); math.Abs(got-c.want) > 1e-15 {
			t.Errorf("distance %v, power %v: %v, expected %v", c.d, c.power, got, c.want)
		}
	}
	if got := (&ood.Detector{}).DistanceFactor(5, 1); got != 1 {
		t.Errorf("without near and far: %v", got)
	}
}

func TestInputScore(t *testing.T) {
	r := ood.Detector{Low: [][]float64{{-1, 5}, {-2, 5}}, High: [][]float64{{3, 5}, {4, 5}}}
	for _, c := range []struct {
		u    []float64
		want float64
	}{
		{[]float64{1, 5}, 0}, {[]float64{3, 5}, 2 / 3.0}, {[]float64{4, 5}, 1}, {[]float64{-2, 5}, 1}, {[]float64{7, 5}, 2},
	} {
		if got := r.InputScore(c.u, 0); math.Abs(got-c.want) > 1e-5 {
			t.Errorf("%v: %v, expected %v", c.u, got, c.want)
		}
	}
	if got := r.InputScore([]float64{1, 5.1}, 0); got < 1000 {
		t.Errorf("an input that never moved moves: %v", got)
	}
}
