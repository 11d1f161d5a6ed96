package csv_test

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dgm-robotics/dgm/bridge/importer"
)

// A column called like omega [rad/s] is suggested with its name and its unit, and what
// is suggested is a map.
func TestSuggestedUnits(t *testing.T) {
	table := "t [ms],theta [rad],omega[rad/s],q[0],u [N],u [V],plain,run\n"
	for i := range 60 {
		table += fmt.Sprintf("%d,%g,%d,%d,%d,%d,%d,%d\n", 5*i, math.Remainder(float64(i)/10, 2*math.Pi), i%7, i%3, i%4, i%5, i%2, i/30)
	}
	b := suggestion(t, table)
	for _, want := range []string{
		"column = \"t [ms]\"\nunit = \"ms\" # s, ms, us, ns, min, h or d: from the name of the column\n",
		"name = \"theta\"\ncolumn = \"theta [rad]\"\nunit = \"rad\"\nrole = \"state\"\nperiod = 6.283185307179586 # its values jump by this\n",
		"segment_column = \"run\"\n",
		"name = \"omega\"\ncolumn = \"omega[rad/s]\"\nunit = \"rad/s\"\n",
		"name = \"q[0]\"\ncolumn = \"q[0]\"\nrole = ",
		"name = \"u [N]\"\ncolumn = \"u [N]\"\nunit = \"N\"\n", "name = \"u [V]\"\ncolumn = \"u [V]\"\nunit = \"V\"\n",
		"name = \"plain\"\ncolumn = \"plain\"\nrole = ",
	} {
		if !strings.Contains(b, want) {
			t.Errorf("no %q in\n%s", want, b)
		}
	}
	if m, err := importer.ParseMap("map.toml", []byte(b)); err != nil || len(m.Channels) != 6 {
		t.Errorf("%+v, %v", m, err)
	}
}

// An angle is suggested where values wrap, in the unit by which they jump, and nowhere else;
// units are those that names end in; what drives the robot is an input. Copies and
// accelerations are proposed as no states.
func TestSuggestedAnglesAndInputs(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 1))
	const rows = 3000
	turn := func(angle, of float64) float64 { return math.Remainder(angle, of) }
	columns := []struct {
		name string
		at   func(s float64) float64
		want string // after the line of the column
	}{
		{"angle_deg", func(s float64) float64 { return turn(300*math.Sin(s)+90*s, 360) }, "unit = \"deg\"\nrole = \"state\"\nperiod = 360 "},
		{"rate_dps", func(s float64) float64 { return 300*math.Cos(s) + 90 }, "unit = \"deg/s\"\nrole = \"state\"\n\n"},
		{"a", func(s float64) float64 { return turn(300*math.Sin(s)+80*s, 360) }, "unit = \"deg\"\nrole = \"state\"\nperiod = 360 "},
		{"b", func(s float64) float64 { return 390*math.Cos(s) + 5*rng.NormFloat64() }, "role = \"state\"\n\n"},
		{"yaw", func(s float64) float64 { return turn(2*math.Sin(s)+s, 2*math.Pi) }, "unit = \"rad\"\nrole = \"state\"\nperiod = 6.283185307179586 "},
		{"heading", func(s float64) float64 { return 180 + turn(90*s, 360) }, "unit = \"deg\"\nrole = \"state\"\nperiod = 360 "},
		{"wheel_rad", func(s float64) float64 { return 3 * s }, "unit = \"rad\"\nrole = \"state\"\n\n"},
		{"lift", func(float64) float64 { return 9.8 + 4*rng.NormFloat64() }, "role = \"state\"\n\n"},
		{"acc", func(float64) float64 { return 9.8 + 4*rng.NormFloat64() }, "# role = \"state\"\n\n"},
		{"rate_filtered", func(s float64) float64 { return 301*math.Cos(s) + 91 }, "# role = \"state\"\n\n"},
		{"volt", func(float64) float64 { return 20 * rng.NormFloat64() }, "role = \"state\"\n\n"},
		{"noise", func(float64) float64 { return 3 * rng.NormFloat64() }, "role = \"state\"\n\n"},
		{"noise (rad)", func(float64) float64 { return 3 * rng.NormFloat64() }, "unit = \"rad\"\nrole = \"state\"\n\n"},
		{"tau [Nm]", math.Sin, "unit = \"Nm\"\nrole = \"input\"\n"},
		{"force", math.Sin, "role = \"input\"\n"},
		{"force_x (N)", math.Sin, "unit = \"N\"\nrole = \"input\"\n"},
		{"torque_nm", math.Sin, "unit = \"N m\"\nrole = \"input\"\n"},
		{"Moment [Nm]", math.Sin, "unit = \"Nm\"\nrole = \"input\"\n"},
		{"Kraft (N)", math.Sin, "unit = \"N\"\nrole = \"input\"\n"},
		{"u1", math.Sin, "role = \"input\"\n"},
		{"u [m/s]", math.Exp, "unit = \"m/s\"\nrole = \"state\"\n"},
		{"Throttle", math.Sin, "role = \"input\"\n"},
		{"motor_pwm", math.Sin, "role = \"input\"\n"},
		{"battery_volt", math.Sin, "unit = \"V\"\nrole = \"aux\"\n"},
		{"residual", math.Sqrt, "role = \"state\"\n"},
	}
	var table strings.Builder
	table.WriteString("time_ms")
	for _, c := range columns {
		table.WriteString("," + c.name)
	}
	for i := range rows {
		fmt.Fprintf(&table, "\n%d", 20*i)
		for _, c := range columns {
			fmt.Fprintf(&table, ",%g", c.at(0.02*float64(i)))
		}
	}
	b := suggestion(t, table.String())
	b += "\n"
	for _, c := range columns {
		hash := ""
		if strings.HasPrefix(c.want, "# ") {
			hash = "# "
		}
		if want := fmt.Sprintf("\n%scolumn = %q\n%s", hash, c.name, c.want); !strings.Contains(b, want) {
			t.Errorf("no %q", want)
		}
	}
	head, _, _ := strings.Cut(b, "vehicle")
	for _, want := range []string{"angle_deg 360 deg, a 360 deg, yaw 6.283185307179586 rad, heading 360 deg", "column = \"time_ms\"\nunit = \"ms\" # s, ms, us, ns, min, h or d: from the name"} {
		if !strings.Contains(b, want) {
			t.Errorf("no %q in\n%s", want, head)
		}
	}
	if t.Failed() {
		t.Log(b)
	}
}

