package predictors

import (
	"fmt"
	"path/filepath"
	"slices"
)

// recording is a public recording, parted into what is trained on and what is predicted.
type recording struct {
	name, title string
	mapFile     string
	horizons    []float64 // s, the last one is that of the windows
	stride      float64   // s between training windows of the regressions
	initial     int       // (optional) first samples of the test record that a free run may read, by the protocol of a benchmark; 0 = no free run
	train, test selection
}

// testStride is the time between the windows that are scored, s.
const testStride = 0.02

// selection chooses what is imported of files.
type selection struct {
	files    []string // from the folder of the recordings
	mapFile  string   // (optional) in place of the recording's
	segments []int    // (optional) these only, by their number in the import
	others   bool     // all segments but these
	spans    []span   // (optional) these parts of every segment only
}

// span is a part of a segment, s from its first sample.
type span struct{ from, to float64 }

func (r *recording) horizon() float64 { return r.horizons[len(r.horizons)-1] }

// files returns the files that are needed, each once.
func (r *recording) files() []string {
	all := slices.Concat(r.train.files, r.test.files)
	slices.Sort(all)
	return slices.Compact(all)
}

// flights of the Crazyflie, by the names of their sets.
var crazyflies = []struct{ name, file, title string }{
	{"circle-fast-3", "B2_circle_fast_rep3", "circle, fast, 3"},
	{"circle-fast-2", "B2_circle_fast_rep2", "circle, fast, 2"},
	{"circle-slow-2", "B2_circle_slow_rep2", "circle, slow, 2"},
	{"figure8-fast-2", "B3_figure8_fast_rep2", "figure of eight, fast, 2"},
	{"figure8-medium-3", "B3_figure8_medium_rep3", "figure of eight, medium, 3"},
	{"helix-fast-3", "B5_helix_fast_rep3", "helix, fast, 3"},
	{"helix-slow-1", "B5_helix_slow_rep1", "helix, slow, 1"},
	{"oval-medium-3", "B7_oval_medium_rep3", "oval, medium, 3"},
}

// crazyflie returns the recording of one flight after others.
func crazyflie(name, title, test string, train ...string) recording {
	file := func(name string) string {
		for _, f := range crazyflies {
			if f.name == name {
				return filepath.Join("nanobench", "dev", f.file+".csv")
			}
		}
		panic("public: there is no flight " + name)
	}
	r := recording{name: name, title: title, mapFile: "nanobench.toml", horizons: []float64{0.05, 0.1, 0.2, 0.5}, stride: 0.02}
	r.test.files = []string{file(test)}
	for _, f := range train {
		r.train.files = append(r.train.files, file(f))
	}
	return r
}

// driven returns a recording of the torque-driven double pendulum. It is trained on all
// excitations, and on swing-ups.
func driven(name, title, test string, swings ...string) recording {
	file := func(name string) string { return filepath.Join("dfki-double-pendulum", name+".csv") }
	r := recording{name: name, title: title, mapFile: "dfki-double.toml", horizons: []float64{0.05, 0.1, 0.2}, stride: 0.006}
	for _, f := range append([]string{"sysid-143704", "sysid-143747", "sysid-143906", "sysid-144003", "sysid-144115"}, swings...) {
		r.train.files = append(r.train.files, file(f))
	}
	r.test.files = []string{file(test)}
	return r
}

