package datacheck

import (
	"math"
	"slices"
	"strings"

	"github.com/dgm-robotics/dgm/estimator/channel"
)

// A turn in the units of angles, by their names in lower case.
var fullTurn = map[string]float64{
	"rad": channel.Angle, "radian": channel.Angle, "radians": channel.Angle,
	"deg": 360, "°": 360, "degree": 360, "degrees": 360,
}

// angles finds states that were not declared as angles and look like some: their values jump
// by a turn and stay, or their unit is that of an angle and they span a turn. Where one
// jumps, the detectors read it as an angle, and the jumps are returned.
func (r *recording) angles() []span {
	var jumps []span
	for _, k := range r.places(channel.State) {
		s := r.series(k)
		if s.Period > 0 {
			continue
		}
		turn, found := s.turnJumps()
		if len(found) > 0 {
			r.addLog(Angle, Note, k, len(found),
				"%s looks like an angle: it jumps by a turn in %s, first at %s. Add the line \"period = %s\" to its channel in the map, and import the log again; until then no window crosses such a jump.",
				s.Name, plural(len(found), "place"), sec(found[0].from()), exact(turn))
			r.channels = slices.Clone(r.channels) // they are the log's
			r.channels[k].Period = turn
			jumps = append(jumps, found...)
			continue
		}
		turn = fullTurn[strings.ToLower(s.Unit)]
		v := sketch(values(s.tracks()))
		if reach := quantile(v, 1-rareValues) - quantile(v, rareValues); turn > 0 && reach > turn && !s.Invariant {
			r.addLog(Angle, Note, k, len(v),
				"%s looks like an angle: its unit is %s, and it spans %s turns. Add the line \"period = %s\" to its channel in the map, and import the log again; if another turn is another state of the robot, as of a winch, no action is needed.",
				s.Name, s.Unit, num(reach/turn), exact(turn))
		}
	}
	return jumps
}

// turnJumps returns the turn by which a series jumps, and the samples behind its jumps. Of
// a series without a unit one jump may be chance.
func (s series) turnJumps() (turn float64, jumps []span) {
	tracks := s.tracks()
	turn, known := fullTurn[strings.ToLower(s.Unit)]
	switch {
	case known:
		return turn, jumpsBy(tracks, turn, unitTurn)
	case s.Unit != "":
		return 0, nil
	}
	for _, turn := range []float64{channel.Angle, 360} {
		if jumps := jumpsBy(tracks, turn, bareTurn); len(jumps) > 1 {
			return turn, jumps
		}
	}
	return 0, nil
}

// jumpsBy returns the samples behind jumps by a turn, up to a share of it, that stay.
func jumpsBy(tracks []track, turn, share float64) (jumps []span) {
	for _, tr := range tracks {
		for i := 1; i < len(tr.x); i++ {
			if math.Abs(math.Abs(tr.x[i]-tr.x[i-1])-turn) < share*turn && tr.onlyStep(i, 0.25*turn) {
				jumps = append(jumps, tr.span(i, i+1))
			}
		}
	}
	return jumps
}

// onlyStep reports whether the step to sample i has no other large one next to it.
func (tr *track) onlyStep(i int, large float64) bool {
	for j := max(1, i-3); j < min(len(tr.x), i+4); j++ {
		if j != i && math.Abs(tr.x[j]-tr.x[j-1]) > large {
			return false
		}
	}
	return true
}
