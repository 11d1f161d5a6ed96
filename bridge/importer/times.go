package importer

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/dgm-robotics/dgm/bridge/telemetry"
	"github.com/dgm-robotics/dgm/bridge/timebase"
)

// Clock is an import's result about one sender's clock.
type Clock struct {
	Name   string  `json:"name"`
	Sync   bool    `json:"synchronised"` // its stamps count since 1970
	Offset float64 `json:"offset_s"`     // s: the recorder's time less that of the clock, at the shortest delay
	Rate   float64 `json:"rate"`         // seconds of the clock in one second of the recorder
	Jumps  int     `json:"jumps"`        // how often it was set, or began anew
}

// notable is the shortest delay, ns, from which it may as well be a clock that is off.
const notable = 100e6

// clockRemarks reports how far the clocks of the topics of a plan are apart in a file. Those
// that are the recorder's are one sentence.
func (g *grouped) clockRemarks(p *plan, f *survey) {
	if f.unit > 1 {
		g.add(f.base(), "clock", Warning, "", "have the recorder write ns", "by the rates of its messages the times of recording are in %s, not in ns: they are converted", map[int64]string{1e3: "µs", 1e6: "ms", 1e9: "s"}[f.unit])
	}
	if p.m.joined {
		g.shifted(p, f)
	}
	if f.times.Timeless() {
		g.add(f.base(), "clock", Warning, "", "convert the log again with its times of recording", "all times of recording are the same: messages have the times of their stamps, on one clock")
		g.shifted(p, f)
		return
	}
	var own []string
	least, most := int64(math.MaxInt64), int64(math.MinInt64)
	for _, c := range f.times.Clocks() {
		if !slices.ContainsFunc(p.tracks, func(t track) bool { x := f.find(t.id); return x != nil && x.Topic.Clock == c.Sender }) {
			continue
		}
		drift := ""
		if !math.IsNaN(c.Drift) && math.Abs(c.Drift) >= 5e-7 {
			drift = fmt.Sprintf(", drift %.1f ppm", 1e6*c.Drift)
		}
		switch {
		case c.Given:
			g.add(f.base(), "clock", Info, "", "", "clock %s is %s behind the recorder's, by the map", c.Sender, seconds(c.Offset))
		case c.Apart:
			g.add(f.base(), "clock", Warning, "", "record stamps of a running clock, or write its offset_s under [[clock]] of the map",
				"clock %s cannot be aligned: its stamps and the times of recording do not rise together", c.Sender)
		case c.Varies:
			g.add(f.base(), "clock", Warning, "", "", "clock %s runs at a varying rate, on average %.4g of the recorder's: messages without stamps are converted to it within %s", c.Name, c.Rate, seconds(c.Error))
		case c.Rate != 1:
			g.add(f.base(), "clock", Info, "", "", "clock %s runs at %.6g of the recorder's rate and is %s behind at the start, within %s: messages without stamps are converted to it", c.Name, c.Rate, seconds(c.Offset), seconds(c.Error))
		case c.Same && c.Offset > notable:
			g.add(f.base(), "delay", Warning, "", "if it is the clock, synchronise it (NTP, PTP), or write its offset_s under [[clock]] of the map",
				"clock %s: messages are recorded at least %s after their stamps: taken for a delay, which cannot be distinguished from a clock that is behind", c.Sender, seconds(c.Offset))
		case c.Same && drift == "":
			own = append(own, fmt.Sprint(c.Sender))
			least, most = min(least, c.Offset), max(most, c.Offset)
		case c.Same:
			g.add(f.base(), "clock", Info, "", "", "clock %s is the recorder's, shortest delay %s%s", c.Sender, seconds(c.Offset), drift)
		default:
			g.add(f.base(), "clock", Info, "", "", "clock %s is %s behind the recorder's, mean delay %s%s", c.Sender, seconds(c.Offset), seconds(c.Delay), drift)
		}
	}
	switch {
	case len(own) == 1:
		g.add(f.base(), "clock", Info, "", "", "clock %s is the recorder's, shortest delay %s", own[0], seconds(least))
	case len(own) > 1:
		g.add(f.base(), "clock", Info, "", "", "clocks %s are the recorder's, shortest delays %s to %s", strings.Join(own, ", "), seconds(least), seconds(most))
	}
}

