package importer_test

import (
	"cmp"
	"context"
	"errors"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/dgm-robotics/dgm/bridge/importer"
	"github.com/dgm-robotics/dgm/bridge/telemetry"
	"github.com/dgm-robotics/dgm/bridge/timebase"
	"github.com/dgm-robotics/dgm/estimator/flightlog"
)

// msg is one message of an invented log: topic (behind ! its sender), time in ms, values. Of the topic "set NAME" it is a
// setting of the robot.
type msg struct {
	topic  string
	ms     int64
	values []float64
}

// invented is a log in memory. It implements telemetry.Source.
type invented struct {
	fields   map[string][]telemetry.Field
	kinds    map[string]string                  // of topics, where they have others than their names with _msg
	clock    map[string]string                  // of topics; "" = the recorder's
	behind   map[string]int64                   // ns, of clocks
	stamp    func(ms int64) int64               // of a message of a clock, ms; nil = when it was recorded
	moved    func(topic string, ms int64) int64 // ms, what is added to the stamp of a message; nil = nothing
	untimed  bool                               // there are no times of recording
	msgs     []msg
	problems telemetry.Problems
	settings map[string]float64 // of the robot
	texts    []string           // of the robot
	atFirst  map[string]int     // how many fields of a topic its first message shows, where arrays are empty

	wants  telemetry.Wants
	next   int
	topics map[string]*telemetry.Topic
	paths  map[string][]string
}

func (s *invented) open(_ string, wants telemetry.Wants) (telemetry.Source, error) {
	c := *s
	c.wants, c.topics, c.paths, c.atFirst = wants, map[string]*telemetry.Topic{}, map[string][]string{}, maps.Clone(s.atFirst)
	for name, v := range c.settings {
		wants.Set(name, v)
	}
	for _, text := range c.texts {
		wants.Say(0, text)
	}
	return &c, nil
}

func (s *invented) Next() (*telemetry.Message, error) {
	if s.next == len(s.msgs) {
		return nil, io.EOF
	}
	m := s.msgs[s.next]
	s.next++
	if name, ok := strings.CutPrefix(m.topic, "set "); ok {
		s.wants.Set(name, m.values[0])
		return s.Next()
	}
	fields := s.fields[m.topic]
	t := s.topics[m.topic]
	if t != nil {
		delete(s.atFirst, m.topic)
	}
	if t == nil {
		plain, sender, several := strings.Cut(m.topic, "!")
		name, number, _ := strings.Cut(plain, "#")
		instance, _ := strconv.Atoi(number)
		t = &telemetry.Topic{Name: name, Kind: cmp.Or(s.kinds[name], name+"_msg"), Instance: instance, Seq: len(s.topics), Clock: timebase.Sender{Name: s.clock[m.topic]},
			Fields: func() []telemetry.Field { return fields[:cmp.Or(s.atFirst[m.topic], len(fields))] },
			Check: func(path string) error {
				if !slices.ContainsFunc(fields, func(f telemetry.Field) bool { return f.Path == path }) {
					return errors.New("there is no such field")
				}
				return nil
			}}
		if several {
			t.Sender = []telemetry.Text{{Path: "frame_id", Value: sender}}
		}
		s.topics[m.topic] = t
		s.paths[m.topic] = s.wants.Paths(t)
	}
	out := &telemetry.Message{Topic: t, Time: m.ms * 1e6, Logged: m.ms * 1e6, Stamped: t.Clock.Name != ""}
	if s.stamp != nil && out.Stamped {
		out.Time = s.stamp(m.ms) * 1e6
	}
	if s.moved != nil && out.Stamped {
		out.Time += s.moved(m.topic, m.ms) * 1e6
	}
	if s.untimed {
		out.Logged = 0
	}
	out.Time -= s.behind[t.Clock.Name]
	for _, p := range s.paths[m.topic] {
		out.Values = append(out.Values, m.values[slices.IndexFunc(fields, func(f telemetry.Field) bool { return f.Path == p })])
	}
	return out, nil
}

func (s *invented) Problems() *telemetry.Problems { return &s.problems }
func (s *invented) Consumed() int64               { return int64(s.next) }
func (s *invented) Size() int64                   { return int64(len(s.msgs)) }
func (s *invented) Until(<-chan struct{})         {}
func (s *invented) Close() error                  { return nil }

// names makes fields without units.
func names(all ...string) (f []telemetry.Field) {
	for _, n := range all {
		f = append(f, telemetry.Field{Path: n})
	}
	return f
}

// runAll imports invented logs that must be right, as several files.
func runAll(t *testing.T, text string, all ...*invented) (*flightlog.Log, *importer.Summary) {
	t.Helper()
	m, err := importer.ParseMap("map.toml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	of := map[string]*invented{}
	var in []string
	for i, s := range all {
		in = append(in, strconv.Itoa(i)+".log")
		of[in[i]] = s
	}
	out := filepath.Join(t.TempDir(), "flight.msgpack")
	sum, err := importer.Import(context.Background(), importer.Job{Format: "invented", Map: m, Inputs: in, Out: out,
		Open: func(path string, w telemetry.Wants) (telemetry.Source, error) { return of[path].open(path, w) }})
	if err != nil {
		t.Fatal(err)
	}
	log, err := flightlog.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	return log, sum
}

// run imports an invented log that must be right.
func run(t *testing.T, s *invented, text string, all bool) (*flightlog.Log, *importer.Summary) {
	t.Helper()
	sum, out, err := try(t, s, text, all)
	if err != nil {
		t.Fatal(err)
	}
	log, err := flightlog.ReadFile(out)
	if err != nil || log.Damage != nil {
		t.Fatal(err, log)
	}
	return log, sum
}

func try(t *testing.T, s *invented, text string, all bool) (sum *importer.Summary, out string, err error) {
	t.Helper()
	m, err := importer.ParseMap("map.toml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	out = filepath.Join(dir, "flight.msgpack")
	sum, err = importer.Import(context.Background(), importer.Job{Format: "invented", Open: s.open, Map: m, Inputs: []string{filepath.Join(dir, "a.log")}, Out: out, All: all})
	if err != nil {
		if left, _ := os.ReadDir(dir); len(left) != 0 {
			t.Errorf("a failed import left %v", left)
		}
	}
	return sum, out, err
}
