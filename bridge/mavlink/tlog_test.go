package mavlink_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bluenviron/gomavlib/v3/pkg/dialects/common"
	"github.com/bluenviron/gomavlib/v3/pkg/frame"
	"github.com/bluenviron/gomavlib/v3/pkg/message"
	"github.com/bluenviron/gomavlib/v3/pkg/tlog"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/dgm-robotics/dgm/bridge/mavlink"
	"github.com/dgm-robotics/dgm/bridge/telemetry"
)

// start is when the first packet of a log came.
var start = time.Unix(1_700_000_000, 0)

// layouts are those of the messages that were written, *message.ReadWriter by number.
var layouts sync.Map

// station writes a log as a ground station does, by the library.
type station struct{ bytes.Buffer }

// packet writes a packet that came ms after the start.
func (s *station) packet(t testing.TB, ms int, version int, system, component byte, m message.Message) {
	t.Helper()
	known, ok := layouts.Load(m.GetID())
	if !ok {
		rw := &message.ReadWriter{Message: m}
		if err := rw.Initialize(); err != nil {
			t.Fatal(err)
		}
		known, _ = layouts.LoadOrStore(m.GetID(), rw)
	}
	rw := known.(*message.ReadWriter)
	var f frame.Frame
	if version == 1 {
		v1 := &frame.V1Frame{SystemID: system, ComponentID: component, Message: rw.Write(m, false)}
		v1.Checksum = v1.GenerateChecksum(rw.CRCExtra())
		f = v1
	} else {
		v2 := &frame.V2Frame{SystemID: system, ComponentID: component, Message: rw.Write(m, true)}
		if version == 3 { // signed; the signature is not checked, as its key is secret
			v2.IncompatibilityFlag, v2.Signature = frame.V2FlagSigned, &frame.V2Signature{1, 2, 3, 4, 5, 6}
		}
		v2.Checksum = v2.GenerateChecksum(rw.CRCExtra())
		f = v2
	}
	w := &tlog.Writer{ByteWriter: s}
	if err := w.Initialize(); err != nil {
		t.Fatal(err)
	}
	if err := w.Write(&tlog.Entry{Time: start.Add(time.Duration(ms) * time.Millisecond), Frame: f}); err != nil {
		t.Fatal(err)
	}
}

type got struct {
	topics   []string
	clocks   []string
	times    []int64
	stamped  []bool
	values   [][]float64
	problems []telemetry.Problem
	texts    []string
}

func read(t testing.TB, log []byte) (g got) {
	t.Helper()
	r := mavlink.NewTlog("a.tlog", bytes.NewReader(log), telemetry.Wants{
		Text: func(_ int64, text string) { g.texts = append(g.texts, text) },
		Select: func(t *telemetry.Topic) (paths []string) {
			for _, f := range t.Fields() {
				paths = append(paths, f.Path)
			}
			return paths
		}})
	for {
		m, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		g.topics = append(g.topics, m.Topic.String())
		g.clocks = append(g.clocks, m.Topic.Clock.String())
		g.times = append(g.times, m.Time)
		g.stamped = append(g.stamped, m.Stamped)
		g.values = append(g.values, append([]float64(nil), m.Values...))
		if m.Logged < 1e18 {
			t.Fatalf("came at %d", m.Logged)
		}
	}
	g.problems = r.Problems().All()
	return g
}

func TestVersionsSendersAndStamps(t *testing.T) {
	var s station
	att := &common.MessageAttitude{TimeBootMs: 5000, Roll: 0.5, Pitch: -0.25, Yawspeed: 2}
	s.packet(t, 0, 1, 255, 190, &common.MessageHeartbeat{Type: 6, BaseMode: 192})
	s.packet(t, 1, 2, 1, 1, &common.MessageHeartbeat{Type: 2, BaseMode: 128, CustomMode: 7})
	s.packet(t, 2, 1, 1, 1, att)
	s.packet(t, 3, 2, 1, 1, att)
	s.packet(t, 4, 3, 1, 1, att)
	s.packet(t, 5, 2, 1, 100, &common.MessageHighresImu{TimeUsec: 1_700_000_000_000_000, Xgyro: 1})
	s.packet(t, 6, 2, 1, 1, &common.MessageHighresImu{TimeUsec: 6_000_000, Xgyro: 2})
	s.packet(t, 7, 2, 1, 1, &common.MessageStatustext{Severity: 6, Text: "Takeoff"})
	s.packet(t, 8, 2, 1, 1, &common.MessageBatteryStatus{Temperature: -5, Voltages: [10]uint16{16000, 65535}})
	g := read(t, s.Bytes())
	if d := cmp.Diff([]string{"HEARTBEAT#1", "HEARTBEAT", "ATTITUDE", "ATTITUDE", "ATTITUDE", "HIGHRES_IMU#1", "HIGHRES_IMU", "STATUSTEXT", "BATTERY_STATUS"}, g.topics); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{"", "", "1/1", "1/1", "1/1", "1/100 (synchronised)", "1/1", "", ""}, g.clocks); d != "" {
		t.Error(d)
	}
	came := start.UnixNano()
	if d := cmp.Diff([]int64{came, came + 1e6, 5e9, 5e9, 5e9, 1_700_000_000e9, 6e9, came + 7e6, came + 8e6}, g.times); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]bool{false, false, true, true, true, true, true, false, false}, g.stamped); d != "" {
		t.Error(d)
	}
	for i := 2; i < 5; i++ {
		if d := cmp.Diff([]float64{5000, 0.5, -0.25, 0, 0, 0, 2}, g.values[i]); d != "" {
			t.Error(i, d)
		}
	}
	if v := g.values[8]; v[3] != -5 || v[4] != 16000 || v[5] != 65535 {
		t.Error(v)
	}
	if d := cmp.Diff([]string{"Takeoff"}, g.texts); d != "" || len(g.problems) > 0 {
		t.Error(d, g.problems)
	}
}

