package trainer

import (
	"math"
	"slices"

	"github.com/dgm-robotics/dgm/estimator/ood"
)

const (
	// steepest is the largest power that is tried, growthStep and stirStep the grids
	// of those of distance and motion.
	steepest, growthStep, stirStep = 1.5, 0.05, 0.25
	// beyond is how much farther than the folds have seen the law is believed, and
	// mostGrowth the largest factor by distance: from there on nobody can tell, and the
	// prediction is flagged.
	beyond     = 3
	mostGrowth = 10
	// leastMotion and mostMotion bound the motion, over the usual one, that counts: what
	// hardly moves is still a little wrong. On the double pendulum a bound of 1/3 held
	// 0.89 of the calmest eighth of what was held out, one of 1/2 0.92 and was likelier.
	leastMotion, mostMotion = 0.5, 3.0
	// agreement is how many standard errors the folds' gain by motion must be above 0,
	// of powers that are tried in a row on four folds.
	agreement = 4
)

// reachOf returns the distance that half of the held-out windows stay within and
// that all but half a percent do.
func reachOf(folds []*outcomes) (near, far float64) {
	var d []float64
	for _, o := range folds {
		for _, p := range o.points[0][0] {
			d = append(d, p.distance)
		}
	}
	if len(d) == 0 {
		return 0, 0
	}
	slices.Sort(d)
	return d[len(d)/2], d[min(len(d)*995/1000, len(d)-1)]
}

// usualOf returns the motion that half of the held-out windows and horizons stay
// below.
func usualOf(folds []*outcomes) float64 {
	var all []float64
	for _, o := range folds {
		for _, channels := range o.points {
			for _, p := range channels[0] {
				all = append(all, p.motion)
			}
		}
	}
	if len(all) == 0 {
		return 1
	}
	slices.Sort(all)
	if m := all[len(all)/2]; m > 0 {
		return m
	}
	return 1
}

// region and motion are those parts of a model that say how intervals grow.
func (l *law) region() ood.Detector { return ood.Detector{Near: l.near, Far: l.far} }

func (l *law) motion() ood.RMSDisplacement {
	return ood.RMSDisplacement{Min: leastMotion, Max: mostMotion, Exponent: []float64{l.stir}}
}

// grow notes for every outcome by which factor the law widens its interval.
func (l *law) grow(folds []*outcomes) {
	r, m := l.region(), l.motion()
	for _, o := range folds {
		for _, channels := range o.points {
			for _, points := range channels {
				for j := range points {
					p := &points[j]
					p.grown = r.DistanceFactor(p.distance, l.growth) * m.Factor(p.motion/l.usual, 0)
				}
			}
		}
	}
}

// cell is what became of all channels of one window at one horizon: the law widens
// them alike.
type cell struct {
	fold             int
	n, squares       float64 // channels, and the sum of their z², outliers capped
	distance, motion float64 // log of what a power is taken of
}

// cells gathers the outcomes of every horizon.
func (l *law) cells(folds []*outcomes) [][]cell {
	r, m := l.region(), ood.RMSDisplacement{Min: leastMotion, Max: mostMotion, Exponent: []float64{1}}
	out := make([][]cell, len(folds[0].times))
	for i := range out {
		for f, o := range folds {
			first := len(out[i])
			place := map[int]int{}
			for _, points := range o.points[i] {
				for _, p := range points {
					at, known := place[p.window]
					if !known {
						at = len(out[i]) - first
						place[p.window] = at
						out[i] = append(out[i], cell{fold: f, distance: math.Log(r.DistanceFactor(p.distance, 1)), motion: math.Log(m.Factor(p.motion/l.usual, 0))})
					}
					c := &out[i][first+at]
					c.n++
					c.squares += math.Min(p.z*p.z, zCap)
				}
			}
		}
	}
	return out
}

// powers returns those of distance and motion under which the errors are likeliest,
// each horizon with a scale of its own. Motion counts only where the folds agree
// clearly: a robot that mostly rests has little to say about how it errs when it
// moves.
func powers(l *law, folds []*outcomes, on FoldConfig) (growth, stir float64) {
	cells := l.cells(folds)
	r := l.region()
	best := func(stir float64) (power float64, scores []float64) {
		highest := math.Inf(-1)
		for g := 0.0; g == 0 || on.Growth && l.near > 0 && g <= steepest+1e-9 && r.DistanceFactor(r.Far, g) <= mostGrowth; g += growthStep {
			sum, s := scored(cells, len(folds), g, stir)
			if sum > highest {
				highest, power, scores = sum, g, s
			}
		}
		return power, scores
	}
	growth, still := best(0)
	if !on.Motion || len(folds) < 2 {
		return growth, 0
	}
	most := 0.0
	for s := stirStep; s <= steepest+1e-9; s += stirStep {
		g, scores := best(s)
		gain, luck := paired(scores, still)
		if sure := gain - agreement*luck; sure > most {
			most, growth, stir = sure, g, s
		}
	}
	return growth, stir
}

// scored returns the log likelihood of all cells and that of a point of each fold
// under two powers, but for constants.
func scored(cells [][]cell, folds int, growth, stir float64) (sum float64, each []float64) {
	each = make([]float64, folds)
	n := make([]float64, folds)
	for _, horizon := range cells {
		squares, count := 0.0, 0.0
		for _, c := range horizon {
			squares += c.squares * math.Exp(-2*(growth*c.distance+stir*c.motion))
			count += c.n
		}
		scale := math.Max(squares/count, 1e-300)
		for _, c := range horizon {
			log := growth*c.distance + stir*c.motion
			v := -c.n*(log+0.5*math.Log(scale)) - 0.5*c.squares*math.Exp(-2*log)/scale
			sum += v
			each[c.fold] += v
			n[c.fold] += c.n
		}
	}
	for f := range each {
		each[f] /= math.Max(n[f], 1)
	}
	return sum, each
}
