package datacheck

import (
	"fmt"
	"math"
	"slices"

	"github.com/dgm-robotics/dgm/estimator/channel"
)

// rates looks at the intervals: the unit of time, lost samples and jitter of every
// segment, one rate for all.
func (r *recording) rates(usual float64) {
	if usual == 0 {
		return
	}
	if usual < fastestRate || usual > slowestRate && r.horizon < manySamples*usual {
		p := r.addLog(Rate, Note, -1, 0,
			"The log has one sample every %s (%s per second). If the robot was sampled at another rate, the unit of time is wrong: set time.unit in the map.",
			duration(usual), num(1/usual))
		p.Misread = true
	} else if usual > slowSampling && r.horizon < fastEnough*usual {
		text := ""
		if r.horizon > 0 {
			text = fmt.Sprintf(" The horizon of %s has %s.", duration(r.horizon), plural(int(r.horizon/usual+0.5), "sample"))
		}
		r.addLog(Rate, Note, -1, 0,
			"The log has one sample every %s (%s per second): motion between samples is not learned.%s Log states and inputs at 50 per second or more; dgm-bridge import names the setting of PX4 and ArduPilot.",
			duration(usual), num(1/usual), text)
	}
	var segs []*segment
	for _, s := range r.segs {
		if len(s.keep) >= 20 && s.dt > 0 {
			segs = append(segs, s)
			r.jitter(s)
		}
	}
	groups := byRate(segs)
	if len(groups) < 2 {
		return
	}
	text := ""
	for i, g := range groups {
		if i > 0 {
			text += "; "
		}
		text += duration(g[len(g)/2].dt) + " (" + segmentNames(g) + ")"
	}
	r.addLog(Rate, Note, -1, 0,
		"The segments are sampled at different intervals: %s. Windows are cut by time, so all can be used; check that they come from the same robot and logger.", text)
}

// jitter reports lost samples and unevenness once per segment, where there is much.
func (r *recording) jitter(s *segment) {
	var dt []float64
	lost := 0
	for _, piece := range s.pieces() {
		for j := 1; j < len(piece); j++ {
			d := s.t[piece[j]] - s.t[piece[j-1]]
			dt = append(dt, d)
			if d > 1.6*s.dt {
				lost += int(math.Round(d/s.dt)) - 1
			}
		}
	}
	if len(dt) < 20 {
		return
	}
	sd := sketch(dt)
	lo, hi := quantile(sd, 0.05), quantile(sd, 0.95)
	switch {
	case hi-lo > 0.5*s.dt:
		r.add(Rate, Note, -1, s.whole(),
			"Sampling is uneven: intervals go from %s to %s (5 to 95 %%), %s at the median. The model uses the stamps: this is harmless if they are those of the sensor, not of the logger.",
			duration(lo), duration(hi), duration(s.dt))
	case lost > max(5, s.n()/50):
		r.add(Rate, Note, -1, s.whole(),
			"About %d of %d samples are missing, one at a time. The states between are interpolated; no action is needed.", lost, s.n()+lost)
	}
}

// held reports a channel that is held between fewer true samples: most of its values
// repeat the one before, in runs of about one length. Where that is one length or two next to each other, repeated
// values count as not measured. Inputs are held by nature.
func (s series) held() {
	if s.Role == channel.Input {
		return
	}
	tracks := s.tracks()
	step := resolution(sketch(values(tracks)))
	for _, seg := range s.segs {
		own := slices.DeleteFunc(slices.Clone(tracks), func(tr track) bool { return tr.seg != seg })
		length, regular := heldFor(own, step)
		if length == 0 {
			continue
		}
		what := "Log NaN between measurements, or log at its rate."
		if regular {
			what = "Repeated values count as not measured."
		}
		p := s.add(Rate, Note, s.k, seg.whole(),
			"%s changes only about every %d samples (%s per second): it is measured more slowly than the log is sampled, and held between measurements. %s",
			s.Name, int(length), num(1/(length*seg.dt)), what)
		p.Misread = s.Role != channel.Aux && !regular
		for _, tr := range own {
			for i, j := range equalRuns(tr.x) {
				if regular && i+1 < j {
					tr.span(i+1, j).mark(s.k, Missing)
				}
			}
		}
	}
}

// heldFor returns the length of runs of equal values in tracks if most values are in runs of about one length, and whether it is one length or
// two next to each other; else 0. step is that of the sensor.
func heldFor(tracks []track, step float64) (length float64, regular bool) {
	var lengths, steps []float64
	same, n := 0, 0
	for _, tr := range tracks {
		n += len(tr.x)
		same += repeats(tr.x)
		for i, j := range equalRuns(tr.x) {
			if i > 0 && j < len(tr.x) {
				lengths = append(lengths, float64(j-i))
				steps = append(steps, math.Abs(tr.x[j]-tr.x[i]))
			}
		}
	}
	// What moves by single steps of its sensor is measured at each sample and slow.
	if len(lengths) < 20 || same*5 < n*2 || quantile(sketch(steps), 0.9) < 1.5*step {
		return 0, false
	}
	l := sorted(lengths)
	length = quantile(l, 0.5)
	if length < 2 || quantile(l, 0.9) > 1.5*length+1 || quantile(l, 0.1) < 0.5*length {
		return 0, false
	}
	return length, quantile(l, 0.95)-quantile(l, 0.05) <= 1
}
