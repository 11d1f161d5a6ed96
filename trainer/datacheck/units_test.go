package datacheck

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/dgm-robotics/dgm/estimator/channel"
)

// A unit or a sign that changes during the recording is reported with channel and span, and
// that span alone is left out.
func TestUnitThatChangesWithinALog(t *testing.T) {
	channels := []channel.Channel{
		{Name: "theta", Unit: "rad", Role: channel.State, Period: channel.Angle, Derivative: "omega"},
		{Name: "omega", Unit: "rad/s", Role: channel.State},
	}
	const degree = 180 / math.Pi
	for _, c := range []struct {
		name         string
		theta, omega float64 // factors between from and to
		from, to     float64
		wrong, cause string
	}{
		{"clean", 1, 1, 0, 0, "", ""},
		{"theta in degrees at the end", degree, 1, 37, 60, "theta", "one is in degrees, the other in radians"},
		{"omega in degrees at the beginning", 1, degree, 0, 14, "omega", "one is in radians, the other in degrees"},
		{"omega turned in the middle", 1, -1, 22, 45, "omega", "one of the two has the wrong sign"},
		{"omega in revolutions for most of it", 1, 1 / (2 * math.Pi), 15, 60, "omega", "changed during the recording"},
	} {
		rng := rand.New(rand.NewPCG(4, 4))
		stamps := even(60, 100)
		cols := make([][]float64, 2)
		for _, at := range stamps {
			s := at - 100
			theta, omega := 0.9*math.Sin(2.1*s)+0.3*math.Sin(0.7*s), 1.89*math.Cos(2.1*s)+0.21*math.Cos(0.7*s)
			if s >= c.from && s < c.to {
				theta, omega = c.theta*theta, c.omega*omega
			}
			cols[0] = append(cols[0], math.Remainder(theta+0.002*rng.NormFloat64(), channel.Angle))
			cols[1] = append(cols[1], omega+0.01*rng.NormFloat64())
		}
		result := Check(build(channels, stamps, nil, cols), Options{})
		got := find(result, Unit)
		if c.wrong == "" {
			if len(result.Problems) != 0 {
				t.Errorf("%s: %+v", c.name, result.Problems)
			}
			continue
		}
		if len(got) != 1 || got[0].Severity != Exclude || got[0].Channel != c.wrong || !strings.Contains(got[0].Text, c.cause) {
			t.Errorf("%s: %+v", c.name, result.Problems)
			continue
		}
		if math.Abs(got[0].From-c.from) > 1.2 || math.Abs(got[0].To-c.to) > 1.2 {
			t.Errorf("%s: %v to %v s, want %v to %v", c.name, got[0].From, got[0].To, c.from, c.to)
		}
		if rest := find(result, Unexcited); len(rest) != 0 {
			t.Errorf("%s: what is left out counts as rest: %+v", c.name, rest)
		}
	}
}

// The period of a channel that does not follow its derivative is named as the likely cause.
func TestPeriodIsTheLikelyCauseOfAWrongDerivative(t *testing.T) {
	for _, period := range []float64{0, channel.Angle} {
		log := swing(even(60, 50), 0.005, 3)
		log.Channels[0].Period = period
		x := log.Segments[0].X
		for i := 0; i < len(x); i += 2 {
			x[i] = math.Sin(0.037 * float64(i))
		}
		r := Check(log, Options{})
		found := find(r, Unit)
		if len(found) != 1 || !strings.Contains(found[0].Text, "by the map or by the import") || strings.Contains(found[0].Text, "likely cause is the period of theta, 6.283") != (period > 0) {
			t.Error(describe(r))
		}
	}
}

// On a bench, at rest for a second or for a minute, drift and noise show no unit; a log of
// motion in another unit does.
func TestUnitNeedsMotion(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		seconds float64
		moves   bool
		want    int
	}{{"a second at rest", 1.1, false, 0}, {"a minute at rest", 60, false, 0}, {"a second of motion", 1.1, true, 0}, {"motion", 20, true, 1}} {
		for seed := range uint64(5) {
			rng := rand.New(rand.NewPCG(seed, 4))
			channels := []channel.Channel{{Name: "z", Unit: "m", Role: channel.State, Derivative: "vz"}, {Name: "vz", Unit: "m/s", Role: channel.State}}
			cols := make([][]float64, 2)
			drift, stamps := 0.0, even(c.seconds, 100)
			for _, at := range stamps {
				s := at - 100
				z, v := math.Sin(2*s), 2*math.Cos(2*s)
				if !c.moves { // an estimate that creeps, and noise that it follows in part
					drift = 0.99*drift + 0.001*rng.NormFloat64()
					z, v = drift+0.02*math.Sin(0.3*s+float64(seed)), 0.4*drift
				}
				cols[0], cols[1] = append(cols[0], 2.569*z+0.0001*rng.NormFloat64()), append(cols[1], v+0.0001*rng.NormFloat64())
			}
			r := Check(build(channels, stamps, nil, cols), Options{})
			factors := 0
			for _, p := range find(r, Unit) {
				if strings.Contains(p.Text, "times the integral") {
					factors++
				}
			}
			if factors != c.want {
				t.Errorf("%s, seed %d:%s", c.name, seed, describe(r))
			}
		}
	}
}

// A log with few samples per second is noted with what the horizon holds.
func TestSlowSamplingIsNoted(t *testing.T) {
	for rate, want := range map[float64]int{8: 1, 20: 0, 50: 0} {
		r := Check(swing(even(60, rate), 0.01, 2), Options{Horizon: 0.5})
		found := find(r, Rate)
		if len(found) != want || want > 0 && !strings.Contains(found[0].Text, "125 ms (8 per second): motion between samples is not learned. The horizon of 500 ms has 4 samples.") {
			t.Errorf("%g Hz:%s", rate, describe(r))
		}
	}
	// Of a slow process the horizon shows that the unit of time is meant.
	for horizon, wrong := range map[float64]bool{0: true, 0.5: true, 20: false} {
		r := Check(swing(even(600, 1), 0.01, 2), Options{Horizon: horizon})
		if p := find(r, Rate); (len(p) > 0) != wrong || wrong && !(p[0].Misread && strings.Contains(p[0].Text, "unit of time")) {
			t.Errorf("a horizon of %g s:%s", horizon, describe(r))
		}
	}
}

// Single rows in which a channel jumps, while it moves fast, are no other unit: those
// around them are of one unit.
func TestSingleJumpsAreNoOtherUnit(t *testing.T) {
	log := swing(even(200, 3), 0.001, 1)
	for at := 200; at < 320; at++ {
		r := newRecording(log, Options{})
		var rows []comparison
		for i := range 500 {
			row := comparison{r.segs[0], i, i + 2, 0.1 * math.Sin(float64(i)), 0.1 * math.Sin(float64(i))}
			if i == at || i == at+1 {
				row.moved, row.integral = 4, 1
			}
			rows = append(rows, row)
		}
		if r.units(0, 1, rows) {
			t.Fatalf("a jump at row %d: %+v", at, r.found.problems)
		}
	}
}

// A process that is sampled once a second moves between its samples.
func TestASlowProcessIsNoRest(t *testing.T) {
	if found := find(Check(swing(even(600, 1), 0.01, 2), Options{Horizon: 20}), Unexcited); len(found) > 0 {
		t.Error(found)
	}
}
