package excitation

import (
	"math"
	"slices"

	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/trainer/leastsquares"
	"github.com/dgm-robotics/dgm/trainer/window"
)

const (
	mostRows = 4000 // samples of a regression, spread evenly
	leastRow = 20   // samples for each column, or there is no answer
	explains = 0.99 // share of an input's variance that a controller explains
)

// Feedback returns the names of the inputs that a linear regression on the state, its angles as sine and cosine, explains: of one half
// of the samples 99 % of the variance by the regression of the other half, both ways. The effect of such an input cannot be told from
// that of the state.
func Feedback(flights []window.Flight, states, inputs []channel.Channel) (names []string) {
	P := len(inputs)
	if P == 0 {
		return nil
	}
	lift := channel.NewLift(states)
	L := lift.Dim()
	var halves [2]*leastsquares.Gram
	row := make([]float64, L+P)
	total := window.Samples(flights)
	every, n := max(1, total/mostRows), 0
	for i := range halves {
		halves[i] = leastsquares.New(L, P, nil)
	}
	for i := range flights {
		f := &flights[i]
		for j := 0; j < f.N(); j++ {
			if n++; n%every != 0 || !f.Known(j) {
				continue
			}
			lift.Apply(row[:L], f.State(j))
			copy(row[L:], f.Input(j))
			half := 2 * n / (total + 1)
			halves[half].Add(row)
		}
	}
	share := slices.Repeat([]float64{1}, P)
	for i, g := range halves {
		other := halves[1-i]
		W, c, ok := g.Solve(L, leastsquares.Apart)
		if !ok || g.N() < leastRow*L || other.N() < leastRow*L {
			return nil
		}
		scorer := other.Scorer()
		left, all := scorer.MeanSquare(L, W, c), scorer.MeanSquare(0, nil, other.Mean())
		for p := range share {
			share[p] = math.Min(share[p], 1-left[p]/all[p]) // NaN of a constant input stays
		}
	}
	for p, s := range share {
		if s > explains {
			names = append(names, inputs[p].Name)
		}
	}
	return names
}
