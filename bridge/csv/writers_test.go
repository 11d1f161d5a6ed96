package csv_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/dgm-robotics/dgm/bridge/importer"
	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/flightlog"
)

// at returns a channel of a log with one segment, by its name.
func at(t *testing.T, log *flightlog.Log, name string) (values []float64, c channel.Channel) {
	t.Helper()
	for role, all := range map[channel.Role][]float64{channel.State: log.Segments[0].X, channel.Input: log.Segments[0].U} {
		of := channel.Select(log.Channels, role)
		if k := channel.Index(of, name); k >= 0 {
			for i := k; i < len(all); i += len(of) {
				values = append(values, all[i])
			}
			return values, of[k]
		}
	}
	t.Fatalf("no channel %s of %v", name, channel.Names(log.Channels))
	return nil, c
}

// plainRow is a row of swing.
func plainRow(i int, theta, omega, tau float64) string {
	return fmt.Sprintf("%.2f,%g,%g,%g", 0.02*float64(i), theta, omega, tau)
}

// wide returns text as UTF-16 without a mark.
func wide(text string, order binary.AppendByteOrder) string {
	var b []byte
	for _, c := range utf16.Encode([]rune(text)) {
		b = order.AppendUint16(b, c)
	}
	return string(b)
}

// Tables that are written in other ways are the plain one: as UTF-16 without a mark, with numbers of rows that have no name, and behind
// lines of which the first has as many cells.
func TestOtherWaysToWriteATable(t *testing.T) {
	plain := rowsOf("t,theta,omega,tau", plainRow)
	numbered := rowsOf(`"t","theta","omega","tau"`, func(i int, theta, omega, tau float64) string {
		return fmt.Sprintf("\"%d\",%s", i+1, plainRow(i, theta, omega, tau))
	})
	for name, text := range map[string]string{
		"low byte first": wide(plain, binary.LittleEndian), "high byte first": wide(plain, binary.BigEndian), "of R": numbered,
		"behind lines": "Format,1.2,Rate,50\n,,\n,drone,drone,drone\n" + plain,
	} {
		log, s, text := suggested(t, "", text)
		theta, _ := at(t, log, "theta")
		_, u := at(t, log, "tau")
		if s.Rows != 300 || log.Segments[0].T[299]-log.Segments[0].T[0] != 299*20e6 || u.Role != channel.Input {
			t.Fatalf("%s: %d rows\n%s", name, s.Rows, text)
		}
		for i, v := range theta {
			if want, _, _ := swing(0.02 * float64(i)); v != want {
				t.Fatalf("%s: row %d is %v, want %v", name, i, v, want)
			}
		}
	}
}

// refusedTable returns the error of an import by a map of swing's columns, or of the suggestion of one.
func refusedTable(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a.csv")
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	err := importer.Suggest(context.Background(), &b, path, nil, nil)
	if err == nil {
		var m *importer.Map
		if m, err = importer.ParseMap("map.toml", b.Bytes()); err == nil {
			_, err = importer.Import(context.Background(), importer.Job{Format: "csv", Map: m, Inputs: []string{path}, Out: filepath.Join(t.TempDir(), "o.msgpack")})
		}
	}
	if err == nil {
		return ""
	}
	return err.Error()
}

// What changes within a table is refused with its line and what changes: the order of the columns, and the unit of the time.
func TestWhatChangesWithinATable(t *testing.T) {
	times := func(unit string, from, factor float64) string {
		return rowsOf(unit+",theta,omega,tau", func(i int, theta, omega, tau float64) string {
			at := from + 0.02*float64(i)
			if i >= 150 {
				at *= factor
			}
			return fmt.Sprintf("%.6f,%g,%g,%g", at, theta, omega, tau)
		})
	}
	swapped := strings.Replace(rowsOf("t,theta,omega,tau", plainRow), "\n3.00,", "\nt,omega,theta,tau\n3.00,", 1)
	for name, c := range map[string][2]string{
		"columns":          {swapped, "line 152: it names the columns anew, in another order or with others among them: another table begins there; write it to a separate file"},
		"s and ms":         {times("time", 100, 1000), `line 152: column "time": the times are 1000 times as large from here on: their unit changes`},
		"s and µs of 1970": {times("time", 1.7e9, 1e6), `line 152: column "time": the times are 1e+06 times as large from here on: their unit changes`},
		"ms and s":         {times("time_s", 1e5, 0.001), `line 152: column "time_s": the times are 1000 times as small from here on: their unit changes`},
		"nothing":          {times("time", 100, 1), ""},
	} {
		if got := refusedTable(t, c[0]); (got == "") != (c[1] == "") || !strings.Contains(got, c[1]) {
			t.Errorf("%s: %q, want %q", name, got, c[1])
		}
	}
}

