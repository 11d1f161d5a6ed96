package blackbox_test

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dgm-robotics/dgm/bridge/blackbox"
	"github.com/dgm-robotics/dgm/bridge/importer"
	"github.com/dgm-robotics/dgm/bridge/telemetry"
	"github.com/dgm-robotics/dgm/estimator/flightlog"
)

type got struct {
	topics   []string
	times    []int64
	values   [][]float64
	fields   map[string][]telemetry.Field
	problems []telemetry.Problem
	err      error
}

// read reads a log with all its fields.
func read(t testing.TB, log []byte) (g got) {
	t.Helper()
	g.fields = map[string][]telemetry.Field{}
	r := blackbox.NewReader("log.bbl", bytes.NewReader(log), telemetry.Wants{Select: func(t *telemetry.Topic) (paths []string) {
		if g.fields[t.Name] != nil {
			panic("asked twice")
		}
		g.fields[t.Name] = t.Fields()
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
		g.values = append(g.values, slices.Clone(m.Values))
	}
	g.problems = r.Problems().All()
	return g
}

// column returns the values of a field of main frames.
func (g *got) column(name string) (out []float64) {
	i := slices.IndexFunc(g.fields["main"], func(f telemetry.Field) bool { return f.Path == name })
	for j, topic := range g.topics {
		if topic == "main" && i >= 0 {
			out = append(out, g.values[j][i])
		}
	}
	return out
}

// Logs of a simulated Betaflight, of a quadrotor and of an aircraft, are what another decoder reads, see testdata/make.py.
func TestAnotherDecoder(t *testing.T) {
	for _, name := range []string{"sitl", "wing"} {
		t.Run(name, func(t *testing.T) {
			log, err := os.ReadFile("testdata/" + name + ".bfl")
			if err != nil {
				t.Fatal(err)
			}
			text, err := os.ReadFile("testdata/" + name + ".csv")
			if err != nil {
				t.Fatal(err)
			}
			rows, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
			if err != nil {
				t.Fatal(err)
			}
			compared(t, read(t, log), rows)
		})
	}
}

// compared checks what was read of a log that is cut off within a frame against the numbers of another decoder, names first.
func compared(t *testing.T, g got, rows [][]string) {
	t.Helper()
	if g.err != nil || len(g.problems) != 1 || !strings.Contains(g.problems[0].Reason, "cut off") {
		t.Errorf("error %v, problems %v", g.err, g.problems)
	}
	factors := map[string]float64{"gyroADC": 0.1, "setpoint": 0.1, "accSmooth": 9.80665 / 256, "rcCommand": 0.1, "imuQuaternion": 1.0 / 32767, "baroAlt": 0.01, "motor": 1.0 / 945, "servo": 1.0 / 500}
	for i, name := range rows[0] {
		base, _, _ := strings.Cut(name, "[")
		factor, offset := 1.0, 0.0
		if f, ok := factors[base]; ok {
			factor = f
		}
		switch {
		case name == "setpoint[3]":
			factor = 0.001
		case base == "motor":
			offset = -1055.0 / 945
		case base == "servo":
			offset = -3
		case name == "imuQuaternion[1]" || name == "imuQuaternion[2]":
			factor = -factor // of a simulated firmware
		}
		column := g.column(name)
		if len(column) != len(rows)-1 {
			t.Fatalf("%s: %d frames, expected %d", name, len(column), len(rows)-1)
		}
		for j, row := range rows[1:] {
			v, err := strconv.ParseFloat(row[i], 64)
			if err != nil {
				t.Fatal(err)
			}
			if want := factor*v + offset; math.Abs(column[j]-want) > 1e-12 {
				t.Fatalf("%s, frame %d: %v, expected %v", name, j, column[j], want)
			}
		}
	}
	for j, w := range g.column("imuQuaternion[w]") {
		n := w * w
		for i := range 3 {
			v := g.column(fmt.Sprintf("imuQuaternion[%d]", i))[j]
			n += v * v
		}
		if math.Abs(n-1) > 1e-9 {
			t.Fatalf("frame %d: a quaternion of length² %v", j, n)
		}
		if j > 20 {
			break
		}
	}
}

// check compares frames with what was written, the time in its place.
func check(t *testing.T, g *got, want [][]int32, begins int64) {
	t.Helper()
	if len(g.values) != len(want) || g.err != nil {
		t.Fatalf("%d frames, expected %d; %v, %v", len(g.values), len(want), g.err, g.problems)
	}
	for i, w := range want {
		for j, v := range w {
			if j != 1 && g.values[i][j] != float64(v) {
				t.Fatalf("frame %d, value %d: %v, expected %d", i, j, g.values[i][j], v)
			}
		}
		if us := begins + int64(uint32(w[1])-uint32(want[0][1])); g.times[i] != us*1000 {
			t.Fatalf("frame %d: time %d, expected %d µs", i, g.times[i], us)
		}
	}
}

func TestEveryEncoding(t *testing.T) {
	for seed := range uint64(20) {
		r := &recorder{}
		want := r.flight(rand.New(rand.NewPCG(seed, 1)), 200, 5e6)
		r.end()
		g := read(t, r.Bytes())
		if check(t, &g, want, int64(want[0][1])); len(g.problems) != 0 {
			t.Error(g.problems)
		}
	}
}

// The counter of µs has 32 bits: it wraps after 71 minutes.
func TestClockWraps(t *testing.T) {
	r := &recorder{}
	begins := uint32(math.MaxUint32 - 50_000)
	want := r.flight(rand.New(rand.NewPCG(1, 2)), 120, begins)
	g := read(t, r.Bytes())
	check(t, &g, want, int64(uint32(want[0][1])))
}

// A second flight in a file has its own header and clock; behind the last there may be memory that was never written.
func TestSeveralFlights(t *testing.T) {
	r, rng := &recorder{}, rand.New(rand.NewPCG(3, 3))
	first := r.flight(rng, 40, 8e6)
	r.end()
	second := r.flight(rng, 50, 1e6)
	r.end()
	r.Write(bytes.Repeat([]byte{0xff}, 5000))
	g := read(t, r.Bytes())
	one, two := g, g
	one.values, one.times = g.values[:40], g.times[:40]
	two.values, two.times = g.values[40:], g.times[40:]
	check(t, &one, first, int64(first[0][1]))
	check(t, &two, second, int64(second[0][1]))
	if len(g.problems) != 0 {
		t.Error(g.problems)
	}
}

// Events do not disturb; after a pause that one announces, the clock goes on behind it.
func TestEventsAndPause(t *testing.T) {
	names, encodings := []string{"loopIteration", "time", "x"}, []int{1, 1, 0}
	r := &recorder{}
	r.head(names, encodings)
	frame := func(i, us uint32, x int32) {
		r.WriteByte('I')
		r.unsigned(i)
		r.unsigned(us)
		r.signed(x)
	}
	frame(0, 1000, 1)
	r.WriteString("E\x00")
	r.unsigned(1234)
	r.WriteString("E\x0d\x05")
	r.signed(-3)
	r.WriteString("E\x0d\x85\x00\x00\x80?")
	r.WriteString("E\x1e\x01\x00")
	frame(32, 2000, 2)
	r.WriteString("E\x0e")
	r.unsigned(960)
	r.unsigned(60e6)
	frame(960, 60e6+500, 3)
	r.end()
	g := read(t, r.Bytes())
	if d := cmp.Diff([]int64{1e6, 2e6, 60_000_500_000}, g.times); d != "" || len(g.problems) != 0 {
		t.Error(d, g.problems)
	}
	if d := cmp.Diff([]float64{1, 2, 3}, g.column("x")); d != "" {
		t.Error(d)
	}
}

// The presets take attitude and rates of the simulated flights, and what is commanded.
func TestPreset(t *testing.T) {
	for _, c := range []struct {
		preset, log string
		inputs      []string
	}{
		{"betaflight", "sitl.bfl", []string{"m1", "m2", "m3", "m4"}},
		{"betaflight-plane", "wing.bfl", []string{"aileron", "elevator", "rudder", "throttle"}},
	} {
		t.Run(c.preset, func(t *testing.T) {
			m, err := importer.Preset(c.preset)
			if err != nil {
				t.Fatal(err)
			}
			out := filepath.Join(t.TempDir(), "flight.msgpack")
			if _, err := importer.Import(context.Background(), importer.Job{Format: "blackbox", Open: telemetry.Opens(blackbox.Open), Map: m, Inputs: []string{"testdata/" + c.log}, Out: out}); err != nil {
				t.Fatal(err)
			}
			log, err := flightlog.ReadFile(out)
			if err != nil {
				t.Fatal(err)
			}
			var names []string
			for _, c := range log.Header.Channels {
				names = append(names, c.Name)
			}
			if d := cmp.Diff(append([]string{"roll", "pitch", "yaw", "p", "q", "r"}, c.inputs...), names); d != "" {
				t.Error(d)
			}
		})
	}
}

func FuzzReader(f *testing.F) {
	r := &recorder{}
	r.flight(rand.New(rand.NewPCG(5, 5)), 3, 1e6)
	r.end()
	f.Add(r.Bytes())
	f.Fuzz(func(t *testing.T, log []byte) {
		g := read(t, log)
		for _, p := range g.problems {
			if p.Offset < 0 || p.Offset > int64(len(log)) || p.Reason == "" || p.Record == "" {
				t.Fatalf("problem %+v of a log of %d bytes", p, len(log))
			}
		}
		if g.err != nil && strings.Contains(g.err.Error(), "\n") {
			t.Fatal(g.err)
		}
	})
}
