package predictors

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/dgm-robotics/dgm/bridge/csv"
	"github.com/dgm-robotics/dgm/bridge/importer"
	"github.com/dgm-robotics/dgm/bridge/mat"
	"github.com/dgm-robotics/dgm/cmd/internal/cli"
	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/flightlog"
	"github.com/dgm-robotics/dgm/trainer"
	"github.com/dgm-robotics/dgm/trainer/datacheck"
	"github.com/dgm-robotics/dgm/trainer/estimation"
	"github.com/dgm-robotics/dgm/trainer/window"
)

// Folders are where recordings and maps are.
type Folders struct{ Data, Maps string }

// AddFlags adds the flags that name them.
func (d *Folders) AddFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&d.Data, "data", filepath.Join("..", "shared", "data"), "folder of the recordings")
	f.StringVar(&d.Maps, "maps", filepath.Join("bridge", "csv", "testdata"), "folder of the maps")
}

// data is a recording that was imported and checked.
type data struct {
	of       *recording
	settings trainer.Config // of the model, and of the data check
	train    *trainer.Data
	test     []window.Flight
	record   *window.Flight // (optional) the test as one flight, for a free run
	task     window.Task
}

// missing returns the first file of a recording that is not there, empty where all are.
func (d Folders) missing(r *recording) string {
	for _, name := range r.files() {
		path := filepath.Join(d.Data, name)
		if _, err := os.Stat(path); err != nil {
			return path
		}
	}
	return ""
}

// needed returns the recording of a name, whose files must be there.
func (d Folders) needed(name string) (*recording, error) {
	r := find(name)
	if path := d.missing(r); path != "" {
		return nil, cli.Usage("%s is not here; --data names the folder of the recordings", path)
	}
	return r, nil
}

// load imports a recording and cuts it into flights.
func (d Folders) load(ctx context.Context, r *recording, seed uint64) (*data, error) {
	train, err := d.read(ctx, r, &r.train)
	if err != nil {
		return nil, err
	}
	test, err := d.read(ctx, r, &r.test)
	if err != nil {
		return nil, err
	}
	out := &data{of: r, settings: trainer.Default()}
	out.settings.Horizon, out.settings.Seed = trainer.Duration(time.Duration(r.horizon()*1e9)), seed
	out.settings.Budget = trainer.Duration(4 * time.Hour) // a computer that other work shares ends no training early
	if out.train, err = trainer.Load([]*flightlog.Log{train}, out.settings); err != nil {
		return nil, err
	}
	states := channel.Select(out.train.Channels, channel.State)
	out.task = window.Task{States: states, Inputs: len(out.train.Channels) - len(states), Horizon: r.horizon()}
	test.Channels = train.Channels // derivatives are those that training has found
	found := datacheck.Check(test, datacheck.Options{})
	if out.test, err = out.flights(test, found.Masks); err != nil || r.initial == 0 {
		return out, err
	}
	masks := make([]datacheck.Mask, len(found.Masks))
	for i, m := range found.Masks {
		masks[i] = m.Only(0)
	}
	record, err := out.flights(test, masks)
	if err == nil && len(record) != 1 {
		err = fmt.Errorf("%s: a free run needs a record without a gap, and there are %d flights", r.name, len(record))
	}
	if err == nil {
		out.record = &record[0]
	}
	return out, err
}

// flights cuts a log by masks, with the states that the filter of the training estimates.
func (d *data) flights(log *flightlog.Log, masks []datacheck.Mask) (all []window.Flight, err error) {
	all, _ = window.AllChecked(log, masks, channel.Measured(d.train.Channels), window.Options{})
	if d.train.Filter != nil {
		all, _, err = estimation.Apply(all, d.train.Filter, d.task.States)
	}
	return all, err
}

func (d Folders) read(ctx context.Context, r *recording, s *selection) (*flightlog.Log, error) {
	m, err := importer.ReadMap(filepath.Join(d.Maps, cmp.Or(s.mapFile, r.mapFile)))
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "dgm-bench-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	job := importer.Job{Format: "csv", Rows: openRows, Map: m, Out: filepath.Join(dir, "flight.msgpack")}
	for _, name := range s.files {
		job.Inputs = append(job.Inputs, filepath.Join(d.Data, name))
	}
	if _, err := importer.Import(ctx, job); err != nil {
		return nil, err
	}
	log, err := flightlog.ReadFile(job.Out)
	if err != nil {
		return nil, err
	}
	if log.Damage != nil {
		return nil, log.Damage
	}
	log.Path = r.name
	log.Segments = s.of(log)
	if len(log.Segments) == 0 {
		return nil, fmt.Errorf("%s: nothing is left of %v", r.name, s.files)
	}
	return log, nil
}

// openRows opens a file of MATLAB; nil of a table of text.
func openRows(path string) (csv.Rows, error) {
	if filepath.Ext(path) != ".mat" {
		return nil, nil
	}
	return mat.Open(path)
}

// of returns the chosen segments and parts of segments.
func (s *selection) of(log *flightlog.Log) []flightlog.Segment {
	var out []flightlog.Segment
	for i, seg := range log.Segments {
		if s.segments != nil && slices.Contains(s.segments, i) == s.others {
			continue
		}
		if s.spans == nil {
			out = append(out, seg)
		}
		for _, p := range s.spans {
			out = append(out, p.of(&seg))
		}
	}
	return out
}

// of returns the samples of a segment from the beginning of the span up to its end.
func (p span) of(seg *flightlog.Segment) flightlog.Segment {
	at := func(s float64) int {
		i, _ := slices.BinarySearch(seg.T, seg.T[0]+int64(s*1e9))
		return i
	}
	from, to := at(p.from), at(p.to)
	part := func(v []float64) []float64 {
		width := len(v) / len(seg.T)
		return v[from*width : to*width]
	}
	return flightlog.Segment{Name: fmt.Sprintf("%s %g-%g s", seg.Name, p.from, p.to), T: seg.T[from:to], X: part(seg.X), U: part(seg.U), Aux: part(seg.Aux)}
}

// Flights are those of a recording, imported and checked: what is trained on with settings,
// and others.
type Flights struct {
	Title    string
	Settings trainer.Config // with the horizon
	Train    *trainer.Data
	Test     []window.Flight
}

// later returns the recordings of a robot that flies later than those trained on: the robot
// of today.
func later() []recording {
	out := []recording{crazyflie("crazyflie-oval", "Crazyflie: oval (B7), 2.7 % more thrust, after circle, figure of eight and helix", "oval-medium-3", "circle-fast-3", "figure8-fast-2", "helix-fast-3")}
	for _, r := range recordings() {
		if slices.Contains([]string{"double", "single", "driven"}, r.name) || slices.ContainsFunc(crazyflies, func(c struct{ name, file, title string }) bool { return c.name == r.name }) {
			out = append(out, r)
		}
	}
	return out
}

// Later returns the names of the recordings of a robot that flies later than those trained on.
func Later() []string { return names(later()) }

// Flights imports one of Later; nil where its files are not there.
func (d Folders) Flights(ctx context.Context, name string, seed uint64) (*Flights, error) {
	all := later()
	i := slices.IndexFunc(all, func(r recording) bool { return r.name == name })
	if i < 0 {
		return nil, fmt.Errorf("there is no recording %q", name)
	}
	if d.missing(&all[i]) != "" {
		return nil, nil
	}
	in, err := d.load(ctx, &all[i], seed)
	if err != nil {
		return nil, err
	}
	return &Flights{Title: all[i].title, Settings: in.settings, Train: in.train, Test: in.test}, nil
}