// The order of a quaternion whose columns are numbered, or have no names, is the one in which the robot is upright; without names and turns
// it is a guess that says so.
func TestOrderOfAQuaternion(t *testing.T) {
	table := func(names string, order [4]int, yaw float64) string {
		var b strings.Builder
		b.WriteString(names)
		for i := range 300 {
			roll, turn := 0.2*math.Sin(0.05*float64(i)), yaw*0.01*float64(i)
			q := [4]float64{math.Cos(roll/2) * math.Cos(turn/2), math.Sin(roll/2) * math.Cos(turn/2), math.Sin(roll/2) * math.Sin(turn/2), math.Cos(roll/2) * math.Sin(turn/2)}
			fmt.Fprintf(&b, "%.2f,%g,%.9f,%.9f,%.9f,%.9f\n", 0.02*float64(i), math.Sin(0.03*float64(i)), q[order[0]], q[order[1]], q[order[2]], q[order[3]])
		}
		return b.String()
	}
	first, last := [4]int{0, 1, 2, 3}, [4]int{1, 2, 3, 0}
	for name, c := range map[string]struct {
		names string
		order [4]int
		yaw   float64
		says  string
	}{
		"numbered, w first":  {"t,x,q0,q1,q2,q3\n", first, 1, `order = "wxyz" # w first: the robot is upright then`},
		"numbered, w last":   {"t,x,q0,q1,q2,q3\n", last, 1, `order = "xyzw" # w last: the robot is upright then`},
		"no names, w last":   {"", last, 1, `order = "xyzw" # w last: the robot is upright then`},
		"no names, w first":  {"", first, 1, `order = "wxyz" # w first: the robot is upright then`},
		"named, w last":      {"t,x,qx,qy,qz,qw\n", last, 1, "order = \"wxyz\"\n"},
		"numbered, no turns": {"t,x,q0,q1,q2,q3\n", last, 0, `order = "xyzw" # GUESSED: it may be wxyz`},
		"from 1, no turns":   {"t,x,q1,q2,q3,q4\n", first, 0, `order = "wxyz" # w first: the robot is upright then`},
		"from 1":             {"t,x,q1,q2,q3,q4\n", last, 1, `order = "xyzw" # w last: the robot is upright then`},
		"no names, no turns": {"", last, 0, `order = "xyzw" # GUESSED: it may be wxyz`},
	} {
		log, _, text := suggested(t, "", table(c.names, c.order, c.yaw))
		if !strings.Contains(text, c.says) {
			t.Errorf("%s:\n%s", name, text)
		}
		if strings.Contains(c.says, "GUESSED") {
			continue
		}
		roll, _ := at(t, log, "roll")
		for i, v := range roll {
			if want := 0.2 * math.Sin(0.05*float64(i)); math.Abs(v-want) > 1e-6 {
				t.Fatalf("%s: roll of row %d is %v, want %v", name, i, v, want)
			}
		}
	}
}