// Columns that have one name are read by their numbers.
func TestSuggestedNamesDiffer(t *testing.T) {
	table := rowsOf("t,theta,theta,u_1 [V],u_1 [A],tau", func(i int, a, b, u float64) string {
		return fmt.Sprintf("%g,%g,%g,%g,%g,%g", 0.02*float64(i), a, 2*b, u, 3*u+float64(i%3), u+float64(i%5))
	})
	log, _, text := suggested(t, "", table)
	var names []string
	for _, c := range log.Header.Channels {
		names = append(names, c.Name)
	}
	if got := strings.Join(names, ", "); got != "theta, theta_2, u_1 [V], u_1 [A], tau" || log.Segments[0].X[1] != 2 {
		t.Errorf("%s\n%s", got, text)
	}
}

// Columns that number segments are all named, robots by any usual word, and a date goes with its
// times of day.
func TestSuggestedSegments(t *testing.T) {
	at := func(i int) float64 { return 0.02 * float64(i) }
	for name, c := range map[string]struct {
		table, want string
		segments    int
	}{
		"robot and episode": {rowsOf("robot,episode,t,theta,tau", func(i int, a, _, u float64) string {
			return fmt.Sprintf("%c,%d,%g,%g,%g", 'a'+i/150, i/75%2, at(i%75), a, u)
		}), "segment_column = [\"robot\", \"episode\"]\n", 4},
		"source": {rowsOf("t,source,theta,tau", func(i int, a, _, u float64) string {
			return fmt.Sprintf("%g,a,%g,%g\n%g,b,%g,%g", at(i), a, u, at(i)+0.001, 2*a, 2*u)
		}), "group_column = \"source\"\n", 2},
		"date and time": {rowsOf("date,time,theta,tau", func(i int, a, _, u float64) string {
			return fmt.Sprintf("2026-03-0%d,12:00:%05.2f,%g,%g", 5+i/150, at(i%150), a, u)
		}), "unit = \"iso\" # s, ms, us, ns, min, h or d: as its cells are written\ndate = \"date\"\n", 2},
	} {
		front := ""
		if name == "date and time" {
			front = "max_gap = \"1s\"\n"
		}
		if _, s, text := suggested(t, front, c.table); s.Segments != c.segments || !strings.Contains(text, c.want) {
			t.Errorf("%s: %d segments\n%s", name, s.Segments, text)
		}
	}
}

