package datacheck

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/dgm-robotics/dgm/estimator/channel"
)

// A state that is an angle and not declared as one is one finding, with the line to add, and
// no window crosses a jump of it.
func TestLooksLikeAnAngle(t *testing.T) {
	t.Parallel()
	const line = `"period = 6.283185307179586"`
	for _, c := range []struct {
		name, unit string
		scale      float64 // of radians
		wrap, want bool
		invariant  bool
		line       string
	}{
		{"jumps", "rad", 1, true, true, false, line},
		{"jumps in degrees", "Deg", 180 / math.Pi, true, true, false, `"period = 360"`},
		{"jumps without a unit", "", 1, true, true, false, line},
		{"spans turns", "rad", 1, false, true, false, line},
		{"spans turns, invariant", "rad", 1, false, false, true, ""},
		{"spans six units without a name", "", 1, false, false, false, ""},
		{"a length", "m", 1, false, false, false, ""},
		{"a length that jumps", "m", 1, true, false, false, ""},
		{"less than a turn", "rad", 0.1, false, false, false, ""},
	} {
		log := swing(even(40, 100), 0.01, 13)
		log.Channels[0].Period, log.Channels[0].Unit, log.Channels[0].Invariant = 0, c.unit, c.invariant
		x := log.Segments[0].X
		for i := 0; i < len(x); i += 2 {
			angle := 3*float64(i)/200 + math.Sin(float64(i)/200)
			x[i+1] = c.scale * (3 + math.Cos(float64(i)/200))
			if c.wrap {
				angle = wrapped(angle, channel.Angle)
			} else {
				angle = 6 * math.Sin(angle/6)
				x[i+1] *= math.Cos((3*float64(i)/200 + math.Sin(float64(i)/200)) / 6)
			}
			x[i] = c.scale * angle
		}
		r := Check(log, Options{})
		found := find(r, Angle)
		if !c.want {
			if len(found) > 0 {
				t.Errorf("%s: %s", c.name, found[0].Text)
			}
			continue
		}
		if len(found) != 1 || found[0].Channel != "theta" || !strings.Contains(found[0].Text, c.line) || len(r.Problems) > 1 {
			t.Errorf("%s:%s", c.name, describe(r))
			continue
		}
		breaks := len(Ranges(r.Masks[0], TimeBreak))
		if c.wrap && breaks != found[0].Count || !c.wrap && breaks != 0 {
			t.Errorf("%s: %d breaks of time, %s", c.name, breaks, found[0].Text)
		}
		if log.Channels[0].Period != 0 {
			t.Errorf("%s: the log was changed", c.name)
		}
	}
}

// A declared period that does not fit the values stops training with the unit and the period
// that do; what is wrapped, or turned on without wrapping, stays.
func TestPeriodThatDoesNotFit(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(2, 2))
	wrap := func(turn float64) func(float64) float64 {
		return func(angle float64) float64 { return math.Remainder(turn/channel.Angle*angle, turn) }
	}
	for _, c := range []struct {
		name, unit string
		period     float64
		value      func(angle float64) float64
		text       string // of the finding; "" = none
	}{
		{"radians", "rad", channel.Angle, wrap(channel.Angle), ""},
		{"degrees", "deg", 360, wrap(360), ""},
		{"turned on", "rad", channel.Angle, func(a float64) float64 { return 6 * a }, ""},
		{"degrees as radians", "rad", channel.Angle, wrap(360), `looks like degrees. Set unit = "deg" and period = 360 in`},
		{"degrees without a unit", "", channel.Angle, wrap(360), `looks like degrees. Set unit = "deg" and period = 360 in`},
		{"radians as degrees", "deg", 360, wrap(channel.Angle), `looks like radians. Set unit = "rad" and period = 6.283185307179586 in`},
		{"degrees that do not wrap", "deg", channel.Angle, func(a float64) float64 { return 100 * math.Sin(a) }, "a turn in this unit is 360. Set period = 360 in"},
		{"noise", "", channel.Angle, func(float64) float64 { return 20 * rng.NormFloat64() }, "it is no angle with this period. Remove period"},
	} {
		log := swing(even(40, 100), 0.01, 13)
		log.Channels[0].Period, log.Channels[0].Unit, log.Channels[0].Derivative = c.period, c.unit, ""
		x := log.Segments[0].X
		for i := 0; i < len(x); i += 2 {
			angle := 3*float64(i)/200 + math.Sin(float64(i)/200)
			x[i], x[i+1] = c.value(angle)+0.001*rng.NormFloat64(), 3+math.Cos(float64(i)/200)+0.01*rng.NormFloat64()
		}
		r := Check(log, Options{})
		stop := r.Stop()
		switch {
		case c.text == "" && (stop != nil || len(find(r, Angle)) > 0):
			t.Errorf("%s:%s", c.name, describe(r))
		case c.text != "" && (stop == nil || stop.Kind != Angle || stop.Channel != "theta" || !strings.Contains(stop.Text, c.text) || len(find(r, Angle)) > 1):
			t.Errorf("%s:%s", c.name, describe(r))
		}
		if log.Channels[0].Period != c.period {
			t.Errorf("%s: the log was changed", c.name)
		}
	}
}

// An angle in radians that goes to and fro through several turns may be one in degrees, which its finding says.
func TestRadiansThatMayBeDegrees(t *testing.T) {
	t.Parallel()
	for most, want := range map[float64]bool{60: true, 5: false, 5000: false} {
		log := swing(even(40, 100), 0.01, 13)
		log.Channels[0].Period, log.Channels[0].Unit, log.Channels[0].Derivative = 0, "rad", ""
		for i := 0; i < len(log.Segments[0].X); i += 2 {
			log.Segments[0].X[i] = most * math.Sin(float64(i)/300)
		}
		found := find(Check(log, Options{}), Angle)
		if len(found) != 1 || strings.Contains(found[0].Text, `unit = "deg"`) != want {
			t.Errorf("%g: %v", most, found)
		}
	}
}
