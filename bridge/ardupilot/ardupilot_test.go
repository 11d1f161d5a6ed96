package ardupilot_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dgm-robotics/dgm/bridge/ardupilot"
	"github.com/dgm-robotics/dgm/bridge/telemetry"
)

// builder makes logs by the published description of the format.
type builder struct{ bytes.Buffer }

func (b *builder) record(id byte, content ...any) *builder {
	b.Write([]byte{0xA3, 0x95, id})
	for _, c := range content {
		if err := binary.Write(b, binary.LittleEndian, c); err != nil {
			panic(err)
		}
	}
	return b
}

// chars is text in a field of n bytes.
func chars(s string, n int) []byte { return append([]byte(s), make([]byte, n)...)[:n] }

func (b *builder) format(id byte, length int, name, kinds, columns string) *builder {
	return b.record(128, id, byte(length), chars(name, 4), chars(kinds, 16), chars(columns, 64))
}

// newLog describes formats, units and multipliers, and a record ATT of angles.
func newLog() *builder {
	b := &builder{}
	b.format(128, 89, "FMT", "BBnNZ", "Type,Length,Name,Format,Columns")
	b.format(10, 3+8+1+64, "UNIT", "QbZ", "TimeUS,Id,Label")
	b.format(11, 3+8+1+8, "MULT", "Qbd", "TimeUS,Id,Mult")
	b.format(12, 3+8+1+16+16, "FMTU", "QBNN", "TimeUS,FmtType,UnitIds,MultIds")
	b.format(20, 3+8+2+2, "ATT", "Qcc", "TimeUS,Roll,Pitch")
	b.record(10, uint64(1), byte('s'), chars("s", 64))
	return b
}

type got struct {
	topics   []string
	times    []int64
	values   [][]float64
	problems []telemetry.Problem
}

