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
// it in the whole recording, is the robot's response: the current of a motor rises within samples of a step of its voltage. Others of the channel are evidence of that, too.
func (s series) unprompted(found []place, report func(place), others ...place) {
	if len(found) > 0 && s.Role == channel.State {
		after, share := s.prompts()
		prompted := func(p place) bool {
			at := p.seg.t[p.at[p.i]]
			return slices.ContainsFunc(after[p.seg], func(w [2]float64) bool { return w[0] <= at && at <= w[1] })
		}
		all := slices.Concat(found, others)
		if apart := len(slices.DeleteFunc(slices.Clone(all), prompted)); apart < len(all) && chance(len(all), len(all)-apart, share) <= promptChance {
			found = slices.DeleteFunc(slices.Clone(found), prompted)
		}
	}
	for _, p := range found {
		report(p)
	}
}

// prompts returns, by segment, when inputs jump and shortly after, s, and the share of all time that this is. A segment may begin with a jump
// from 0.
func (r *recording) prompts() (after map[*segment][][2]float64, share float64) {
	after = map[*segment][][2]float64{}
	least := r.leastJumps()
	during, all := 0.0, 0.0
	for _, s := range r.segs {
		all += s.t[s.n()-1]
		for i := range s.t {
			if !s.jumps(least, i) {
				continue
			}
			w := [2]float64{s.t[i] - promptAhead*s.dt, s.t[i] + math.Max(promptSamples*s.dt, promptTime)}
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