// Widths of pulses in µs and ms are inputs, and no times; units at the ends of names are the channels'.
func TestUnitsAndPulsesByName(t *testing.T) {
	log, _, text := suggested(t, "", rowsOf("time_s,speed_kmh,yawDeg,gyro_mrad_s,esc1_us,servo_ms,throttle_pct,axes_1,latency_ms,mot 1,thr2_N,RudderAngle(deg),speed_ms,F [kN]", func(i int, theta, omega, tau float64) string {
		return fmt.Sprintf("%.2f,%g,%g,%g,%.0f,%.4f,%.1f,%.3f,%.2f,%g,%g,%g,%g,%g", 0.02*float64(i), 3.6*omega, 57.3*theta, 1000*omega+math.Sin(float64(i)), 1500+200*tau, 1.5+0.1*tau*tau, 100*tau, tau*theta, 5+math.Sin(float64(i)), tau+omega, tau-theta, omega-tau*theta, omega+theta*tau, tau+0.5*theta)
	}))
	if len(channel.Select(log.Channels, channel.State)) != 4 {
		t.Fatalf("%v\n%s", channel.Names(log.Channels), text)
	}
	for name, want := range map[string][2]string{
		"speed_kmh": {"km/h", "state"}, "yawDeg": {"deg", "state"}, "gyro_mrad_s": {"mrad/s", "state"},
		"esc1_us": {"us", "input"}, "servo_ms": {"ms", "input"}, "throttle_pct": {"%", "input"}, "axes_1": {"", "input"}, "mot 1": {"", "input"}, "thr2_N": {"", "input"}, "RudderAngle": {"deg", "input"}, "speed_ms": {"m/s", "state"}, "F": {"kN", "input"},
	} {
		if _, c := at(t, log, name); c.Unit != want[0] || string(c.Role) != want[1] {
			t.Errorf("%s is %+v, want %v", name, c, want)
		}
	}
}

// A temperature T that rises is no time beside t, Julian dates are days, and "--.--" of ground stations is not measured. Numbers of bodies may
// be ahead of the names of columns.
func TestTimesAndNamesOfOtherPrograms(t *testing.T) {
	for name, c := range map[string]struct{ text, column, unit string }{
		"temperature": {rowsOf("T,t,theta,omega,tau", func(i int, theta, omega, tau float64) string {
			return fmt.Sprintf("%g,%s", 20+0.01*float64(i)+0.001*math.Sin(float64(i)), plainRow(i, theta, omega, tau))
		}), "t", "s"},
		"Julian": {rowsOf("time,theta,omega,tau", func(i int, theta, omega, tau float64) string {
			return fmt.Sprintf("%.10f,%g,%g,%g", 2460310.5+0.02*float64(i)/86400, theta, omega, tau)
		}), "time", "julian"},
		"share of a day": {rowsOf("time,theta,omega,tau", func(i int, theta, omega, tau float64) string {
			return fmt.Sprintf("%.12f,%g,%g,%g", 0.4+0.02*float64(i)/86400, theta, omega, tau)
		}), "time", "d"},
		"digits": {rowsOf("time,theta,omega,tau", func(i int, theta, omega, tau float64) string {
			return fmt.Sprintf("202403052359%05d,%g,%g,%g", 50000+20*i, theta, omega, tau)
		}), "time", "iso"},
		"ground station": {strings.Replace(rowsOf("t,theta,omega,tau", plainRow), "0.00,0,1,0\n", "0.00,--.--,--.--,0\n", 1), "t", "s"},
		"bodies": {"Format,1,Rate,50\n\n,Type,Body,Body\n,Name,d,d\n,ID,1,1\n,,Position,Position\n" + rowsOf("Frame,t,theta,tau", func(i int, theta, _, tau float64) string {
			return fmt.Sprintf("%d,%.2f,%g,%g", i, 0.02*float64(i), theta, tau)
		}), "t", "s"},
	} {
		log, s, text := suggested(t, "", c.text)
		times := log.Segments[0].T
		if span := float64(times[len(times)-1] - times[0]); s.Rows != 300 || math.Abs(span-299*20e6) > 1e5 || !strings.Contains(text, fmt.Sprintf("column = %q\nunit = %q", c.column, c.unit)) {
			t.Errorf("%s: %d rows over %g ns\n%s", name, s.Rows, span, text)
		}
		if theta, _ := at(t, log, "theta"); math.IsNaN(theta[0]) != (name == "ground station") || math.IsNaN(theta[1]) {
			t.Errorf("%s: %v", name, theta[:2])
		}
	}
}