// Outputs of two ports, which one sender reports in turns, are instances: the first port is instance 0, whichever comes first.
func TestPorts(t *testing.T) {
	var s station
	for i := range 4 {
		port := uint8(1 - i%2)
		s.packet(t, i, 2, 1, 1, &common.MessageServoOutputRaw{TimeUsec: 9000, Port: port, Servo1Raw: 1000 + uint16(port)})
	}
	g := read(t, s.Bytes())
	if d := cmp.Diff([]string{"SERVO_OUTPUT_RAW#1", "SERVO_OUTPUT_RAW", "SERVO_OUTPUT_RAW#1", "SERVO_OUTPUT_RAW"}, g.topics); d != "" || g.values[0][2] != 1001 || g.values[1][2] != 1000 {
		t.Error(d, g.values)
	}
}

// Extensions that a sender does not know are not measured; of one that does, zeros that were cut off are zeros.
func TestExtensions(t *testing.T) {
	var s station
	for i, ninth := range []uint16{0, 1500, 0} {
		s.packet(t, 2*i, 2, 1, 1, &common.MessageServoOutputRaw{TimeUsec: 1000, Servo1Raw: 1100, Servo9Raw: ninth})
		s.packet(t, 2*i+1, 1, 2, 1, &common.MessageServoOutputRaw{TimeUsec: 1000, Servo1Raw: 1100, Servo9Raw: ninth})
	}
	r := mavlink.NewTlog("a.tlog", bytes.NewReader(s.Bytes()), telemetry.Wants{Select: func(*telemetry.Topic) []string { return []string{"servo1_raw", "servo8_raw", "servo9_raw"} }})
	nan := math.NaN()
	for i, want := range [][]float64{{1100, 0, nan}, {1100, 0, nan}, {1100, 0, 1500}, {1100, 0, nan}, {1100, 0, 0}, {1100, 0, nan}} {
		m, err := r.Next()
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want, m.Values, cmpopts.EquateNaNs()); d != "" {
			t.Errorf("message %d: %s", i, d)
		}
	}
}

func TestPaths(t *testing.T) {
	var s station
	s.packet(t, 0, 2, 1, 1, &common.MessageBatteryStatus{Voltages: [10]uint16{1, 2, 3}})
	s.packet(t, 0, 2, 1, 1, &common.MessageStatustext{})
	for path, want := range map[string]string{
		"voltages[2]": "", "temperature": "",
		"voltages":     "voltages is an array of 10: write voltages[0]",
		"voltages[10]": "voltages has 10 elements, [0] to [9]",
		"id[0]":        "id is not an array",
		"nix":          `there is no "nix"`,
	} {
		r := mavlink.NewTlog("a.tlog", bytes.NewReader(s.Bytes()), telemetry.Wants{Select: func(*telemetry.Topic) []string { return []string{path} }})
		_, err := r.Next()
		var missing *telemetry.FieldError
		if want == "" && err != nil || want != "" && (!errors.As(err, &missing) || missing.Why != want) {
			t.Errorf("%s: %v, want %s", path, err, want)
		}
	}
}

// attitudes is a log of n packets, whose roll is their number, and the offsets of
// the packets.
func attitudes(t testing.TB, n int) (log []byte, at []int) {
	var s station
	for i := range n {
		at = append(at, s.Len())
		s.packet(t, i, 1+i%2, 1, 1, &common.MessageAttitude{TimeBootMs: uint32(1000 + i), Roll: float32(i), Yawspeed: 1})
	}
	return s.Bytes(), append(at, s.Len())
}

func TestCutOff(t *testing.T) {
	whole, at := attitudes(t, 6)
	for cut := 1; cut < len(whole); cut++ {
		g := read(t, whole[:cut])
		n := 0
		for n+1 < len(at) && at[n+1] <= cut {
			n++
		}
		if len(g.values) != n || (at[n] == cut) != (len(g.problems) == 0) {
			t.Fatalf("cut at %d: %d packets of %d, %v", cut, len(g.values), n, g.problems)
		}
	}
}

