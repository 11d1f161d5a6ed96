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