// Cells that are no numbers are counted, and refused with what to do about them.
func TestCellsThatAreNoNumbers(t *testing.T) {
	for name, c := range map[string]struct{ names, remark, reason string }{
		"a text now and then": {"OVL", `[[channel]] # 285 numbers, and 15 cells that are none, as "OVL", which an import refuses: clear these cells`, `line 2: column "theta": "OVL" is not a number; correct it, or clear the cell`},
		"thousands":           {`"1,234.5"`, `[[channel]] # numbers as "1,234.5", which an import refuses: write them without separators of thousands`, `line 2: column "theta": "1,234.5" is not a number; write all numbers of the table alike, without separators of thousands`},
	} {
		table := rowsOf("t,theta,omega,tau", func(i int, a, w, u float64) string {
			cell := c.names
			if i%20 > 0 && name != "thousands" {
				cell = fmt.Sprint(a)
			}
			return fmt.Sprintf("%g,%s,%g,%g", 0.02*float64(i), cell, w, u)
		})
		text, err := mapOf(t, table)
		if err != nil || !strings.Contains(text, c.remark+"\nname = \"theta\"\n") {
			t.Errorf("%s: %v\n%s", name, err, text)
			continue
		}
		inputs, out := files(t, table)
		if _, err := importTables(context.Background(), parse(t, text), inputs, out, nil); err == nil || !strings.Contains(err.Error(), c.reason) {
			t.Errorf("%s: %v", name, err)
		}
	}
	log, _, _ := suggested(t, "", strings.ReplaceAll(rowsOf("t,theta,tau", func(i int, a, _, u float64) string { return fmt.Sprintf("%.3f,%.6E,%.6E", 0.02*float64(i), a, u) }), "E", "D"))
	if math.Abs(log.Segments[0].X[50]-0.5*math.Sin(2)) > 1e-6 {
		t.Error("exponents of Fortran", log.Segments[0].X[50])
	}
}

// Names once more are refused with their line. Lines ahead of the names, as of titles and of LabVIEW, are left out.
func TestNamesInOtherLines(t *testing.T) {
	rows := rowsOf("t;theta;tau", func(i int, a, _, u float64) string { return fmt.Sprintf("%g;%g;%g", 0.02*float64(i), a, u) })
	want := "a.csv: line 302: it repeats the names of the columns; delete the line"
	if _, err := mapOf(t, rows+rows); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %s", err, want)
	}
	tabs := strings.ReplaceAll(rows, ";", "\t")
	for what, c := range map[string]struct {
		table string
		lines int
	}{
		"titles":        {"Date;2026-03-05\nOperator;N\nRate;100\n\n" + rows, 4},
		"one sentence":  {"swing up, second try\n" + rows, 1},
		"open quote":    {"the \" of the second\n" + rows, 1},
		"settings":      {"\"Product\",\"Recorder\"\n\"scale\",\"1\"\n" + strings.ReplaceAll(rows, ";", ","), 2},
		"LabVIEW":       {"LabVIEW Measurement\nSeparator\tTab\n***End_of_Header***\t\nChannels\t2\t\nX_Dimension\tTime\tTime\n***End_of_Header***\n" + strings.Replace(tabs, "tau", "tau\tComment", 1), 6},
		"empty names":   {strings.Replace(rows, "tau", "tau;;", 1), 0},
		"comments":      {"# t theta tau\n# made by hand\n" + strings.SplitN(strings.ReplaceAll(rows, ";", " "), "\n", 2)[1], 0},
		"quantity/unit": {strings.Replace(rows, "t;theta;tau", "t / s;theta / rad;tau / N m", 1), 0},
	} {
		log, sum, text := suggested(t, "", c.table)
		if len(log.Segments[0].T) != 300 || math.Abs(log.Segments[0].X[50]-0.5*math.Sin(2)) > 1e-6 || log.Channels[0].Name != "theta" || log.Channels[1].Name != "tau" {
			t.Errorf("%s: %d rows of %v\n%s", what, len(log.Segments[0].T), log.Channels, text)
		}
		if said := fmt.Sprint(sum.Remarks); strings.Contains(said, fmt.Sprintf("%d line", c.lines)) != (c.lines > 0) {
			t.Errorf("%s: %s", what, said)
		}
	}
}

// The comments of Octave name no columns.
func TestCommentsOfOctave(t *testing.T) {
	rows := rowsOf("", func(i int, a, w, u float64) string { return fmt.Sprintf(" %g %g %g %g", 0.02*float64(i), a, w, u) })
	text, err := mapOf(t, "# Created by Octave 8.4.0, Thu Mar 05\n# name: log\n# type: matrix\n# rows: 300\n# columns: 4\n"+rows[1:])
	if err != nil || !strings.Contains(text, `column = "2"`) || strings.Contains(text, "Octave") {
		t.Errorf("%v\n%s", err, text)
	}
}

