package csv_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/dgm-robotics/dgm/bridge/importer"
	"github.com/dgm-robotics/dgm/estimator/flightlog"
)

// mapOf returns the map that is suggested of a table, and how it fails.
func mapOf(t testing.TB, table string) (string, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a.csv")
	if err := os.WriteFile(path, []byte(table), 0o666); err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	err := importer.Suggest(context.Background(), &b, path, nil, nil)
	return b.String(), err
}

// The unit that the name of a column of times writes counts at any rate, and refused where
// it is not read.
func TestWrittenUnitsOfTimes(t *testing.T) {
	steps := map[string]float64{"s": 1e-9, "ms": 1e-6, "us": 1e-3, "ns": 1, "min": 1e-9 / 60, "h": 1e-9 / 3600, "d": 1e-9 / 86400}
	for unit, names := range map[string][]string{
		"s":   {"time_s", "t [sec]", "Time (s since start)", "elapsed seconds", "time_sec"},
		"ms":  {"t_ms", "time [msec]", "time (milliseconds)", "TimeMS", "time_mSec", "timestampms", "millis", "time [epoch ms]"},
		"us":  {"Time [µs]", "time [μs]", "t_µs", "time (microseconds)", "TimeUS", "time_uS", "micros", "usec"},
		"ns":  {"time (nanoseconds)", "t_ns", "timestampNs", "time [nsec]"},
		"min": {"time [min]", "t_min", "Time (minutes since start)", "elapsed minutes"},
		"h":   {"t_h", "time [hours]", "ElapsedHours"},
		"d":   {"Time (days)", "time_d"},
	} {
		for _, name := range names {
			for _, rate := range []int{10, 100, 2000, 10_000} {
				text, err := mapOf(t, rowsOf(name+",theta,tau", func(i int, a, _, u float64) string {
					return fmt.Sprintf("%.15g,%g,%g", float64(i*1_000_000_000/rate)*steps[unit], a, u)
				}))
				if want := fmt.Sprintf("column = %q\nunit = %q # s, ms, us, ns, min, h or d: from the name of the column\n", name, unit); err != nil || !strings.Contains(text, want) {
					t.Errorf("%s at %d Hz: %v, no %q in\n%s", name, rate, err, want, text)
				}
			}
		}
	}
	for name, what := range map[string]string{"t_weeks": "weeks", "ticks": "ticks", "time [0.1 ms]": "0.1 ms"} {
		_, err := mapOf(t, rowsOf(name+",theta,tau", func(i int, a, _, u float64) string { return fmt.Sprintf("%.9f,%g,%g", 0.01*float64(i)/60, a, u) }))
		if want := fmt.Sprintf("column %q: looks like the time and is in %q, which is no unit of times here", name, what); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	text, err := mapOf(t, rowsOf("ticks,time,theta,tau", func(i int, a, _, u float64) string {
		return fmt.Sprintf("%d,%g,%g,%g", 100_000*i, 0.01*float64(i), a, u)
	}))
	if err != nil || !strings.Contains(text, "column = \"time\"\nunit = \"s\"") {
		t.Errorf("beside ticks: %v\n%s", err, text)
	}
}

// Minutes, hours and days are read as what they are; a time of day is no day.
func TestLongUnits(t *testing.T) {
	for name, ns := range map[string]float64{"time [min]": 60e9, "t_h": 3600e9, "Time (days)": 86400e9, "time_of_day": 1e9} {
		log, s, _ := suggested(t, "", rowsOf(name+",theta,tau", func(i int, a, _, u float64) string {
			return fmt.Sprintf("%.15f,%g,%g", 0.02e9*float64(i)/ns, a, u)
		}))
		for i, at := range log.Segments[0].T {
			if at != int64(i)*20e6 {
				t.Errorf("%s, row %d: %d ns %s", name, i, at, strings.Join(s.Texts(), "; "))
				break
			}
		}
	}
}

// The rest of a time in whole seconds is added in its unit.
func TestFractionsOfSeconds(t *testing.T) {
	for _, c := range []struct {
		seconds, rest, want string
		unit                int64
	}{{"rosbagTimestamp,secs", "nsecs", "", 1}, {"tv_sec", "tv_usec", "fraction_unit = \"us\"\n", 1000}, {"stamp.secs", "stamp.nsecs", "", 1}, {"sec", "msec", "fraction_unit = \"ms\"\n", 1_000_000}} {
		table := rowsOf(c.seconds+","+c.rest+",theta,tau", func(i int, a, _, u float64) string {
			ns := 500_000_000 + int64(i)*20_000_000
			first := ""
			if strings.HasPrefix(c.seconds, "rosbag") { // when it was recorded is not when it was measured
				first = fmt.Sprintf("%d,", 1_700_000_000_000_000_000+ns+int64(i*i)%7_000_000)
			}
			return first + fmt.Sprintf("%d,%d,%g,%g", 1_700_000_000+ns/1_000_000_000, ns%1_000_000_000/c.unit, a, u)
		})
		text, err := mapOf(t, table)
		if err != nil || !strings.Contains(text, "fraction = \""+c.rest+"\"\n"+c.want) {
			t.Errorf("%v\n%s", err, text)
			continue
		}
		log, s := run(t, text, table)
		for i, at := range log.Segments[0].T {
			if s.Rows != 300 || at != 1_700_000_000_500_000_000+int64(i)*20_000_000 {
				t.Fatalf("%s: %d rows, row %d at %d", c.rest, s.Rows, i, at)
			}
		}
	}
}

// The time within a week or a day goes on over its end; that within a minute or an hour, of which
// another column has the number, is said to be.
func TestTimesWithinAPeriod(t *testing.T) {
	for period, want := range map[int64]string{604_800: "", 86_400: "", 3600: "the time restarts: it seems to count within the hour; write the whole time into one column", 60: "within the minute"} {
		table := rowsOf("t,theta,tau", func(i int, a, _, u float64) string {
			ms := (1000*period - 3000 + 20*int64(i)) % (1000 * period)
			return fmt.Sprintf("%d.%03d,%g,%g", ms/1000, ms%1000, a, u)
		})
		path := filepath.Join(t.TempDir(), "a.csv")
		if err := os.WriteFile(path, []byte(table), 0o666); err != nil {
			t.Fatal(err)
		}
		out := filepath.Join(t.TempDir(), "f.msgpack")
		_, err := importer.Import(context.Background(), importer.Job{Format: "csv", Map: parse(t, "vehicle = \"v\"\n[time]\ncolumn = \"t\"\nunit = \"s\"\n"+thetaTau), Inputs: []string{path}, Out: out})
		if want != "" {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%d s: %v", period, err)
			}
			continue
		}
		log, err2 := flightlog.ReadFile(out)
		if err := errors.Join(err, err2); err != nil {
			t.Fatal(err)
		}
		if s := log.Segments[0]; s.T[299]-s.T[0] != 299*20_000_000 {
			t.Errorf("%d s: %v", period, s.T[299]-s.T[0])
		}
	}
}

