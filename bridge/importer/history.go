package importer

import (
	"math"
	"slices"

	"github.com/dgm-robotics/dgm/bridge/telemetry"
)

// history is what a log reports of the robot's settings and phases, in its order: places are
// numbers of messages.
type history struct {
	n        int               // messages so far
	settings map[string][]said // by name
	phases   map[[2]int][]edge // by phase of the map and Seq of the topic
	window   []edge            // what from and to of the map keep
	boots    []int             // where the recorder's clock goes back: nothing from before holds
	size     int               // of all lists

	first, last int64 // ns, of the recorder
}

// said is a value of a setting.
type said struct {
	at    int
	value float64
}

// edge is where the robot enters a phase, or leaves it.
type edge struct {
	at int
	in bool
}

const (
	maxHistory = 1 << 17 // entries that are kept
	rewound    = 1e9     // ns: the recorder began anew where its clock goes back by more
	maxBoots   = 1 << 10 // of these more are kept only in a log that is stored in no order
)

func newHistory() *history {
	return &history{settings: map[string][]said{}, phases: map[[2]int][]edge{}}
}

// change is a value of a field where that is another one than before.
type change struct {
	at     int
	logged int64 // ns, by the recorder's clock
	value  float64
}

// change adds a value of the message at hand to a list, where it is another one than before.
func (h *history) change(all []change, v float64) []change {
	if n := len(all); math.IsNaN(v) || h.size >= maxHistory || n > 0 && all[n-1].value == v {
		return all
	}
	h.size++
	return append(all, change{h.n, h.last, v})
}

// boot returns where the recorder last began before a place, and where it did so next.
func (h *history) boot(at int) (begin, end int) {
	end = h.n
	i, _ := slices.BinarySearch(h.boots, at+1) // the first behind it
	if i > 0 {
		begin = h.boots[i-1]
	}
	if i < len(h.boots) {
		end = h.boots[i]
	}
	return begin, end
}

// set takes a setting.
func (h *history) set(name string, value float64) {
	if h.size >= maxHistory {
		return
	}
	all := h.settings[name]
	begin, _ := h.boot(h.n)
	if n := len(all); n > 0 && all[n-1].value == value && all[n-1].at >= begin {
		return
	}
	h.settings[name] = append(all, said{h.n, value})
	h.size++
}

// message takes the time of a message, of which rows are kept from and to a time after the first.
func (h *history) message(m *telemetry.Message, from, to int64) {
	if h.n == 0 {
		h.first = m.Logged
	} else if m.Logged < h.last-rewound && h.size < maxHistory && len(h.boots) < maxBoots {
		h.boots = append(h.boots, h.n)
		h.size++
		for key, all := range h.phases {
			h.phases[key] = h.report(all, false)
		}
	}
	h.last = m.Logged
	at := m.Logged - h.first
	h.window = h.report(h.window, at >= from && (to == 0 || at <= to))
}

// report adds to a list that the robot is in a phase or not, where that is new.
func (h *history) report(all []edge, in bool) []edge {
	if n := len(all); h.size >= maxHistory || n > 0 && all[n-1].in == in {
		return all
	}
	h.size++
	return append(all, edge{h.n, in})
}

// span is a part of a log, from a message to one that is not part of it.
type span struct{ begin, end int }

// spans returns the parts of a log in which the robot is in a phase. Before the first report of a
// phase it is in it, or not.
func (h *history) spans(all []edge, in bool) (out []span) {
	at := 0
	for _, t := range all {
		if in && t.at > at {
			out = append(out, span{at, t.at})
		}
		at, in = t.at, t.in
	}
	if in && h.n > at {
		out = append(out, span{at, h.n})
	}
	return out
}

// both returns what two lists of parts have in common.
func both(a, b []span) (out []span) {
	for len(a) > 0 && len(b) > 0 {
		if x := (span{max(a[0].begin, b[0].begin), min(a[0].end, b[0].end)}); x.end > x.begin {
			out = append(out, x)
		}
		if a[0].end < b[0].end {
			a = a[1:]
		} else {
			b = b[1:]
		}
	}
	return out
}

// during returns the values, each once, that a setting has in parts of a log; the last value where
// it has none there.
func (h *history) during(name string, parts []span) (values []float64) {
	if values = h.values(name, parts); len(values) == 0 {
		values = h.near(name, 0)
	}
	return values
}

// near returns the last value of a setting that is said before a message, or else the last of all.
func (h *history) near(name string, end int) []float64 {
	all := h.settings[name]
	v := all[len(all)-1].value
	for _, s := range all {
		if s.at < end {
			v = s.value
		}
	}
	return []float64{v}
}

// values returns the values, each once, that a setting has in parts of a log. The first value holds
// before it is reported, too.
func (h *history) values(name string, parts []span) (values []float64) {
	all := h.settings[name]
	for k, s := range all {
		begin, end := h.boot(s.at)
		if k > 0 && all[k-1].at >= begin {
			begin = s.at
		}
		if k+1 < len(all) {
			end = min(end, all[k+1].at)
		}
		if len(both(parts, []span{{begin, end}})) > 0 && !slices.Contains(values, s.value) {
			values = append(values, s.value)
		}
	}
	return values
}
