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

// A robot that is commanded to drive, to turn and to stop rests between, and drives straight, whatever the noise of its sensors; one whose
// position is stuck meanwhile jumps.
func TestARobotThatStopsIsNotFrozen(t *testing.T) {
	for _, c := range []struct {
		noise float64
		stuck bool
	}{{0, false}, {0.01, false}, {0.01, true}} {
		rng := rand.New(rand.NewPCG(4, 1))
		at, cols := []float64{}, make([][]float64, 7)
		var x, y, yaw, v, w, cmdV, cmdW, held float64
		stuck := 0
		for i, next := 0, 0; i < 4000; i++ {
			if i == next {
				cmdV, cmdW, next = 0, 0, i+75+rng.IntN(125)
				if rng.Float64() > 0.4 {
					cmdV, cmdW = []float64{0.3, 0.5, 0.8, -0.3}[rng.IntN(4)], []float64{0, 0, 0.5, -0.5, 1}[rng.IntN(5)]
				}
			}
			v += math.Max(-0.02, math.Min(0.02, cmdV-v))
			w += math.Max(-0.04, math.Min(0.04, cmdW-w))
			x, y, yaw = x+0.02*v*math.Cos(yaw), y+0.02*v*math.Sin(yaw), yaw+0.02*w
			measured := func(rate float64) float64 {
				if rate != 0 {
					rate += c.noise * rng.NormFloat64()
				}
				return rate
			}
			at = append(at, 0.02*float64(i))
			if held = x; c.stuck && i > 2000 && stuck == 0 && next > i+40 && math.Abs(v*math.Cos(yaw)) > 0.25 {
				stuck = i
			}
			if stuck > 0 && i < stuck+40 {
				held = cols[0][stuck-1]
			}
			for k, value := range []float64{held, y, yaw, measured(v), measured(w), cmdV, cmdW} {
				cols[k] = append(cols[k], value)
			}
		}
		var channels []channel.Channel
		for k, name := range []string{"x", "y", "yaw", "v", "w", "cmd v", "cmd w"} {
			role := channel.State
			if k > 4 {
				role = channel.Input
			}
			channels = append(channels, channel.Channel{Name: name, Role: role})
		}
		channels[2].Derivative = "w"
		found := 0
		for _, p := range Check(build(channels, at, make([]float64, len(at)), cols), Options{Horizon: 0.5}).Problems {
			switch {
			case p.Severity == Note:
			case c.stuck && p.Channel == "x" && math.Abs(p.From-0.02*float64(stuck)) < 0.1:
				found++
			default:
				t.Errorf("noise %g: %s: %s", c.noise, p.Kind, p.Text)
			}
		}
		if (found > 0) != c.stuck {
			t.Errorf("noise %g, stuck: %v: %d findings", c.noise, c.stuck, found)
		}
	}
}
