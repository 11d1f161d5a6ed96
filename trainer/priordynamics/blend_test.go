package priordynamics

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/priordynamics"
	"github.com/dgm-robotics/dgm/trainer/window"
)

// decay is some flights of x⁺ = 0.98 x, exactly linear, with a little noise.
func decay(seed uint64, n int) []window.Flight {
	rng := rand.New(rand.NewPCG(seed, 0))
	var out []window.Flight
	for at := 0; at < n; at += 100 {
		s := window.Series{Name: "decay"}
		x := 2 * rng.NormFloat64()
		for i := range min(100, n-at) {
			s.T = append(s.T, int64(i)*1e7)
			s.X = append(s.X, x+1e-4*rng.NormFloat64())
			x -= 0.02 * x
		}
		out = append(out, window.Prepare(at, s, one, 0, window.Options{})...)
	}
	return out
}

var one = []channel.Channel{{Name: "x", Role: channel.State}}

// bent returns the equation with its slope multiplied.
func bent(m *priordynamics.Model, factor float64) *priordynamics.Model {
	c := *m
	c.Weights = append([]float64(nil), m.Weights...)
	for i := range c.Weights {
		c.Weights[i] *= factor
	}
	return &c
}

func TestBlendFollowsTheBetter(t *testing.T) {
	flights := decay(1, 1000)
	good, err := regress(flights, one, 0, Shape{Step: 0.01, Degree: 1, Ridge: 1e-9})
	if err != nil {
		t.Fatal(err)
	}
	bad := bent(good, 1.5)
	knots := []float64{0, 0.1, 1}
	held := [][]window.Flight{decay(2, 300), decay(3, 300), decay(4, 300)}
	pairs := func(prior, companion *priordynamics.Model) (out []Pair) {
		for _, h := range held {
			out = append(out, Pair{prior, companion, h})
		}
		return out
	}
	blend := Blend(pairs(bad, good), 1, 0, 0.5, knots)
	if blend[1] < 0.9 || blend[2] < 0.9 {
		t.Errorf("a perfect companion has the shares %v", blend)
	}
	blend = Blend(pairs(good, bad), 1, 0, 0.5, knots)
	for _, v := range blend {
		if v > 0.05 {
			t.Errorf("a bad companion has the shares %v", blend)
		}
	}
	// Two that err to opposite sides: the truth lies between.
	blend = Blend(pairs(bent(good, 1.2), bent(good, 0.9)), 1, 0, 0.5, knots)
	if math.Abs(blend[2]-2/3.) > 0.08 {
		t.Errorf("share %v, expected two thirds", blend[2])
	}
	// Where the parts disagree about which is better, the chosen equation stays.
	mixed := append(pairs(bad, good)[:1], pairs(good, bad)[1:]...)
	if blend = Blend(mixed, 1, 0, 0.5, knots); blend[2] > 0.1 {
		t.Errorf("one part in three is for the companion, its share is %v", blend[2])
	}
}

func TestCompanionIsLinearAndShort(t *testing.T) {
	flights := decay(5, 1000)
	shape, err := Companion(flights, one, priordynamics.Body{}, 0, 0.5)
	if err != nil {
		t.Fatal(err)
	}
	if shape.Degree != 1 || shape.Step > 0.05+1e-9 {
		t.Errorf("shape %+v", shape)
	}
	long := window.Series{Name: "long"}
	for i := range 3000 {
		long.T = append(long.T, int64(i)*1e6)
		long.X = append(long.X, math.Exp(-float64(i)/500))
	}
	shape, err = Companion(window.Prepare(0, long, one, 0, window.Options{}), one, priordynamics.Body{}, 0, 1)
	if err != nil || shape.Step < 1./companionSteps-1e-9 {
		t.Errorf("a step of %v s is one of %v over the horizon: %v", shape.Step, 1/shape.Step, err)
	}
	if _, err := Companion(decay(6, 2), one, priordynamics.Body{}, 0, 0.02); err == nil {
		t.Error("two samples give a companion")
	}
}
