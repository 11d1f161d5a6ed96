package csv_test

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dgm-robotics/dgm/bridge/importer"
	"github.com/dgm-robotics/dgm/estimator/flightlog"
)

// swing is a pendulum at a time in s: angle, rate, torque.
func swing(t float64) (theta, omega, tau float64) {
	return 0.5 * math.Sin(2*t), math.Cos(2 * t), 0.3 * math.Sin(0.7*t)
}

// suggested imports tables by the map that is suggested of the first of them, with lines of
// its own in front.
func suggested(t *testing.T, front string, tables ...string) (*flightlog.Log, *importer.Summary, string) {
	t.Helper()
	dir := t.TempDir()
	var in []string
	for i, text := range tables {
		in = append(in, filepath.Join(dir, fmt.Sprintf("t%d.csv", i)))
		if err := os.WriteFile(in[i], []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	var b bytes.Buffer
	if err := importer.Suggest(context.Background(), &b, in[0], nil, nil); err != nil {
		t.Fatal(err)
	}
	text := strings.Replace(b.String(), "[time]\n", "[time]\n"+front, 1)
	m, err := importer.ParseMap("map.toml", []byte(text))
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	out := filepath.Join(dir, "out.msgpack")
	s, err := importer.Import(context.Background(), importer.Job{Format: "csv", Map: m, Inputs: in, Out: out})
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	log, err := flightlog.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	return log, s, text
}

// rowsOf makes a table of 300 rows at 50 Hz.
func rowsOf(names string, row func(i int, theta, omega, tau float64) string) string {
	var b strings.Builder
	b.WriteString(names + "\n")
	for i := range 300 {
		theta, omega, tau := swing(0.02 * float64(i))
		b.WriteString(row(i, theta, omega, tau) + "\n")
	}
	return b.String()
}

// Tables as programs write them are imported by the map that is suggested: all rows, at the
// right times, in the right segments.
func TestTablesOfPrograms(t *testing.T) {
	epoch := time.Date(2026, 3, 5, 23, 59, 58, 0, time.UTC)
	for name, c := range map[string]struct {
		table    string
		rows     int
		segments int
		start    int64 // ns
		states   int
	}{
		"seconds and nanoseconds": {rowsOf("stamp.sec,stamp.nanosec,theta,omega,tau", func(i int, a, b, c float64) string {
			return fmt.Sprintf("%d,%d,%g,%g,%g", 1_700_000_000+i/50, i%50*20_000_000, a, b, c)
		}), 300, 1, 1_700_000_000e9, 2},
		"secs and nsecs": {rowsOf("seq,header/secs,header/nsecs,theta,omega,tau", func(i int, a, b, c float64) string {
			return fmt.Sprintf("%d,%d,%d,%g,%g,%g", i, 1_700_000_000+i/50, i%50*20_000_000, a, b, c)
		}), 300, 1, 1_700_000_000e9, 2},
		"our own": {rowsOf("segment,name,t [ns],theta [rad],omega [rad/s],tau", func(i int, a, b, c float64) string {
			return fmt.Sprintf("%d,a,%d,%g,%g,%g", i/150, 1_700_000_000e9+int64(i)*20e6, a, b, c)
		}), 300, 2, 1_700_000_000e9, 2},
		"episodes": {rowsOf("episode,step,time,theta,omega,action", func(i int, a, b, c float64) string {
			return fmt.Sprintf("%d,%d,%g,%g,%g,%g", i/100, i%100, 0.02*float64(i%100), a, b, c)
		}), 300, 3, 0, 2},
		"robots in turns": {rowsOf("robot,time,theta,omega,tau", func(i int, a, b, c float64) string {
			return fmt.Sprintf("r%d,%g,%g,%g,%g", i%3, 0.02*float64(i/3), a, b, c)
		}), 300, 3, 0, 2},
		"dates with a zone": {rowsOf("datetime,theta,omega,tau", func(i int, a, b, c float64) string {
			return fmt.Sprintf("%s,%g,%g,%g", epoch.Add(time.Duration(i)*20*time.Millisecond).In(time.FixedZone("", 3600)).Format("2006-01-02T15:04:05.000-07:00"), a, b, c)
		}), 300, 1, epoch.UnixNano(), 2},
		"dates with a space": {rowsOf("when,theta,omega,tau", func(i int, a, b, c float64) string {
			return fmt.Sprintf("%s,%g,%g,%g", epoch.Add(time.Duration(i)*20*time.Millisecond).Format("2006-01-02 15:04:05.000"), a, b, c)
		}), 300, 1, epoch.UnixNano(), 2},
		"times of day over midnight": {rowsOf("clock,theta,omega,tau", func(i int, a, b, c float64) string {
			return fmt.Sprintf("%s,%g,%g,%g", epoch.Add(time.Duration(i)*20*time.Millisecond).Format("15:04:05.000"), a, b, c)
		}), 300, 1, (86400 - 2) * 1e9, 2},
		"milliseconds since 1970": {rowsOf("timestamp,theta,omega,tau", func(i int, a, b, c float64) string {
			return fmt.Sprintf("%d,%g,%g,%g", int64(1_700_000_000_000)+20*int64(i), a, b, c)
		}), 300, 1, 1_700_000_000e9, 2},
		"a counter of 32 bits that wraps": {rowsOf("time_us,theta,omega,tau", func(i int, a, b, c float64) string {
			return fmt.Sprintf("%d,%g,%g,%g", uint32(int64(1<<32-1_000_000)+20_000*int64(i)), a, b, c)
		}), 300, 1, (1<<32 - 1_000_000) * 1000, 2},
		"a counter of 16 bits that wraps": {rowsOf("time_ms,theta,omega,tau", func(i int, a, b, c float64) string {
			return fmt.Sprintf("%d,%g,%g,%g", uint16(65_000+20*i), a, b, c)
		}), 300, 1, 65_000e6, 2},
		"gears and brakes": {rowsOf("t,theta,omega,gear,brake", func(i int, a, b, c float64) string {
			return fmt.Sprintf("%g,%g,%g,%d,%g", 0.02*float64(i), a, b, i/100, max(0, c))
		}), 300, 1, 0, 2},
		"pandas without names": {rowsOf("0,1,2,3", func(i int, a, b, c float64) string {
			return fmt.Sprintf("%.2f,%g,%g,%g", 0.02*float64(i), a, b, c)
		}), 300, 1, 0, 3},
		"pandas with an index": {rowsOf(",time,theta,omega,tau", func(i int, a, b, c float64) string {
			return fmt.Sprintf("%d,%g,%g,%g,%g", i, 0.02*float64(i), a, b, c)
		}), 300, 1, 0, 2},
		"a row of units": {"time;theta;omega;tau\n" + rowsOf("s;rad;rad/s;N m", func(i int, a, b, c float64) string {
			return fmt.Sprintf("%g;%g;%g;%g", 0.02*float64(i), a, b, c)
		}), 300, 1, 0, 2},
		"truth values and masks": {rowsOf("time,theta,omega,tau,contact", func(i int, a, b, c float64) string {
			if i%50 == 7 {
				return fmt.Sprintf("%g,--,%g,%g,%v", 0.02*float64(i), b, c, i%20 < 10)
			}
			return fmt.Sprintf("%g,%g,%g,%g,%v", 0.02*float64(i), a, b, c, i%20 < 10)
		}), 300, 1, 0, 2},
		"ISO 8859-1": {rowsOf("time,theta [\xb0],omega [\xb0/s],tau", func(i int, a, b, c float64) string {
			return fmt.Sprintf("%g,%g,%g,%g", 0.02*float64(i), a, b, c)
		}), 300, 1, 0, 2},
	} {
		t.Run(name, func(t *testing.T) {
			log, s, text := suggested(t, "", c.table)
			states := 0
			for _, ch := range log.Channels {
				if ch.Role == "state" {
					states++
				}
			}
			if s.Rows != c.rows || s.Segments != c.segments || log.Segments[0].T[0] != c.start || states != c.states {
				t.Fatalf("%d rows, %d segments, from %d, %d states\n%s%s", s.Rows, s.Segments, log.Segments[0].T[0], states, text, strings.Join(s.Texts(), "\n"))
			}
			if seg := log.Segments[0]; seg.T[1]-seg.T[0] != 20e6 && c.segments == 1 {
				t.Errorf("a step of %d ns", seg.T[1]-seg.T[0])
			}
		})
	}
}

// A counter of rows is never taken for the time.
func TestCountersAreNoTimes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.csv")
	if err := os.WriteFile(path, []byte(rowsOf("frame,theta,omega,tau", func(i int, a, b, c float64) string { return fmt.Sprintf("%d,%g,%g,%g", i, a, b, c) })), 0o666); err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := importer.Suggest(context.Background(), &b, path, nil, nil); err == nil || !strings.Contains(err.Error(), "a counter of rows is no time") {
		t.Errorf("%v\n%s", err, b.String())
	}
}

// A column that is constant in the first file only is not left out.
func TestConstantInTheFirstFile(t *testing.T) {
	table := func(payload float64) string {
		return rowsOf("time,theta,omega,payload,wheel", func(i int, a, b, _ float64) string {
			return fmt.Sprintf("%g,%g,%g,%g,7", 0.02*float64(i), a, b, payload)
		})
	}
	log, s, _ := suggested(t, "", table(1), table(2))
	var names []string
	for _, c := range log.Channels {
		names = append(names, c.Name)
	}
	if got := strings.Join(names, " "); got != "theta omega payload" || !strings.Contains(strings.Join(s.Texts(), "\n"), "wheel left out: one value throughout") {
		t.Errorf("%s, %q", got, s.Texts())
	}
}

// Each topic has a table of its own.
func TestATableForEachTopic(t *testing.T) {
	dir := t.TempDir()
	var in []string
	for name, text := range map[string]string{
		"log_angle_0.csv": rowsOf("timestamp,x", func(i int, a, _, _ float64) string { return fmt.Sprintf("%d,%g", 1000+20_000*i, a) }),
		"log_motor_0.csv": rowsOf("timestamp,x", func(i int, _, _, c float64) string { return fmt.Sprintf("%d,%g", 3000+20_000*i, c) }),
	} {
		in = append(in, filepath.Join(dir, name))
		if err := os.WriteFile(in[len(in)-1], []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	m, err := importer.ParseMap("map.toml", []byte(`vehicle = "v"
[time]
column = "timestamp"
unit = "us"
[[channel]]
name = "theta"
file = "angle"
column = "x"
role = "state"
[[channel]]
name = "tau"
file = "motor"
column = "x"
role = "input"
`))
	if err != nil {
		t.Fatal(err)
	}
	s, err := importer.Import(context.Background(), importer.Job{Format: "csv", Map: m, Inputs: in, Out: filepath.Join(dir, "out")})
	if err != nil || s.Rows != 300 || s.Channels[1].Samples != 299 {
		t.Errorf("%v, %+v", err, s)
	}
}

// Two recordings, each with a table for each topic, are two segments in any order of the files,
// and are refused where their times are those of each other.
func TestTwoRecordingsWithATableForEachTopic(t *testing.T) {
	dir := t.TempDir()
	table := func(name, column string, from int) string {
		path := filepath.Join(dir, name)
		text := rowsOf("time,"+column, func(i int, a, _, _ float64) string { return fmt.Sprintf("%.3f,%g", float64(from)+0.02*float64(i), a) })
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		return path
	}
	m := parse(t, `vehicle = "v"
[time]
column = "time"
unit = "s"
[[channel]]
name = "theta"
file = "joint"
column = "theta"
role = "state"
[[channel]]
name = "tau"
file = "effort"
column = "tau"
role = "input"
`)
	first := []string{table("flight1_joint.csv", "theta", 1000), table("flight1_effort.csv", "tau", 1000)}
	second := []string{table("flight2_joint.csv", "theta", 2000), table("flight2_effort.csv", "tau", 2000)}
	same := []string{table("flight3_joint.csv", "theta", 1001), table("flight3_effort.csv", "tau", 1001)}
	for _, in := range [][]string{append(slices.Clone(first), second...), append(slices.Clone(second), first...)} {
		s, err := importTables(context.Background(), m, in, filepath.Join(dir, "out"), nil)
		if err != nil || s.Rows != 600 || s.Segments != 2 || s.Channels[1].Samples != 600 {
			t.Errorf("%v: %v, %+v", in, err, s)
		}
	}
	_, err := importTables(context.Background(), m, append(slices.Clone(first), same...), filepath.Join(dir, "out"), nil)
	if err == nil || !strings.Contains(err.Error(), "flight3_joint.csv:") || !strings.Contains(err.Error(), `is among those of flight1_joint.csv, which has the same columns; these are two recordings`) {
		t.Error(err)
	}
}

// Rows whose times are coarser than they are spread evenly, within the resolution of the clock;
// of rows that repeat one another one counts.
func TestTimesCoarserThanRows(t *testing.T) {
	for _, c := range []struct {
		name, unit string
		at         func(i int) string
		rows       int
		rate       float64
	}{
		{"2 kHz in whole ms", "ms", func(i int) string { return fmt.Sprint(i / 2) }, 300, 2000},
		{"1.5 kHz in whole ms", "ms", func(i int) string { return fmt.Sprint(2 * i / 3) }, 300, 1500},
		{"250 Hz in hundredths of a second", "s", func(i int) string { return fmt.Sprintf("%.2f", 1.7e9+float64(2*i/5)/100) }, 300, 250},
		{"100 Hz in whole seconds, begun within one", "iso", func(i int) string {
			return time.Unix(1_700_000_000+int64(i+30)/100, 0).UTC().Format("2006-01-02 15:04:05")
		}, 300, 100},
		{"50 Hz, twice each", "s", func(i int) string { return fmt.Sprint(float64(i/2) * 0.02) }, 150, 50},
	} {
		table := rowsOf("t,theta,tau", func(i int, a, _, u float64) string { return fmt.Sprintf("%s,%g,%g", c.at(i), a, u) })
		log, s := run(t, "vehicle = \"v\"\n[time]\ncolumn = \"t\"\nunit = \""+c.unit+"\"\n"+thetaTau, table)
		times := log.Segments[0].T
		rate := float64(len(times)-1) / (1e-9 * float64(times[len(times)-1]-times[0]))
		if s.Rows != c.rows || math.Abs(rate/c.rate-1) > 0.01 || !slices.IsSorted(times) {
			t.Errorf("%s: %d rows, %g Hz", c.name, s.Rows, rate)
		}
	}
	// Of rows in turns of two robots, with the same times, one robot counts.
	robots := rowsOf("t,theta,tau", func(i int, a, _, u float64) string {
		return fmt.Sprintf("%.2f,%g,%g\n%.2f,%g,%g", 0.01*float64(i), a, u, 0.01*float64(i), 3+2*a, 2*u)
	})
	_, s, _ := suggested(t, "", robots)
	if s.Rows != 300 || !slices.ContainsFunc(s.Remarks, func(r importer.Remark) bool { return r.Severity == importer.Warning && r.Kind == "repeated" }) {
		t.Errorf("robots: %d rows, %+v", s.Rows, s.Remarks)
	}
	table := rowsOf("t,theta,tau", func(i int, a, _, u float64) string { return fmt.Sprintf("%d,%g,%g\n%d,%g,%g", i, a, u, i, a, u) })
	if _, s := run(t, "vehicle = \"v\"\n[time]\ncolumn = \"t\"\nunit = \"ms\"\n"+thetaTau, table); s.Rows != 300 {
		t.Errorf("repetitions: %d rows", s.Rows)
	}
}

const thetaTau = `[[channel]]
name = "theta"
column = "theta"
role = "state"
[[channel]]
name = "tau"
column = "tau"
role = "input"
`

// The rows of each robot are joined by themselves where columns are filled in different rows.
func TestSparseRowsOfSeveralRobots(t *testing.T) {
	table := rowsOf("t,robot,theta,tau", func(i int, a, _, u float64) string {
		at := 0.02 * float64(i)
		return fmt.Sprintf("%.3f,a,%g,\n%.3f,b,%g,\n%.3f,a,,%g\n%.3f,b,,%g", at, a, at+0.001, 2*a, at+0.004, u, at+0.005, 2*u)
	})
	log, s, _ := suggested(t, "", table)
	if s.Rows != 600 || s.Segments != 2 || log.Segments[0].Name != "a" || log.Segments[1].Name != "b" {
		t.Fatalf("%+v", s)
	}
	for i := range 299 {
		a, b := &log.Segments[0], &log.Segments[1]
		if _, _, u := swing(0.02 * float64(i)); a.X[i]*2 != b.X[i] || a.U[i+1] != u || b.U[i+1] != 2*u {
			t.Fatalf("row %d: %g, %g, %g, %g", i, a.X[i], b.X[i], a.U[i+1], b.U[i+1])
		}
	}
}

// An input that few rows have is refused with the remedy, and held by it.
func TestInputInFewRows(t *testing.T) {
	table := rowsOf("t,theta,tau", func(i int, a, _, u float64) string {
		if i%5 > 0 {
			return fmt.Sprintf("%.3f,%g,", 0.02*float64(i), a)
		}
		return fmt.Sprintf("%.3f,%g,%g", 0.02*float64(i), a, u)
	})
	text := "vehicle = \"v\"\n[time]\ncolumn = \"t\"\nunit = \"s\"\n"
	inputs, out := files(t, table)
	if _, err := importTables(context.Background(), parse(t, text+thetaTau), inputs, out, nil); err == nil || !strings.Contains(err.Error(), "no input (tau) is measured in more than 60 of 300 rows: write join = true under [time]") {
		t.Error(err)
	}
	if _, s := run(t, text+"join = true\n"+thetaTau, table); s.Rows != 300 || s.Channels[1].Samples != 300 {
		t.Errorf("%+v", s)
	}
}
