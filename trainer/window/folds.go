package window

import "slices"

// Fold parts flights for cross-validation: a model made from Train is tested on
// Held.
type Fold struct {
	Train, Held []Flight
}

// mostHeld is the share of the time that one fold of whole flights may hold out:
// a model of much less than the rest is no measure of one of everything.
const mostHeld = 0.4

// Folds parts the flights k times at most, so that every sample is held out once:
// whole flights where there are four or more, since another flight is another
// battery, load and wind, which no block of the same one shows; else, and where
// one flight outweighs the others, blocks of time of at least four horizons. Parts
// of the same flight (Segment) count as one. A fold without anything on one side is
// left out.
func Folds(flights []Flight, H float64, k int) []Fold {
	blocks, group := flights, wholeFlights(flights, k)
	if group == nil {
		if len(flights) < 2*k {
			blocks = blocksOf(flights, H, 2*k)
		}
		for i := range blocks {
			group = append(group, i%k)
		}
	}
	var out []Fold
	for n := range k {
		var fold Fold
		for i, b := range blocks {
			if group[i] == n {
				fold.Held = append(fold.Held, b)
			} else {
				fold.Train = append(fold.Train, b)
			}
		}
		if len(Cut(fold.Held, H, H)) > 0 && len(Cut(fold.Train, H, H)) > 0 {
			out = append(out, fold)
		}
	}
	return out
}

// blocksOf parts every flight into blocks of time of at least four horizons, so many at
// most.
func blocksOf(flights []Flight, H float64, most int) []Flight {
	var blocks []Flight
	for i := range flights {
		f := &flights[i]
		parts := min(most, max(1, int(f.Duration()/(4*H))))
		for j := range parts {
			if b := f.Slice(j*f.N()/parts, (j+1)*f.N()/parts); b.N() >= 2 {
				blocks = append(blocks, b)
			}
		}
	}
	return blocks
}

// wholeFlights returns the fold of each part of a flight, by turns, or nil where
// there are too few flights for it.
func wholeFlights(flights []Flight, k int) []int {
	fold := map[int]int{}
	held := make([]float64, k)
	total := 0.0
	var group []int
	for i := range flights {
		n, known := fold[flights[i].Segment]
		if !known {
			n = len(fold) % k
			fold[flights[i].Segment] = n
		}
		group = append(group, n)
		held[n] += flights[i].Duration()
		total += flights[i].Duration()
	}
	if len(fold) < 4 || slices.Max(held) > mostHeld*total {
		return nil
	}
	return group
}
