package speed

import (
	"math"
	"time"

	"github.com/dgm-robotics/dgm/cmd/dgm-bench/study"
)

// Least is the least of times, ns.
type Least float64

// Wall measures the time of f by the clock on the wall, and returns it.
func (l *Least) Wall(f func()) time.Duration {
	began := time.Now()
	f()
	d := time.Since(began)
	l.Keep(d)
	return d
}

// Busy measures the time that the processor spends on f: what takes milliseconds is
// interrupted on a computer that does something else too.
func (l *Least) Busy(f func()) {
	began := study.Busy()
	f()
	l.Keep(study.Busy() - began)
}

// Keep keeps d if it is less than all before.
func (l *Least) Keep(d time.Duration) {
	if *l == 0 || float64(d) < float64(*l) {
		*l = Least(d)
	}
}

func (l Least) us() float64 { return math.Round(float64(l)/10) / 100 }
