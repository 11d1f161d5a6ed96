package main

import (
	"encoding/csv"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/dgm-robotics/dgm/cmd/internal/cli"
	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/flightlog"
)

// writtenByOthers is the folder of the recordings that testdata/written/generate.py wrote with
// libraries of others, each with the rows that must come of it.
var writtenByOthers = filepath.Join("testdata", "written")

// mustRows are the rows of a file: the names of the columns and their values, NaN where
// nothing was measured.
func mustRows(t *testing.T, path string) (names []string, all [][]float64) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range lines[1:] {
		row := make([]float64, len(l))
		for i, cell := range l {
			if row[i], err = strconv.ParseFloat(cell, 64); cell == "" {
				row[i] = math.NaN()
			} else if err != nil {
				t.Fatal(path, err)
			}
		}
		all = append(all, row)
	}
	return lines[0], all
}

// sameRows compares a log, every row and column of it, with the rows that it must have.
func sameRows(t *testing.T, log *flightlog.Log, path string) {
	t.Helper()
	names, want := mustRows(t, path)
	if got := channel.Names(log.Channels); !slices.Equal(sorted(got), sorted(names[2:])) {
		t.Fatalf("channels %v, want %v", got, names[2:])
	}
	k, first := 0, int64(0)
	for part := range log.Segments {
		for _, at := range log.Segments[part].T {
			if k == len(want) {
				t.Fatalf("more than %d rows", k)
			}
			if k == 0 {
				first = at
			}
			if w := want[k]; float64(part) != w[0] || math.Abs(float64(at-first)-1000*w[1]) > 1 {
				t.Fatalf("row %d is at %d ns in segment %d, want %v us in %v", k, at-first, part, w[1], w[0])
			}
			for j, name := range names[2:] {
				got, err := cell(log, name, k)
				if w := want[k][j+2]; err != nil || math.IsNaN(got) != math.IsNaN(w) || math.Abs(got-w) > 1e-12*math.Max(1, math.Abs(w)) {
					t.Fatalf("row %d: %s is %v, want %v; %v", k, name, got, w, err)
				}
			}
			k++
		}
	}
	if k != len(want) {
		t.Errorf("%d rows, want %d", k, len(want))
	}
	t.Logf("%d rows of %d channels are the same", k, len(names)-2)
}

func sorted(s []string) []string { return slices.Sorted(slices.Values(s)) }

// Recordings that the libraries of others wrote have the rows that were written.
func TestWrittenByOthers(t *testing.T) {
	for _, c := range []struct{ format, file, how string }{
		{"mcap", "drive.mcap", "drive.toml"}, {"mcap", "small.mcap", "small.mcap.toml"}, {"db3", "drive.db3", "drive.toml"}, {"bag", "drive.bag", "drive.toml"},
		{"mavlink", "two.tlog", ""}, {"ardupilot", "kinds.BIN", "kinds.BIN.toml"}, {"ulog", "kinds.ulg", "kinds.ulg.toml"},
	} {
		t.Run(c.file, func(t *testing.T) {
			t.Parallel()
			how := []string{"--preset", "ardupilot-copter"}
			if c.how != "" {
				how = []string{"--map", filepath.Join(writtenByOthers, c.how)}
			}
			imports(t, c.format, filepath.Join(writtenByOthers, c.file), filepath.Join(writtenByOthers, c.file+".rows.csv"), how...)
		})
	}
}

// imports imports a file and compares the rows.
func imports(t *testing.T, format, path, rows string, how ...string) {
	t.Helper()
	out := filepath.Join(t.TempDir(), "flight.msgpack")
	if code, report, errs := run(append([]string{"import", format, path, "--out", out}, how...)...); code != cli.Done {
		t.Fatalf("exit %d\n%s%s", code, report, errs)
	}
	log, err := flightlog.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	sameRows(t, log, rows)
}

// Tables that pandas wrote in many ways have the rows of the frame, by the suggested map.
func TestTablesOfPandas(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(writtenByOthers, "pandas-*"))
	if err != nil || len(files) < 18 {
		t.Fatal(len(files), err)
	}
	for _, path := range files {
		if filepath.Ext(path[:len(path)-len(".csv")]) == ".rows" {
			continue
		}
		t.Run(filepath.Base(path), func(t *testing.T) {
			t.Parallel()
			code, text, errs := run("topics", path, "--suggest")
			m := filepath.Join(t.TempDir(), "map.toml")
			if err := os.WriteFile(m, []byte(text), 0o666); err != nil || code != cli.Done {
				t.Fatal(err, errs)
			}
			rows := path + ".rows.csv"
			if _, err := os.Stat(rows); err != nil { // the plain frame
				rows = filepath.Join(writtenByOthers, "pandas-index.csv.rows.csv")
			}
			imports(t, "csv", path, rows, "--map", m)
		})
	}
}

// A folder of ROS 2's recorder is its files, in the order of their numbers.
func TestFolderOfABag(t *testing.T) {
	for _, format := range []string{"mcap", "db3"} {
		data, err := os.ReadFile(filepath.Join(writtenByOthers, "drive."+format))
		if err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		for _, name := range []string{"drive_10", "drive_9"} {
			if err := os.WriteFile(filepath.Join(dir, name+"."+format), data, 0o666); err != nil {
				t.Fatal(err)
			}
		}
		out := filepath.Join(t.TempDir(), "flight.msgpack")
		if code, report, errs := run("import", format, dir, "--map", filepath.Join(writtenByOthers, "drive.toml"), "--out", out); code != cli.Done {
			t.Fatal(report, errs)
		}
		log, err := flightlog.ReadFile(out)
		if err != nil || len(log.Segments) < 2 || log.Segments[0].Name != "drive_9" || log.Segments[len(log.Segments)-1].Name != "drive_10" {
			t.Error(err, len(log.Segments))
		}
	}
}