func TestDamage(t *testing.T) {
	whole, offsets := attitudes(t, 40)
	at := offsets[20]
	for what, change := range map[string]func([]byte){
		"time":         func(b []byte) { b[0] = 0xff },
		"magic":        func(b []byte) { b[8] = 7 },
		"length":       func(b []byte) { b[9] = 200 },
		"payload":      func(b []byte) { b[20] ^= 1 },
		"zeros":        func(b []byte) { clear(b[:100]) },
		"another file": func(b []byte) { copy(b, "GIF89a a picture that was written over the log by a broken card") },
	} {
		b := bytes.Clone(whole)
		change(b[at:])
		g := read(t, b)
		if len(g.values) < 36 || len(g.values) > 39 || g.values[len(g.values)-1][1] != 39 {
			t.Errorf("%s: %d packets", what, len(g.values))
		}
		if len(g.problems) != 1 || g.problems[0].Offset != int64(at) {
			t.Errorf("%s: problems %v, expected one at byte %d", what, g.problems, at)
		}
	}
}

// A message of a newer definition is skipped alone, and reported once.
func TestUnknownMessages(t *testing.T) {
	whole, at := attitudes(t, 4)
	b := bytes.Clone(whole[at[1]:at[2]]) // version 2
	b[8+7], b[8+8], b[8+9] = 0x11, 0x22, 0x33
	log := bytes.Join([][]byte{whole[:at[1]], b, b, whole[at[1]:], b}, nil)
	g := read(t, log)
	if len(g.values) != 4 || len(g.problems) != 1 || g.problems[0].Offset != int64(at[1]) || !strings.Contains(fmt.Sprint(g.problems), "is not defined here") {
		t.Errorf("%d packets, %v", len(g.values), g.problems)
	}
}

func TestOpenRefuses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.tlog")
	if err := os.WriteFile(path, []byte("time,x\n1,2\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := mavlink.Open(path, telemetry.Wants{}); err == nil || !strings.Contains(err.Error(), "this is no telemetry log") {
		t.Error(err)
	}
}

// Whatever the bytes are, reading ends, and problems have a place in them.
func FuzzTlog(f *testing.F) {
	short, _ := attitudes(f, 3)
	f.Add(short)
	var s station
	s.packet(f, 0, 3, 1, 1, &common.MessageStatustext{Text: "x"})
	s.packet(f, 0, 2, 9, 9, &common.MessageHighresImu{TimeUsec: 1 << 63})
	f.Add(s.Bytes())
	f.Fuzz(func(t *testing.T, log []byte) {
		g := read(t, log)
		for i, at := range g.times {
			if at < 0 {
				t.Fatalf("packet %d of %s at time %d", i, g.topics[i], at)
			}
		}
		for _, p := range g.problems {
			if p.Offset < 0 || p.Offset > int64(len(log)) || p.Reason == "" || p.Record == "" {
				t.Fatalf("problem %+v of a log of %d bytes", p, len(log))
			}
		}
	})
}

// Times whose low byte is first, as some recorders write them, are those of the same log with the high byte first, also behind damage.
func TestTimesWithTheLowByteFirst(t *testing.T) {
	const n = 30
	var s station
	var little []byte
	for i := range n {
		begin := s.Len()
		s.packet(t, 20*i, 1+i%2, 1, 1, &common.MessageAttitude{TimeBootMs: uint32(1000 + 20*i), Roll: float32(i), Yawspeed: 1})
		packet := slices.Clone(s.Bytes()[begin:])
		slices.Reverse(packet[:8])
		little = append(little, packet...)
	}
	damaged := slices.Clone(little)
	damaged[len(little)/2+20] ^= 1
	for name, c := range map[string]struct {
		log  []byte
		lost int
	}{"high byte first": {s.Bytes(), 0}, "whole": {little, 0}, "damaged": {damaged, 1}} {
		path := filepath.Join(t.TempDir(), "a.tlog")
		if err := os.WriteFile(path, c.log, 0o666); err != nil {
			t.Fatal(err)
		}
		r, err := mavlink.Open(path, telemetry.Wants{Select: func(*telemetry.Topic) []string { return []string{"roll"} }})
		if err != nil || !mavlink.IsTlog(c.log) {
			t.Fatal(name, err)
		}
		packets := 0
		for m, err := r.Next(); err == nil; m, err = r.Next() {
			if packets++; m.Logged != start.UnixNano()+int64(20*m.Values[0])*1e6 || m.Time != int64(1000+20*m.Values[0])*1e6 {
				t.Errorf("%s: %v at %d, logged at %d", name, m.Values, m.Time, m.Logged)
			}
		}
		if p := r.Problems().All(); packets != n-c.lost || len(p) != c.lost {
			t.Errorf("%s: %d packets, %v", name, packets, p)
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
}
