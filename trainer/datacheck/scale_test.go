package datacheck

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dgm-robotics/dgm/estimator/channel"
)

// One of five channels is in another unit from 22 s on; none says of another what it
// should do. A take-off, after which all move more, is no change of unit, nor is a
// channel that is used more.
func TestScaleThatChangesUnderWay(t *testing.T) {
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
		stamps := even(50, 100)
		cols := make([][]float64, len(channels))
		for _, at := range stamps {
			s := at - 100
			for k := range channels {
				v := math.Sin((1+0.3*float64(k))*s) + 0.01*rng.NormFloat64()
				if s >= changed {
					v *= c.more(k)
				}
				cols[k] = append(cols[k], v)
			}
		}
		got := find(Check(build(channels, stamps, nil, cols), Options{}), Unit)
		if !c.want {
			if len(got) != 0 {
				t.Errorf("%s: %+v", c.name, got)
			}
			continue
		}
		if len(got) != 1 || got[0].Channel != "x2" || got[0].Severity != Note || math.Abs(got[0].From-changed) > 0.5 || got[0].To < 49.9 {
			t.Errorf("%s: %+v", c.name, got)
		}
	}
}
