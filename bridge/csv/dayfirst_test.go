package csv

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// dates returns a table of rows each 0.1 s from a time on, with its dates in a layout of Go.
func dates(from, layout string) (text string, times []int64) {
	at, err := time.Parse(time.RFC3339, from)
	if err != nil {
		panic(err)
	}
	var b strings.Builder
	b.WriteString("time,x\n")
	for i := range 12 {
		t := at.Add(time.Duration(i) * 100 * time.Millisecond)
		fmt.Fprintf(&b, "%s,%d\n", t.Format(layout), i)
		times = append(times, t.UnixNano())
	}
	return b.String(), times
}

// Whether dates have the day or the month first is by a part above 12, by the next day behind midnight, and by the name of the file; else it
// is written as a guess, and an import without it is refused.
func TestDayOrMonthFirst(t *testing.T) {
	const day, month = "2/1/2006 15:04:05.0", "1/2/2006 15:04:05.0"
	for _, c := range []struct{ file, from, layout, want, by string }{
		{"a.csv", "2024-01-12T23:59:59.5Z", day, "true", "13/1/2024 00:00:00.0 shows it"},
		{"a.csv", "2024-01-12T23:59:59.5Z", month, "false", "1/13/2024 00:00:00.0 shows it"},
		{"a.csv", "2024-03-02T23:59:59.5Z", "02-01-2006 15:04:05.0", "true", "3/3 behind 2/3 shows it"},
		{"a.csv", "2024-01-31T23:59:59.5Z", month, "false", "1/31/2024 23:59:59.5 shows it"},
		{"a.csv", "2024-05-06T23:59:59.5Z", "01/02/2006 15:04:05.0", "false", "5/7 behind 5/6 shows it"},
		{"flight_2024-03-01.csv", "2024-03-01T10:00:00Z", day, "true", "by the date in the name of the file"},
		{"20240301.csv", "2024-03-01T10:00:00Z", month, "false", "by the date in the name of the file"},
		{"a.csv", "2024-03-01T10:00:00Z", day, "true", `GUESSED: "1/3/2024 10:00:00.0" may have the month first, for which write false`},
		{"a.csv", "2024-03-03T10:00:00Z", day, "", ""},
		{"a.csv", "2024-03-25T10:00:00Z", day, "", ""},
	} {
		text, want := dates(c.from, c.layout)
		path := filepath.Join(t.TempDir(), c.file)
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		o, err := Look(path, nil)
		if err != nil || o.Unit != isoUnit || o.DayFirst != c.want || o.DayFirstBy != c.by {
			t.Fatalf("%s %s: %+v, %v", c.from, c.layout, o, err)
		}
		how := Time{Column: "time", Unit: o.Unit}
		if first := o.DayFirst == "true"; o.DayFirst != "" {
			if _, err := readAll(t, text, how); err == nil || !strings.Contains(err.Error(), "may have the day or the month first; write day_first = true under [time], or false") {
				t.Errorf("%s %s without the key: %v", c.from, c.layout, err)
			}
			how.DayFirst = &first
		}
		if got, err := readAll(t, text, how); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s %s: %v, want %v; %v", c.from, c.layout, got, want, err)
		}
	}
}

// A second that UTC counts twice is named.
func TestLeapSecondOf1970(t *testing.T) {
	_, err := readAll(t, "time,x\n1483228799.5,1\n1483228800.0,1\n1483228800.5,1\n1483228800.0,1\n1483228800.5,1\n", Time{Column: "time", Unit: "s"})
	if err == nil || !strings.Contains(err.Error(), "the time runs backwards by 0.5 s at a leap second, which UTC counts twice") {
		t.Error(err)
	}
}

// Times go on over a leap second, over midnight beside the date of the start, and beyond 24 hours.
func TestTimesGoOn(t *testing.T) {
	for text, how := range map[string]Time{
		"time,x\n2016-12-31T23:59:59.5Z,1\n2016-12-31T23:59:60.0Z,1\n2016-12-31T23:59:60.5Z,1\n2017-01-01T00:00:00.0Z,1\n2017-01-01T00:00:00.5Z,1\n": {Column: "time", Unit: isoUnit},
		"date,time,x\n2024-03-31,23:59:59.0,1\n2024-03-31,23:59:59.5,1\n2024-03-31,00:00:00.0,1\n2024-03-31,00:00:00.5,1\n2024-04-01,00:00:01.0,1\n": {Column: "time", Unit: isoUnit, Date: "date"},
		"time,x\n23:59:59.5,1\n24:00:00.0,1\n24:00:00.5,1\n24:00:01.0,1\n24:00:01.5,1\n":                                                             {Column: "time", Unit: clockUnit},
		"time,x\n-00:00:01.0,1\n-00:00:00.5,1\n00:00:00.0,1\n00:00:00.5,1\n00:00:01.0,1\n":                                                           {Column: "time", Unit: clockUnit},
	} {
		if o := look(t, text); o.Columns[o.Time].Column != how.Column || o.Unit != how.Unit {
			t.Errorf("%q: %+v", text, o)
		}
		got, err := readAll(t, text, how)
		if err != nil || len(got) != 5 {
			t.Fatalf("%q: %v, %v", text, got, err)
		}
		for i, at := range got {
			if at-got[0] != int64(i)*500e6 {
				t.Errorf("%q: %v", text, got)
			}
		}
	}
}
