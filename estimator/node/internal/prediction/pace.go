package prediction

import "math"

// Pace is how much of the horizon is predicted, and from how many of the states, so that predictions keep up with the states that
// come. It measures two things apart: what predictions take, and beside it, as an echo, what the computer adds to any answer: the
// time from the moment at which work on a state could begin to that at which it did. A shorter horizon makes up for the first and
// for nothing of the second.
type Pace struct {
	Level int // the longest of the horizon that fits; 0 = all of it
	Every int // one of so many states is answered; 1 = each of them

	shares []float64 // of each level: its cost by that of the whole horizon, as measured when the model was loaded
	ahead  float64   // the same of the propagation of a new state to its tick; 0 where each state is answered
	step   int       // see at
	most   int       // of Every
	short  int       // level up to which the horizon is shortened before states are left out
	time   float64   // ns from one state to the next, mean; 0 = not known
	states int       // that came

	cost   float64    // ns, of the whole horizon, mean
	least  [2]float64 // ns, the least of it: among the last window of predictions, and among those after it
	counts int        // of these
	echo   float64    // ns, mean

	room   int64 // ns, steady, since when a longer horizon fits; 0 = none does
	raised int64 // ns, steady, when one was tried; 0 = never
	hold   int64 // ns, for which it must fit before it is tried
}

const (
	// fits is the share of the time beyond which predictions are too slow, and roomy that within which a longer horizon is tried.
	fits, roomy = 0.7, 0.5
	// echoes is the most of the time that the echo is taken to need: whatever the horizon, a busier computer would be late.
	echoes = 0.5
	weight = 1. / 64 // of the newest value in a mean
	stall  = 4       // times the mean, as which a longer prediction counts
	window = 64      // predictions, of the least of them; states, of the first mean of their period
	// mostEvery is the most of the states of which one is answered.
	mostEvery = 8
	// leastHold and mostHold are for how long there must be room: longer each time when it was none soon after.
	leastHold, mostHold = int64(10e9), int64(300e9)
	// shortest is the part of the horizon up to which it is shortened before states are left out.
	shortest = 0.2
	// leastShare is the least of a level's cost by that of the whole horizon.
	leastShare = 0.01
)

// NewPace returns the pace of a model whose levels end at times, s, and have taken costs, ns, and the propagation of a new state to its
// tick a time, ns, 0 where each state is answered.
func NewPace(ends []float64, costs []Cost, propagation float64) Pace {
	whole := costs[0].Mean
	p := Pace{Every: 1, hold: leastHold, cost: whole, least: [2]float64{whole, math.Inf(1)}}
	if whole > 0 {
		p.ahead = propagation / whole
	}
	for i := range costs {
		share := 1.
		if whole > 0 {
			share = min(max(costs[i].Mean/whole, leastShare), 1)
		}
		p.shares = append(p.shares, share)
		if ends[i] >= shortest*ends[0] {
			p.short = i
		}
	}
	return p
}

// at returns what a step is: shorter horizons, then fewer states, then still shorter horizons.
func (p *Pace) at(step int) (level, every int) {
	if step <= p.short {
		return step, 1
	}
	thinned := min(step-p.short, p.most-1)
	return step - thinned, 1 + thinned
}

// fitting returns the first step that takes at most a share of the time until the next state that is answered.
func (p *Pace) fitting(share float64) int {
	last := len(p.shares) + p.most - 2
	for step := range last {
		level, every := p.at(step)
		t := float64(every) * p.time
		if p.cost*(p.shares[level]+p.ahead) <= share*(t-min(p.echo, echoes*t)) {
			return step
		}
	}
	return last
}

// Fit chooses level and states at a steady time, ns, for states that come with a period, ns, 0 = not known; between two that are
// answered at most a time may pass, ns. It begins when enough states came for a mean of the period. Too slow a pace is left at
// once; one with more of the horizon is tried when there has been room for it for a while.
func (p *Pace) Fit(now, period, apart int64) {
	if period == 0 {
		return
	}
	p.states++
	p.time += max(weight, 1/float64(p.states)) * (float64(period) - p.time)
	if p.states < window {
		return
	}
	p.most = int(min(max(float64(apart)/p.time, 1), mostEvery))
	if step := p.fitting(fits); step > p.step {
		if p.raised > 0 && now-p.raised < p.hold {
			p.hold = min(2*p.hold, mostHold)
		}
		p.take(step)
		return
	}
	step := p.fitting(roomy)
	switch {
	case step >= p.step:
		p.room = 0
	case p.room == 0:
		p.room = now
	case now-p.room >= p.hold:
		if p.raised > 0 && now-p.raised > mostHold {
			p.hold = leastHold
		}
		p.raised = now
		p.take(step)
	}
}

func (p *Pace) take(step int) {
	p.step, p.room = step, 0
	p.Level, p.Every = p.at(step)
}

// Echo notes how long, ns, the beginning of an answer was delayed.
func (p *Pace) Echo(ns int64) { p.echo += weight * (float64(max(ns, 0)) - p.echo) }

// Spent notes what a prediction of a level has taken, ns, and whether its state was propagated.
func (p *Pace) Spent(level int, ns int64, propagated bool) {
	share := p.shares[level]
	if propagated {
		share += p.ahead
	}
	whole := float64(ns) / share
	if p.cost == 0 {
		p.cost = whole
	}
	p.cost += weight * (min(whole, stall*p.cost) - p.cost)
	p.least[1] = min(p.least[1], whole)
	if p.counts++; p.counts%window == 0 {
		p.least = [2]float64{p.least[1], math.Inf(1)}
	}
}

// PaceReport is a pace for whoever reads the status.
type PaceReport struct {
	Level, Every int
	Reach        float64 // s, of the horizon that is predicted
	Cost         float64 // s, that a prediction of the whole horizon takes
	Own          float64 // s, of that what the model needs: the least of the last ones
	Echo         float64 // s, that the computer adds to an answer
	Time         float64 // s, from one state to the next; 0 = not known
}

// report returns the pace of levels that end at times, s.
func (p *Pace) report(ends []float64) PaceReport {
	return PaceReport{p.Level, p.Every, ends[p.Level], p.cost * 1e-9, min(p.least[0], p.least[1]) * 1e-9, p.echo * 1e-9, p.time * 1e-9}
}
