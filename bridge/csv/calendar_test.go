package csv

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dgm-robotics/dgm/bridge/telemetry"
)

// Times of day, and durations as pandas and Python's datetime write them.
func TestParseClock(t *testing.T) {
	const s = int64(1e9)
	for text, want := range map[string]int64{
		"12:30:00.25": 45000*s + s/4, "0:00:02": 2 * s, "01:02.5": 62*s + s/2, "0 days 00:00:00.020000": s / 50, "2 days 01:00:00": 49 * 3600 * s,
		"123000.25": 45000*s + s/4, "57.5": 57*s + s/2, "12:30:00:250": 45000*s + s/4, "12:30:00.25 PM": 45000*s + s/4,
		"1 day, 0:00:02.5": 86402*s + s/2, "24:00:00.25": 86400*s + s/4, "100:00:01": 360001 * s, "-00:00:01.5": -s - s/2, "-0:02.5": -2*s - s/2, "23:59:60.25": 86400*s + s/4, "-1 days +23:59:59": -s, "-1 day, 23:59:59": -s,
		"12.5 sec": 12*s + s/2, "0.25 min": 15 * s,
	} {
		if got, err := parseClock(text); err != nil || got != want {
			t.Errorf("%s: %d, want %d; %v", text, got, want, err)
		}
	}
	for _, text := range []string{"", " day", "1 day", "x days 00:00:00", "200000 days 00:00:00", "1 days 25:00:00", "Monday 00:00:00", "126000", "12:30:00:12", "12 parsec", "x sec"} {
		if got, err := parseClock(text); err == nil {
			t.Errorf("%s: %d", text, got)
		}
	}
}

// Times of NMEA, and others without signs, are known by their full minutes or digits; with a date they go on over midnight.
func TestTimesWithoutSigns(t *testing.T) {
	for text, want := range map[string]string{
		"utc,x\n235959.98,1\n000000.00,2\n000000.02,3\n": "utc clock ",
		"utc,x\n59.98,1\n100.00,2\n100.02,3\n":           "utc clock ",
		"t,x\n59.98,1\n60.00,2\n60.02,3\n":               "t s ",
		"date,time,x\n050326,235959.94,1\n050326,235959.96,1\n050326,235959.98,1\n060326,000000.00,2\n060326,000000.02,3\n": "time iso date",
		"Time,x\n05-Mar-2026 23:59:59.980,1\n06-Mar-2026 00:00:00.000,2\n06-Mar-2026 00:00:00.020,3\n":                      "Time iso ",
		"stamp,x\n20260305235959.98,1\n20260306000000.00,2\n20260306000000.02,3\n":                                          "stamp iso ",
	} {
		o, date := look(t, text), ""
		if o.Date >= 0 {
			date = o.Columns[o.Date].Column
		}
		if got := o.Columns[o.Time].Column + " " + o.Unit + " " + date; got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
		r, err := readAll(t, text, Time{Column: o.Columns[o.Time].Column, Unit: o.Unit, Date: date})
		if err != nil || len(r) < 3 {
			t.Fatalf("%q: %v, %v", text, r, err)
		}
		for i := range r[1:] {
			if r[i+1]-r[i] != 20e6 {
				t.Errorf("%q: %v", text, r)
			}
		}
	}
}

// Of a clock of whole seconds and a fine one the fine one is the time, and of another clock it is known how fast it runs.
func TestSeveralClocks(t *testing.T) {
	var text strings.Builder
	text.WriteString("date,boot_ms,sim_time,x\n")
	for i := range 200 {
		fmt.Fprintf(&text, "2026-03-05T12:00:%02d,%d,%g,%d\n", i/50, 7000+20*i, 0.01*float64(i), i%7)
	}
	o := look(t, text.String())
	if c := o.Columns; o.Time != 1 || o.Unit != "ms" || math.Abs(c[2].Runs-0.5) > 1e-9 || c[3].Runs != 0 {
		t.Errorf("%+v", o)
	}
}

// readAll returns the times of the rows of a table.
func readAll(t *testing.T, text string, how Time) (times []int64, err error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a.csv")
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	how.Check()
	r, err := Open(path, telemetry.Wants{Select: func(*telemetry.Topic) []string { return []string{"x"} }}, Config{Time: how, Counts: &Counts{}})
	if err != nil {
		return nil, err
	}
	defer r.Close()
	for {
		m, err := r.Next()
		if errors.Is(err, io.EOF) {
			return times, nil
		}
		if err != nil {
			return times, err
		}
		times = append(times, m.Time)
	}
}

// A quaternion is known by its names and its norm.
func TestQuaternionOfATable(t *testing.T) {
	for names, values := range map[string]string{
		"qx,qy,qz,qw": "0.6,0,0,0.8", "pose.orientation.x,pose.orientation.y,pose.orientation.z,pose.orientation.w": "0.6,0,0,0.8", "q0,q1,q2,q3": "0.6,0,0,0.8", "q[0],q[1],q[2],q[3]": "1,0,0,0",
	} {
		if got := look(t, "t,"+names+"\n0,"+values+"\n0.1,"+values+"\n").Quaternion(); got == nil || len(got.At) != 4 {
			t.Errorf("%s: %v", names, got)
		}
		if got := look(t, "t,"+names+"\n0,1,1,0,0\n0.1,1,1,0,0\n").Quaternion(); got != nil {
			t.Errorf("%s, of another norm: %v", names, got)
		}
	}
}