// recordings returns all sets, in the order of the table.
func recordings() []recording {
	out := []recording{crazyflie("crazyflie-readme", "Crazyflie: circle (B2) after three flights (B3, B5, B7)", "circle-fast-3", "figure8-fast-2", "helix-fast-3", "oval-medium-3")}
	for _, f := range crazyflies {
		var others []string
		for _, o := range crazyflies {
			if o.name != f.name {
				others = append(others, o.name)
			}
		}
		out = append(out, crazyflie(f.name, fmt.Sprintf("Crazyflie: %s, after the other seven", f.title), f.name, others...))
	}
	swings := []string{"acrobot-swingup-01", "acrobot-swingup-02", "acrobot-swingup-03"}
	out = append(out,
		driven("acrobot", "acrobot: swing-up 3 after excitations and swing-ups 1, 2", swings[2], swings[:2]...),
		driven("acrobot-pushed", "acrobot with pushes, after excitations and swing-ups", "acrobot-perturbed-01", swings...),
		driven("pendubot", "pendubot: swing-up 2 after excitations and swing-ups of the acrobot", "pendubot-swingup-02", swings...))
	table := func(name string) []string {
		return []string{filepath.Join("multiarm-pendulum", "derived", name+"_200hz.csv")}
	}
	held := []int{3, 8, 13, 18}
	energy := []string{filepath.Join("dfki-simple-pendulum", "energy_shaping.csv")}
	return append(out,
		recording{
			name: "double", title: "double pendulum: segments 3, 8, 13, 18 after all others", mapFile: "double.toml", horizons: []float64{0.05, 0.1, 0.2, 0.5}, stride: 0.01,
			train: selection{files: table("double"), segments: held, others: true}, test: selection{files: table("double"), segments: held},
		},
		recording{
			name: "single", title: "single pendulum: segment 1 after all others", mapFile: "single.toml", horizons: []float64{0.05, 0.1, 0.2, 0.5, 1}, stride: 0.01,
			train: selection{files: table("single"), segments: []int{1}, others: true}, test: selection{files: table("single"), segments: []int{1}},
		},
		recording{
			name: "driven", title: "torque-driven pendulum: 2.5-4.5 s and 12.3-14.3 s after the rest up to 16 s", mapFile: "dfki.toml", horizons: []float64{0.05, 0.1, 0.2, 0.5}, stride: 0.01,
			train: selection{files: energy, spans: []span{{0, 2.5}, {4.5, 12.3}, {14.3, 16}}}, test: selection{files: energy, spans: []span{{2.5, 4.5}, {12.3, 14.3}}},
		},
		recording{
			name: "emps", title: "EMPS positioning drive, position alone: with force pulses, after without", mapFile: "emps.toml", horizons: []float64{0.05, 0.1, 0.5}, stride: 0.02, initial: 20,
			train: selection{files: []string{filepath.Join("emps", "DATA_EMPS.mat")}}, test: selection{files: []string{filepath.Join("emps", "DATA_EMPS_PULSES.mat")}},
		},
		recording{
			name: "emps-undisturbed", title: "EMPS positioning drive, position alone: second half after the first", mapFile: "emps.toml", horizons: []float64{0.05, 0.1, 0.5}, stride: 0.02,
			train: selection{files: []string{filepath.Join("emps", "DATA_EMPS.mat")}, spans: []span{{0, 12.42}}}, test: selection{files: []string{filepath.Join("emps", "DATA_EMPS.mat")}, spans: []span{{12.42, 24.84}}},
		},
		recording{
			name: "tanks", title: "cascaded tanks, lower level alone: validation after estimation", mapFile: "tanks.toml", horizons: []float64{8, 20, 40, 80}, stride: 4, initial: 50,
			train: selection{files: []string{filepath.Join("cascaded-tanks", "dataBenchmark.csv")}}, test: selection{files: []string{filepath.Join("cascaded-tanks", "dataBenchmark.csv")}, mapFile: "tanks-validation.toml"},
		},
		halves("actuator", "hydraulic actuator", 12.8, 25.6, 0.025, 0.1, 0.25, 0.5),
		halves("ballbeam", "ball on a beam", 50, 100, 0.1, 0.2, 0.5, 1, 2),
		halves("damper", "magneto-rheological damper", 10, 17.5, 0.005, 0.02, 0.05, 0.1),
		halves("drive", "coupled drives, speed without a sign", 6, 10, 0.02, 0.1, 0.2, 0.5),
		halves("dryer", "hair dryer", 40, 80, 0.08, 0.4, 0.8, 1.6),
		recording{
			name: "lambert", title: "Crazyflie under random motor commands, attitude and rates: last 60 stretches after the others", mapFile: "lambert.toml", horizons: []float64{0.1, 0.2}, stride: 0.04,
			train: selection{files: []string{filepath.Join("dynamicslearn", "cf.csv")}, segments: lastStretches(), others: true}, test: selection{files: []string{filepath.Join("dynamicslearn", "cf.csv")}, segments: lastStretches()},
		})
}

// halves returns a small set of the identification literature: its second part after the first, in rows that are step apart, s.
func halves(name, title string, middle, end, step float64, horizons ...float64) recording {
	file := []string{filepath.Join("sysid-small", name+".mat")}
	return recording{
		name: name, title: title + ": second part after the first", mapFile: name + ".toml", horizons: horizons, stride: step,
		train: selection{files: file, spans: []span{{0, middle}}}, test: selection{files: file, spans: []span{{middle, end}}},
	}
}

// lastStretches are the numbers of the last 60 of 258 stretches.
func lastStretches() (out []int) {
	for i := 198; i < 258; i++ {
		out = append(out, i)
	}
	return out
}

// find returns the recording of a name.
func find(name string) *recording {
	all := recordings()
	return &all[slices.IndexFunc(all, func(r recording) bool { return r.name == name })]
}

func names(all []recording) []string {
	var out []string
	for i := range all {
		out = append(out, all[i].name)
	}
	return out
}