// What two clocks that differ are, of topics that were recorded together: ns, and the share of how long they last in different units.
const leastShift, alikeShift, alikeSpan = 2e9, 0.5e9, 0.05

// shifted reports topics of which the times begin and end as much before those of the topic that gives the rows, or after them: without
// times of recording, and in tables, nothing else shows that their clocks differ.
func (g *grouped) shifted(p *plan, f *survey) {
	base := f.find(p.tracks[p.config.Base].id)
	for i := range p.tracks {
		c := f.find(p.tracks[i].id)
		if i == p.config.Base || base == nil || c == nil || c.Topic.Clock == base.Topic.Clock && !p.m.joined {
			continue
		}
		a, b := f.times.Of(base.Topic.Seq), f.times.Of(c.Topic.Seq)
		begin, end := b.First-a.First, b.Last-a.Last
		if ratio := float64(b.Last-b.First) / float64(a.Last-a.First); p.m.joined && (math.Abs(ratio/1000-1) < alikeSpan || math.Abs(ratio*1000-1) < alikeSpan) {
			g.add(f.base(), "clock", Warning, p.tracks[i].id.String(), "write both in one unit", "times of %s take %.4g times as long as those of %s: their units differ, it seems", p.tracks[i].id, ratio, p.tracks[p.config.Base].id)
			continue
		}
		shift, where := (begin+end)/2, "after"
		if shift < 0 {
			shift, where = -shift, "before"
		}
		if shift < leastShift || math.Abs(float64(begin-end)) > alikeShift || !b.Stamped && !p.m.joined {
			continue
		}
		remedy := "if it is so, write name and offset_s of one of them under [[clock]] of the map"
		if p.m.joined {
			remedy = "if it is so, correct the times of one of them"
		}
		g.add(f.base(), "clock", Warning, p.tracks[i].id.String(), remedy,
			"times of %s begin and end %s %s those of %s: their clocks differ, it seems, as those of GPS, UTC and local time do", p.tracks[i].id, seconds(shift), where, p.tracks[p.config.Base].id)
	}
}

// timeRemarks reports what is odd about the times of the topics of a plan in a file, and what
// was done about it.
func (g *grouped) timeRemarks(p *plan, f *survey, in *timebase.Timeline) {
	g.jumpRemark(f, in)
	if in.Sorted {
		g.orderRemark(p, f, in)
	}
	for i := range p.tracks {
		if c := f.find(p.tracks[i].id); c != nil {
			g.topicTimeRemarks(f, c.Topic, p.tracks[i].id.String())
		}
	}
}

// jumpRemark reports where the clock of a file was set.
func (g *grouped) jumpRemark(f *survey, in *timebase.Timeline) {
	if n, largest, ahead := in.Jumps(); n > 0 && ahead {
		g.add(f.base(), "clock-set", Warning, "", "", "time jumps ahead %s, by %s at most: the clock was set, or nothing was recorded; a segment begins at each", number(n, "time"), seconds(max(largest, -largest)))
	} else if n > 0 {
		g.add(f.base(), "clock-set", Warning, "", "", "the clock was set, or restarted, %s, by %s at most; a segment begins at each", number(n, "time"), seconds(largest))
	}
}

// orderRemark reports by how much messages of a file were stored behind later ones and had to
// be sorted.
func (g *grouped) orderRemark(p *plan, f *survey, in *timebase.Timeline) {
	behind := int64(0)
	for i := range p.tracks {
		if c := f.find(p.tracks[i].id); c != nil {
			behind = max(behind, f.times.Of(c.Topic.Seq).Behind)
		}
	}
	if n, _, _ := in.Jumps(); behind > timebase.Reorder && n == 0 {
		g.add(f.base(), "order", Info, "", "", "messages are stored up to %s behind later ones: they were sorted by their times", seconds(behind))
	}
}

