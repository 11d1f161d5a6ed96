package ulog_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dgm-robotics/dgm/bridge/telemetry"
	"github.com/dgm-robotics/dgm/bridge/ulog"
)

func TestEveryTypeOfNumber(t *testing.T) {
	log := newLog().format("all:uint64_t timestamp;int8_t a;uint8_t b;int16_t c;uint16_t d;int32_t e;uint32_t f;int64_t g;uint64_t h;float i;double j;bool k;char l;").
		subscribe(7, 0, "all").
		data(7, le64(2000), []byte{0xff, 0xff}, []byte{0xfe, 0xff, 0xfe, 0xff}, []byte{0xfd, 0xff, 0xff, 0xff, 0xfd, 0xff, 0xff, 0xff},
			le64(math.MaxUint64), le64(1<<63), le32f(-1.5), le64f(2.25), []byte{1, 'A'})
	g := read(t, log.Bytes())
	want := []float64{2000, -1, 255, -2, 65534, -3, 4294967293, -1, 1 << 63, -1.5, 2.25, 1, 65}
	if len(g.values) != 1 || !cmp.Equal(g.values[0], want) || g.times[0] != 2_000_000 || len(g.problems) != 0 || g.err != nil {
		t.Errorf("%+v, want %v", g, want)
	}
}

func TestNestedTypesInstancesAndPadding(t *testing.T) {
	log := newLog().
		format("outer:uint64_t timestamp;uint64_t timestamp_sample;inner[2] in;uint8_t last;uint8_t[3] _padding0;").
		format("inner:float[2] v;uint8_t n;uint8_t[3] _padding0;").
		subscribe(0, 0, "outer").subscribe(1, 3, "outer")
	inner := func(a, b float32, n byte) []byte { return bytes.Join([][]byte{le32f(a), le32f(b), {n, 9, 9, 9}}, nil) }
	log.data(0, le64(5000), le64(4000), inner(1, 2, 3), inner(4, 5, 6), []byte{7})
	log.data(1, le64(6000), le64(0), inner(-1, -2, 1), inner(-4, -5, 2), []byte{8, 0, 0, 0}) // with the padding at its end, sample not filled in
	g := read(t, log.Bytes())
	if d := cmp.Diff([]string{"outer", "outer#3"}, g.topics); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]int64{4_000_000, 6_000_000}, g.times); d != "" {
		t.Error("times, of the sample where it has one:", d)
	}
	if d := cmp.Diff([][]float64{{5000, 4000, 1, 2, 3, 4, 5, 6, 7}, {6000, 0, -1, -2, 1, -4, -5, 2, 8}}, g.values); d != "" {
		t.Error(d)
	}
	if len(g.problems) > 0 || g.err != nil {
		t.Error(g.problems, g.err)
	}
	// Each by its path, and what is wrong with others.
	for path, want := range map[string]string{
		"in[1].v[0]": "", "last": "", "in[0].n": "",
		"in":      "in is an array of 2: write in[0]",
		"in[0]":   "in is not a number but a inner: name a field of it",
		"in[2].n": "in has 2 elements, [0] to [1]",
		"in[0].v": "v is an array of 2: write v[0]",
		"last[0]": "last is not an array",
		"last.x":  "last is a number and has no fields",
		"nix":     `there is no "nix"`,
		"in[x].n": `in has 2 elements, [0] to [1]`,
	} {
		r := ulog.NewReader("a.ulg", bytes.NewReader(log.Bytes()), telemetry.Wants{Select: func(*telemetry.Topic) []string { return []string{path} }})
		m, err := r.Next()
		var missing *telemetry.FieldError
		switch {
		case want == "" && (err != nil || len(m.Values) != 1):
			t.Errorf("%s: %v", path, err)
		case want != "" && (!errors.As(err, &missing) || missing.Why != want || !strings.Contains(err.Error(), "there are: ")):
			t.Errorf("%s: %v, want %s", path, err, want)
		}
	}
}

