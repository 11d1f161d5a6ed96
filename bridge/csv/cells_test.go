package csv_test

import (
	"fmt"
	"math"
	"regexp"
	"strings"
	"testing"
)

// Cells with a unit behind each number, with or without a blank, and cells that are formulas of spreadsheets, are numbers: the map that
// is suggested has the unit, also of the time, and the import says what the cells say.
func TestUnitsInCells(t *testing.T) {
	plain, _, _ := suggested(t, "", rowsOf("t,theta,tau", func(i int, a, _, u float64) string { return fmt.Sprintf("%g,%.6f,%.6f", 0.02*float64(i), a, u) }))
	for name, c := range map[string]struct {
		table string
		want  []string // parts of the map
	}{
		"blanks": {rowsOf("time,theta,tau", func(i int, a, _, u float64) string {
			return fmt.Sprintf("%.3f s,%.6f rad,%.6f N m", 0.02*float64(i), a, u)
		}), []string{"column = \"time\"\nunit = \"s\" # s, ms, us, ns, min, h or d: as its cells are written\n", "unit = \"rad\"\nrole = \"state\"", "unit = \"N m\"\nrole = \"input\""}},
		"no blanks": {rowsOf("time,theta,throttle", func(i int, a, _, u float64) string { return fmt.Sprintf("%dms,%.6frad,%.6f%%", 20*i, a, u) }),
			[]string{"unit = \"ms\"", "unit = \"rad\"\nrole = \"state\"", "unit = \"%\"\nrole = \"input\""}},
		"decimal commas": {rowsOf("Zeit;Winkel;Moment", func(i int, a, _, u float64) string {
			return strings.ReplaceAll(fmt.Sprintf("%.3f s;%.6f rad;%.6f Nm", 0.02*float64(i), a, u), ".", ",")
		}), []string{"unit = \"s\"", "unit = \"rad\"\nrole = \"state\"", "unit = \"Nm\"\nrole = \"input\""}},
		"degrees": {rowsOf("time,theta,tau", func(i int, a, _, u float64) string {
			return fmt.Sprintf("%g,%.6f°,%.6f", 0.02*float64(i), a, u)
		}), []string{"unit = \"deg\"\nrole = \"state\""}},
		"formulas": {rowsOf(`="time",="theta",="tau"`, func(i int, a, _, u float64) string {
			return fmt.Sprintf(`="%g",="%.6f",="%.6f"`, 0.02*float64(i), a, u)
		}), []string{"column = \"time\"\nunit = \"s\""}},
	} {
		log, s, text := suggested(t, "", c.table)
		for _, want := range c.want {
			if !strings.Contains(text, want) {
				t.Errorf("%s: no %q in\n%s", name, want, text)
			}
		}
		if strings.Contains(c.table, "theta") && strings.Contains(c.table, "rad") && !strings.Contains(strings.Join(s.Texts(), "\n"), `numbers of column "theta" are in rad, as its cells say`) {
			t.Errorf("%s: %s", name, strings.Join(s.Texts(), "\n"))
		}
		for i, at := range plain.Segments[0].T {
			if got := log.Segments[0]; got.T[i] != at || math.Abs(got.X[i]-plain.Segments[0].X[i]) > 1e-12 || math.Abs(got.U[i]-plain.Segments[0].U[i]) > 1e-12 {
				t.Fatalf("%s: row %d: %d ns %g %g", name, i, got.T[i], got.X[i], got.U[i])
			}
		}
	}
}

// A map with another unit than the cells is warned of, and its from converts.
func TestUnitsInCellsUnlikeTheMap(t *testing.T) {
	table := rowsOf("t,x", func(i int, a, _, _ float64) string { return fmt.Sprintf("%d,%.6f deg", i, a) })
	inRad := strings.Replace(shortMap, `role = "state"`, "role = \"state\"\nunit = \"rad\"", 1)
	_, s := run(t, inRad, table)
	if text := strings.Join(s.Texts(), "\n"); !strings.Contains(text, `numbers of column "x" are in deg, as its cells say: the map has rad: write from = "deg" in the channel, which converts them`) {
		t.Error(text)
	}
	log, s := run(t, strings.Replace(inRad, `unit = "rad"`, "unit = \"rad\"\nfrom = \"deg\"", 1), table)
	theta, _, _ := swing(0.2)
	if text := strings.Join(s.Texts(), "\n"); strings.Contains(text, "write from") || math.Abs(log.Segments[0].X[10]-theta*math.Pi/180) > 1e-6 {
		t.Error(log.Segments[0].X[10], theta, text)
	}
}

// Numbers with separators of thousands are no times of day.
func TestThousandsAreNoTimesOfDay(t *testing.T) {
	_, err := mapOf(t, rowsOf("time_ms,theta,tau", func(i int, a, _, u float64) string {
		at := fmt.Sprint(20 * i)
		if i >= 50 {
			at = fmt.Sprintf(`"%d,%03d"`, 20*i/1000, 20*i%1000)
		}
		return fmt.Sprintf("%s,%g,%g", at, a, u)
	}))
	if err == nil || !strings.Contains(err.Error(), `column "time_ms" has numbers as "1,000", which are not read; write them without separators of thousands`) {
		t.Error(err)
	}
}

