package intake

import (
	"math"
	"testing"
)

// The robot's clock runs apart from this one; what a state needs longer than the
// quickest is its age.
func TestTheLeastDelayIsTheOffset(t *testing.T) {
	o := offset{window: offsetWindow, resync: 500 * ms}
	const apart = int64(777e12) // robot's clock ahead of the steady one
	at := int64(0)
	arrive := func(delay int64) int64 {
		at += 10 * ms
		return o.update(at+apart, at+delay+3e18, at+delay)
	}
	arrive(5 * ms)
	if d := arrive(2 * ms); d != 0 {
		t.Errorf("the quickest so far has delay %v", d)
	}
	if d := arrive(9 * ms); d != 7*ms {
		t.Errorf("delay %v, want 7 ms", d)
	}
	if s := o.seconds(); math.Abs(s-(float64(apart)-3e18-2e6)*1e-9) > 1e-3 {
		t.Errorf("offset %v s", s)
	}
	for range 1500 { // the quick one is forgotten after one to two windows
		arrive(4 * ms)
	}
	if d := arrive(4 * ms); d != 2*ms {
		t.Errorf("within two windows: delay %v", d)
	}
	for range 1000 {
		arrive(4 * ms)
	}
	if d := arrive(4 * ms); d != 0 {
		t.Errorf("after two windows: delay %v", d)
	}
	at += 3600e9 // the sender was gone, and comes back with another clock
	if d := o.update(5, 0, at); d != 0 {
		t.Errorf("a new clock has delay %v", d)
	}
}
