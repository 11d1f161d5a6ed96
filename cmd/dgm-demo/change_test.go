package main

import (
	"bytes"
	"math"
	"testing"
	"time"

	"github.com/dgm-robotics/dgm/estimator/wire"
)

// Errors before a change, right after it and later are kept apart, and the channel is found
// that the change affects.
func TestPhasesOfAChange(t *testing.T) {
	sc, _ := sceneOf("pendulum")
	if newChange(sc, []float64{1}) != nil {
		t.Error("a robot that does not change has a change")
	}
	if err := sc.flown.AddFault("payload=0.5:12s"); err != nil {
		t.Fatal(err)
	}
	c := newChange(sc, []float64{0.5, 1})
	if c.at != 12 || c.horizon != 1 || c.back != uint64(time.Second/sc.period()) {
		t.Fatalf("%+v", c)
	}
	for i := range 3000 {
		at := float64(i) / 100
		e := 0.1 * math.Sin(float64(i))
		omega := e
		if at >= 12 && at < 14 {
			omega = 1
		}
		c.t, c.checks = append(c.t, at), append(c.checks, []check{{e, 0.2, 0.3}, {omega, 0.2, 0.3}})
		if i%100 == 0 {
			c.amounts = append(c.amounts, learnedAt{at, []wire.Amount{{Name: "gain torque", Unit: "%", Value: -at, Std: 1}}})
		}
	}
	if k := c.most(); k != 1 {
		t.Errorf("channel %d", k)
	}
	for i, want := range []struct{ rmse, coverage float64 }{{0.1 / math.Sqrt2, 1}, {1, 0}, {0.1 / math.Sqrt2, 1}} {
		mean, covered, scaled := c.in(c.phases()[i], 1)
		if math.Abs(mean.error-want.rmse) > 1e-3 || math.Abs(mean.half-0.2) > 1e-9 || math.Abs(mean.scaled-0.3) > 1e-9 || covered != want.coverage || scaled != want.coverage {
			t.Errorf("phase %d: %+v, %v, %v", i, mean, covered, scaled)
		}
	}
	svg, err := c.draw(1)
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"error of omega", "the robot changes", "learned in flight: gain torque"} {
		if !bytes.Contains(svg, []byte(part)) {
			t.Errorf("%q is not in the picture", part)
		}
	}
}