// Columns that are no states as they are are commented out with the reason: quaternions of another norm than 1, and positions in degrees and
// minutes.
func TestColumnsThatAreToBeConverted(t *testing.T) {
	_, _, text := suggested(t, "", rowsOf("t,theta,qw,qx,qy,qz,lat,longitude,lat_deg,u", func(i int, theta, omega, tau float64) string {
		minutes := 59.99 + 0.001*theta*20
		return fmt.Sprintf("%.2f,%g,%.1f,%.1f,0,0,%d%09.6f,%09.4f,%g,%g", 0.02*float64(i), theta, 16384*math.Cos(theta), 16384*math.Sin(theta), 47+int(minutes/60), math.Mod(minutes, 60), 815+theta, 47+theta, tau)
	}))
	for column, want := range map[string]string{
		"qx": ": a part of a quaternion whose norm is 16384: divide by it", "longitude": ": degrees and minutes, it seems, as NMEA writes them, where 4730.5 is 47° 30.5': convert it to degrees",
		"lat": ": degrees and minutes", "lat_deg": "",
	} {
		at := strings.Index(text, fmt.Sprintf("name = %q", column))
		line := text[strings.LastIndex(text[:at], "[[channel]]"):at]
		if !strings.Contains(line, want) || (want == "") == strings.HasSuffix(line, "# ") {
			t.Errorf("%s: %q, want %q", column, line, want)
		}
	}
}

// What programs write in place of a table that can be read is named for what it is.
func TestReasonsOfOtherTables(t *testing.T) {
	twoTables := rowsOf("t,theta,tau,,t,omega", func(i int, theta, omega, tau float64) string {
		return fmt.Sprintf("%.2f,%g,%g,,%.2f,%g", 0.02*float64(i), theta, tau, 0.05*float64(i), omega)
	})
	log, _, text := suggested(t, "", twoTables)
	if len(log.Channels) != 2 || !strings.Contains(text, `of a table beside the first, with times of its own in column "5": write it to a file of its own`) {
		t.Errorf("%v\n%s", channel.Names(log.Channels), text)
	}
	clock := func(i int) string { return fmt.Sprintf("%02d:59:%05.2f", 12, 57+0.02*float64(i)) }
	for name, c := range map[string][2]string{
		"decimal commas": {rowsOf("t,theta,omega,tau", func(i int, theta, omega, tau float64) string {
			return strings.ReplaceAll(fmt.Sprintf("%.2f,%.3f,%.3f,%.3f", 0.02*float64(i), theta, omega, tau), ".", ",")
		}), "8 cells, and there are 4 columns: numbers have decimal commas, it seems, and commas separate cells, too"},
		"steps of time": {rowsOf("dt_ms,theta,tau", func(i int, theta, _, tau float64) string {
			return fmt.Sprintf("%.2f,%g,%g", 20+math.Sin(float64(i)), theta, tau)
		}), `column "dt_ms" seems to have the time from row to row`},
		"a clock of 12 hours": {rowsOf("time,theta,tau", func(i int, theta, _, tau float64) string {
			at := clock(i)
			if i >= 150 {
				at = fmt.Sprintf("01:00:%05.2f", 0.02*float64(i-150))
			}
			return fmt.Sprintf("%s,%g,%g", at, theta, tau)
		}), "the time restarts: it seems to count within the half day"},
		"separators of thousands": {rowsOf("t,x,tau", func(i int, theta, _, tau float64) string {
			return fmt.Sprintf("%.2f,1'%03.1f,%g", 0.02*float64(i), 200+100*theta, tau)
		}), "is not a number; write all numbers of the table alike, without separators of thousands"},
	} {
		if got := refusedTable(t, c[0]); !strings.Contains(got, c[1]) {
			t.Errorf("%s: %q, want %q", name, got, c[1])
		}
	}
	_, s, _ := suggested(t, "", rowsOf("type,time,a,b", func(i int, theta, omega, tau float64) string {
		if i%2 > 0 {
			theta, omega = 20*theta+50, 20*omega-50
		}
		return fmt.Sprintf("%s,%.3f,%g,%g", []string{"imu", "wheel"}[i%2], 0.01*float64(i), theta, omega)
	}))
	if said := strings.Join(s.Texts(), "\n"); !strings.Contains(said, "a, b: the rows alternate between several continuous signals, of several sensors or robots: write group_column under [time]") {
		t.Error(said)
	}
}

