package crazyflie_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dgm-robotics/dgm/bridge/crazyflie"
	"github.com/dgm-robotics/dgm/bridge/importer"
	"github.com/dgm-robotics/dgm/bridge/telemetry"
	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/flightlog"
)

// card writes logs by the published description of the format.
type card struct {
	bytes.Buffer
	version uint16
}

func (c *card) put(values ...any) {
	for _, v := range values {
		if s, ok := v.(string); ok {
			c.WriteString(s + "\x00")
		} else if err := binary.Write(c, binary.LittleEndian, v); err != nil {
			panic(err)
		}
	}
}

// newLog begins a log with kinds of events: names followed by their variables.
func newLog(version uint16, kinds ...[]string) *card {
	c := &card{version: version}
	c.put(uint8(crazyflie.Magic), version, uint16(len(kinds)))
	for i, k := range kinds {
		c.put(uint16(i), k[0], uint16(len(k)-1))
		for _, v := range k[1:] {
			c.put(v)
		}
	}
	return c
}

// event writes an event at a time in µs.
func (c *card) event(id uint16, us int64, values ...any) {
	c.put(id)
	if c.version == 1 {
		c.put(uint32(us / 1000))
	} else {
		c.put(uint64(us))
	}
	c.put(values...)
}

// done appends the checksum.
func (c *card) done() []byte {
	return binary.LittleEndian.AppendUint32(bytes.Clone(c.Bytes()), crc32.ChecksumIEEE(c.Bytes()))
}

type got struct {
	topics   []string
	times    []int64
	values   [][]float64
	problems []telemetry.Problem
	err      error
}

func read(t testing.TB, log []byte) (g got) {
	t.Helper()
	r := crazyflie.NewReader("log00", bytes.NewReader(log), telemetry.Wants{Select: func(t *telemetry.Topic) (paths []string) {
		for _, f := range t.Fields() {
			paths = append(paths, f.Path)
		}
		return paths
	}})
	for {
		m, err := r.Next()
		if err != nil {
			if !errors.Is(err, io.EOF) {
				g.err = err
			}
			break
		}
		g.topics = append(g.topics, m.Topic.Name)
		g.times = append(g.times, m.Time)
		g.values = append(g.values, append([]float64(nil), m.Values...))
	}
	g.problems = r.Problems().All()
	return g
}

func TestBothVersionsAndEveryType(t *testing.T) {
	for _, version := range []uint16{1, 2} {
		c := newLog(version, []string{"fixedFrequency", "a.b(b)", "a.B(B)", "a.h(h)", "a.H(H)", "a.i(i)", "a.I(I)", "a.f(f)", "a.d(d)", "a.q(q)", "a.Q(Q)", "a.e(e)", "a.t(?)"}, []string{"empty"}, []string{"gyro", "x(f)"})
		c.event(0, 5000, int8(-1), uint8(255), int16(-2), uint16(65535), int32(-3), uint32(math.MaxUint32), float32(1.5), -2.25, int64(-4), uint64(5), uint16(0x3C00), uint8(1))
		c.event(2, 6000, float32(7))
		c.event(1, 7000)
		g := read(t, c.done())
		if d := cmp.Diff([][]float64{{-1, 255, -2, 65535, -3, math.MaxUint32, 1.5, -2.25, -4, 5, 1, 1}, {7}, nil}, g.values); d != "" {
			t.Error(version, d)
		}
		if d := cmp.Diff([]int64{5e6, 6e6, 7e6}, g.times); d != "" {
			t.Error(version, d)
		}
		if d := cmp.Diff([]string{"fixedFrequency", "gyro", "empty"}, g.topics); d != "" || len(g.problems) != 0 || g.err != nil {
			t.Error(version, d, g.problems, g.err)
		}
	}
}

// steps is a log of n events, 17 bytes each behind the head.
func steps(n int) (log []byte, head int) {
	c := newLog(2, []string{"f", "n(f)", "c(B)", "k(H)"})
	head = c.Len()
	for i := range n {
		c.event(0, int64(1000*i), float32(i), uint8(i), uint16(i))
	}
	return c.done(), head
}

const stepSize = 2 + 8 + 4 + 1 + 2

func TestCutOffAndChecksum(t *testing.T) {
	whole, head := steps(10)
	for cut := head; cut < len(whole); cut++ {
		g := read(t, whole[:cut])
		// The last four bytes before the cut could be the checksum.
		if n := max(0, cut-head-4) / stepSize; len(g.values) != n || len(g.problems) != 1 || g.err != nil {
			t.Fatalf("cut at %d: %d events of %d, %v, %v", cut, len(g.values), n, g.problems, g.err)
		}
	}
	flipped := bytes.Clone(whole)
	flipped[head+3*stepSize+12] ^= 1
	if g := read(t, flipped); len(g.values) != 10 || len(g.problems) != 1 || g.problems[0].Record != "checksum" || g.problems[0].Offset != int64(len(whole)-4) {
		t.Errorf("a flipped bit: %d events, %v", len(g.values), g.problems)
	}
}

func TestDamage(t *testing.T) {
	whole, head := steps(50)
	at := head + 20*stepSize
	for what, change := range map[string]func([]byte){
		"kind":         func(b []byte) { b[0] = 9 },
		"zeros":        func(b []byte) { copy(b, bytes.Repeat([]byte{0xff}, 2*stepSize+3)) },
		"another file": func(b []byte) { copy(b, "GIF89a a picture that was written over the log by a broken card") },
	} {
		b := bytes.Clone(whole)
		change(b[at:])
		g := read(t, b)
		if len(g.values) < 45 || len(g.values) > 49 || g.values[len(g.values)-1][0] != 49 || g.err != nil {
			t.Errorf("%s: %d events, %v", what, len(g.values), g.err)
		}
		if len(g.problems) != 2 || g.problems[0].Offset != int64(at) || g.problems[1].Record != "checksum" {
			t.Errorf("%s: problems %v, expected one at byte %d, and the checksum", what, g.problems, at)
		}
	}
}

