package window

import (
	"fmt"
	"math"
	"math/rand/v2"
	"sort"
)

// Split parts the flights into those to train on and those held out.
type Split struct {
	Train, Held []Flight
	Whole       bool // no flight is on both sides
	How         string
}

// minStretches is how many stretches without a gap there must be to hold out whole ones,
// and minFlights how many flights, of which one may have several stretches: the folds of
// what is left then hold out whole flights, too.
const minStretches, minFlights = 5, 4

// HoldOut holds out a share of the data: whole flights where there are enough,
// else blocks of time, one out of each of several equal parts, so that they see
// the beginning and the end of a recording alike. Of some places drawn for a block
// it takes the one where the robot moves most nearly as in all of the flight: a
// block of rest would test nothing but rest. A block's windows have the history of what was
// measured before it, as on board.
func HoldOut(flights []Flight, share, horizon float64, seed uint64) Split {
	if share <= 0 {
		return Split{Train: flights, How: "nothing held out"}
	}
	rng := rand.New(rand.NewPCG(seed, 0x73706c6974))
	long, flown := 0, map[int]bool{}
	for i := range flights {
		if flights[i].Duration() >= 1.5*horizon {
			long++
			flown[flights[i].Segment] = true
		}
	}
	if len(flown) >= minFlights {
		s, n, all := holdOutWhole(flights, func(i int) int { return flights[i].Segment }, share, horizon, rng)
		s.Whole, s.How = true, fmt.Sprintf("%d of %d flights held out whole", n, all)
		return s
	}
	if long >= minStretches {
		s, n, all := holdOutWhole(flights, func(i int) int { return i }, share, horizon, rng)
		s.How = fmt.Sprintf("%d of %d stretches without a gap held out whole", n, all)
		return s
	}
	return holdOutBlocks(flights, share, horizon, rng)
}

// holdOutWhole holds out some flights, or some stretches of them, of which of numbers each, whole:
// about the share. It returns how many, and of how many.
func holdOutWhole(flights []Flight, of func(i int) int, share, horizon float64, rng *rand.Rand) (s Split, out, all int) {
	lasts, long := map[int]float64{}, map[int]bool{}
	var order []int
	for i := range flights {
		n := of(i)
		if _, known := lasts[n]; !known {
			order = append(order, n)
		}
		lasts[n] += flights[i].Duration()
		long[n] = long[n] || flights[i].Duration() >= 1.5*horizon
	}
	sum, held, shortest := 0.0, map[int]bool{}, -1
	for _, i := range rng.Perm(len(order)) {
		n := order[i]
		if !long[n] {
			continue
		}
		if shortest < 0 || lasts[n] < lasts[shortest] {
			shortest = n
		}
		if sum+0.5*lasts[n] <= share*Duration(flights) {
			held[n] = true
			sum += lasts[n]
		}
	}
	if sum == 0 { // even half of the shortest is more than was asked for
		held[shortest] = true
	}
	for i := range flights {
		if held[of(i)] {
			s.Held = append(s.Held, flights[i])
		} else {
			s.Train = append(s.Train, flights[i])
		}
	}
	return s, len(held), len(order)
}

func holdOutBlocks(flights []Flight, share, horizon float64, rng *rand.Rand) (s Split) {
	for i := range flights {
		fl := &flights[i]
		parts := blockCount(fl.Duration(), share, horizon)
		from, usual := 0, activity(fl, 0, fl.N(), horizon)
		for j := range parts {
			start := fl.T[0] + fl.Duration()*float64(j)/float64(parts)
			room := fl.Duration() / float64(parts) * (1 - share)
			first, end := 0, 0
			nearest := math.Inf(1)
			for range placesTried {
				a := start + rng.Float64()*room
				i, k := sort.SearchFloat64s(fl.T, a), sort.SearchFloat64s(fl.T, a+share*fl.Duration()/float64(parts))
				if d := math.Abs(math.Log(activity(fl, i, k, horizon) / usual)); d < nearest {
					first, end, nearest = i, k, d
				}
			}
			if first > from {
				s.Train = append(s.Train, fl.Slice(from, first))
			}
			s.Held = append(s.Held, fl.Following(first, end))
			from = end
		}
		if from < fl.N() {
			s.Train = append(s.Train, fl.Slice(from, fl.N()))
		}
	}
	s.How = fmt.Sprintf("%d blocks of time held out", len(s.Held))
	if len(s.Held) == 1 {
		s.How = "1 block of time held out"
	}
	return s
}

