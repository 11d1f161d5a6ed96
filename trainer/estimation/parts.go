package estimation

import (
	"math"

	"github.com/dgm-robotics/dgm/trainer/window"
)

const (
	// known is the part of each flight that equations are fitted to where no flights can be left out; the rest judges them.
	known = 0.7
	// few samples are enough to compare filters.
	few = 2000
)

// part is what an equation is fitted to, and what judges it.
type part struct{ fit, judge []window.Flight }

// crossings is how many parts there are where flights are left out.
const crossings = 3

// partsOf leaves out flights, where there are enough, else the last part of each: of what is left out as much as is compared.
func partsOf(flights []window.Flight, task window.Task) (out []part) {
	for _, f := range window.Folds(flights, task.Horizon, crossings) {
		if p := (part{f.Train, middle(f.Held, few/crossings)}); f.Whole && len(p.judge) > 0 {
			out = append(out, p)
		}
	}
	if len(out) == 0 {
		if fit, judge := ends(flights); len(judge) > 0 {
			out = []part{{fit, judge}}
		}
	}
	return out
}

// least is the number of samples that judge at least.
const least = 2 * order * order

// middle returns stretches of flights, so many samples together.
func middle(flights []window.Flight, most int) (out []window.Flight) {
	share := math.Min(1, float64(most)/math.Max(1, float64(window.Samples(flights))))
	for i := range flights {
		f := &flights[i]
		if n := int(math.Ceil(share * float64(f.N()))); n >= least {
			out = append(out, f.Slice((f.N()-n)/2, (f.N()-n)/2+n))
		}
	}
	return out
}

// ends cuts each flight in two; of the second ones as much as is compared.
func ends(flights []window.Flight) (fit, judge []window.Flight) {
	n := window.Samples(flights)
	share := math.Min(1-known, few/math.Max(1, float64(n)))
	for i := range flights {
		f := &flights[i]
		cut := int(known * float64(f.N()))
		end := min(f.N(), cut+int(math.Ceil(share*float64(f.N()))))
		if cut < least || end-cut < least {
			continue
		}
		fit, judge = append(fit, f.Slice(0, cut)), append(judge, f.Slice(cut, end))
	}
	return fit, judge
}
