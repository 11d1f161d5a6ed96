package derivative

import "math"

// mostRows is how many rows a gap of a channel has at most that is bridged.
const mostRows = 256

// gaps bridges the gaps of channels that a slower sensor measures, between their values, linearly. A row waits until all
// of its channels are known, or have not been measured for too long.
type gaps struct {
	period  []float64 // K, 0 = not periodic
	t       []int64   // ns, of the rows
	x       []float64 // as many × K
	head    int       // rows that were taken
	missing []int     // K, rows at the end in which a channel is not measured
}

func (g *gaps) row(i int) []float64 { K := len(g.period); return g.x[i*K : (i+1)*K] }

func (g *gaps) add(t int64, x []float64) {
	if g.head > 2*mostRows {
		g.t = append(g.t[:0], g.t[g.head:]...)
		g.x = append(g.x[:0], g.x[g.head*len(g.period):]...)
		g.head = 0
	}
	g.t, g.x = append(g.t, t), append(g.x, x...)
	last := len(g.t) - 1
	for k, v := range x {
		if math.IsNaN(v) {
			g.missing[k]++
			continue
		}
		if from := last - g.missing[k] - 1; g.missing[k] > 0 && from >= g.head {
			a := g.row(from)[k]
			rise, span := wrap(v-a, g.period[k]), float64(t-g.t[from])
			for i := from + 1; i < last; i++ {
				g.row(i)[k] = a + rise*float64(g.t[i]-g.t[from])/span
			}
		}
		g.missing[k] = 0
	}
}

// each calls f with the rows that wait for nothing, or with all.
func (g *gaps) each(all bool, f func(t int64, x []float64)) {
	wait := 1 // a gap may begin behind the last row
	for _, n := range g.missing {
		if n < mostRows {
			wait = max(wait, n+1)
		}
	}
	if all {
		wait = 0
		clear(g.missing)
	}
	for ; g.head < len(g.t)-wait; g.head++ {
		f(g.t[g.head], g.row(g.head))
	}
}

// last returns the time of the newest row, ns; ok is false before the first.
func (g *gaps) last() (t int64, ok bool) {
	if len(g.t) == 0 {
		return 0, false
	}
	return g.t[len(g.t)-1], true
}

// wrap returns the difference of two values of a periodic channel on its short
// side; period 0 = not periodic.
func wrap(diff, period float64) float64 {
	if period == 0 {
		return diff
	}
	return diff - period*math.Round(diff/period)
}