func TestRecordsThatAreNoData(t *testing.T) {
	text := func(key, value string) []byte { return append(append([]byte{byte(len(key))}, key...), value...) }
	log := newLog().
		record('B', make([]byte, 40)).
		format("a:uint64_t timestamp;float x;").
		record('I', text("char[3] sys_name", "PX4")).
		record('M', []byte{0}, text("char[2] perf", "ab")).
		record('M', []byte{1}, text("char[2] perf", "cd")).
		record('P', text("int32_t SYS_ID", "\x05\x00\x00\x00")).
		record('Q', []byte{3}, text("float MC_P", string(le32f(6.5)))).
		subscribe(0, 0, "a").
		data(0, le64(2000), le32f(1)).
		record('P', text("int32_t SYS_ID", "\x06\x00\x00\x00")).
		record('L', []byte("6"), le64(2500), []byte("[commander] Takeoff")).
		record('C', []byte("4"), []byte{1, 0}, le64(2600), []byte("tagged")).
		record('S', []byte{0x2f, 0x73, 0x13, 0x20, 0x25, 0x0c, 0xbb, 0x12}).
		record('O', []byte{30, 0}).
		data(0, le64(3000), le32f(2)).
		record('R', []byte{0, 0})
	var texts []string
	r := ulog.NewReader("a.ulg", bytes.NewReader(log.Bytes()), telemetry.Wants{Text: func(t int64, s string) { texts = append(texts, fmt.Sprint(t, " ", s)) }})
	n := 0
	for {
		if _, err := r.Next(); err != nil {
			break
		}
		n++
	}
	if d := cmp.Diff([]string{"2500000 [commander] Takeoff", "2600000 tagged"}, texts); d != "" || n != 2 {
		t.Error(n, d)
	}
	if p := r.Problems().All(); len(p) != 1 || p[0].Record != "dropout" || p[0].Reason != "the logger lost 30 ms of data" {
		t.Error(p)
	}
}

// plain is a log of n messages, one float each, whose value is its number.
func plain(n int) []byte {
	log := newLog().format("a:uint64_t timestamp;float x;").subscribe(0, 0, "a")
	for i := range n {
		log.data(0, le64(uint64(2000+i)), le32f(float32(i)))
	}
	return log.Bytes()
}

const plainSize = 3 + 2 + 12 // of one of its messages

func TestAppendedData(t *testing.T) {
	flags := make([]byte, 40)
	flags[8] = 1
	log := newLog().record('B', flags).format("a:uint64_t timestamp;float x;").subscribe(0, 0, "a")
	log.data(0, le64(2000), le32f(1))
	log.Write([]byte{14, 0, 'D', 0, 0, 1, 2, 3}) // cut off by a crash
	begin := log.Len()
	log.data(0, le64(3000), le32f(2))
	b := log.Bytes()
	binary.LittleEndian.PutUint64(b[16+3+16:], uint64(begin))
	g := read(t, b)
	if d := cmp.Diff([][]float64{{2000, 1}, {3000, 2}}, g.values); d != "" {
		t.Error(d)
	}
	if len(g.problems) != 1 || g.problems[0].Offset != int64(begin-8) || g.problems[0].Record != "appended data" {
		t.Error(g.problems)
	}
}

// A log cut off anywhere gives all messages before the cut, and reports it.
func TestCutOff(t *testing.T) {
	whole := plain(20)
	head := len(whole) - 20*plainSize
	for cut := head; cut < len(whole); cut++ {
		g := read(t, whole[:cut])
		if len(g.values) != (cut-head)/plainSize {
			t.Fatalf("cut at %d: %d messages", cut, len(g.values))
		}
		clean := (cut-head)%plainSize == 0
		if clean != (len(g.problems) == 0) || g.err != nil {
			t.Fatalf("cut at %d: %v, %v", cut, g.problems, g.err)
		}
		if !clean && (g.problems[0].Offset != int64(head+(cut-head)/plainSize*plainSize) || !strings.Contains(g.problems[0].Reason, "cut off")) {
			t.Fatalf("cut at %d: %v", cut, g.problems)
		}
	}
}

