package latency

import (
	"math"

	"github.com/dgm-robotics/dgm/estimator/model"
)

const (
	// misfit is the share of an input's effect that the inputs at other delays may explain beside it: more, and a dead time and a lag are
	// not how they act, such as on a position whose rate is not known.
	misfit = 0.005
	// likelier is by how much a second lag must raise the log likelihood to count.
	likelier = 3
)

// taps are the delays of the input beside its dead time and lag, over the longest.
var taps = [...]float64{0, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.6, 0.8, 1}

// seconds are the second lags that are tried, over the longest.
var seconds = [...]float64{0.025, 0.05, 0.1, 0.2, 0.4, 0.8}

// doubt makes latencies unknown whose dead time and lag do not describe what the input does, and widens the intervals of those that a second
// lag describes better.
func (p *problem) doubt(at []pair, varying []int, out []model.Latency) {
	misfits := p.misfits(at)
	for g, members := range p.groups {
		if !out[varying[members[0]]].Known {
			continue
		}
		var others [][3]float64
		fits := misfits[g] < misfit
		if fits {
			others = p.secondLags(g, at)
		}
		for _, i := range members {
			l := &out[varying[i]]
			l.Known = l.Known && fits
			below, above, lagBelow, lagAbove := l.Dead-l.DeadLow, l.DeadHigh-l.Dead, l.Lag-l.LagLow, l.LagHigh-l.Lag
			for _, o := range others {
				l.DeadLow, l.DeadHigh = math.Max(0, math.Min(l.DeadLow, o[0]-below)), math.Max(l.DeadHigh, o[0]+above)
				for _, lag := range o[1:] {
					l.LagLow, l.LagHigh = math.Max(0, math.Min(l.LagLow, lag-lagBelow)), math.Max(l.LagHigh, lag+lagAbove)
				}
			}
		}
	}
}

// misfits returns the share of the effect of each group that the inputs at other delays explain beyond what noise does: the largest of the
// responses that the group drives.
func (p *problem) misfits(at []pair) []float64 {
	parts, out := p.without(-1, at), make([]float64, len(p.groups))
	fitted := newProjector(beside(parts...))
	for _, tap := range taps {
		for j := range p.P {
			parts = append(parts, p.one(j, tap*p.longest, 0).column(0))
		}
	}
	free := newProjector(beside(parts...))
	if !fitted.ok || !free.ok {
		return out
	}
	left, least := variances(fitted.rest(p.Y)), variances(free.rest(p.Y))
	noise := 2 * float64(len(taps)*p.P) / p.independent()
	for g := range out {
		none := newProjector(beside(p.without(g, at)...))
		if !none.ok {
			continue
		}
		before, counts := variances(none.rest(p.Y)), p.counts(g)
		for c, v := range left {
			if counts == nil || counts[c] {
				out[g] = math.Max(out[g], (v-least[c]-noise*v)/(before[c]-least[c]))
			}
		}
	}
	return out
}

// secondLags returns dead times and lags of group g with a second lag behind the first, and that, all that are clearly more likely than those
// without.
func (p *problem) secondLags(g int, at []pair) (out [][3]float64) {
	others := newProjector(beside(p.without(g, at)...))
	if !others.ok {
		return nil
	}
	one := single{p: p, j: g, others: others, y: others.rest(p.Y)}
	most, _, _ := one.at(at[g])
	most -= likelier * float64(len(p.windows)) / p.independent()
	p.second = make([]float64, p.P)
	defer func() { p.second = nil }()
	for _, second := range seconds {
		for _, j := range p.groups[g] {
			p.second[j] = second * p.longest
		}
		q, _ := one.descend(at[g])
		if cost, _, _ := one.at(q); cost < most {
			out = append(out, [3]float64{q[0], q[1], second * p.longest})
		}
	}
	return out
}

// independent returns how many of the windows, which overlap, are independent.
func (p *problem) independent() float64 {
	return float64(len(p.windows)) * math.Min(1, 2*float64(p.stride)/float64(p.m))
}