func TestRefusals(t *testing.T) {
	bad := func(version uint16, rest ...any) []byte {
		c := &card{}
		c.put(uint8(crazyflie.Magic), version)
		c.put(rest...)
		return c.Bytes()
	}
	for _, c := range []struct {
		log  []byte
		want string
	}{
		{nil, "this is no log of a Crazyflie"},
		{[]byte("time,x\n1,2\n"), "it begins with 74 69 6d"},
		{bad(3, uint16(0)), "version 3 is not known"},
		{bad(2, uint16(2000)), "2000 kinds of events"},
		{bad(2, uint16(1), uint16(0)), "it is cut off"},
		{bad(2, uint16(1), uint16(0), "f", uint16(1), "gyro.x"), `"gyro.x" is not a name and a type`},
		{bad(2, uint16(1), uint16(0), "f", uint16(1), "gyro.x(z)"), "has a type that is not known"},
		{bad(2, uint16(1), uint16(0), "f", uint16(65535)), "more than 4096 variables"},
		{bad(2, uint16(2), uint16(0), "f", uint16(0), uint16(0), "g", uint16(0)), `event "g" has the number 0 of "f"`},
	} {
		if g := read(t, c.log); g.err == nil || !strings.Contains(g.err.Error(), c.want) || !strings.HasPrefix(g.err.Error(), "log00: byte ") {
			t.Errorf("%q: %v, want %s", c.log, g.err, c.want)
		}
	}
}

// A flight whose truth is known, by the preset: turned into the axes and units of
// the log, the ground cut away.
func TestPreset(t *testing.T) {
	c := newLog(2, []string{"fixedFrequency", "stateEstimate.x(f)", "stateEstimate.y(f)", "stateEstimate.z(f)", "stateEstimate.vx(f)", "stateEstimate.vy(f)", "stateEstimate.vz(f)",
		"stateEstimate.roll(f)", "stateEstimate.pitch(f)", "stateEstimate.yaw(f)", "gyro.x(f)", "gyro.y(f)", "gyro.z(f)", "motor.m1(H)", "motor.m2(H)", "motor.m3(H)", "motor.m4(H)", "pm.vbat(f)", "supervisor.info(H)"})
	for i := range 500 {
		s := 0.01 * float64(i)
		info := uint16(11)
		if i >= 100 && i < 400 {
			info |= 16
		}
		f := func(v float64) float32 { return float32(v) }
		// Nose 10° down is a negative pitch in the firmware and a positive one in flu.
		c.event(0, int64(10_000*i), f(math.Sin(s)), f(2), f(1), f(math.Cos(s)), f(0), f(0), f(5), f(-10), f(90), f(180), f(90), f(-180), uint16(65535), uint16(0), uint16(32768), uint16(100), f(3.6), info)
	}
	path := filepath.Join(t.TempDir(), "log00")
	if err := os.WriteFile(path, c.done(), 0o666); err != nil {
		t.Fatal(err)
	}
	m, err := importer.Preset("crazyflie")
	if err != nil {
		t.Fatal(err)
	}
	out := path + ".msgpack"
	s, err := importer.Import(context.Background(), importer.Job{Format: "crazyflie", Map: m, Inputs: []string{path}, Out: out,
		Open: func(path string, w telemetry.Wants) (telemetry.Source, error) { return crazyflie.Open(path, w) }})
	if err != nil {
		t.Fatal(err)
	}
	log, err := flightlog.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	if s.Rows != 300 || len(log.Segments) != 1 || log.Segments[0].T[0] != 1e9 {
		t.Fatalf("%+v", s)
	}
	seg := log.Segments[0]
	K := len(channel.Select(log.Channels, channel.State))
	want := []float64{math.Sin(1), 2, 1, math.Cos(1), 0, 0, 5 * math.Pi / 180, 10 * math.Pi / 180, math.Pi / 2, math.Pi, math.Pi / 2, -math.Pi}
	for k, w := range want {
		if math.Abs(seg.X[k]-w) > 1e-6 {
			t.Errorf("%s: %v, want %v", log.Channels[k].Name, seg.X[k], w)
		}
	}
	if K != len(want) || math.Abs(seg.U[0]-0.9) > 1e-6 || math.Abs(seg.U[2]-0.45) > 1e-4 || math.Abs(seg.Aux[0]-3.6) > 1e-6 {
		t.Errorf("%d states, inputs %v, battery %v", K, seg.U[:4], seg.Aux[0])
	}
}

// Whatever the bytes are, reading ends, and problems have a place in them.
func FuzzReader(f *testing.F) {
	short, _ := steps(3)
	f.Add(short)
	c := newLog(1, []string{"a", "x(?)"}, []string{"b"})
	c.event(1, 1)
	f.Add(c.done())
	f.Fuzz(func(t *testing.T, log []byte) {
		g := read(t, log)
		for i, at := range g.times {
			if at < 0 {
				t.Fatalf("event %d at time %d", i, at)
			}
		}
		for _, p := range g.problems {
			if p.Offset < 0 || p.Offset > int64(len(log)) || p.Reason == "" || p.Record == "" {
				t.Fatalf("problem %+v of a log of %d bytes", p, len(log))
			}
		}
		if g.err != nil && strings.Contains(fmt.Sprint(g.err), "\n") {
			t.Fatal(g.err)
		}
	})
}
