package datacheck

import (
	"reflect"
	"strings"
	"testing"

	"github.com/dgm-robotics/dgm/estimator/flightlog"
)

// join puts the segments of logs of the same channels into one.
func join(names []string, logs ...*flightlog.Log) *flightlog.Log {
	out := &flightlog.Log{Header: logs[0].Header}
	for i, l := range logs {
		for _, s := range l.Segments {
			s.Name = names[i]
			out.Segments = append(out.Segments, s)
		}
	}
	return out
}

// What a segment is left out for does not depend on what it is imported with: not
// on the sampling rates of the others, and not on how calm they are.
func TestSegmentIsCheckedIndependently(t *testing.T) {
	names := []string{"ddp", "direct_collocation", "energy_shaping", "pd_system_identification"}
	var logs []*flightlog.Log
	for _, n := range names {
		logs = append(logs, torque(t, n, 99))
	}
	together := Check(join(names, logs...), Options{Horizon: 0.5})
	for i, l := range logs {
		alone := Check(l, Options{Horizon: 0.5})
		if got, want := leftOut(together, i), leftOut(alone, 0); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %v is left out, alone %v:%s", names[i], got, want, describe(together))
		}
	}
	p := find(together, Rate)
	if len(p) != 1 || p[0].Index != -1 || !strings.Contains(p[0].Text, "2 ms (ddp); 3.334 ms (direct_collocation, pd_system_identification); 5 ms (energy_shaping)") {
		t.Errorf("want one note on the rates that names the segments, got%s", describe(together))
	}
}

// shaken is a swing at a rate whose velocity jumps by far more than its neighbours
// of a calm one do, all the time: so it is, nothing is wrong with it.
func shaken(seconds, rate float64) *flightlog.Log {
	l := swing(even(seconds, rate), 0.01, 31)
	s := &l.Segments[0]
	for i := range s.T {
		s.X[2*i+1] += 3 * float64(i*i%7-3)
	}
	l.Channels[0].Derivative = ""
	return l
}

func TestVibratingSegmentBesideCalmOnes(t *testing.T) {
	calm := func(seed uint64) *flightlog.Log {
		l := swing(even(20, 100), 0.01, seed)
		l.Channels[0].Derivative = ""
		return l
	}
	l := join([]string{"a", "b", "c", "shaken"}, calm(1), calm(2), calm(3), shaken(5, 100))
	r := Check(l, Options{Horizon: 0.5})
	for i := range l.Segments {
		if len(leftOut(r, i)) > 0 {
			t.Errorf("segment %s: %v is left out:%s", l.Segments[i].Name, Ranges(r.Masks[i], BadSpan), describe(r))
		}
	}
	// A spike in a calm one is found all the same.
	l.Segments[1].X[2*700+1] += 60
	if r := Check(l, Options{Horizon: 0.5}); !covers(leftOut(r, 1), 700, 701) || len(leftOut(r, 0))+len(leftOut(r, 2)) > 0 {
		t.Errorf("a spike among calm segments:%s", describe(r))
	}
}

// Segments too short to tell what is usual are judged with those of their rate.
func TestShortSegmentsAreCheckedTogether(t *testing.T) {
	var logs []*flightlog.Log
	var names []string
	for i := range 20 {
		rate := []float64{100, 400}[i%2]
		logs = append(logs, swing(even(1, rate), 0.01, uint64(i)))
		names = append(names, string(rune('a'+i)))
	}
	l := join(names, logs...)
	l.Segments[4].X[2*50+1] += 30
	r := Check(l, Options{Horizon: 0.5})
	for i := range l.Segments {
		if i != 4 && len(leftOut(r, i)) > 0 {
			t.Errorf("segment %d: %v is left out", i, Ranges(r.Masks[i], BadSpan))
		}
	}
	if !covers(leftOut(r, 4), 50, 51) {
		t.Errorf("the spike is not found:%s", describe(r))
	}
	if p := find(r, Rate); len(p) != 1 || !strings.Contains(p[0].Text, "2.5 ms (10 segments); 10 ms (10 segments)") {
		t.Errorf("rates:%s", describe(r))
	}
}

func TestRatesThatAreNearlyOne(t *testing.T) {
	l := join([]string{"a", "b"}, swing(even(10, 100), 0.01, 1), swing(even(10, 110), 0.01, 2))
	if r := Check(l, Options{Horizon: 0.5}); len(r.Problems) > 0 {
		t.Errorf("100 and 110 Hz:%s", describe(r))
	}
}