// placesTried is how many places are drawn for a block.
const placesTried = 20

// activity returns how much the robot moves within a horizon that begins in a range of
// samples: the mean over channels and such windows of the squared displacement, each
// channel's over its mean square in the whole flight; above 0.
func activity(fl *Flight, from, to int, horizon float64) float64 {
	part, whole := moved(fl, from, to, horizon), moved(fl, 0, fl.N(), horizon)
	sum, n := 0.0, 0.0
	for k, w := range whole {
		if w > 0 {
			sum += part[k] / w
			n++
		}
	}
	return math.Max(sum/math.Max(n, 1), 1e-6)
}

// moved returns the mean square of every channel's displacement over a horizon, for
// windows that lie in a range of samples.
func moved(fl *Flight, from, to int, horizon float64) []float64 {
	sum, d := make([]float64, fl.K), make([]float64, fl.K)
	n := 0.0
	end := math.Inf(-1)
	for i := from; i < to && fl.T[i]+horizon <= fl.T[to-1]; i++ {
		if fl.T[i] < end {
			continue
		}
		end = fl.T[i] + horizon/10
		fl.Displacement(d, i, horizon)
		n++
		for k, v := range d {
			if !math.IsNaN(v) {
				sum[k] += v * v
			}
		}
	}
	for k := range sum {
		sum[k] /= math.Max(n, 1)
	}
	return sum
}

// blockCount returns into how many parts a flight is divided: as many as leave a
// held-out block of at least three horizons in each, at most four; 0 when even
// one block of one and a half horizons does not fit.
func blockCount(duration, share, horizon float64) int {
	for parts := 4; parts >= 1; parts-- {
		least := 3 * horizon
		if parts == 1 {
			least = 1.5 * horizon
		}
		if share*duration/float64(parts) >= least {
			return parts
		}
	}
	return 0
}

// minHorizons is how much data a training needs, in horizons that do not overlap.
const minHorizons = 8

// Enough returns nil if flights, cut into windows of a horizon, s, are enough to train on,
// else an error with what is missing and the remedy. They are left of so many recorded
// seconds, of which a share is held out; shorter returns a horizon that they are enough
// for, 0 if there is none.
func Enough(flights []Flight, windows []Window, recorded, horizon, share float64, shorter func() float64) error {
	if dt := StateInterval(flights); horizon < 0.99*dt {
		return fmt.Errorf("a horizon of %.3g s is shorter than the time from one sample to the next, %.3g s: nothing was measured within it; choose a --horizon of %.4gs or more, or correct the times if they are not in s", horizon, dt, 10*dt)
	}
	longest, usable := Longest(flights), 0.0
	for i := range flights {
		if d := flights[i].Duration(); d >= horizon {
			usable += d
		}
	}
	if len(windows) == 0 {
		if longest >= horizon {
			return fmt.Errorf("no window of %g s can start, though stretches of %.3g s are whole: at no sample with %g s to come is every state and input measured; import them on common times, or give what is rarely measured the role aux", horizon, longest, horizon)
		}
		return fmt.Errorf("no window of %g s fits: the longest stretch without a gap or excluded data lasts %.3g s; record longer%s", horizon, longest, orShorter(shorter()))
	}
	if usable < minHorizons*horizon {
		left := ""
		if share > 0 {
			left = " left for training"
		}
		// Where more is recorded more is held out, and beside it a stretch may be too short.
		more := math.Max((minHorizons+1)*horizon/(1-share)-recorded, (minHorizons*horizon-usable)/(1-share))
		more = math.Ceil(4*more/horizon) * horizon / 4
		return fmt.Errorf("%.3g s of usable data%s are fewer than %d horizons of %g s: record at least %.3g s more%s", usable, left, minHorizons, horizon, more, orShorter(shorter()))
	}
	return nil
}

// orShorter is advice to choose a horizon.
func orShorter(horizon float64) string {
	if horizon == 0 {
		return ""
	}
	return fmt.Sprintf(", or choose --horizon %gs or shorter", horizon)
}