// Damage of any byte of a message's frame costs that message and what the damage
// covers, no more, and is reported by its place.
func TestDamage(t *testing.T) {
	whole := plain(50)
	head := len(whole) - 50*plainSize
	at := head + 20*plainSize
	for what, change := range map[string]func([]byte){
		"length":       func(b []byte) { b[0]++ },
		"long length":  func(b []byte) { b[1] = 0xff },
		"kind":         func(b []byte) { b[2] = 0xee },
		"id":           func(b []byte) { b[3] = 99 },
		"zeros":        func(b []byte) { clear(b[:3*plainSize+5]) },
		"ones":         func(b []byte) { copy(b, bytes.Repeat([]byte{0xff}, 2*plainSize)) },
		"another file": func(b []byte) { copy(b, "GIF89a a picture that was written over the log by a broken card") },
	} {
		b := bytes.Clone(whole)
		change(b[at:])
		g := read(t, b)
		if len(g.values) < 45 || g.values[0][1] != 0 || g.values[len(g.values)-1][1] != 49 || g.err != nil {
			t.Errorf("%s: %d messages, %v", what, len(g.values), g.err)
		}
		if len(g.problems) == 0 || g.problems[0].Offset != int64(at) {
			t.Errorf("%s: problems %v, expected one at byte %d", what, g.problems, at)
		}
		for _, v := range g.values {
			if v[0] != 2000+v[1] {
				t.Errorf("%s: a message %v that nobody wrote", what, v)
			}
		}
	}
}

func TestRefusals(t *testing.T) {
	bad := newLog().record('B', append(make([]byte, 8), 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))
	for _, c := range []struct{ name, log, want string }{
		{"empty", "", "a ULog has 16 before its first message"},
		{"short", string(ulog.Magic), "a ULog has 16 before its first message"},
		{"text", "time,x\n1,2\n3,4\n5,6\n", "this is not a ULog: it begins with 74 69 6d"},
		{"unknown flag", bad.String(), "require what is not known here"},
	} {
		r := ulog.NewReader("a.ulg", strings.NewReader(c.log), telemetry.Wants{})
		_, err := r.Next()
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "a.ulg: ") {
			t.Errorf("%s: %v, want %s", c.name, err, c.want)
		}
	}
	if _, err := ulog.Open("nix.ulg", telemetry.Wants{}); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}

// Definitions that would take memory or time without end are refused by place
// and reason, and the rest is read.
func TestHostileDefinitions(t *testing.T) {
	for _, c := range []struct{ name, format, want string }{
		{"huge array", "h:uint64_t timestamp;uint8_t[65535] a;uint8_t[65535] b;", "takes more than 65536 bytes"},
		{"no array", "h:uint64_t timestamp;uint8_t[99999999999] a;", "not an array of 1 to 65535"},
		{"in itself", "h:uint64_t timestamp;h x;", "more than 16 deep"},
		{"undefined", "h:uint64_t timestamp;nix x;", `type "nix" is not defined`},
		{"no time", "h:float x;", "no timestamp of type uint64_t"},
		{"short time", "h:uint32_t timestamp;", "no timestamp of type uint64_t"},
		{"no field", "h:", "has no fields"},
	} {
		log := newLog().format(c.format).format("a:uint64_t timestamp;float x;")
		log.subscribe(9, 0, "h").subscribe(0, 0, "a").data(9, le64(1000)).data(0, le64(2000), le32f(1))
		g := read(t, log.Bytes())
		if len(g.values) != 1 || len(g.problems) == 0 || !strings.Contains(fmt.Sprint(g.problems), c.want) {
			t.Errorf("%s: %+v", c.name, g)
		}
	}
}
