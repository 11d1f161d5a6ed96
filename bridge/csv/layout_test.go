package csv_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"

	"github.com/dgm-robotics/dgm/bridge/importer"
)

// utf16Text is a text in UTF-16 after its byte order mark.
func utf16Text(text string, big bool) string {
	var b bytes.Buffer
	for _, c := range utf16.Encode([]rune("\ufeff" + text)) {
		low, high := byte(c), byte(c>>8)
		if big {
			low, high = high, low
		}
		b.Write([]byte{low, high})
	}
	return b.String()
}

// Tables are read however programs write them: the same rows from each.
func TestLayouts(t *testing.T) {
	const byName, byNumber = `vehicle = "v"
[time]
column = "t"
unit = "s"
[[channel]]
name = "x"
column = "x"
role = "state"
[[channel]]
name = "u"
column = "u"
role = "input"
`, `vehicle = "v"
[time]
column = "1"
unit = "s"
[[channel]]
name = "x"
column = "2"
role = "state"
[[channel]]
name = "u"
column = "4"
role = "input"
`
	rows := ""
	for i := range 30 {
		rows += fmt.Sprintf("%.2f,%.3f,7,-%de-1\n", 0.01*float64(i), 0.1*float64(i*i), i)
	}
	table := "t,x,c,u\n" + rows
	spaced := func(s string) string { return strings.ReplaceAll(s, ",", "   ") }
	commas := func(s, sep string) string { return strings.ReplaceAll(strings.ReplaceAll(s, ",", sep), ".", ",") }
	want, _ := run(t, byName, table)
	if len(want.Segments[0].T) != 30 || want.Segments[0].X[29] != 84.1 || want.Segments[0].U[29] != -2.9 {
		t.Fatalf("%+v", want.Segments[0])
	}
	for _, c := range []struct{ name, mapText, text string }{
		{"spaces", byName, spaced(table)},
		{"spaces ahead and behind", byName, "  " + strings.ReplaceAll(spaced(table), "\n", "  \r\n  ")},
		{"spaces and tabs", byName, strings.ReplaceAll(table, ",", " \t")},
		{"header after %", byName, "% made by a program\n% " + spaced(table)},
		{"header after #", byName, "#\n# " + spaced(table)},
		{"header after %, with other separators", byNumber, "% t, x, c, u\n" + spaced(rows)},
		{"no header", byNumber, rows},
		{"no header, spaces", byNumber, spaced(rows)},
		{"by number beside a header", byNumber, table},
		{"no times, equal steps", strings.Replace(byName, "column = \"t\"\nunit = \"s\"", "step = \"10ms\"", 1), table},
		{"lines of spaces", byName, strings.Replace(table, "\n0.1", "\n   \n \t\n0.1", 1)},
		{"no line end", byName, strings.TrimSuffix(table, "\n")},
		{"decimal commas", byName, commas(table, ";")},
		{"decimal commas, tabs", byName, commas(table, "\t")},
		{"decimal commas, spaces", byName, commas(table, " ")},
		{"decimal commas, no header", byNumber, commas(rows, ";")},
		{"bars", byName, strings.ReplaceAll(table, ",", " | ")},
		{"UTF-8 with its mark, Windows", byName, "\xef\xbb\xbf" + strings.ReplaceAll(table, "\n", "\r\n")},
		{"the separator in a line of its own", byName, "sep=;\r\n" + commas(table, ";")},
		{"UTF-16, low byte first", byName, utf16Text("t,x,c,u,ü 𝛼\n"+strings.ReplaceAll(rows, "\n", ",0\n"), false)},
		{"UTF-16, high byte first", byName, utf16Text(strings.ReplaceAll(table, "\n", "\r\n"), true)},
	} {
		log, _ := run(t, c.mapText, c.text)
		if d := cmp.Diff(want.Segments, log.Segments); d != "" {
			t.Errorf("%s: %s", c.name, d)
		}
		// The suggestion for it finds the time and two columns that vary.
		path := filepath.Join(t.TempDir(), "a.csv")
		if err := os.WriteFile(path, []byte(c.text), 0o666); err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if err := importer.Suggest(context.Background(), &b, path, nil, nil); err != nil {
			t.Errorf("%s: %v", c.name, err)
		} else if m, err := importer.ParseMap("m", b.Bytes()); err != nil || m.Time.Unit != "s" || len(slices.DeleteFunc(m.Channels, func(c importer.Channel) bool { return c.Varies })) != 2 {
			t.Errorf("%s: %v\n%s", c.name, err, b.String())
		}
	}
}

// What is wrong with a table that is not read is named, with its remedy: names with spaces in
// them are no columns each, lines ahead of the names, another separator, separators of thousands.
func TestTablesThatAreRefused(t *testing.T) {
	const mapText = "vehicle = \"v\"\n[time]\ncolumn = \"t\"\nunit = \"s\"\n[[channel]]\nname = \"x\"\ncolumn = \"x\"\nrole = \"state\"\n"
	rows := strings.Repeat("0.1, 2.5\n", 20)
	for _, c := range []struct{ text, want string }{
		{"t [s], x [rad]\n" + rows, `there are: t [s], x [rad]`},
		{"made on monday\nt,x\n" + rows[:9*9], "delete the lines ahead of it, or begin them with #"}, // too few rows to see it
		{"t:x\n" + strings.ReplaceAll(rows, ",", ":"), "replace another separator"},
		{"t,x\n12:00:01.5,1\n12:00:02.0,2\n", `write unit = "iso" under [time] for dates with times`},
		{"t;x\n0,5;1,5\n0,6;1.001,5\n", "without separators of thousands"},
	} {
		inputs, out := files(t, c.text)
		if _, err := importTables(context.Background(), parse(t, mapText), inputs, out, nil); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v", c.want, err)
		}
	}
}
