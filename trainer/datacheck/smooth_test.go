package datacheck

import (
	"fmt"
	"math"
	"os"
	"testing"

	"github.com/dgm-robotics/dgm/estimator/channel"
)

// A slow smooth channel that is written with two decimals follows no curve but that of its
// rounding: nothing of it was extrapolated, or filled in, or held. Without DGM_SLOW every fifth of forty is checked.
func TestSlowChannelWithFewDecimalsIsMeasured(t *testing.T) {
	t.Parallel()
	n := 0
	for _, period := range []float64{30, 40, 60, 100, 200} {
		for _, amplitude := range []float64{2, 3, 5, 10} {
			for phase := range 2 {
				if n++; n%5 != 1 && os.Getenv("DGM_SLOW") == "" {
					continue
				}
				log := swing(even(60, 50), 0.01, 5)
				log.Channels = append(log.Channels, channel.Channel{Name: "temp", Unit: "degC", Role: channel.State})
				seg := &log.Segments[0]
				var x []float64
				for i := range seg.T {
					v := 25 + amplitude*math.Sin(2*math.Pi*float64(i)/50/period+float64(phase))
					x = append(x, seg.X[2*i], seg.X[2*i+1], math.Round(100*v)/100)
				}
				seg.X = x
				for _, p := range Check(log, Options{}).Problems {
					if p.Channel == "temp" || p.Channel == "" {
						t.Error(fmt.Sprintf("period %g s, amplitude %g, phase %d:", period, amplitude, phase), p.Text)
					}
				}
			}
		}
	}
}

// axis is a motor with an encoder of 1440 steps a turn, alone in its log: its rate changes smoothly, then is the same for 0.7 s, or it rests.
func axis() (stamps, x []float64, channels []channel.Channel) {
	stamps = even(60, 100)
	angle, to := 0.0, 0.0
	for i := range stamps {
		if i%500 < 430 {
			s := 0.01 * float64(i)
			to = 14*math.Sin(1.7*s) + 9*math.Sin(4.1*s) + 5*math.Sin(0.6*s)
			if i/500%2 == 0 && i%500 > 415 {
				to = 0
			}
		}
		angle += 0.01 * to
		x = append(x, encoder*math.Round(angle/encoder))
	}
	return stamps, x, []channel.Channel{{Name: "angle", Unit: "rad", Role: channel.State, Period: channel.Angle}}
}

const encoder = 2 * math.Pi / 1440

// What an encoder measures of a motor that turns at a constant rate is on a straight line, and of one that rests the same value; neither was filled in,
// nor is the encoder frozen.
func TestAnEncoderOnAStraightLineIsMeasured(t *testing.T) {
	stamps, x, channels := axis()
	if r := Check(build(channels, stamps, nil, [][]float64{x}), Options{}); len(r.Problems) > 0 {
		t.Error(describe(r))
	}
}

// Gaps that were filled in with straight lines are off an encoder's steps.
func TestAGapOfAnEncoderIsFound(t *testing.T) {
	stamps, x, channels := axis()
	for i := 120; i+40 < len(x); i += 1000 {
		for j := range 40 {
			x[i+j] = x[i] + float64(j)/41*(x[i+41]-x[i])
		}
	}
	r := Check(build(channels, stamps, nil, [][]float64{x}), Options{})
	if len(places(find(r, Gap))) != 6 {
		t.Error(describe(r))
	}
}
