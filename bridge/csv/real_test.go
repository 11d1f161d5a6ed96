package csv_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/dgm-robotics/dgm/bridge/importer"
	"github.com/dgm-robotics/dgm/estimator/flightlog"
)

// Recordings of real machines, by the maps in testdata.
func TestRealRecordings(t *testing.T) {
	data := filepath.Join("..", "..", "..", "shared", "data")
	cases := []struct {
		mapFile     string
		inputs      []string
		rows, parts int
		names       map[int]string    // of segments, by number
		derivatives map[string]string // found
	}{
		{"single.toml", []string{"multiarm-pendulum/derived/single_200hz.csv"}, 11004, 6,
			map[int]string{1: "1", 4: "4"}, map[string]string{"theta": "omega"}},
		{"double.toml", []string{"multiarm-pendulum/derived/double_200hz.csv"}, 16018, 30,
			map[int]string{3: "3", 29: "29"}, map[string]string{"theta1": "omega1", "theta2": "omega2"}},
		{"dfki.toml", []string{"dfki-simple-pendulum/energy_shaping.csv"}, 4000, 1,
			map[int]string{0: "energy_shaping"}, map[string]string{"theta": "omega"}},
		{"dfki-double.toml", []string{"dfki-double-pendulum/acrobot-swingup-03.csv"}, 4879, 1,
			map[int]string{0: "acrobot-swingup-03"}, nil},
		{"nanobench.toml", []string{"nanobench/dev/B3_figure8_fast_rep2.csv", "nanobench/dev/B7_oval_medium_rep3.csv"}, 6100, 2,
			map[int]string{0: "B3_figure8_fast_rep2", 1: "B7_oval_medium_rep3"}, map[string]string{"x": "vx", "y": "vy", "z": "vz"}},
	}
	for _, c := range cases {
		t.Run(c.mapFile, func(t *testing.T) {
			var inputs []string
			for _, in := range c.inputs {
				path := filepath.Join(data, in)
				if _, err := os.Stat(path); err != nil {
					t.Skip("the shared recording is not here: ", in)
				}
				inputs = append(inputs, path)
			}
			m, err := importer.ReadMap(filepath.Join("testdata", c.mapFile))
			if err != nil {
				t.Fatal(err)
			}
			out := filepath.Join(t.TempDir(), "flight.msgpack")
			s, err := importTables(context.Background(), m, inputs, out, nil)
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%+v", s)
			log, err := flightlog.ReadFile(out)
			if err != nil || log.Damage != nil {
				t.Fatal(err, log.Damage)
			}
			rows := 0
			for _, seg := range log.Segments {
				rows += len(seg.T)
			}
			if rows != c.rows || s.Rows != c.rows || len(log.Segments) != c.parts || s.Segments != c.parts {
				t.Errorf("%d rows in %d segments, want %d in %d; summary %+v", rows, len(log.Segments), c.rows, c.parts, s)
			}
			for i, name := range c.names {
				if i < len(log.Segments) && log.Segments[i].Name != name {
					t.Errorf("segment %d is %q, want %q", i, log.Segments[i].Name, name)
				}
			}
			found := map[string]string{}
			for _, f := range s.Found {
				found[f.Channel] = f.Derivative
			}
			for ch, d := range c.derivatives {
				if found[ch] != d {
					t.Errorf("derivative of %q: found %q, want %q", ch, found[ch], d)
				}
			}
		})
	}
}
