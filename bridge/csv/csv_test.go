package csv_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/klauspost/compress/zstd"

	"github.com/dgm-robotics/dgm/bridge/importer"
	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/flightlog"
)

const plainMap = `
vehicle = "pend1"
[time]
column = "t"
unit = "s"
[[channel]]
name = "theta"
column = "angle"
unit = "rad"
role = "state"
[[channel]]
name = "omega"
column = "rate"
unit = "rad/s"
role = "state"
[[channel]]
name = "tau"
column = "tau"
role = "input"
[[channel]]
name = "temp"
column = "temp"
role = "aux"
`

// parse reads a map that must be right.
func parse(t testing.TB, text string) *importer.Map {
	t.Helper()
	m, err := importer.ParseMap("map.toml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// files puts tables into a folder and returns their names and a name for the log.
func files(t testing.TB, tables ...string) (inputs []string, out string) {
	t.Helper()
	dir := t.TempDir()
	for i, text := range tables {
		path := filepath.Join(dir, fmt.Sprintf("%c.csv", 'a'+i))
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		inputs = append(inputs, path)
	}
	return inputs, filepath.Join(dir, "flight.msgpack")
}

// importTables imports tables.
func importTables(ctx context.Context, m *importer.Map, inputs []string, out string, progress func(float64)) (*importer.Summary, error) {
	return importer.Import(ctx, importer.Job{Format: "csv", Map: m, Inputs: inputs, Out: out, Progress: progress})
}

// run imports tables that must be right.
func run(t testing.TB, mapText string, tables ...string) (*flightlog.Log, *importer.Summary) {
	t.Helper()
	inputs, out := files(t, tables...)
	s, err := importTables(context.Background(), parse(t, mapText), inputs, out, nil)
	if err != nil {
		t.Fatal(err)
	}
	log, err := flightlog.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	return log, s
}

var nan = math.NaN()

func TestPlainTable(t *testing.T) {
	table := "t,rate,angle,note,tau,temp\n" +
		"1772682400.399326324,1.5,0.25,x,-1e-3,20\n" +
		"1772682400.409326325,,0.5,y,0,NaN\n" +
		"1772682400.4193,2,nan,z,0.5,21\n"
	want := &flightlog.Log{
		Header: flightlog.Header{Vehicle: "pend1", Source: "csv: a.csv", Channels: []channel.Channel{
			{Name: "theta", Unit: "rad", Role: channel.State},
			{Name: "omega", Unit: "rad/s", Role: channel.State},
			{Name: "tau", Role: channel.Input},
			{Name: "temp", Role: channel.Aux},
		}},
		Segments: []flightlog.Segment{{
			Name: "a",
			T:    []int64{1772682400399326324, 1772682400409326325, 1772682400419300000},
			X:    []float64{0.25, 1.5, 0.5, nan, nan, 2},
			U:    []float64{-1e-3, 0, 0.5},
			Aux:  []float64{20, nan, 21},
		}},
		Notes: []flightlog.Note{
			{T: 1772682400419300000, Text: `import: channel "theta" was not measured in 1 of 3 rows, in a.csv line 4`},
			{T: 1772682400419300000, Text: `import: channel "omega" was not measured in 1 of 3 rows, in a.csv line 3`},
			{T: 1772682400419300000, Text: `import: channel "temp" was not measured in 1 of 3 rows, in a.csv line 3`},
		},
	}
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	if _, err := z.Write([]byte(table)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	var zstandard bytes.Buffer
	zw, err := zstd.NewWriter(&zstandard)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := zw.Write([]byte(table)); err != nil {
		t.Fatal(err)
	}
	if err := zw.Close(); err != nil {
		t.Fatal(err)
	}
	forms := map[string]string{
		"zstd":                 zstandard.String(),
		"comma":                table,
		"semicolon":            strings.ReplaceAll(table, ",", ";"),
		"tab":                  strings.ReplaceAll(table, ",", "\t"),
		"Windows":              strings.ReplaceAll(table, "\n", "\r\n"),
		"byte order":           "\xef\xbb\xbf" + table,
		"spaces":               strings.ReplaceAll(table, ",", " , "),
		"quotes":               strings.ReplaceAll(table, "t,rate", `"t","rate"`),
		"gzip":                 zipped.String(),
		"separator at the end": strings.ReplaceAll(strings.Replace(table, "temp\n", "temp\r", 1), "\n", ",\n"),
	}
	forms["separator at the end"] = strings.Replace(forms["separator at the end"], "\r", "\n", 1)
	for name, text := range forms {
		log, s := run(t, plainMap, text)
		if diff := cmp.Diff(want, log, cmpopts.EquateNaNs(), cmpopts.EquateEmpty(), cmpopts.IgnoreFields(flightlog.Log{}, "Path")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if s.Rows != 3 || s.Segments != 1 || s.Duration != 19973676 || len(s.Remarks) != 3 || len(s.Found) != 0 {
			t.Errorf("%s: summary %+v", name, s)
		}
	}
	// numpy writes the names of the columns as a comment.
	log, _ := run(t, plainMap, "# made by hand\n# "+table)
	if len(log.Segments) != 1 || len(log.Segments[0].T) != 3 {
		t.Errorf("header in a comment: %+v", log.Segments)
	}
}

func TestScaleOffsetAndEveryField(t *testing.T) {
	log, _ := run(t, `
vehicle = "v"
[time]
column = "ms"
unit = "ms"
[[channel]]
name = "phi"
column = "deg"
unit = "rad"
role = "state"
derivative = "p"
period = 6.283185307179586
noise = 0.01
scale = 0.017453292519943295
offset = 1.0
frame = "ned"
[[channel]]
name = "p"
column = "gyro"
role = "state"
derivative = "none"
[[channel]]
name = "x"
column = "gyro"
role = "state"
invariant = true
`, "ms,deg,gyro\n0.5,180,1\n10.5,-90,2\n")
	want := []channel.Channel{
		{Name: "phi", Unit: "rad", Role: channel.State, Derivative: "p", Period: 2 * math.Pi, Noise: 0.01, Frame: "ned"},
		{Name: "p", Role: channel.State},
		{Name: "x", Role: channel.State, Invariant: true},
	}
	if diff := cmp.Diff(want, log.Channels); diff != "" {
		t.Error(diff)
	}
	s := log.Segments[0]
	if s.T[0] != 500_000 || math.Abs(s.X[0]-(1+math.Pi)) > 1e-12 || math.Abs(s.X[3]-(1-math.Pi/2)) > 1e-12 || s.X[1] != 1 || s.X[5] != 2 {
		t.Errorf("%+v", s)
	}
}

// shape lists the segments as name:times in ms.
func shape(log *flightlog.Log) string {
	var b strings.Builder
	for _, s := range log.Segments {
		b.WriteString(s.Name + ":")
		for _, t := range s.T {
			fmt.Fprintf(&b, " %g", float64(t)/1e6)
		}
		b.WriteString("; ")
	}
	return b.String()
}

const shortMap = `
vehicle = "v"
[[channel]]
name = "x"
column = "x"
role = "state"
[time]
column = "t"
unit = "ms"
`

func TestSegments(t *testing.T) {
	cases := []struct {
		name, time string // keys of [time]
		tables     []string
		want       string
		remark     string
	}{
		{"one file", ``, []string{"t,x\n1,0\n2,0\n"}, "a: 1 2; ", ""},
		{"two files", ``, []string{"t,x\n1,0\n2,0\n", "x,t\n0,1\n"}, "a: 1 2; b: 1; ", ""},
		{"segment column", `segment_column = "s"`, []string{"s,t,x\nid,1,0\nid,2,0\n7,1,0\nid,3,0\n"}, "id: 1 2; 7: 1; id: 3; ", ""},
		{"two segment columns", `segment_column = ["k","s"]`, []string{"s,k,t,x\n0,id,1,0\n1,id,2,0\n1,vad,1,0\n"}, "id/0: 1; id/1: 2; vad/1: 1; ", ""},
		{"segment column in two files", `segment_column = "s"`, []string{"s,t,x\n0,1,0\n", "s,t,x\n0,2,0\n"}, "a/0: 1; b/0: 2; ", ""},
		{"each row twice", "", []string{"t,x\n1,0\n1,0\n6,1\n6,1\n11,2\n11,2\n"}, "a: 1 6 11; ", "3 rows with the time of the row before dropped, first in a.csv line 3: each repeats the row before"},
		{"gaps", `max_gap = "5ms"`, []string{"t,x\n1,0\n6,0\n12,0\n13,0\n113,0\n"}, "a: 1 6; a: 12 13; a: 113; ", "2 gaps longer than max_gap, the longest 0.1 s, first in a.csv line 4"},
		{"one gap", `max_gap = "50ms"`, []string{"t,x\n1,0\n6,0\n12,0\n113,0\n"}, "a: 1 6 12; a: 113; ", "1 gap longer than max_gap, the longest 0.101 s, in a.csv line 5"},
		{"cut", "from = \"2ms\"\nto = \"4ms\"", []string{"t,x\n10,0\n11,0\n12,0\n13,0\n14,0\n15,oops\n", "t,x\n0,oops\n3,0\n"}, "a: 12 13 14; b: 3; ", ""},
		{"duplicates dropped", ``, []string{"t,x\n1,0\n1,9\n2,0\n2,9\n"}, "a: 1 2; ", "2 rows with the time of the row before dropped, first in a.csv line 3"},
		{"duplicates kept", `on_duplicate = "keep"`, []string{"t,x\n1,0\n1,9\n2,0\n"}, "a: 1 1 2; ", "1 row with the time of the row before kept, in a.csv line 3"},
		{"backwards begins", `on_backwards = "segment"`, []string{"t,x\n5,0\n6,0\n1,0\n2,0\n"}, "a: 5 6; a: 1 2; ", "time runs backwards at 1 row (a segment was begun at each), in a.csv line 4"},
		{"backwards kept", `on_backwards = "keep"`, []string{"t,x\n5,0\n6,0\n1,0\n"}, "a: 5 6 1; ", "kept as they are"},
		{"last line open", ``, []string{"t,x\n1,0\n2,0\n", "t,x\n1,0\n2,0.1"}, "a: 1 2; b: 1 2; ", "1 row at the end of a file without a line end (in b.csv line 3): if the file was cut off"},
		{"last line open and left out", `to = "1ms"`, []string{"t,x\n1,0\n2,0\n3,0.1"}, "a: 1 2; ", ""},
		{"blank lines", ``, []string{"\n\nt,x\n\n1,0\n\n# remark\n2,0\n\n"}, "a: 1 2; ", ""},
	}
	for _, c := range cases {
		log, s := run(t, shortMap+c.time, c.tables...)
		if got := shape(log); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
		if got := strings.Join(s.Texts(), "; "); got != c.remark && (c.remark == "" || !strings.Contains(got, c.remark)) {
			t.Errorf("%s: remarks %q, want %q", c.name, got, c.remark)
		}
		if len(log.Notes) != len(s.Remarks) {
			t.Errorf("%s: %d notes for %d remarks", c.name, len(log.Notes), len(s.Remarks))
		}
	}
}

func TestDerivativesAreDetected(t *testing.T) {
	var b strings.Builder
	b.WriteString("t,angle,rate,tau,temp\n")
	for i := range 2000 {
		s := 0.005 * float64(i)
		fmt.Fprintf(&b, "%.3f,%.6f,%.6f,0,1\n", s, math.Sin(3*s), 3*math.Cos(3*s))
	}
	log, s := run(t, plainMap, b.String())
	if len(s.Found) != 1 || s.Found[0].Channel != "theta" || s.Found[0].Derivative != "omega" || math.Abs(s.Found[0].Slope-1) > 0.01 {
		t.Errorf("found %+v", s.Found)
	}
	if log.Channels[0].Derivative != "omega" || log.Channels[1].Derivative != "" {
		t.Errorf("channels %+v", log.Channels)
	}
	none := strings.Replace(plainMap, `column = "angle"`, "column = \"angle\"\nderivative = \"none\"", 1)
	if log, s := run(t, none, b.String()); len(s.Found) != 0 || log.Channels[0].Derivative != "" {
		t.Errorf("none: found %+v", s.Found)
	}
}

func TestProgressAndInterrupt(t *testing.T) {
	inputs, out := files(t, "t,x\n1,0\n2,0\n", "t,x\n1,0\n2,0\n")
	var shares []float64
	if _, err := importTables(context.Background(), parse(t, shortMap), inputs, out, func(s float64) { shares = append(shares, s) }); err != nil {
		t.Fatal(err)
	}
	for i, s := range shares {
		if s < 0 || s > 1 || (i > 0 && s < shares[i-1]) {
			t.Fatalf("progress %v", shares)
		}
	}
	if last := shares[len(shares)-1]; last != 1 {
		t.Errorf("progress ends at %v", last)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	other := out + "2"
	if _, err := importTables(ctx, parse(t, shortMap), inputs, other, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
	if _, err := os.Stat(other); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("interrupted, and there is %v", err)
	}
}

// A channel may be the product of two columns; where either was not measured, it
// was not; a factor that is not there is named.
func TestTimesMultipliesTwoColumns(t *testing.T) {
	text := strings.Replace(plainMap, `column = "tau"`, "column = \"pwm\"\ntimes = \"volt\"\nscale = 0.5\noffset = 1", 1)
	log, sum := run(t, text, "t,angle,rate,pwm,volt,temp\n0,0,0,10,4,20\n0.01,0,0,20,3,20\n0.02,0,0,20,,20\n0.03,0,0,,3,20\n")
	u := log.Segments[0].U
	if u[0] != 21 || u[1] != 31 || !math.IsNaN(u[2]) || !math.IsNaN(u[3]) {
		t.Errorf("inputs %v, expected 21, 31 and two not measured", u)
	}
	if remarks := strings.Join(sum.Texts(), "\n"); !strings.Contains(remarks, "tau") {
		t.Errorf("the missing values of tau are not remarked upon: %q", remarks)
	}
	inputs, out := files(t, "t,angle,rate,pwm,temp\n0,0,0,10,20\n")
	if _, err := importTables(context.Background(), parse(t, text), inputs, out, nil); err == nil || !strings.Contains(err.Error(), "volt") {
		t.Errorf("a missing factor: %v", err)
	}
}
