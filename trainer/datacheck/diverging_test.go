package datacheck

import (
	"math"
	"testing"

	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/flightlog"
)

// free simulates a damped pendulum that is let go at a rate and turns over before it swings
// out: its angle, wrapped to one turn around zero, and its rate.
func free(rate float64) *flightlog.Log {
	stamps, cols := even(40, 100), make([][]float64, 2)
	x, v, now := -0.001, rate, stamps[0]
	for i, t := range stamps {
		for ; now < t-1e-9; now += 1e-3 {
			v += 1e-3 * (20*math.Sin(x) - 3*v)
			x += 1e-3 * v
		}
		noise := 1e-3 * math.Sin(float64(i*i))
		cols[0] = append(cols[0], wrapped(x+noise, channel.Angle))
		cols[1] = append(cols[1], v+noise)
	}
	return build([]channel.Channel{
		{Name: "theta", Unit: "rad", Role: channel.State, Derivative: "omega", Period: channel.Angle},
		{Name: "omega", Unit: "rad/s", Role: channel.State},
	}, stamps, nil, cols)
}

// The turns that a free pendulum makes before it comes to rest are motion: they leave no
// range, and angle and rate confirm each other.
func TestTurnsDoNotDiverge(t *testing.T) {
	for _, rate := range []float64{-60, -20, -4} {
		for _, measured := range []string{"omega", ""} {
			log := free(rate)
			log.Channels[0].Derivative = measured
			// Without a rate, less than a turn before a rest is not told from a divergence.
			unknown := measured == "" && rate > -10
			for _, p := range find(Check(log, Options{}), Outlier) {
				if !unknown && (p.Channel == "theta" || measured != "") {
					t.Errorf("let go at %g rad/s, derivative %q: %s", rate, measured, p.Text)
				}
			}
		}
	}
}

// What an angle that diverges without its rate is said to reach was recorded.
func TestDivergenceAsRecorded(t *testing.T) {
	log := free(-4)
	x := log.Segments[0].X
	n := len(x) / 2
	for i := n - 30; i < n; i++ {
		x[2*i] = wrapped(x[2*(i-1)]+0.05, channel.Angle)
	}
	far := x[2*(n-1)]
	found := find(Check(log, Options{}), Outlier)
	if len(found) == 0 || found[0].Channel != "theta" || far > math.Pi || far < -math.Pi {
		t.Fatalf("%v, to %v", found, far)
	}
}