// unevenSteps is the share of the median step between the quartiles of the steps of a topic from which its stamps are said to be uneven,
// as those of messages that are stamped as they arrive.
const unevenSteps = 0.3

// topicTimeRemarks reports what is odd about the times of one topic, which the remarks call name,
// and what was done about it.
func (g *grouped) topicTimeRemarks(f *survey, topic *telemetry.Topic, name string) {
	t := f.times.Of(topic.Seq)
	if t.Wild > 0 {
		g.add(f.base(), "wild", Warning, name, "", "%s of %s left out, with timestamps far from all others", number(t.Wild, "message"), name)
	}
	if slices.Contains(f.apart, topic.Seq) {
		g.add(f.base(), "clock-set", Warning, name, "", "the stamps of %s jump, or are off, where those of other topics of their clock are not: they have a clock of their own, aligned by the times of recording", name)
	}
	if by := f.times.Ahead(topic.Seq); by > 0 {
		g.add(f.base(), "ahead", Warning, name, "leave its channels out, or correct its times", "times of %s are up to %s ahead of those of messages that are stored beside them: they are shifted, it seems", name, seconds(by))
	}
	switch {
	case t.Misread > 0:
		g.add(f.base(), "stamps", Warning, name, "let the driver write seconds and nanoseconds", "stamps of %s run at %.3g of the recorder's rate, so they are in another unit: the times of recording are used", name, t.Misread)
	case t.Unused:
		g.add(f.base(), "stamps", Warning, name, "let the driver fill in the stamps", "stamps of %s are nearly all the same: the times of recording are used", name)
	}
	if topic.Clock.Name != "" && !t.Stamped {
		g.add(f.base(), "stamps", Warning, name, "let the driver fill in the stamps", "stamps of %s are not filled in: the times of recording are used", name)
	}
	if t.Coarse > 0 && !t.Unused {
		g.add(f.base(), "stamps", Info, name, "", "several messages of %s have one stamp: they are spread evenly, %s apart", name, seconds(t.Coarse))
	}
	if t.Stamped && !t.Unused && t.Coarse+int64(t.Standing) == 0 && !t.Unordered && float64(t.Spread) > unevenSteps*float64(t.Step) {
		g.add(f.base(), "stamps", Info, name, "if a relay or a driver sets them as messages arrive, use the topic of the sensor itself, with stamps of the measurement",
			"stamps of %s are uneven: the quartiles of their steps, about %s, are %s apart", name, seconds(t.Step), seconds(t.Spread))
	}
	if t.Standing > 0 && !t.Unused {
		g.add(f.base(), "stamps", Warning, name, "let the driver fill in the stamps, from a running clock", "the stamp of %s does not change at %s: these have the times of recording, and repeated messages are left out", name, number(t.Standing, "message"))
	}
	if t.Untimed > 0 {
		g.add(f.base(), "untimed", Warning, name, "convert the log again with its times of recording, or record stamps", "%s of %s left out: they have no stamp, and their times of recording are all the same", number(t.Untimed, "message"), name)
	}
	if t.Bursts != nil {
		g.add(f.base(), "bursts", Warning, name, "use stamps of the sensor, or send each message at once", "messages of %s arrive in bursts, %s: their times are those of arrival, not of measurement", name, t.Bursts)
	}
}

// clocks lists the clocks of all files.
func clocks(files []*survey) []Clock {
	out := []Clock{}
	for _, f := range files {
		for _, c := range f.times.Clocks() {
			out = append(out, Clock{c.Name, c.Synchronised, 1e-9 * float64(c.Offset), c.Rate, c.Jumps})
		}
	}
	return out
}
