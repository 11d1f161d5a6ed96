package robot

import (
	"slices"
	"testing"

	"github.com/dgm-robotics/dgm/firmware-sim/plant"
	"github.com/dgm-robotics/dgm/firmware-sim/vehicle"
)

func TestTimesDoNotDrift(t *testing.T) {
	c := Config{Config: vehicle.Config{Rate: 30}} // a period that is no whole number of ns
	if got := c.At(30 * 3600); got != 3600e9 {
		t.Errorf("after an hour: %d ns", got)
	}
	if got := c.At(1); got != 33333333 {
		t.Errorf("first step: %d ns", got)
	}
	c.Rate = 99. / 10 // 100 points over 10 s, both ends
	if got := c.At(99); got != 10e9 {
		t.Errorf("the last of 100 points: %d ns", got)
	}
}

func TestExactSensorsShowTheTruth(t *testing.T) {
	r := New(Config{Config: vehicle.Config{Plant: plant.QuadrotorFlown(), Rate: 100, Seed: 1}, PlanHorizon: 0.3, PlanRows: 3})
	r.Start(0, 500)
	for i := range 50 {
		s, ok := r.Sample()
		if !ok || s.Lost || s.Stamp != s.At || s.At != 500+int64(i)*10_000_000 || !slices.Equal(s.X, s.Truth) {
			t.Fatalf("sample %d: %+v", i, s)
		}
		if len(s.U) != 4 || len(s.Plan) != 12 || s.Plan[0] == 0 {
			t.Fatalf("sample %d: inputs %v, plan %v", i, s.U, s.Plan)
		}
		if !r.Step() {
			t.Fatal("not finite")
		}
	}
}

func TestChannelsHaveTheSensorNoise(t *testing.T) {
	c := Typical(plant.Pendulum())
	c.Noise = []float64{0.2, 0}
	if all := c.Channels(false); all[0].Noise != 0.2 || all[1].Noise != 0 || len(all) != 3 {
		t.Errorf("%+v", all)
	}
	if all := c.Channels(true); all[0].Noise != 0 {
		t.Errorf("the truth has noise %v", all[0].Noise)
	}
	if p := plant.Pendulum(); p.States[0].Noise != 0.01 {
		t.Error("a plant's own description changed")
	}
}