// read reads all fields of the topics with a name of three letters.
func read(t testing.TB, log []byte, names string) (g got) {
	t.Helper()
	r := ardupilot.NewReader("a.BIN", bytes.NewReader(log), telemetry.Wants{Select: func(t *telemetry.Topic) (paths []string) {
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
		if names == "" || strings.Contains(names, m.Topic.Name) {
			g.topics = append(g.topics, m.Topic.String())
			g.times = append(g.times, m.Time)
			g.values = append(g.values, append([]float64(nil), m.Values...))
		}
	}
	g.problems = r.Problems().All()
	return g
}

func TestEveryTypeOfNumber(t *testing.T) {
	log := newLog().format(30, 3+8+1+1+2+2+2+2+4+4+4+4+4+4+8+8+2, "ALL", "QbBhHcCiIeELfdqg", "TimeUS,b,B,h,H,c,C,i,I,e,E,L,f,d,q,g").format(31, 3+1+64+4, "MOR", "Man", "M,a,n")
	log.record(30, uint64(5), int8(-1), uint8(255), int16(-2), uint16(65535), int16(-150), uint16(250), int32(-3), uint32(math.MaxUint32), int32(-12345), uint32(12345),
		int32(473977420), float32(1.5), -2.25, int64(-9), uint16(0xC100))
	var a [32]int16
	a[2] = -7
	log.record(31, int8(4), a, chars("text", 4))
	g := read(t, log.Bytes(), "ALL MOR")
	want := []float64{5, -1, 255, -2, 65535, -1.5, 2.5, -3, math.MaxUint32, -123.45, 123.45, 47.397742, 1.5, -2.25, -9, -2.5}
	if len(g.values) != 2 || !cmp.Equal(g.values[0], want) || len(g.values[1]) != 33 || g.values[1][0] != 4 || g.values[1][3] != -7 || g.times[0] != 5000 || len(g.problems) != 0 {
		t.Errorf("%+v\nwant %v", g, want)
	}
}

func TestHalfPrecision(t *testing.T) {
	log := newLog().format(30, 3+2, "HLF", "g", "v")
	all := map[uint16]float64{0x0000: 0, 0x3C00: 1, 0xBC00: -1, 0x7BFF: 65504, 0x0001: math.Ldexp(1, -24), 0x0400: math.Ldexp(1, -14), 0x3555: 0.333251953125, 0x7C00: math.Inf(1), 0xFC00: math.Inf(-1)}
	for bits := range all {
		log.record(30, bits)
	}
	log.record(30, uint16(0x7E00))
	seen := map[float64]bool{}
	g := read(t, log.Bytes(), "HLF")
	for _, v := range g.values {
		seen[v[0]] = true
	}
	for bits, v := range all {
		if !seen[v] {
			t.Errorf("%#04x is not %v", bits, v)
		}
	}
	if last := g.values[len(g.values)-1][0]; !math.IsNaN(last) {
		t.Errorf("0x7e00 is %v", last)
	}
}

func TestInstancesUnitsAndSensorTime(t *testing.T) {
	log := newLog()
	log.record(10, uint64(1), byte('E'), chars("rad/s", 64)).record(10, uint64(1), byte('d'), chars("deg", 64))
	log.record(11, uint64(1), byte('F'), float64(float32(1e-6))).record(11, uint64(1), byte('B'), float64(float32(1e-2)))
	log.format(40, 3+8+1+8+4, "GYR", "QBQf", "TimeUS,I,SampleUS,GyrX")
	log.record(12, uint64(1), byte(40), chars("s#sE", 16), chars("F-F-", 16)).record(12, uint64(1), byte(20), chars("sdd", 16), chars("FBB", 16))
	log.record(40, uint64(2000), byte(0), uint64(1500), float32(1)).record(40, uint64(2100), byte(2), uint64(0), float32(2)).record(20, uint64(3000), int16(150), int16(-9000))
	g := read(t, log.Bytes(), "GYR ATT")
	if d := cmp.Diff([]string{"GYR", "GYR#2", "ATT"}, g.topics); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]int64{1_500_000, 2_100_000, 3_000_000}, g.times); d != "" {
		t.Error("the sensor's time, where it has one:", d)
	}
	if d := cmp.Diff([]float64{3000, 1.5, -90}, g.values[2]); d != "" {
		t.Error(d)
	}
	r := ardupilot.NewReader("a.BIN", bytes.NewReader(log.Bytes()), telemetry.Wants{})
	for {
		m, err := r.Next()
		if err != nil {
			t.Fatal("no GYR")
		}
		if m.Topic.Name == "ATT" {
			if d := cmp.Diff([]telemetry.Field{{Path: "TimeUS", Unit: "µs"}, {Path: "Roll", Unit: "deg"}, {Path: "Pitch", Unit: "deg"}}, m.Topic.Fields()); d != "" {
				t.Error(d)
			}
			if err := m.Topic.Check("Yaw"); err == nil || err.Error() != `there is no "Yaw"` {
				t.Error(err)
			}
			break
		}
	}
}

// A record whose time is damaged has a time far from all others, not that of the record before.
func TestDamagedTime(t *testing.T) {
	log := newLog().record(20, uint64(2000), int16(1), int16(0)).record(20, uint64(4213092985657280000), int16(2), int16(0)).record(20, uint64(3000), int16(3), int16(0))
	if d := cmp.Diff([]int64{2_000_000, math.MaxInt64 / 2, 3_000_000}, read(t, log.Bytes(), "ATT").times); d != "" {
		t.Error(d)
	}
}

// attitudes is a log of n records, whose roll is their number in hundredths.
func attitudes(n int) (log []byte, head int) {
	b := newLog()
	head = b.Len()
	for i := range n {
		b.record(20, uint64(1000+i), int16(i), int16(-i))
	}
	return b.Bytes(), head
}

const attSize = 3 + 8 + 2 + 2

func TestCutOff(t *testing.T) {
	whole, head := attitudes(10)
	for cut := head; cut < len(whole); cut++ {
		g := read(t, whole[:cut], "ATT")
		if n := (cut - head) / attSize; len(g.values) != n || ((cut-head)%attSize == 0) != (len(g.problems) == 0) {
			t.Fatalf("cut at %d: %d records, %v", cut, len(g.values), g.problems)
		}
	}
}

