package datacheck

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/flightlog"
)

// motor is a motor with current and speed, or angle and speed, that rests, and then gets steps of its voltage.
func motor(states [2]string, spike int) *flightlog.Log {
	rng := rand.New(rand.NewPCG(3, 1))
	at, cols := []float64{}, make([][]float64, 3)
	angle, speed, volts := 0.0, 0.0, 0.0
	for i := range 4000 {
		if i >= 200 && (i-200)%150 == 0 {
			volts = math.Round(120*(2*rng.Float64()-1)) / 10
		}
		current := (volts - 0.05*speed) / 2
		measured := map[string]float64{"angle": angle, "speed": speed + 0.2*rng.NormFloat64(), "current": current + 0.01*rng.NormFloat64()}
		if i == spike {
			measured[states[0]] += 3
		}
		at = append(at, 0.01*float64(i))
		for k, v := range []float64{measured[states[0]], measured[states[1]], volts} {
			cols[k] = append(cols[k], v)
		}
		for range 10 {
			speed += 0.001 * (0.05*(volts-0.05*speed)/2 - 1e-4*speed) / 6e-5
			angle += 0.001 * speed
		}
	}
	channels := []channel.Channel{{Name: states[0], Role: channel.State}, {Name: states[1], Role: channel.State}, {Name: "voltage", Role: channel.Input}}
	if states[0] == "angle" {
		channels[0].Derivative = states[1]
	}
	return build(channels, at, make([]float64, len(at)), cols)
}

// What follows steps of a voltage is how a motor responds; a spike between them is none. That it rests at first, and turns at a constant speed
// later, is what its measured speed says.
func TestAMotorRespondsToItsVoltage(t *testing.T) {
	for _, states := range [][2]string{{"current", "speed"}, {"angle", "speed"}} {
		for _, p := range Check(motor(states, -1), Options{Horizon: 0.5}).Problems {
			t.Errorf("%v: %s: %s", states, p.Kind, p.Text)
		}
	}
	found := Check(motor([2]string{"current", "speed"}, 1500), Options{Horizon: 0.5}).Problems
	if len(found) != 1 || found[0].Kind != Outlier || found[0].Channel != "current" || math.Abs(found[0].From-15) > 0.015 || found[0].Count > 3 {
		t.Errorf("a spike at 15 s: %v", found)
	}
}
