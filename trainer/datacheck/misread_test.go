package datacheck

import (
	"slices"
	"testing"

	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/flightlog"
)

// Values in another unit, irregularly held ones and wrong clocks are misread; what is right but slow, regularly held, or a
// short freeze that is left out, is not.
func TestMisread(t *testing.T) {
	t.Parallel()
	hold := func(k, from, to, run int) func(seg *flightlog.Segment) {
		return func(seg *flightlog.Segment) {
			for i := from; i < to; i++ {
				seg.X[2*i+k] = seg.X[2*(from+(i-from)/run*run)+k]
			}
		}
	}
	for _, c := range []struct {
		name  string
		rate  float64 // Hz, over a minute
		spoil func(seg *flightlog.Segment)
		kind  Kind // that is found
		want  bool // it is misread
	}{
		{"another unit", 100, func(seg *flightlog.Segment) {
			for i := 1; i < len(seg.X); i += 2 {
				seg.X[i] *= 57.3
			}
		}, Unit, true},
		{"held samples", 100, hold(1, 0, 6000, 10), Rate, false},
		{"samples held for 8 to 11", 100, func(seg *flightlog.Segment) {
			for i, j := 0, 0; i < 6000; i, j = i+8+j%4, j+1 {
				hold(1, i, min(6000, i+8+j%4), 11)(seg)
			}
		}, Rate, true},
		{"stamps in another unit", 100, func(seg *flightlog.Segment) {
			for i := range seg.T {
				seg.T[i] = seg.T[0] + (seg.T[i]-seg.T[0])/1000
			}
		}, Rate, true},
		{"a clock that stepped", 100, func(seg *flightlog.Segment) {
			for i := 3000; i < len(seg.T); i++ {
				seg.T[i] += 5_000_000_000
			}
		}, Clock, true},
		{"frozen for 3 of 60 s", 100, hold(1, 2000, 2300, 300), Frozen, true},
		{"frozen for 0.3 of 60 s", 100, hold(1, 2000, 2030, 30), Frozen, false},
		{"slow", 8, func(*flightlog.Segment) {}, Rate, false},
		{"lost samples", 100, func(seg *flightlog.Segment) { drop(seg, 2000, 2300) }, Gap, false},
	} {
		log := swing(even(60, c.rate), 0.005, 3)
		c.spoil(&log.Segments[0])
		r := Check(log, Options{})
		found := find(r, c.kind)
		if len(found) == 0 || found[0].Misread != c.want {
			t.Errorf("%s: want misread %v:%s", c.name, c.want, describe(r))
		}
		for _, p := range r.Problems {
			if p.Misread && !c.want {
				t.Errorf("%s: misread: %s", c.name, p.Text)
			}
		}
	}
}

// Nothing is learned from an auxiliary channel, however wrong it is.
func TestAuxiliaryChannelsAreNotMisread(t *testing.T) {
	log := swing(even(60, 100), 0.005, 3)
	seg := &log.Segments[0]
	log.Channels = append(log.Channels, channel.Channel{Name: "spare", Unit: "rad/s", Role: channel.Aux})
	for i := range seg.T {
		seg.Aux = append(seg.Aux, seg.X[2*(i/10*10)+1])
	}
	r := Check(log, Options{})
	if found := find(r, Rate); len(found) != 1 || found[0].Channel != "spare" || slices.ContainsFunc(r.Problems, func(p Problem) bool { return p.Misread }) {
		t.Error(describe(r))
	}
}