// An unnamed column is proposed by its number, and infinite cells are named as what they are.
func TestOutlineOfStrangeColumns(t *testing.T) {
	o := look(t, ",x\n0 days 00:00:00,1\n0 days 00:00:00.02,inf\n0 days 00:00:00.04,2\n")
	if c := o.Columns[o.Time]; c.Column != "1" || o.Unit != clockUnit || o.Columns[1].Infinite != 1 || o.Columns[1].Others != 0 {
		t.Errorf("%+v", o)
	}
}

// look outlines a table.
func look(t *testing.T, text string) *Outline {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a.csv")
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	o, err := Look(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// Tables as programs write them: the names in a comment ahead of texts, signs of print, what
// spreadsheets write for nothing, quoted lists.
func TestOutlineOfPrograms(t *testing.T) {
	o := look(t, "%time,header.frame_id,x,y\n1700000000000000000,odom,1,\u22122\n1700000000020000000,odom,2,#N/A\n1700000000040000000,odom,\u22121.5,3\n")
	if o.Rows != 3 || o.Columns[0].Column != "time" || o.Columns[o.Time].Column != "time" || o.Columns[2].Low != -1.5 || o.Columns[3].Low != -2 || o.Columns[3].Others != 0 {
		t.Errorf("%+v", o)
	}
	o = look(t, "time,q,u\n0.00,\"[1, 2]\",3\n0.02,\"[1, 3]\",4\n0.04,\"[2, 3]\",5\n")
	if len(o.Columns) != 3 || !o.Columns[1].Lists() {
		t.Errorf("%+v", o)
	}
}

// What is called a time and is none is named with the reason.
func TestNearlyTimes(t *testing.T) {
	for text, want := range map[string]string{
		"time,x\n03/05/24 12:00:00,1\n03/05/24 12:00:01,2\n": `"03/05/24 12:00:00" of column "time" has a year of two digits; write years with four`,
		"time,x\nnoon,1\nnoon,2\n":                           `"noon" of column "time" is no number, no date`,
		"time,x\n3,1\n2,2\n1,3\n":                            `column "time" falls`,
		"time,x\n3,1\n3,2\n3,3\n":                            `column "time" is 3 throughout`,
	} {
		path := filepath.Join(t.TempDir(), "a.csv")
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		if _, err := Look(path, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// Dates with slashes are read where they can be read in one way alone, and offsets behind GMT.
func TestParseDate(t *testing.T) {
	const want = int64(1_735_128_000e9) // 2024-12-25, noon
	for _, text := range []string{"25/12/2024 12:00:00", "12/25/2024  12:00:00.000", "12/25/2024 12:00:00 PM", "25.12.2024 14:00:00.000 GMT+0200", "2024-12-25 12:00:00 GMT", "2024-12-25T12:00:00Z",
		"2024-12-25 13:00:00.000 +0100", "25.12.2024 12:0:0", "12/25/2024 12:00:00.0 PM", "[2024-12-25 12:00:00,000]", "2024-12-25_12-00-00.000", "20241225-120000.000", "20241225_120000"} {
		if got, err := parseDate(text, anyOrder); err != nil || got != want {
			t.Errorf("%s: %d, %v", text, got, err)
		}
	}
	for _, text := range []string{"05/12/2024 12:00:00", "5/12/2024 9:00:00"} {
		if _, err := parseDate(text, anyOrder); !errors.Is(err, errDayMonth) {
			t.Error(text, err)
		}
	}
	for text, want := range map[string]int64{"1.3.2024 9:05:07.5": 1709283907.5e9, "2024-3-1 9:5:7.5": 1709283907.5e9, "3/14/2024 9:05:07": 1710407107e9, "14/3/2024 9:05:07": 1710407107e9} {
		if got, err := parseDate(text, anyOrder); err != nil || got != want {
			t.Errorf("%s: %d, %v", text, got, err)
		}
	}
	for _, text := range []string{"1-2/2024 9:05", "192.168.1.1 9:05", "1.2.3", "12-34-56", "2024-13-01 10:00:00"} {
		if got, err := parseDate(text, anyOrder); err == nil {
			t.Errorf("%s: %d", text, got)
		}
	}
	if _, err := parseDate("05/05/2024 12:00:00", anyOrder); err != nil {
		t.Error(err)
	}
}

// A heading around north, which comes round at 360, is no time of day without colons, and times that two topics of a table share are.
func TestAHeadingIsNoTime(t *testing.T) {
	text := "timestamp,roll,yaw,out\n"
	for i := range 400 {
		at := 1.7e9 + 0.02*float64(i)
		text += fmt.Sprintf("%.3f,%.4f,%.2f,\n%.3f,,,%d\n", at, math.Sin(at), math.Mod(360+25*math.Sin(0.9*at), 360), at, 1500+i%40)
	}
	if o := look(t, text); o.Columns[o.Time].Column != "timestamp" || o.Columns[2].Clock {
		t.Errorf("the time is %s, yaw is a time: %v", o.Columns[o.Time].Column, o.Columns[2].Clock)
	}
}
