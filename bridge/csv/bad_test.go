package csv_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dgm-robotics/dgm/bridge/importer"
	"github.com/dgm-robotics/dgm/bridge/mapfile"
)

// steady is a table with a constant step of time.
func steady(step float64) string {
	var b strings.Builder
	b.WriteString("t,x\n")
	for i := range 50 {
		fmt.Fprintf(&b, "%.9f,%d\n", float64(i)*step, i)
	}
	return b.String()
}

// Every bad table is refused with file, line, field and remedy, and leaves nothing.
func TestBadTables(t *testing.T) {
	sMap := strings.Replace(shortMap, `"ms"`, `"s"`, 1)
	cases := []struct {
		name, mapText, table string
		want                 []string // parts of the error
	}{
		{"empty file", shortMap, "", []string{"a.csv: the file is empty; export it again"}},
		{"blank file", shortMap, "\n \n", []string{"the file is empty"}},
		{"only comments", shortMap, "# nothing\n", []string{"a.csv: the file is empty; export it again"}},
		{"header only", shortMap, "t,x\n", []string{"a.csv: the file names its columns and has no row"}},
		{"missing column", shortMap, "time,X,y\n1,2,3\n", []string{`a.csv: line 1: there is no column "t"; there are: time, X, y`}},
		{"case differs", shortMap, "t,y,X\n1,2,3\n", []string{`there is no column "x"; there are: X, t, y`}},
		{"no header", shortMap, "1,2\n3,4\n", []string{`a.csv: there is no column "t"; there are: 1, 2; its first line has numbers: name the columns in it, or use their numbers, as in column = "1"`}},
		{"column twice", shortMap, "t,x,x\n1,2,3\n", []string{`a.csv: line 1: column "x": occurs 2 times`}},
		{"text in a number", shortMap, "t,x\n1,2\n\n2,abc\n", []string{`a.csv: line 4: column "x": "abc" is not a number; correct it, or clear the cell`}},
		{"several units in cells", shortMap, "t,x\n1,0.1 rad\n2,5.7deg\n", []string{`a.csv: line 3: column "x": "5.7deg" is in "deg", and numbers before it are in "rad"; convert the column to one unit`}},
		{"a unit in some cells", shortMap, "t,x\n1,0.1\n2,1.5e1%\n", []string{`"1.5e1%" is in "%", and numbers before it have no unit`}},
		{"no unit in some cells", shortMap, "t,x\n1,0.1 V\n2,0.2\n", []string{`"0.2" has no unit, and numbers before it have; convert the column to one unit`}},
		{"another unit of times", shortMap, "t,x\n10 s,0.1\n20 s,0.2\n", []string{`column "t": "10 s" is not a number; write unit = "clock" under [time], which reads units behind numbers`}},
		{"a hexadecimal number", shortMap, "t,x\n1,0xff\n", []string{`"0xff" is not a number; correct it, or clear the cell`}},
		{"a point that is damaged", shortMap, "t,x\n1,1_5\n", []string{`a.csv: line 2: column "x": "1_5" is not a number`}},
		{"decimal commas and points", shortMap, "t;x\n1.5;2,5\n", []string{`line 2: column "x": "2,5" is not a number; export numbers with a decimal point`}},
		{"a decimal point among commas", shortMap, "t;x\n" + strings.Repeat("1,5;2,5\n", 60) + "2,5;1.234\n", []string{`a.csv: line 62: column "x": "1.234" has a point, and the numbers before it have a decimal comma; write all numbers of the table alike`}},
		{"a time with a point among commas", shortMap, "t;x\n" + strings.Repeat("1,5;2,5\n", 60) + "2.5;1,5\n", []string{`line 62: column "t": "2.5" has a point`}},
		{"a time with a comma among points", shortMap, "t;x\n1,5;2.5\n", []string{`line 2: column "t": "1,5" is not a number; export numbers with a decimal point`}},
		{"zeros in place of text", shortMap, "t,x\n1,2\n2,\x00\x00\x00", []string{"a.csv: line 3: it has zeros, as if power was lost before the end of the file was written; keep the lines before line 3"}},
		{"zeros among text", shortMap, "t,x\n1,2\n2,\x00\x00\x00\n3,4\n", []string{"a.csv: line 3: it has zeros", "if there are others behind the zeros, delete those that have some"}},
		{"no text", shortMap, "GIF89a\n\x01\n\x00\x00\n3,4\n", []string{"a.csv: the file is not text"}},
		{"a footer", shortMap, "t,x\n1,2\n2,3\nEnd\n", []string{"a.csv: line 4: 1 cells, and there are 2 columns; it is the last line: delete it"}},
		{"another table", shortMap, steady(5) + "t,v,w\n1,2,3\n", []string{"another table seems to begin there: write it to a separate file"}},
		{"long text", shortMap, "t,x\n1," + strings.Repeat("y", 1000) + "\n", []string{`yyyy"… is not a number`}},
		{"infinite", shortMap, "t,x\n1,2\n2,-Inf\n", []string{`a.csv: line 3: column "x": "-Inf" is infinite; correct it, or clear the cell`}},
		{"too large", shortMap, "t,x\n1,1e999\n", []string{`line 2: column "x": "1e999" is infinite`}},
		{"infinite by scale", strings.Replace(shortMap, `role = "state"`, "role = \"state\"\nscale = 1e300", 1), "t,x\n1,1e300\n", []string{"infinite after scale and offset"}},
		{"time is text", shortMap, "t,x\nnoon,1\n", []string{`a.csv: line 2: column "t": "noon" is not a number; correct it or delete the line`}},
		{"time is missing", shortMap, "t,x\n1,1\n,2\n", []string{`a.csv: line 3: column "t": the time is missing; fill it in or delete the line`}},
		{"time is NaN", shortMap, "t,x\nnan,1\n", []string{`line 2: column "t": the time is missing`}},
		{"time too large", sMap, "t,x\n1772682400399326324,1\n", []string{`line 2: column "t": "1772682400399326324" is beyond 292 years`, "correct time.unit"}},
		{"another recording", shortMap, "t,x\n10,1\n20,2\n30,2\n10,3\n", []string{`a.csv: line 5: column "t": the time restarts at the first time of the file: another recording may begin here; write on_backwards = "segment"`}},
		{"backwards", shortMap, "t,x\n10,1\n20,2\n5,3\n", []string{`a.csv: line 4: column "t": the time runs backwards by 0.015 s; sort the file by time`, `on_backwards = "segment"`}},
		{"backwards before the first", shortMap, "t,x\n10,1\n5,3\n", []string{`a.csv: line 3: column "t": the time runs backwards`}},
		{"duplicate", shortMap + `on_duplicate = "error"`, "t,x\n1,1\n1,2\n", []string{`a.csv: line 3: column "t": the time is that of the row before; delete the line`}},
		{"ms taken for s", sMap, steady(5), []string{`a.csv: time.unit: with unit = "s" the median step is 5 s; with unit = "ms" it would be 0.005 s: correct time.unit`, "any_rate = true"}},
		{"us taken for s", sMap, steady(5000), []string{`with unit = "us" it would be 0.005 s`}},
		{"s taken for ms", shortMap, steady(0.005), []string{`with unit = "ms" the median step is 5e-06 s; with unit = "s" it would be 0.005 s`}},
		{"s taken for ns", strings.Replace(sMap, `"s"`, `"ns"`, 1), steady(0.005), []string{`with unit = "ns" the median step is 5e-12 s; with unit = "s" it would be 0.005 s`}},
		{"ms taken for ns", strings.Replace(sMap, `"s"`, `"ns"`, 1), steady(5), []string{`with unit = "ns" the median step is 5e-09 s; with unit = "ms" it would be 0.005 s`}},
		{"one time", shortMap, "t,x\n7,1\n7,2\n7,3\n", []string{`a.csv: column "t": all 3 rows are at one time, 0.007 s; name the column of the time`}},
		{"one time, kept", shortMap + `on_duplicate = "keep"`, "t,x\n7,1\n7,2\n", []string{`all 2 rows are at one time`}},
		{"cut leaves nothing", shortMap + `from = "5s"`, "t,x\n1,1\n3,2\n", []string{"a.csv: time.from and time.to: no row is between them in a file that lasts 0.002 s"}},
		{"too few cells", shortMap, "t,x\n1,2\n2\n3,4\n", []string{"a.csv: line 3: 1 cells, and there are 2 columns; correct the line"}},
		{"cut off", shortMap, "t,x\n1,2\n2", []string{"a.csv: line 3: 1 cells, and there are 2 columns; it is the last line, so the file was cut off"}},
		{"too many cells", shortMap, "t,x\n1,2,3\n", []string{"a.csv: line 2: 3 cells, and there are 2 columns"}},
		{"quotes", shortMap, "t,x\n1,2\n3,\"4\n", []string{"a.csv: line 3: ", "correct the quotes"}},
		{"no line ends", shortMap, "t,x\n" + strings.Repeat("1", 3<<20), []string{"a.csv: line 2: a line of more than 1048576 bytes"}},
		{"rows between two stray quotes", shortMap, "t,x,note\n1,2,\"a\n3,4,b\n5,6,c\"\n7,8,d\n", []string{"a.csv: line 2: a quote is open at its end; correct the quotes"}},
		{"a long line of words", shortMap, "t x\n1 2\n3 " + strings.Repeat("4 ", 1<<20) + "\n", []string{"a.csv: line 3: a line of more than 1048576 bytes"}},
		{"a quote that is never closed", shortMap, "t,x\n1,2\n3,\"4\n5,6\n7,8\n", []string{"a.csv: line 3: ", "correct the quotes"}},
		{"carriage returns", shortMap, "t,x\r1,2\r3,4\r", []string{"a.csv: line 1: lines end with a carriage return alone", "export it with line feeds"}},
		{"binary", shortMap, "ULog\x01\x12\x35\x01\x00\x00", []string{"a.csv: the file is not text; give a table of text"}},
		{"broken gzip", shortMap, "\x1f\x8bnothing", []string{"a.csv: the gzip data are damaged or cut off"}},
		{"long segment name", shortMap + `segment_column = "s"`, "t,x,s\n1,2," + strings.Repeat("n", 300) + "\n", []string{"a.csv: line 2: time.segment_column: a name of 300 bytes, the limit is 256"}},
	}
	for _, c := range cases {
		inputs, out := files(t, c.table)
		_, err := importTables(context.Background(), parse(t, c.mapText), inputs, out, nil)
		if err == nil {
			t.Errorf("%s: no error", c.name)
			continue
		}
		for _, want := range c.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v\nwant %s", c.name, err, want)
			}
		}
		if strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), filepath.Base(inputs[0])) {
			t.Errorf("%s: not one line that names the file: %q", c.name, err)
		}
		if entries, _ := os.ReadDir(filepath.Dir(out)); len(entries) != 1 {
			t.Errorf("%s: left over %v", c.name, entries)
		}
	}
}

