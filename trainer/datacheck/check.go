package datacheck

import (
	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/flightlog"
)

// Options is what the check needs to know about what follows. The zero value is good.
type Options struct {
	Horizon float64 // (optional) s, the horizon to be trained; 0 = unknown, and nothing is called too short for it

	taking bool // see newRecording
}

// Check looks at a log. The result is a function of the log and the options alone: same
// log, same list, in the same order. What one detector finds is set aside for those
// after it. The samples of the log are not to be read meanwhile; afterwards they are as before.
func Check(log *flightlog.Log, opt Options) Result {
	opt.taking = true
	r := newRecording(log, opt)
	defer r.giveBack(log)
	r.invalid(log.Notes)
	usual := medianInterval(r.segs...)
	for _, s := range r.segs {
		r.stamps(s, usual)
	}
	r.rates(usual)
	r.rescaled()
	r.periods()
	jumps := r.angles()
	groups := r.groups()
	var filled []filling
	for k := range r.channels {
		s := r.series(k)
		s.missing()
		if s.constant() {
			continue
		}
		s.motion = motion(groups, k)
		slow := false
		var outliers, diverging []place
		for _, g := range groups {
			s.recording = g
			s.held()
			slow = s.frozen() || slow
			filled = append(filled, s.smooth()...)
			outliers = append(outliers, s.outliers()...)
		}
		s.recording = r
		s.unprompted(outliers, s.burst)
		for _, g := range groups {
			s.recording = g
			diverging = append(diverging, s.diverging()...)
		}
		s.recording = r
		s.unprompted(diverging, s.diverges, outliers...)
		if !slow {
			s.clipped()
		}
	}
	r.filled(filled)
	r.gimbal()
	r.gravity()
	r.swapped()
	for _, k := range r.places(channel.State) {
		r.derivative(groups, k)
	}
	paces := r.paces()
	for k := range r.channels {
		r.scale(paces, k)
	}
	r.rest()
	for _, g := range groups {
		g.unexplained()
	}
	for _, j := range jumps {
		j.mark(-1, TimeBreak)
	}
	r.short(usual)
	return Result{Problems: r.found.list(), Masks: r.masks()}
}
