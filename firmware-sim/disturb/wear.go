package disturb

import (
	"fmt"
	"strings"

	"github.com/dgm-robotics/dgm/estimator/channel"
)

// Wear is a loss of actuator effect, as of a chipped propeller or a hot motor. Logs and
// plans hold the command, of which only a part acts.
type Wear struct {
	Loss   float64 // fraction of the command without effect; 0 = none, 1 = all
	Inputs []int   // (optional) which; defaults to all
	Onset
}

// ParseWear reads LOSS, LOSS:AT or LOSS:AT:OVER, with @name or @name,name for the
// inputs that lose it, for example "0.2:20s@F1".
func ParseWear(text string, inputs []channel.Channel) (w Wear, err error) {
	fail := func(err error) (Wear, error) {
		return w, fmt.Errorf("worn=%s: %w; write worn=0.2, worn=0.2@F1 or worn=0.2:20s:60s@F1", text, err)
	}
	size, names, some := strings.Cut(text, "@")
	parts := strings.Split(size, ":")
	if w.Loss, err = fraction(parts[0], 1); err != nil {
		return fail(err)
	}
	if w.Onset, err = onset(parts[1:]); err != nil {
		return fail(err)
	}
	if !some {
		return w, nil
	}
	for n := range strings.SplitSeq(names, ",") {
		i := channel.Index(inputs, n)
		if i < 0 {
			return fail(fmt.Errorf("input %q is unknown, known are %s", n, strings.Join(channel.Names(inputs), ", ")))
		}
		w.Inputs = append(w.Inputs, i)
	}
	return w, nil
}

// Apply subtracts the loss at time t, s, from acting (P).
func (w *Wear) Apply(acting []float64, t float64) {
	keep := 1 - w.Loss*w.Share(t)
	if w.Inputs == nil {
		for i := range acting {
			acting[i] *= keep
		}
	}
	for _, i := range w.Inputs {
		acting[i] *= keep
	}
}