// The record ahead of damage may be damaged at its end: no checksum shows it.
func TestDamage(t *testing.T) {
	whole, head := attitudes(50)
	at := head + 20*attSize
	for what, change := range map[string]func([]byte){
		"magic":        func(b []byte) { b[0] ^= 1 },
		"type":         func(b []byte) { b[2] = 200 },
		"zeros":        func(b []byte) { clear(b[:3*attSize+4]) },
		"another file": func(b []byte) { copy(b, "GIF89a a picture that was written over the log by a broken card") },
	} {
		b := bytes.Clone(whole)
		change(b[at:])
		g := read(t, b, "ATT")
		if len(g.values) < 44 || len(g.values) > 49 || g.values[0][1] != 0 || g.values[len(g.values)-1][1] != 0.49 {
			t.Errorf("%s: %d records", what, len(g.values))
		}
		from := at - attSize
		if what == "type" {
			from = at
		}
		if len(g.problems) != 1 || g.problems[0].Offset != int64(from) || !strings.Contains(g.problems[0].Reason, "continued at byte") {
			t.Errorf("%s: problems %v, expected one at byte %d", what, g.problems, from)
		}
	}
	// A record whose last bytes are overwritten gives no values.
	torn := bytes.Clone(whole)
	for i := at - 1; i < at+40; i++ {
		torn[i] = 0xFF
	}
	if g := read(t, torn, "ATT"); len(g.values) != 46 || g.values[18][1] != 0.18 || g.values[19][1] != 0.23 {
		t.Errorf("torn: %d records, %v", len(g.values), g.values)
	}
	// Bytes between records cost no record.
	b := append(bytes.Clone(whole[:at]), append([]byte{0xA3, 0x95, 0xA3, 1, 2}, whole[at:]...)...)
	if g := read(t, b, "ATT"); len(g.values) != 50 || len(g.problems) != 1 {
		t.Errorf("%d records, %v", len(g.values), g.problems)
	}
}

func TestBadFormats(t *testing.T) {
	for _, c := range []struct{ kinds, columns, want string }{
		{"Qx", "TimeUS,v", `BAD.v: type 'x' is not known`},
		{"Qf", "TimeUS", "BAD: 1 names for 2 fields"},
		{"Qdddddddd", "TimeUS,a,b,c,d,e,f,g,h", "BAD: its fields take 72 bytes, its records have 17"},
	} {
		log, _ := attitudes(1)
		b := &builder{*bytes.NewBuffer(bytes.Clone(log))}
		b.format(50, 20, "BAD", c.kinds, c.columns).record(20, uint64(1), int16(1), int16(1))
		g := read(t, b.Bytes(), "ATT")
		if len(g.values) != 2 || len(g.problems) != 1 || !strings.Contains(fmt.Sprint(g.problems), c.want) {
			t.Errorf("%+v, want %s", g, c.want)
		}
	}
}

func TestOpenRefuses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.BIN")
	if err := os.WriteFile(path, []byte("time,x\n1,2\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := ardupilot.Open(path, telemetry.Wants{}); err == nil || !strings.Contains(err.Error(), "this is no DataFlash log") {
		t.Error(err)
	}
}

// Whatever the bytes are, reading ends, and problems have a place in them.
func FuzzReader(f *testing.F) {
	short, _ := attitudes(3)
	f.Add(short)
	f.Add(newLog().record(12, uint64(1), byte(20), chars("s#-", 16), chars("F", 16)).record(20, uint64(2), int16(3), int16(4)).Bytes())
	f.Fuzz(func(t *testing.T, log []byte) {
		g := read(t, log, "")
		for i, at := range g.times {
			if at < 0 {
				t.Fatalf("record %d of %s at time %d", i, g.topics[i], at)
			}
		}
		for _, p := range g.problems {
			if p.Offset < 0 || p.Offset > int64(len(log)) || p.Reason == "" || p.Record == "" {
				t.Fatalf("problem %+v of a log of %d bytes", p, len(log))
			}
		}
	})
}

// A type that is defined anew with its fields in another order, as by a log behind another one in a file, is reported.
func TestFieldsInAnotherOrder(t *testing.T) {
	again := newLog().format(20, 3+8+2+2, "ATT", "Qcc", "TimeUS,Roll,Pitch")
	if g := read(t, again.Bytes(), "ATT"); len(g.problems) != 0 {
		t.Error(g.problems)
	}
	swapped := newLog().format(20, 3+8+2+2, "ATT", "Qcc", "TimeUS,Pitch,Roll")
	if g := read(t, swapped.Bytes(), "ATT"); len(g.problems) != 1 || g.problems[0].Reason != "type 20 is ATT already; the first definition is used" {
		t.Error(g.problems)
	}
}
