package datacheck

import (
	"math"
	"slices"

	"github.com/dgm-robotics/dgm/estimator/channel"
)

// place is samples [i, j) of a track that look wrong.
type place struct {
	track
	i, j int
}

// unprompted reports those of some places of a channel that no command explains. What begins where an input jumps, more often than chance has
// it in the whole recording, is the robot's response: the current of a motor rises within samples of a step of its voltage. Others of the
// channel are evidence of that, too.
func (s series) unprompted(found []place, report func(place), others ...place) {
	if len(found) > 0 && s.Role == channel.State {
		begin := func(p place) (*segment, float64) { return p.seg, p.seg.t[p.at[p.i]] }
		if after := responses(s.recording, promptTime, slices.Concat(found, others), begin); after != nil {
			found = slices.DeleteFunc(slices.Clone(found), after)
		}
	}
	for _, p := range found {
		report(p)
	}
}

// responses returns which of some places begin within a time, s, behind jumps of inputs, if more of them do than chance has it; nil = they do
// not.
func responses[T any](r *recording, within float64, places []T, begin func(T) (*segment, float64)) (after func(T) bool) {
	spans, share := r.prompts(within)
	after = func(p T) bool {
		seg, at := begin(p)
		return slices.ContainsFunc(spans[seg], func(w [2]float64) bool { return w[0] <= at && at <= w[1] })
	}
	n := 0
	for _, p := range places {
		if after(p) {
			n++
		}
	}
	if n == 0 || chance(len(places), n, share) > promptChance {
		return nil
	}
	return after
}

// prompts returns, by segment, when inputs jump and for a time after, s, and the share of all time that this is. A segment may begin with a jump
// from 0.
func (r *recording) prompts(within float64) (after map[*segment][][2]float64, share float64) {
	after = map[*segment][][2]float64{}
	least := r.leastJumps()
	during, all := 0.0, 0.0
	for _, s := range r.segs {
		all += s.t[s.n()-1]
		for i := range s.t {
			if !s.jumps(least, i) {
				continue
			}
			w := [2]float64{s.t[i] - promptAhead*s.dt, s.t[i] + math.Max(promptSamples*s.dt, within)}
			if last := len(after[s]) - 1; last >= 0 && w[0] <= after[s][last][1] {
				during += w[1] - after[s][last][1]
				after[s][last][1] = w[1]
			} else {
				during += w[1] - w[0]
				after[s] = append(after[s], w)
			}
		}
	}
	return after, math.Min(1, during/math.Max(all, 1e-9))
}

// leastJumps returns, by channel, of inputs what is less than a jump.
func (r *recording) leastJumps() map[int]float64 {
	least := map[int]float64{}
	for _, k := range r.places(channel.Input) {
		var steps []float64
		tracks := r.series(k).tracks()
		for _, tr := range tracks {
			for i := 1; i < len(tr.x); i++ {
				steps = append(steps, math.Abs(tr.x[i]-tr.x[i-1]))
			}
		}
		if j := math.Max(promptJump*width(sketch(values(tracks))), promptSteps*quantile(sketch(steps), 0.9)); j > 0 {
			least[k] = j
		}
	}
	return least
}

// jumps reports whether an input changes by more than a least jump ahead of a sample.
func (s *segment) jumps(least map[int]float64, i int) bool {
	for k, least := range least {
		before := 0.0
		if i > 0 {
			before = s.col[k][i-1]
		}
		if s.good(k, i) && math.Abs(s.col[k][i]-before) > least {
			return true
		}
	}
	return false
}

// commanded reports whether a robot has been commanded to do what a state shows that does not change in a span: inputs keep their values in
// it, and the state has that of one, as a speed has that is controlled, or no other state moves either, as of a robot that stands.
func (s series) commanded(at span) bool {
	if s.Role != channel.State || !s.inputsStay(at) {
		return false
	}
	return s.hasInputs(s.k, at) || !slices.ContainsFunc(s.places(channel.State), func(k int) bool {
		return k != s.k && extent(at.seg.col[k][at.first:at.last]) > restMove*at.seg.usualExtent(k, at.n())
	})
}

// steers reports whether a state of a robot has the value of an input that stays in a span, and is not 0: the robot moves as it is commanded.
func (s series) steers(at span) bool {
	return s.inputsStay(at) && slices.ContainsFunc(s.places(channel.State), func(k int) bool {
		return k != s.k && at.seg.col[k][at.first] != 0 && s.hasInputs(k, at)
	})
}

// inputsStay reports whether inputs, of which some change elsewhere, change in few samples of a span: the robot is commanded step by step.
func (r *recording) inputsStay(at span) bool {
	elsewhere := false
	for _, k := range r.places(channel.Input) {
		u := at.seg.col[k]
		changes := at.n() - 1 - repeats(u[at.first:at.last])
		if promptRest*changes > at.n() {
			return false
		}
		elsewhere = elsewhere || extent(u) > 0
	}
	return elsewhere
}

// hasInputs reports whether a state has the value of an input throughout a span, both of which change elsewhere.
func (r *recording) hasInputs(k int, at span) bool {
	x := at.seg.col[k]
	return extent(x[at.first:at.last]) == 0 && slices.ContainsFunc(r.places(channel.Input), func(u int) bool {
		v := at.seg.col[u][at.first]
		return extent(at.seg.col[u]) > 0 && math.Abs(x[at.first]-v) <= 1e-3*math.Abs(v)
	})
}

// chance returns how probable it is that k or more of n places are in a share of all time.
func chance(n, k int, share float64) float64 {
	sum, term := 0.0, math.Pow(1-share, float64(n))
	for m := range n + 1 {
		if m >= k {
			sum += term
		}
		term *= float64(n-m) / float64(m+1) * share / math.Max(1-share, 1e-9)
	}
	return sum
}
