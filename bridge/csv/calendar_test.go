package csv

import (
	"os"
	"path/filepath"
	"testing"
)

// Times of day, and durations as pandas and Python's datetime write them.
func TestParseClock(t *testing.T) {
	const s = int64(1e9)
	for text, want := range map[string]int64{
		"12:30:00.25": 45000*s + s/4, "0:00:02": 2 * s, "0 days 00:00:00.020000": s / 50, "2 days 01:00:00": 49 * 3600 * s,
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