// A pause within a segment is said as of topics: five usual steps are none. What is longer than any
// pause is a warning with the key that divides there.
func TestPausesWithinASegment(t *testing.T) {
	table := func(gap float64) string {
		return rowsOf("t,theta,tau", func(i int, a, _, u float64) string {
			return fmt.Sprintf("%g,%g,%g", 0.02*float64(i)+gap*float64(i/100), a, u)
		})
	}
	const divides = `: write max_gap = "1s" under [time]`
	for _, c := range []struct {
		front string
		gap   float64
		want  string
	}{
		{"", 0.08, ""},
		{"", 0.084, "rows follow each other in 0.02 s, and up to 0.104 s within a segment, in t0.csv line 102, the longest of 2 pauses"},
		{"", 100, "and up to 100.02 s within a segment, in t0.csv line 102, the longest of 2 pauses"},
		{"", 121, "and up to 121.02 s within a segment, in t0.csv line 102, the longest of 2 pauses" + divides},
		{"", 3600, "the longest of 2 pauses; local times without a zone go ahead by an hour where summer time begins" + divides},
		{"max_gap = \"1s\"\n", 3600, ""},
	} {
		_, s, _ := suggested(t, c.front, table(c.gap))
		text := strings.Join(s.Texts(), "\n")
		if !strings.Contains(text, c.want) || strings.Contains(text, divides) != strings.HasSuffix(c.want, divides) || c.want == "" && strings.Contains(text, "pauses") {
			t.Errorf("%+v: %s", c, text)
		}
	}
}

// A quaternion is proposed as an attitude, a set value as an input.
func TestSuggestsAttitudes(t *testing.T) {
	text, err := mapOf(t, rowsOf("t,att_qx,att_qy,att_qz,att_qw,rate,p_set", func(i int, a, w, u float64) string {
		return fmt.Sprintf("%g,%g,0,0,%g,%g,%g", 0.02*float64(i), math.Sin(a/2), math.Cos(a/2), w, u)
	}))
	if err != nil || !strings.Contains(text, "columns = [\"att_qw\", \"att_qx\", \"att_qy\", \"att_qz\"]\norder = \"wxyz\"\n") || strings.Contains(text, `name = "att_q`) ||
		!strings.Contains(text, "column = \"p_set\"\nrole = \"input\"") {
		t.Errorf("%v:\n%s", err, text)
	}
}

// A column of an input in which no row has a value is a loss, though the input is optional.
func TestEmptyInputsAreALoss(t *testing.T) {
	const m = "vehicle = \"v\"\n[time]\ncolumn = \"t\"\nunit = \"s\"\n[[channel]]\nname = \"theta\"\ncolumn = \"theta\"\nrole = \"state\"\n[[channel]]\nname = \"tau\"\ncolumn = \"tau\"\nrole = \"input\"\noptional = true\n"
	for value, refused := range map[string]bool{"": true, "0.5": false} {
		table := rowsOf("t,theta,tau", func(i int, a, _, _ float64) string { return fmt.Sprintf("%g,%g,%s", 0.02*float64(i), a, value) })
		inputs, out := files(t, table)
		if _, err := importTables(context.Background(), parse(t, m), inputs, out, nil); (err != nil) != refused || refused && !strings.Contains(err.Error(), "no input (tau) is measured") {
			t.Errorf("%q: %v", value, err)
		}
	}
}

