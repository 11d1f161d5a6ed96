package csv

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Times of day, and durations as pandas and Python's datetime write them.
func TestParseClock(t *testing.T) {
	const s = int64(1e9)
	for text, want := range map[string]int64{
		"12:30:00.25": 45000*s + s/4, "0:00:02": 2 * s, "01:02.5": 62*s + s/2, "0 days 00:00:00.020000": s / 50, "2 days 01:00:00": 49 * 3600 * s,
		"1 day, 0:00:02.5": 86402*s + s/2, "-1 days +23:59:59": -s, "-1 day, 23:59:59": -s,
	} {
		if got, err := parseClock(text); err != nil || got != want {
			t.Errorf("%s: %d, want %d; %v", text, got, want, err)
		}
	}
	for _, text := range []string{"", " day", "1 day", "x days 00:00:00", "200000 days 00:00:00", "1 days 25:00:00", "Monday 00:00:00"} {
		if got, err := parseClock(text); err == nil {
			t.Errorf("%s: %d", text, got)
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
		"time,x\n03/05/2024 12:00:00,1\n03/05/2024 12:00:01,2\n": `"03/05/2024 12:00:00" of column "time" is no number, no date`,
		"time,x\n3,1\n2,2\n1,3\n":                                `column "time" falls`,
		"time,x\n3,1\n3,2\n3,3\n":                                `column "time" is 3 throughout`,
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
