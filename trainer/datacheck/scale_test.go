package datacheck

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dgm-robotics/dgm/estimator/channel"
)

// One of five channels is in another unit from 22 s on, within a segment or from one segment to the
// next; none says of another what it should do. A take-off, after which all move more, is no change
// of unit, nor is a channel that is used more.
func TestScaleThatChangesUnderWay(t *testing.T) {
	t.Parallel()
	const changed = 22.0
	var channels []channel.Channel
	for k := range 5 {
		channels = append(channels, channel.Channel{Name: fmt.Sprint("x", k), Role: channel.State})
	}
	for _, c := range []struct {
		name string
		more func(k int) float64
		want bool
	}{
		{"clean", func(int) float64 { return 1 }, false},
		{"degrees", func(k int) float64 { return []float64{1, 180 / math.Pi}[k/2%2*(1-k%2)] }, true},
		{"thousandths", func(k int) float64 { return []float64{1, 1e-3}[k/2%2*(1-k%2)] }, true},
		{"take-off", func(int) float64 { return 180 / math.Pi }, false},
		{"used more", func(k int) float64 { return []float64{1, 10}[k/2%2*(1-k%2)] }, false},
	} {
		rng := rand.New(rand.NewPCG(8, 8))
		var segments []float64
		stamps := even(50, 100)
		cols := make([][]float64, len(channels))
		for _, at := range stamps {
			s := at - 100
			segments = append(segments, math.Floor(s/changed))
			for k := range channels {
				v := math.Sin((1+0.3*float64(k))*s) + 0.01*rng.NormFloat64()
				if s >= changed {
					v *= c.more(k)
				}
				cols[k] = append(cols[k], v)
			}
		}
		within := find(Check(build(channels, stamps, nil, cols), Options{}), Unit)
		between := find(Check(build(channels, stamps, segments, cols), Options{}), Unit)
		if !c.want {
			if len(within)+len(between) != 0 {
				t.Errorf("%s: %+v, %+v", c.name, within, between)
			}
			continue
		}
		if len(within) != 1 || within[0].Channel != "x2" || within[0].Severity != Exclude || within[0].From != 0 || math.Abs(within[0].To-changed) > 0.03 {
			t.Errorf("%s within a segment: %+v", c.name, within)
		}
		if len(between) != 1 || between[0].Channel != "x2" || between[0].Severity != Note || between[0].Index != 1 {
			t.Errorf("%s between segments: %+v", c.name, between)
		}
	}
}
