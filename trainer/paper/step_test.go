package paper

import (
	"runtime"
	"testing"
)

func TestStep(t *testing.T) {
	d := turning(3, 6, 0.05)
	set := small().Settings
	s := NewStep(d, set, 1)
	if n, ns := s.Rows(); n != 21 || ns != 12 {
		t.Errorf("%d rows and %d support points", n, ns)
	}
	// Core 3-8-4, heads 4-8, dynamics 2-8-4.
	nets := 45*(2*24+3*32+3*32) + 12*3*(16+32.)
	if want := 2*(400*(1.5*21+1.5*12)+4000.) + nets; s.MultiplyAdds() != want {
		t.Errorf("%v multiply-adds, want %v", s.MultiplyAdds(), want)
	}
	for range 3 {
		if !s.Run() {
			t.Fatal("not finite")
		}
	}
	before := runtime.GOMAXPROCS(1) // goroutines are allocated
	if n := testing.AllocsPerRun(5, func() { s.Run() }); n > 0 {
		t.Errorf("%v allocations in a step", n)
	}
	runtime.GOMAXPROCS(before)
	for _, match := range []bool{false, true} {
		for _, gradient := range []bool{false, true} {
			if !s.Objective(match, gradient) {
				t.Errorf("match %v, gradient %v: not finite", match, gradient)
			}
		}
	}
	set.Exact = true
	if !NewStep(d, set, 1).Run() {
		t.Error("the exact kernel fails")
	}
}