// A table without names whose times are dates or times of day has all of its rows, and its columns have numbers.
func TestTimesWithoutNames(t *testing.T) {
	for name, at := range map[string]string{"clock": "10:00:%06.3f", "date": "2026-03-05T10:00:%06.3fZ"} {
		_, table, _ := strings.Cut(rowsOf("", func(i int, a, _, u float64) string { return fmt.Sprintf(at+",%.6f,%.6f", 0.02*float64(i), a, u) }), "\n")
		log, s, text := suggested(t, "", table)
		if s.Rows != 300 || !strings.Contains(text, "column = \"1\"\n") || log.Segments[0].T[299]-log.Segments[0].T[0] != 299*20e6 {
			t.Errorf("%s: %d rows\n%s", name, s.Rows, text)
		}
	}
}

// A cell with a time and a value is none of both, and the remedy works.
func TestTimeAndValueInOneCell(t *testing.T) {
	table := rowsOf("10:00:00.000 -> theta,tau", func(i int, a, _, u float64) string {
		return fmt.Sprintf("10:00:%06.3f -> %.6f,%.6f", 0.02*float64(i), a, u)
	})
	if _, err := mapOf(t, table); err == nil || !strings.Contains(err.Error(), "is a time and a value in one cell; make two of it, as by: sed 's/ -> /,/' IN > OUT") {
		t.Error(err)
	}
	if _, s, _ := suggested(t, "", strings.ReplaceAll(table, " -> ", ",")); s.Rows != 300 {
		t.Error(s.Rows)
	}
}

// A position in mm that rises is no time.
func TestPositionsAreNoTimes(t *testing.T) {
	_, err := mapOf(t, "Trajectories\n100\n,,drone:m1,,\nFrame,Sub Frame,X,Y,Z\n,,mm,mm,mm\n"+strings.TrimPrefix(rowsOf("", func(i int, a, _, u float64) string { return fmt.Sprintf("%d,0,%d,%.6f,%.6f", i+1, 5*i, a, u) }), "\n"))
	if err == nil || !strings.Contains(err.Error(), "no column of it looks like a time; add a column of times") {
		t.Error(err)
	}
}

// Times in units of 100 ns, as .NET and Windows count them, are found by their size.
func TestTicks(t *testing.T) {
	for unit, begin := range map[string]int64{"ticks": 638_448_807_070_000_000, "filetime": 133_537_575_070_000_000} {
		log, _, text := suggested(t, "", rowsOf("timestamp,theta,tau", func(i int, a, _, u float64) string {
			return fmt.Sprintf("%d,%.6f,%.6f", begin+int64(i)*200_000, a, u)
		}))
		if at := log.Segments[0].T; !strings.Contains(text, "unit = \""+unit+"\"") || at[0] != 1_709_283_907e9 || at[299] != 1_709_283_907e9+299*20e6 {
			t.Errorf("%s: %d to %d\n%s", unit, at[0], at[len(at)-1], text)
		}
	}
}

// A decimal comma of times that separates cells is the reason, and the remedy works.
func TestCommasOfTimes(t *testing.T) {
	table := rowsOf("time,theta,tau", func(i int, a, _, u float64) string {
		return fmt.Sprintf("2026-03-05 10:00:%02d,%03d,%.6f,%.6f", i/50, i%50*20, a, u)
	})
	if _, err := mapOf(t, table); err == nil || !strings.Contains(err.Error(), `the comma in "2026-03-05 10:00:00,000" separates cells, so that there are 4 for 3 columns; write points into the times, as by: sed -E 's/(:[0-9]{2}),/\1./g' IN > OUT`) {
		t.Error(err)
	}
	if _, s, _ := suggested(t, "", regexp.MustCompile(`(:[0-9]{2}),`).ReplaceAllString(table, "$1.")); s.Rows != 300 {
		t.Error(s.Rows)
	}
}

// On and off, yes and no are truth values, and may be names of columns.
func TestOnAndOff(t *testing.T) {
	for _, words := range [][2]string{{"OFF", "ON"}, {"no", "yes"}, {"False", "True"}} {
		log, _, text := suggested(t, "", rowsOf("t,theta,on", func(i int, a, _, u float64) string {
			word := words[0]
			if i/30%2 > 0 {
				word = words[1]
			}
			return fmt.Sprintf("%g,%.6f,%s", 0.02*float64(i), a, word)
		}))
		if names := log.Channels; len(names) != 2 || names[1].Name != "on" || !strings.Contains(text, "a flag") {
			t.Fatalf("%v: %v\n%s", words, names, text)
		}
	}
}

// Cells in several units are named by the suggestion, with the cell.
func TestSeveralUnitsInCells(t *testing.T) {
	text, err := mapOf(t, rowsOf("t,v,theta", func(i int, a, _, _ float64) string {
		if i < 150 {
			return fmt.Sprintf("%g,%.1f mV,%.6f", 0.02*float64(i), 1000*a, a)
		}
		return fmt.Sprintf("%g,%.4f V,%.6f", 0.02*float64(i), a, a)
	}))
	if err != nil || !strings.Contains(text, `numbers in mV, and others in another unit, as "`) {
		t.Errorf("%v\n%s", err, text)
	}
}

// Rows of robots whose clocks are far apart are not taken for slow ones.
func TestUnitOfSeveralClocks(t *testing.T) {
	log, s, _ := suggested(t, "", rowsOf("robot,stamp,theta,tau", func(i int, a, _, u float64) string {
		return fmt.Sprintf("r1,%.3f,%.6f,%.6f\nr2,%.3f,%.6f,%.6f", 0.02*float64(i), a, u, 100+0.02*float64(i), 2*a, 2*u)
	}))
	if s.Segments != 2 || log.Segments[1].T[299]-log.Segments[1].T[0] != 299*20e6 {
		t.Error(s.Segments, len(log.Segments[1].T))
	}
}
