package timebase

import (
	"fmt"
	"math"
	"slices"
)

// Steps keeps some of the steps between times, drawn from all, for their median. Steps that are
// much longer than the usual ones are pauses: they have no part in the rate.
type Steps struct {
	kept   []int64
	draw   uint64
	usual  int64 // ns, the step that three of four do not exceed, as known so far; 0 = it is not
	middle int64 // ns, the median, as known so far
	all    some
	pauses some // steps that are much longer than the usual one
	breaks some // steps that are much longer than the median
}

// some is a number of steps, and their sum in ns.
type some struct {
	n     int
	total int64
}

func (s *some) add(d int64) { s.n, s.total = s.n+1, s.total+d }

const (
	keptSteps = 64
	burst     = 500e6 // ns, what a burst lasts at most
	dense     = 15e6  // ns, the longest step within a burst
)

// Add adds a step.
func (s *Steps) Add(d int64) {
	s.all.add(d)
	if len(s.kept) < keptSteps {
		s.kept = append(s.kept, d)
	} else {
		s.draw = s.draw*6364136223846793005 + 1442695040888963407
		if i := (s.draw >> 33) % uint64(s.all.n); i < keptSteps {
			s.kept[i] = d
		}
	}
	s.judge(d)
	if n := s.all.n; n&(n-1) == 0 && n >= 4 {
		s.usual, s.middle = s.Usual(), s.Median()
		if n <= keptSteps { // what is usual is known now
			s.pauses, s.breaks = some{}, some{}
			for _, d := range s.kept {
				s.judge(d)
			}
		}
	}
}

// judge counts a step that is longer than others.
func (s *Steps) judge(d int64) {
	if s.Pause(d) {
		s.pauses.add(d)
	}
	if s.middle > 0 && d > Pausing*s.middle {
		s.breaks.add(d)
	}
}

// Pause reports whether a step is much longer than the usual one, as known so far.
func (s *Steps) Pause(d int64) bool { return s.usual > 0 && d > Pausing*s.usual }

// Pauses returns how many steps were pauses.
func (s *Steps) Pauses() int { return s.pauses.n }

// Median returns the median step, 0 where there is none.
func (s *Steps) Median() int64 { return s.quantile(2) }

// Usual returns the step that three of four do not exceed, 0 where there is none. Of messages
// that come in pairs it is the one between pairs.
func (s *Steps) Usual() int64 { return s.quantile(4) }

// Spread returns what is between the quartiles of the steps: the step that three of four do not exceed less the one that a quarter does
// not; 0 where there is none.
func (s *Steps) Spread() int64 {
	k := slices.Sorted(slices.Values(s.kept))
	if len(k) < keptSteps {
		return 0
	}
	return k[3*len(k)/4] - k[len(k)/4]
}

// quantile returns the step that all but one of so many do not exceed.
func (s *Steps) quantile(of int) int64 {
	if len(s.kept) == 0 {
		return 0
	}
	k := slices.Clone(s.kept)
	slices.Sort(k)
	return k[len(k)-1-(len(k)-1)/of]
}

// Rate returns the steps in a second, without pauses; 0 where there are none. In bursts it is that
// of all.
func (s *Steps) Rate() float64 {
	n, span := s.all.n-s.pauses.n, s.all.total-s.pauses.total
	if s.Bursts() != nil {
		n, span = s.all.n, s.all.total
	}
	if span <= 0 {
		return 0
	}
	return float64(n) / (1e-9 * float64(span))
}

// Bursts describes messages that arrive many at a time.
type Bursts struct {
	Messages int     // of one burst, in the mean
	Within   float64 // s
	Every    float64 // s
}

// Bursts describes the bursts in which messages arrive: they follow each other at once, and
// between bursts is most of the time. nil where there are none. A recording that is paused,
// or commands that are given for a while, are none.
func (s *Steps) Bursts() *Bursts {
	within, of := s.all.total-s.breaks.total, float64(s.breaks.n+1)
	n := float64(s.all.n+1) / of
	if s.breaks.n < 3 || n < 2.5 || s.breaks.total < 4*within || float64(within) > burst*of || float64(within) > dense*float64(s.all.n-s.breaks.n) {
		return nil
	}
	return &Bursts{int(math.Round(n)), 1e-9 * float64(within) / of, 1e-9 * float64(s.all.total) / float64(s.breaks.n)}
}

// String describes bursts.
func (b *Bursts) String() string {
	return fmt.Sprintf("%d within %.2g s, every %.2g s", b.Messages, b.Within, b.Every)
}