// Tables that are joined are compared by when they begin and end: clocks that differ, and times in other units, are reported; and of files
// with the same columns, units.
func TestFilesUnlikeEachOther(t *testing.T) {
	const joined = "vehicle = \"r\"\n[time]\ncolumn = \"time\"\nunit = \"s\"\n[[channel]]\nname = \"theta\"\nfile = \"pose\"\ncolumn = \"theta\"\nrole = \"state\"\n[[channel]]\nname = \"tau\"\nfile = \"cmd\"\ncolumn = \"tau\"\nrole = \"input\"\n"
	const plain = "vehicle = \"r\"\n[time]\ncolumn = \"time\"\nunit = \"s\"\n[[channel]]\nname = \"theta\"\ncolumn = \"theta\"\nrole = \"state\"\n[[channel]]\nname = \"omega\"\ncolumn = \"omega\"\nrole = \"state\"\n[[channel]]\nname = \"tau\"\ncolumn = \"tau\"\nrole = \"input\"\n"
	table := func(shift, unit, scale, tau float64) string {
		return rowsOf("time,theta,omega,tau", func(i int, theta, omega, u float64) string {
			return fmt.Sprintf("%.3f,%g,%g,%g", shift+unit*0.02*float64(i), scale*theta, scale*omega, tau*u)
		})
	}
	for name, c := range map[string]struct{ m, a, b, want string }{
		"alike": {joined, table(0, 1, 1, 1), table(0, 1, 1, 1), ""}, "GPS": {joined, table(100, 1, 1, 1), table(100-2.5, 1, 1, 1), "times of cmd: tau begin and end 2.5 s before those of pose: theta"},
		"ms":         {joined, table(0, 1, 1, 1), table(0, 1000, 1, 1), "times of cmd: tau take 1000 times as long as those of pose: theta"},
		"same units": {plain, table(0, 1, 1, 1), table(0, 1, 1.5, 1), ""}, "harder": {plain, table(0, 1, 1, 1), table(0, 1, 55, 50), ""},
		"degrees": {plain, table(0, 1, 1, 1), table(0, 1, 60, 1.3), "theta, omega: values of run_cmd.csv are about 57.3 times as large as those of run_pose.csv, in another unit"},
	} {
		dir := t.TempDir()
		in := []string{filepath.Join(dir, "run_pose.csv"), filepath.Join(dir, "run_cmd.csv")}
		for i, text := range []string{c.a, c.b} {
			if err := os.WriteFile(in[i], []byte(text), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		m, err := importer.ParseMap("map.toml", []byte(c.m))
		if err != nil {
			t.Fatal(err)
		}
		s, err := importer.Import(context.Background(), importer.Job{Format: "csv", Map: m, Inputs: in, Out: filepath.Join(dir, "o.msgpack"), AllowLoss: true})
		if err != nil {
			t.Fatal(name, err)
		}
		if said := strings.Join(s.Texts(), "\n"); strings.Contains(said, "it seems") != (c.want != "") || !strings.Contains(said, c.want) {
			t.Errorf("%s: %s", name, said)
		}
	}
}

// Tables of arrays and tuples as Python prints them, names over the axes of markers, der(x) of Modelica, what follows a command, and
// temperatures that are all that moves.
func TestTablesAsOtherProgramsPrintThem(t *testing.T) {
	printed := func(open, between, closed string) string {
		text := rowsOf("", func(i int, theta, omega, tau float64) string {
			return open + strings.Join(strings.Split(plainRow(i, theta, omega, tau), ","), between) + closed
		})
		return strings.TrimPrefix(text, "\n")
	}
	follows := rowsOf("t,sp_x,x", func(i int, theta, _, _ float64) string {
		return fmt.Sprintf("%.2f,%.1f,%g", 0.02*float64(i), theta, theta)
	})
	markers := "PathFileType\t4\ta.trc\nDataRate\tFrames\tMarkers\tUnits\tCamera\n50\t300\t2\tmm\t50\nFrame#\tTime\tm1\t\tm2\n\t\tX1\tY1\tX2\n\n" + strings.TrimPrefix(rowsOf("", func(i int, theta, omega, tau float64) string {
		return fmt.Sprintf("%d\t%.2f\t%g\t%g\t%g", i, 0.02*float64(i), theta, omega, tau)
	}), "\n")
	for name, c := range map[string]struct{ text, channel, role string }{
		"array": {printed("[", " ", "]"), "column2", "state"}, "tuple": {printed("(", ", ", ")"), "column2", "state"}, "lists": {printed("[", ",", "],"), "column2", "state"},
		"markers":        {markers, "m1 X1", "state"},
		"quoted rows":    {printed("\"", ",", "\""), "column2", "state"},
		"types":          {strings.Replace(rowsOf("t,theta,omega,tau", plainRow), "\n", "\nfloat64,float64,float64,float64\n", 1), "theta", "state"},
		"a mark within":  {strings.Replace(rowsOf("t,theta,omega,tau", plainRow), "\n3.00,", "\n\ufeff3.00,", 1), "theta", "state"},
		"units in names": {rowsOf(`t,"theta, rad","rate [Â°/s]",τ`, func(i int, theta, omega, tau float64) string { return plainRow(i, theta, 57*omega, tau) }), "theta", "state"},
		"Modelica":       {rowsOf(`"time","theta","der(theta)","tau"`, plainRow), "theta", "state"}, "its derivative": {rowsOf(`"time","x","der(theta)","tau"`, func(i int, theta, omega, tau float64) string { return plainRow(i, omega, theta, tau) }), "der(theta)", "state"},
		"follows": {follows, "x", "state"},
		"thermal": {rowsOf("t,temp_C,heater_on", func(i int, theta, _, _ float64) string {
			return fmt.Sprintf("%.2f,%g,%d", 0.02*float64(i), theta, i/30%2)
		}), "temp_C", "state"},
	} {
		log, s, text := suggested(t, "", c.text)
		values, channel := at(t, log, c.channel)
		if s.Rows != 300 || string(channel.Role) != c.role || len(log.Channels) < 2 {
			t.Errorf("%s: %d rows, %+v\n%s", name, s.Rows, log.Channels, text)
		}
		if name == "units in names" && (channel.Unit != "rad" || log.Channels[1].Unit != "deg/s" || log.Channels[2].Role != "input") {
			t.Errorf("%s: %+v", name, log.Channels)
		}
		for i, v := range values {
			if want, _, _ := swing(0.02 * float64(i)); v != want {
				t.Fatalf("%s: row %d is %v, want %v", name, i, v, want)
			}
		}
	}
	signals := func(names, row string) string {
		var b strings.Builder
		b.WriteString(names + "\n")
		for k, signal := range []string{"theta", "omega"} {
			for i := range 300 {
				fmt.Fprintf(&b, row+"\n", k, 0.02*float64(i), math.Sin(0.1*float64(i+k)), signal)
			}
		}
		return b.String()
	}
	for _, table := range []string{signals("table,_time,_value,_field", "%d,%.2f,%g,%s"), signals("n,time,state,entity_id", "%d,%.2f,%g,%s")} {
		if got := refusedTable(t, table); !strings.Contains(got, "names 2 signals, one in each row, whose values are in column") {
			t.Error(got)
		}
	}
	if got := refusedTable(t, rowsOf("", func(i int, theta, omega, tau float64) string {
		return fmt.Sprintf("t=%.2f theta=%g tau=%g", 0.02*float64(i), theta, tau)
	})); !strings.Contains(got, "has a name ahead of its number; name the columns in a first line") {
		t.Error(got)
	}
}