// A column that is called as a time is one whose cells or order are wrong: which ones is said.
func TestTimesInNoOrder(t *testing.T) {
	shuffled := func(i int) int { return i * 149 % 300 }
	for want, c := range map[string]struct {
		at   func(i int) int
		text string
	}{
		`column "time" goes back in 148 of 300 rows; if it is the time, sort the rows by it, or write the map by hand, with join = true under [time]`: {shuffled, ""},
		`column "time" falls, the rows are in reverse order; sort the rows by it`:                                                                     {func(i int) int { return 299 - i }, ""},
		`column "time" has 300 numbers, and cells that are none, the first "Rows"; correct these lines, or delete them`:                               {func(i int) int { return i }, "Rows,300,0\n"},
	} {
		table := rowsOf("time,theta,tau", func(i int, _, _, _ float64) string {
			theta, _, tau := swing(0.02 * float64(c.at(i)))
			return fmt.Sprintf("%g,%g,%g", 0.02*float64(c.at(i)), theta, tau)
		}) + c.text
		if _, err := mapOf(t, table); err == nil && c.text != "" || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	table := rowsOf("time,theta,tau", func(i int, _, _, _ float64) string {
		theta, _, tau := swing(0.02 * float64(shuffled(i)))
		return fmt.Sprintf("%g,%g,%g", 0.02*float64(shuffled(i)), theta, tau)
	})
	log, _ := run(t, "vehicle = \"v\"\n[time]\ncolumn = \"time\"\nunit = \"s\"\njoin = true\n"+thetaTau, table)
	for i, x := range log.Segments[0].X {
		if theta, _, _ := swing(0.02 * float64(i)); math.Abs(x-theta) > 1e-6 || len(log.Segments[0].T) != 300 {
			t.Fatalf("row %d of %d: %g, want %g", i, len(log.Segments[0].T), x, theta)
		}
	}
}

// Counts of an encoder, and numbers of 16 bits that overflow, wrap: the suggested period is that.
func TestCountsWrap(t *testing.T) {
	for _, c := range []struct {
		counts, from float64
		want         bool
	}{{4096, 0, true}, {16384, 0, true}, {65536, -32768, true}, {5000, 0, false}} {
		text, err := mapOf(t, rowsOf("time,position,tau", func(i int, a, _, u float64) string {
			at := math.Round(1.3*c.counts*math.Sin(0.02*float64(i))) - c.from
			return fmt.Sprintf("%.2f,%.0f,%g", 0.02*float64(i), at-c.counts*math.Floor(at/c.counts)+c.from, u)
		}))
		if got := strings.Contains(text, fmt.Sprintf("unit = \"counts\"\nrole = \"state\"\nperiod = %v", c.counts)); err != nil || got != c.want {
			t.Errorf("%g: %v\n%s", c.counts, err, text)
		}
	}
}

// A column that rests, for some times longer than others, and jumps through its range is a command where no column is called as one; one of a slow sensor,
// of the gears of a state machine, or of what is said to be measured, is not.
func TestSuggestedInputsByTheirValues(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 1))
	steps := func(levels int) func(i int) float64 {
		level, next := 0.0, 0
		return func(i int) float64 {
			if i == next {
				level, next = math.Round(float64(levels)*(2*rng.Float64()-1)), i+20+rng.IntN(130)
			}
			return level / 10
		}
	}
	motion := func(i int) float64 { return math.Sin(0.02 * float64(i)) }
	for _, c := range []struct {
		columns string
		of      func(i int) float64
		role    string
	}{
		{"x,voltage", steps(100), "input"},
		{"x,measured_voltage", steps(100), "state"},
		{"x,Voltage", func(i int) float64 { return math.Round(40*math.Cos(3*float64(i/100))) / 10 }, "input"},
		{"x,mode", steps(1), "state"},
		{"x,gps", func(i int) float64 { return math.Cos(0.02 * float64(i/50*50)) }, "state"},
		{"throttle,flow", steps(100), "state"},
	} {
		var table strings.Builder
		table.WriteString("t," + c.columns)
		for i := range 4000 {
			fmt.Fprintf(&table, "\n%.2f,%.6f,%g", 0.01*float64(i), motion(i), c.of(i))
		}
		b := suggestion(t, table.String())
		_, name, _ := strings.Cut(c.columns, ",")
		if want := fmt.Sprintf("column = %q\nrole = %q", name, c.role); !strings.Contains(b, want) {
			t.Errorf("%s: no %q in\n%s", c.columns, want, b)
		}
	}
}

// suggestion returns the map that is suggested for a table.
func suggestion(t *testing.T, table string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "table.csv")
	if err := os.WriteFile(path, []byte(table), 0o666); err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := importer.Suggest(context.Background(), &b, path, nil, nil); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// A table with one signal in each row is refused with the command that makes columns of them; robots in turns are none.
func TestOneSignalInEachRow(t *testing.T) {
	long := rowsOf("time,signal,value", func(i int, a, w, u float64) string {
		return fmt.Sprintf("%[1]g,theta,%[2]g\n%[1]g,omega,%[3]g\n%[1]g,tau,%[4]g", 0.02*float64(i), a, w, u)
	})
	for _, table := range []string{long, strings.Replace(long, "signal", "name", 1)} {
		if _, err := mapOf(t, table); err == nil || !strings.Contains(err.Error(), "names 3 signals, one in each row, whose values are in column \"value\"") || !strings.Contains(err.Error(), "pivot_table") {
			t.Error(err)
		}
	}
	if text, err := mapOf(t, strings.ReplaceAll(strings.Replace(long, "signal,value", "robot,height", 1), "theta", "tower")); err != nil || !strings.Contains(text, `group_column = "robot"`) {
		t.Errorf("%v\n%s", err, text)
	}
}