// Local times go back by an hour where summer time ends, which is said to be; with their zone they go on.
func TestEndOfSummerTime(t *testing.T) {
	for _, zone := range []string{"", "-07:00"} {
		table := rowsOf("t,theta,tau", func(i int, a, _, u float64) string {
			at := time.Date(2024, 10, 27, 0, 59, 58, 0, time.UTC).Add(time.Duration(i) * 20 * time.Millisecond)
			return fmt.Sprintf("%s,%g,%g", at.In(time.FixedZone("", 3600*(2-at.Hour()))).Format("2006-01-02T15:04:05.000"+zone), a, u)
		})
		path := filepath.Join(t.TempDir(), "a.csv")
		if err := os.WriteFile(path, []byte(table), 0o666); err != nil {
			t.Fatal(err)
		}
		s, err := importer.Import(context.Background(), importer.Job{Format: "csv", Map: parse(t, "vehicle = \"v\"\n[time]\ncolumn = \"t\"\nunit = \"iso\"\n"+thetaTau), Inputs: []string{path}, Out: filepath.Join(t.TempDir(), "f.msgpack")})
		if zone == "" && (err == nil || !strings.Contains(err.Error(), "the clock is set back by one hour, as at the end of summer time")) || zone != "" && (err != nil || s.Rows != 300) {
			t.Errorf("%q: %v", zone, err)
		}
	}
}

