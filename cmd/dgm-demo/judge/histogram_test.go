package judge

import (
	"math"
	"testing"
	"time"
)

func TestHistogram(t *testing.T) {
	var h histogram
	for i := range 10000 {
		h.add(time.Duration(i+1) * time.Microsecond)
	}
	for _, q := range []float64{0.01, 0.5, 0.99, 0.999} {
		want := q * float64(10000*time.Microsecond)
		if got := float64(h.at(q)); math.Abs(got/want-1) > 0.02 {
			t.Errorf("quantile %g is %v", q, time.Duration(got))
		}
	}
	h.add(-time.Second) // clocks differ
	h.add(time.Hour)
	if h.at(1) < 10*time.Second || h.max != time.Hour || h.at(0) > 2*time.Microsecond {
		t.Errorf("extremes %v %v", h.at(0), h.at(1))
	}
}
