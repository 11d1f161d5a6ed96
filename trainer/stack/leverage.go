package stack

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
)

// fewestWindows beyond a limit are evidence against it, of two folds at least.
const fewestWindows = 3

// fadesFrom returns the leverage from which components that do not extrapolate fade to the first one: near, or as far as the weighted candidates
// together err less than the first in windows that the folds hold out. A robot that balances starts each flight far from
// all others, where its linear equation is no better than elsewhere.
func (p *predictions) fadesFrom(first int, weights [][][]float64, knots []float64) float64 {
	hats, scale := Hats(knots, p.taus), p.hold()
	type beyond struct {
		fold           int
		leverage, gain float64 // gain: the logarithm of the error of the first over that of all
	}
	var windows []beyond
	for i := range p.windows {
		w := &p.windows[i]
		if w.leverage <= near {
			continue
		}
		c := slices.IndexFunc(w.by, func(by [][]float64) bool { return by != nil })
		alone, all := math.SmallestNonzeroFloat32, math.SmallestNonzeroFloat32
		unfaded := *w
		unfaded.leverage = 0
		for at, y := range w.measured {
			if math.IsNaN(y) || scale[at] == 0 {
				continue
			}
			a, b := y-w.by[c][first][at], y-p.weighted(&unfaded, weights, hats, c, at)
			alone, all = alone+a*a/scale[at], all+b*b/scale[at]
		}
		windows = append(windows, beyond{w.fold, w.leverage, math.Log(alone / all)})
	}
	slices.SortFunc(windows, func(a, b beyond) int { return cmp.Compare(a.leverage, b.leverage) })
	limit, most, folds := near, 0., map[int]bool{}
	var gains []float64
	for _, w := range windows {
		gains, folds[w.fold] = append(gains, w.gain), true
		n := float64(len(gains))
		mean, deviation := stat.MeanStdDev(gains, nil)
		if n >= fewestWindows && len(folds) > 1 && n*mean > most && mean > stat.StdErr(deviation, n) {
			limit, most = w.leverage, n*mean
		}
	}
	return limit
}