// Rows at 2 kHz whose milliseconds are taken for seconds, as their steps allow, are a warning with both
// readings.
func TestSlowTable(t *testing.T) {
	for step, want := range map[float64]bool{0.5: true, 0.04: false} {
		_, s, _ := suggested(t, "", rowsOf("time,theta,tau", func(i int, a, _, u float64) string { return fmt.Sprintf("%.2f,%g,%g", step*float64(i), a, u) }))
		const slow = "slow: rows at 2 Hz; a horizon of 1 s has 2 of them, and motion between them is not learned: record at 50 Hz or more; or, if the rows are faster than that, correct time.unit in the map"
		if text := strings.Join(s.Texts(), "\n"); strings.Contains(text, slow) != want || !want && strings.Contains(text, "slow") {
			t.Errorf("%g: %s", step, text)
		}
	}
}

// Tables that give one column different units, in their rows of units, are refused together.
func TestUnitsOfSeveralTables(t *testing.T) {
	table := func(units string) string {
		return rowsOf("t,theta,tau\n"+units, func(i int, a, _, u float64) string { return fmt.Sprintf("%g,%g,%g", 0.01*float64(i), a, u) })
	}
	m := parse(t, "vehicle = \"v\"\n[time]\ncolumn = \"t\"\nunit = \"s\"\n"+thetaTau)
	for units, want := range map[string]string{
		"s,rad,Nm":      "",
		"(s),[rad],N m": "",
		"s,,N m":        "",
		"s,deg,N m":     `b.csv: column "theta": is in deg here, and in rad in a.csv; import the tables one by one`,
		"ms,rad,N m":    `b.csv: column "t": is in ms here, and in s in a.csv`,
		"s,rad,N":       `b.csv: column "tau": is in N here, and in N m in a.csv`,
	} {
		inputs, out := files(t, table("s,rad,N m"), table(units))
		if _, err := importTables(context.Background(), m, inputs, out, nil); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", units, err)
		}
	}
}

// Days are found by their size: those of MATLAB count from the year 0, those of spreadsheets from 1900. Fractions of a
// double are 10 µs of them, so that rows are that far off.
func TestDayNumbers(t *testing.T) {
	for _, c := range []struct {
		name  string
		begin float64
		unit  string
		first int64
	}{{"datenum", 740071.25, "datenum", 1_774_850_400e9}, {"time", 740071.25, "datenum", 1_774_850_400e9}, {"Time", 46110.25, "d", 46110.25 * 86400 * 1e9}} {
		table := rowsOf(c.name+",theta,tau", func(i int, a, _, u float64) string {
			return fmt.Sprintf("%.11f,%g,%g", c.begin+0.02*float64(i)/86400, a, u)
		})
		text, err := mapOf(t, table)
		if err != nil || !strings.Contains(text, fmt.Sprintf("column = %q\nunit = %q", c.name, c.unit)) {
			t.Errorf("%v\n%s", err, text)
			continue
		}
		log, s := run(t, text, table)
		for i, at := range log.Segments[0].T {
			if off := at - c.first - int64(i)*20_000_000; s.Rows != 300 || off < -20_000 || off > 20_000 {
				t.Fatalf("%s: %d rows, row %d off by %d ns", c.name, s.Rows, i, off)
			}
		}
	}
}