// The second of two files is bad: nothing is written either.
func TestBadSecondFile(t *testing.T) {
	inputs, out := files(t, "t,x\n1,2\n", "t,x\n1,2\n2,three\n")
	_, err := importTables(context.Background(), parse(t, shortMap), inputs, out, nil)
	var e *mapfile.Error
	if !errors.As(err, &e) || e.File != inputs[1] || e.Line != 3 || e.Field != `column "x"` {
		t.Errorf("error %v", err)
	}
	if entries, _ := os.ReadDir(filepath.Dir(out)); len(entries) != 2 {
		t.Errorf("left over %v", entries)
	}
}

func TestOddRateCanBeAllowed(t *testing.T) {
	sMap := strings.Replace(shortMap, `"ms"`, `"s"`, 1)
	log, _ := run(t, sMap+"any_rate = true", steady(5))
	if len(log.Segments[0].T) != 50 {
		t.Errorf("%d samples", len(log.Segments[0].T))
	}
}

func TestBadPlaces(t *testing.T) {
	inputs, out := files(t, "t,x\n1,2\n")
	m := parse(t, shortMap)
	ctx := context.Background()
	for name, c := range map[string]struct {
		inputs []string
		out    string
		want   string
	}{
		"input missing":  {[]string{inputs[0] + ".nix"}, out, "a.csv.nix"},
		"input a folder": {[]string{filepath.Dir(inputs[0])}, out, "is a folder"},
		"folder missing": {inputs, filepath.Join(filepath.Dir(out), "nix", "f.msgpack"), "cannot be written"},
		"out a folder":   {inputs, filepath.Dir(out), "is not a regular file"},
	} {
		if _, err := importTables(ctx, m, c.inputs, c.out, nil); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestBadMaps(t *testing.T) {
	edit := func(old, new string) string {
		if !strings.Contains(shortMap, old) {
			t.Fatalf("no %q in the map", old)
		}
		return strings.Replace(shortMap, old, new, 1)
	}
	cases := map[string]string{
		`map.toml: key channel.colour: is not known; correct the spelling`: edit(`column = "x"`, "column = \"x\"\ncolour = \"red\""),
		`map.toml: key speed, time.gap: is not known`:                      "speed = 3\n" + shortMap + `gap = "5ms"`,
		`map.toml: line 4: `:                                             edit(`name = "x"`, `name = x`),
		`"5" is not a duration such as "50ms"`:                           shortMap + `max_gap = 5`,
		`"-5s" is negative`:                                              shortMap + `from = "-5s"`,
		`vehicle: is missing; name the robot`:                            edit(`vehicle = "v"`, ``),
		`vehicle: "a b" cannot be part of a subject`:                     edit(`"v"`, `"a b"`),
		`vehicle: "ü" cannot be part of a subject; use letters of ASCII`: edit(`"v"`, `"ü"`),
		`vehicle: "a/b" cannot be part of a subject`:                     edit(`"v"`, `"a/b"`),
		`time.column: is missing`:                                        edit(`column = "t"`, ``),
		`time.unit: "w" is not a unit of time here; write s, ms, us, ns, min, h, d, datenum, julian, ticks, filetime, iso or clock`: edit(`"ms"`, `"w"`),
		`time.unit: "" is not a unit`:                                                    edit(`unit = "ms"`, ``),
		`time.to: is not after time.from`:                                                shortMap + "from = \"5s\"\nto = \"4s\"",
		`time.on_backwards: "no" is not known; write error, segment or keep`:             shortMap + `on_backwards = "no"`,
		`time.on_duplicate: "no" is not known`:                                           shortMap + `on_duplicate = "no"`,
		`channel: there is none`:                                                         "vehicle = \"v\"\n[time]\ncolumn = \"t\"\nunit = \"s\"",
		`channel 1 (""): name is missing`:                                                edit(`name = "x"`, ``),
		`channel 1 ("x"): column is missing`:                                             edit(`column = "x"`, ``),
		`channel 1 ("x"): role is missing; write state, input or aux`:                    edit(`role = "state"`, ``),
		`channel "x": role "stat" is none of state, input, aux`:                          edit(`"state"`, `"stat"`),
		`channel: no channel has the role state`:                                         edit(`"state"`, `"input"`),
		`channel "x": derivative "omgea" is not a state channel; state channels here: x`: edit(`role = "state"`, "role = \"state\"\nderivative = \"omgea\""),
		`channel "x": name appears twice`:                                                edit(`[time]`, "[[channel]]\nname = \"x\"\ncolumn = \"y\"\nrole = \"aux\"\n[time]"),
		`channel "x": period -1 must be positive`:                                        edit(`role = "state"`, "role = \"state\"\nperiod = -1"),
		`channel "x": noise -1 must be positive`:                                         edit(`role = "state"`, "role = \"state\"\nnoise = -1"),
		`channel 1 ("x"): scale 0 would make`:                                            edit(`role = "state"`, "role = \"state\"\nscale = 0.0"),
		`channel 1 ("x"): offset +Inf is not finite`:                                     edit(`role = "state"`, "role = \"state\"\noffset = inf"),
		`segment_column`: shortMap + `segment_column = 3`,
	}
	for want, text := range cases {
		_, err := importer.ParseMap("map.toml", []byte(text))
		var e *mapfile.Error
		if !errors.As(err, &e) || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") || !strings.HasPrefix(err.Error(), "map.toml: ") {
			t.Errorf("%v\nwant %s", err, want)
		}
	}
	if _, err := importer.ReadMap("nix.toml"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("missing map: %v", err)
	}
}
