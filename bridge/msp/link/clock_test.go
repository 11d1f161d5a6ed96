package link_test

import (
	"math"
	"testing"
	"time"

	"github.com/dgm-robotics/dgm/bridge/msp/link"
)

// States have the controller's times of the measurements, by this computer's clock, whatever the line delays: the controller has no time at
// first, is given it, and then another one, as by GPS.
func TestTimesOfAController(t *testing.T) {
	t.Parallel()
	nc := serve(t)
	c := newController()
	c.jitter = true
	c.start(t, "127.0.0.1:0")
	r := run(t, nc, "tcp:"+c.listener.Addr().String(), func(c *link.Config) { c.Rate = 100 })
	for range 2 {
		first := len(r.got()) + 100
		within(t, "200 states", func() bool { return len(r.got()) >= first+100 })
		states := r.got()
		right(t, states)
		c.mu.Lock()
		sum, square := 0.0, 0.0
		for i := first; i < first+100; i++ {
			off := 1e-9 * float64(states[i].T-c.times[i])
			sum, square = sum+off/100, square+off*off/100
		}
		c.mu.Unlock()
		if spread := math.Sqrt(square - sum*sum); math.Abs(sum) > 5e-3 || spread > 1.5e-3 {
			t.Errorf("times are off by %v and vary by %v", time.Duration(1e9*sum), time.Duration(1e9*spread))
		}
		c.ahead.Add(7e9)
	}
}
