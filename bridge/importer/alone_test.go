package importer_test

import (
	"math"
	"strings"
	"testing"

	"github.com/dgm-robotics/dgm/bridge/telemetry"
)

// Stamps of one topic jump, those of two others of its clock do not: its messages stay with those that were recorded at their time.
func TestStampsOfOneTopicJump(t *testing.T) {
	const always = 1_000_000 // all stamps are off, not only those of the second half
	for name, c := range map[string]struct {
		jumps string // the topic
		by    int64  // ms
	}{
		"input, ahead":     {"servo", 5000},
		"input, back":      {"servo", -5000},
		"input, little":    {"servo", 300},
		"input, far":       {"servo", 200_000},
		"a state":          {"attitude", -3000},
		"of the rows":      {"pos", 700},
		"of the rows back": {"pos", -700},
		"all of an input":  {"servo", always + 3000},
		"all of the rows":  {"pos", always + 4000},
	} {
		s := &invented{fields: map[string][]telemetry.Field{"pos": names("x"), "attitude": names("a"), "servo": names("u")},
			clock: map[string]string{"pos": "1/1", "attitude": "1/1", "servo": "1/1"}}
		const half = 20_000
		s.moved = func(topic string, ms int64) int64 {
			switch {
			case topic != c.jumps:
			case c.by >= always:
				return c.by - always
			case ms > half:
				return c.by
			}
			return 0
		}
		for ms := int64(0); ms < 2*half; ms += 50 {
			for k, topic := range []string{"pos", "attitude", "servo"} {
				at := ms + 7*int64(k)
				s.msgs = append(s.msgs, msg{topic, at, []float64{float64(at)}})
			}
		}
		log, sum := run(t, s, `
vehicle = "q"
[time]
base = "pos"
[[channel]]
name = "x"
topic = "pos"
field = "x"
role = "state"
[[channel]]
name = "a"
topic = "attitude"
field = "a"
role = "state"
[[channel]]
name = "u"
topic = "servo"
field = "u"
role = "input"
`, false)
		rows, used := 0, 0
		for _, seg := range log.Segments {
			for i := range seg.T {
				x, a, u := seg.X[2*i], seg.X[2*i+1], seg.U[i]
				rows++
				if math.IsNaN(a) || math.IsNaN(u) {
					continue
				}
				if used++; math.Abs(a-x) > 3 || u > x || u < x-60 { // ms
					t.Fatalf("%s: with x of %v ms, a is of %v ms and u of %v ms", name, x, a, u)
				}
			}
		}
		if remarks := strings.Join(sum.Texts(), "\n"); used < rows-10 || rows < 790 || !strings.Contains(remarks, "the stamps of "+c.jumps+" jump, or are off, where those of other topics of their clock are not") {
			t.Errorf("%s: %d of %d rows complete; %s", name, used, rows, remarks)
		}
	}
}
