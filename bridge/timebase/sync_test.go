package timebase_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dgm-robotics/dgm/bridge/timebase"
)

// By requests for the time the offset is found to a tenth of the jitter, though the ways there
// and back are rarely equally long, and though now and then one takes very long.
func TestClockSync(t *testing.T) {
	const started = int64(1.7e18) // this computer's time when the autopilot was
	rng := rand.New(rand.NewPCG(1, 2))
	var c timebase.ClockSync
	if _, ok := c.Offset(); ok {
		t.Error("an offset of nothing")
	}
	for i := range int64(500) {
		now := started + i*2e8
		there, back := int64(1e6+4e6*rng.ExpFloat64()), int64(1e6+4e6*rng.ExpFloat64())
		if i%20 == 7 {
			back += 5e8
		}
		c.Reply(now, now+there-started, now+there+back)
	}
	if offset, ok := c.Offset(); !ok || math.Abs(float64(offset-started)) > 1e6 {
		t.Errorf("off by %d ns", offset-started)
	}
}
