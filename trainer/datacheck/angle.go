package datacheck

import (
	"math"
	"slices"

	"github.com/dgm-robotics/dgm/estimator/channel"
)

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
			r.setPeriod(k, turn)
			jumps = append(jumps, found...)
			continue
		}
		turn = channel.Turn(s.Unit)
		v := sketch(values(s.tracks()))
		if reach := quantile(v, 1-rareValues) - quantile(v, rareValues); turn > 0 && reach > turn && !s.Invariant {
			degrees := "Add"
			if turn == channel.Angle && reach > manyTurns*turn && reach <= 2*360 {
				degrees = "If its values are degrees, correct its unit in the map: unit = \"deg\", or from = \"deg\" to convert them. Else add"
			}
			r.addLog(Angle, Note, k, len(v),
				"%s looks like an angle: its unit is %s, and it spans %s turns. %s the line \"period = %s\" to its channel in the map, and import the log again; if another turn is another state of the robot, as of a winch, no action is needed.",
				s.Name, s.Unit, num(reach/turn), degrees, exact(turn))
		}
	}
	return jumps
}

// periods finds declared periods that do not fit the values: of an angle in another unit, or
// of what is no angle. What comes after it reads the channel with the period that fits.
func (r *recording) periods() {
	for _, k := range r.places(channel.State) {
		s := r.series(k)
		declared := s.Period
		if declared == 0 {
			continue
		}
		s.Period = 0 // as recorded
		tracks := s.tracks()
		v := sketch(values(tracks))
		reach := quantile(v, 1-rareValues) - quantile(v, rareValues)
		fits := 0.0
		switch turn, jumps := otherTurn(tracks, declared, reach); {
		case len(jumps) > 0:
			fits = turn
			r.addLog(Angle, Stop, k, len(jumps),
				"%s has the period %s and jumps by %s in %s, first at %s: it looks like %s. Set unit = %q and period = %s in its channel of the map, and import the log again.",
				s.Name, num(declared), num(turn), plural(len(jumps), "place"), sec(jumps[0].from()), turnNames[turn], turnUnits[turn], exact(turn))
		case reach <= farOutside*declared:
			continue
		case unitContradicts(s.Unit, declared):
			fits = channel.Turn(s.Unit)
			r.addLog(Angle, Stop, k, len(v),
				"%s has the unit %s and the period %s, but a turn in this unit is %s. Set period = %s in its channel of the map, and import the log again.",
				s.Name, s.Unit, num(declared), num(fits), exact(fits))
		case toAndFro(tracks, declared/2):
			r.addLog(Angle, Stop, k, len(v),
				"%s has the period %s, spans %s of it, and moves to and fro by more than half of it from sample to sample: it is no angle with this period. Remove period from its channel of the map, or correct unit and period, and import the log again.",
				s.Name, num(declared), num(reach/declared))
		default:
			continue
		}
		r.setPeriod(k, fits)
	}
}

// setPeriod sets the period of a channel for the detectors; the channels are the log's.
func (r *recording) setPeriod(k int, period float64) {
	r.channels = slices.Clone(r.channels)
	r.channels[k].Period = period
}

// turnUnits and turnNames are the unit of a turn and what it is called.
var (
	turnUnits = map[float64]string{channel.Angle: "rad", 360: "deg"}
	turnNames = map[float64]string{channel.Angle: "radians", 360: "degrees"}
)

// otherTurn returns a turn other than the declared period by which values jump within a
// range of one such turn, and the samples behind the jumps. One jump may be chance.
func otherTurn(tracks []track, declared, reach float64) (turn float64, jumps []span) {
	for turn := range turnUnits {
		if math.Abs(declared-turn) > bareTurn*turn && reach > turn/2 && reach < (1+bareTurn)*turn {
			if jumps := jumpsBy(tracks, turn, bareTurn); len(jumps) > 1 {
				return turn, jumps
			}
		}
	}
	return 0, nil
}

// unitContradicts reports whether a unit is that of an angle and the period a turn in another.
func unitContradicts(unit string, period float64) bool {
	turn := channel.Turn(unit)
	if turn == 0 {
		return false
	}
	for other := range turnUnits {
		if other != turn && math.Abs(period-other) < bareTurn*other {
			return true
		}
	}
	return false
}

// toAndFro reports whether more than a few steps of either sign are large.
func toAndFro(tracks []track, large float64) bool {
	up, down, n := 0, 0, 0
	for _, tr := range tracks {
		for i := 1; i < len(tr.x); i++ {
			switch step := tr.x[i] - tr.x[i-1]; {
			case step > large:
				up++
			case step < -large:
				down++
			}
			n++
		}
	}
	return float64(min(up, down)) > largeSteps*float64(n)
}

// turnJumps returns the turn by which a series jumps, and the samples behind its jumps. Of
// a series without a unit one jump may be chance.
func (s series) turnJumps() (turn float64, jumps []span) {
	tracks := s.tracks()
	switch turn := channel.Turn(s.Unit); {
	case turn > 0:
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
