package importer_test

import (
	"context"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dgm-robotics/dgm/bridge/importer"
	"github.com/dgm-robotics/dgm/bridge/telemetry"
	"github.com/dgm-robotics/dgm/bridge/timebase"
	"github.com/dgm-robotics/dgm/estimator/flightlog"
)

// noted is one message of a log that is changed: of topic 0, a state with stamps of a clock, or
// of topic 1, an input without.
type noted struct {
	topic         int
	stamp, logged int64
	v             float64
}

// changed is a log of these messages. It implements telemetry.Source.
type changed struct {
	all    []noted
	n      int
	topics [2]*telemetry.Topic
	wanted [2]bool
}

func (c *changed) open(_ string, w telemetry.Wants) (telemetry.Source, error) {
	s := &changed{all: c.all}
	seq := 0
	for _, m := range c.all { // in the order of their first messages
		if s.topics[m.topic] == nil {
			t := &telemetry.Topic{
				Name: []string{"pos", "cmd"}[m.topic], Seq: seq, Clock: timebase.Sender{Name: []string{"robot", ""}[m.topic]},
				Fields: func() []telemetry.Field { return names("v") },
				Check: func(path string) error {
					if path != "v" {
						return fmt.Errorf("no %s", path)
					}
					return nil
				},
			}
			seq++
			s.topics[m.topic], s.wanted[m.topic] = t, len(w.Paths(t)) > 0
		}
	}
	return s, nil
}

func (c *changed) Next() (*telemetry.Message, error) {
	if c.n == len(c.all) {
		return nil, io.EOF
	}
	m := c.all[c.n]
	c.n++
	out := &telemetry.Message{Topic: c.topics[m.topic], Time: m.logged, Logged: m.logged}
	if m.topic == 0 {
		out.Time, out.Stamped = m.stamp, true
	}
	if c.wanted[m.topic] {
		out.Values = []float64{m.v}
	}
	return out, nil
}

func (c *changed) Problems() *telemetry.Problems { return &telemetry.Problems{} }
func (c *changed) Consumed() int64               { return int64(c.n) }
func (c *changed) Size() int64                   { return int64(len(c.all)) }
func (c *changed) Until(<-chan struct{})         {}
func (c *changed) Close() error                  { return nil }

const changedMap = `vehicle = "v"
[[channel]]
name = "x"
topic = "pos"
field = "v"
role = "state"
[[channel]]
name = "u"
topic = "cmd"
field = "v"
role = "input"
`

// walk is 600 states at 50 Hz, and commands between them.
func walk() (all []noted) {
	for i := range int64(600) {
		at := 1_700_000_000e9 + 20e6*i
		all = append(all, noted{0, at, at + 2e6, math.Sin(0.01 * float64(i))}, noted{1, 0, at + 3e6, float64(i)})
	}
	return all
}

// What happens to logs, two at a time: every state is there, with the command that was given
// before it, or the import says what it left out. A change that is made twice makes more parts.
func TestChangedLogs(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 8))
	from := func(i int, logged, stamp int64) func([]noted) []noted {
		return func(n []noted) []noted {
			for k := i; k < len(n); k++ {
				n[k].logged += logged
				n[k].stamp += stamp
			}
			return n
		}
	}
	changes := []struct {
		name  string
		apply func([]noted) []noted
		parts int // that it may make
	}{
		{"robot's clock an hour behind", from(0, 0, -3600e9), 0},
		{"robot's clock ahead by .3 s", from(0, 0, 0.3e9), 0},
		{"robot's clock from 0", from(0, 0, -1_700_000_000e9), 0},
		{"both set back by 2 s", from(500, -2e9, -2e9), 1},
		{"both set back by .5 s", from(700, -0.5e9, -0.5e9), 1},
		{"both set ahead by 10 min", from(800, 600e9, 600e9), 2},
		{"robot set back by 5 s", from(600, 0, -5e9), 1},
		{"robot starts again", from(400, 20e9, -3000e9), 2},
		{"recorder set back by 3 s", from(640, -3e9, 0), 1},
		{"a pause of 30 s", from(300, 30e9, 30e9), 1},
		{"topic after topic", func(n []noted) []noted {
			slices.SortStableFunc(n, func(a, b noted) int { return a.topic - b.topic })
			return n
		}, 0},
		{"neighbours turned", func(n []noted) []noted {
			for i := 10; i+4 < len(n); i += 50 {
				n[i], n[i+2] = n[i+2], n[i]
			}
			return n
		}, 0},
		{"a wild stamp", func(n []noted) []noted {
			return slices.Insert(n, 250, noted{0, 4e18, n[250].logged, 99})
		}, 0},
		{"doubled", func(n []noted) (out []noted) {
			for _, m := range n {
				out = append(out, m, m)
			}
			return out
		}, 0},
		{"in no order", func(n []noted) []noted {
			rng.Shuffle(len(n), func(i, k int) { n[i], n[k] = n[k], n[i] })
			return n
		}, 0},
	}
	m, err := importer.ParseMap("map.toml", []byte(changedMap))
	if err != nil {
		t.Fatal(err)
	}
	tried := 0
	for _, a := range changes {
		for _, b := range changes {
			name := a.name + ", then " + b.name
			// What has no order shows no clock that was set, and no stamp that is far from its
			// neighbours.
			if a.name == "in no order" && b.name != a.name || b.name == "in no order" && (a.parts > 0 || a.name == "a wild stamp") {
				continue
			}
			// Of a topic that comes after all others nothing shows which of its messages are of
			// which start, but where it goes back itself.
			if a.name == "topic after topic" && b.parts > 0 || b.name == "topic after topic" && a.parts > 0 {
				continue
			}
			tried++
			s := &changed{all: b.apply(a.apply(walk()))}
			out := filepath.Join(t.TempDir(), "a.msgpack")
			sum, err := importer.Import(context.Background(), importer.Job{Format: "changed", Open: s.open, Map: m, Inputs: []string{"a.log"}, Out: out, AllowLoss: true})
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			log, err := flightlog.ReadFile(out)
			if err != nil {
				t.Fatal(err)
			}
			rows, missing, wrong := 0, 0, 0
			for _, seg := range log.Segments {
				for i := range seg.T {
					rows++
					k := math.Round(100 * math.Asin(math.Min(1, math.Abs(seg.X[i]))))
					switch u := seg.U[i]; {
					case math.IsNaN(u):
						missing++
					case seg.X[i] > 0.999, seg.X[i] < -0.2, k == 0: // not invertible
					case u < 157 && math.Abs(k-u-1) > 1.01 && math.Abs(seg.X[i]-math.Sin(0.01*(u+1))) > 0.02:
						wrong++
					}
				}
			}
			if parts := a.parts + b.parts; rows != 600 || missing > 3+parts || wrong > 1+parts || len(log.Segments) > 1+parts {
				t.Errorf("%s: %d rows, %d without a command, %d with another one, %d segments\n%s", name, rows, missing, wrong, len(log.Segments), strings.Join(sum.Texts(), "\n"))
			}
		}
	}
	if tried < 150 {
		t.Error(tried)
	}
}
