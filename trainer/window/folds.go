package window

import (
	"math"
	"slices"
)

// Fold parts flights for cross-validation: a model made from Train is tested on
// Held.
type Fold struct {
	Train, Held []Flight
	Whole       bool // no flight is on both sides
}

// mostHeld is the share of the time that one fold of whole flights may hold out:
// a model of much less than the rest is no measure of one of everything.
const mostHeld = 0.4

// Folds parts the flights k times at most, so that every sample is held out once:
// whole flights where there are three or more, since another flight is another
// battery, load and wind, which no block of the same one shows; else, and where
// one flight outweighs the others, blocks of time of at least four horizons. Parts
// of the same flight (Segment) count as one. Flights of one robot among others are held
// out together (see robots). A fold without anything on one side is left out.
func Folds(flights []Flight, H float64, k int) []Fold {
	blocks, group := flights, wholeFlights(flights, H, k)
	whole := group != nil
	if group == nil {
		if len(flights) < 2*k {
			blocks = blocksOf(flights, H, 2*k)
		} else {
			whole = distinctSegments(flights)
		}
		for i := range blocks {
			group = append(group, i%k)
		}
	}
	var out []Fold
	for n := range k {
		fold := Fold{Whole: whole}
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

// distinctSegments reports whether every flight is the only one of its segment.
func distinctSegments(flights []Flight) bool {
	return len(segmentsOf(flights)) == len(flights)
}

// wholeFlights returns the fold of each part of a flight, or nil where there are too few
// flights for it: robots that flew little first, then the flights of the others, those whose motions are alike together (kinds), each to the
// fold that holds out least.
func wholeFlights(flights []Flight, H float64, k int) []int {
	robot := robots(flights)
	fold := map[int]int{} // of a segment
	if k = min(k, len(robot)); k < 3 {
		return nil
	}
	total, held := Duration(flights), make([]float64, k)
	flown, lasts := map[int]float64{}, map[int]float64{} // of a robot, of a segment
	for i := range flights {
		flown[robot[flights[i].Segment]] += flights[i].Duration()
		lasts[flights[i].Segment] += flights[i].Duration()
	}
	deal := func(group []int) {
		n := slices.Index(held, slices.Min(held))
		for _, segment := range group {
			fold[segment] = n
			held[n] += lasts[segment]
		}
	}
	var others []int
	little, order := map[int][]int{}, []int(nil) // robots that flew little
	for _, segment := range segmentsOf(flights) {
		switch of := robot[segment]; {
		case flown[of] > mostHeld*total:
			others = append(others, segment)
		default:
			if little[of] == nil {
				order = append(order, of)
			}
			little[of] = append(little[of], segment)
		}
	}
	for _, of := range order {
		deal(little[of])
	}
	for _, group := range kinds(flights, others, lasts, k, H) {
		deal(group)
	}
	var group []int
	for i := range flights {
		group = append(group, fold[flights[i].Segment])
	}
	if slices.Max(held) > mostHeld*total {
		return nil
	}
	return group
}

// sameTrim is how far the mean inputs of two flights of one robot are apart at most, rms
// over inputs, in standard deviations within a flight.
const sameTrim = 1.0

// robots distinguishes robots by their trim: it returns a number for the robot of each segment.
// Flights are of one robot if a chain of flights connects them of which each two neighbours
// have nearly the same mean inputs. All that is learned of a robot is as if it were another
// one's flight only if none of its own flights are trained on.
func robots(flights []Flight) map[int]int {
	segments := segmentsOf(flights)
	means, within := map[int][]float64{}, map[int][]float64{}
	for _, s := range segments {
		parts := partsOf(flights, s)
		means[s], within[s] = InputScale(parts, parts[0].P)
	}
	out := map[int]int{}
	for i, s := range segments {
		if _, known := out[s]; !known {
			out[s] = i
		}
		for _, other := range segments[:i] {
			if trimDistance(means[s], means[other], within[s], within[other]) <= sameTrim {
				join(out, out[other], out[s])
			}
		}
	}
	return out
}

// join gives the segments of one robot to another.
func join(robot map[int]int, from, to int) {
	for segment, n := range robot {
		if n == from {
			robot[segment] = to
		}
	}
}

// trimDistance returns the rms over inputs of the difference of means over the standard
// deviation within flights; 0 without inputs.
func trimDistance(a, b, withinA, withinB []float64) float64 {
	sum := 0.0
	for p := range a {
		d := a[p] - b[p]
		sum += 2 * d * d / (withinA[p]*withinA[p] + withinB[p]*withinB[p]) / float64(len(a))
	}
	return math.Sqrt(sum)
}
