package importer

import (
	"context"

	"github.com/dgm-robotics/dgm/bridge/csv"
	"github.com/dgm-robotics/dgm/bridge/telemetry"
	"github.com/dgm-robotics/dgm/estimator/flightlog"
)

// read makes the rows of file n. text, if not nil, receives the texts in it.
func (r *rowMaker) read(ctx context.Context, n int, open telemetry.Opener, progress func(float64), text func(int64, string)) error {
	f := r.files[n]
	in := r.timeline(f)
	if !in.Sorted {
		r.joiner.Wait(in.Behind)
	}
	wants := telemetry.Wants{Senders: r.plan.m.senders(), Vehicle: r.plan.m.vehicle, Select: func(t *telemetry.Topic) []string { return r.plan.paths(f, t) }}
	if text != nil {
		wants.Text = func(t int64, s string) { text(in.Recorded(t), s) }
	}
	s, err := telemetry.InUnit(open, f.unit)(f.path, wants)
	if err != nil {
		return err
	}
	defer s.Close()
	r.path, r.file, r.started, r.open = f.path, n, false, false
	r.row.name = csv.Stem(f.path)
	r.row.name = r.row.name[:min(len(r.row.name), flightlog.MaxName)]
	r.judge.begin()
	r.in = r.in[:0]
	for i := range r.plan.phases {
		r.in = append(r.in, r.plan.phases[i].begin[n])
	}
	r.reset()
	defer in.close()
	table := r.plan.m.IsTable()
	err = telemetry.Each(ctx, s, progress, func(m *telemetry.Message) error {
		if table {
			return r.table(m)
		}
		return in.message(m)
	})
	if err == nil {
		err = in.finish()
	}
	if err != nil {
		return err
	}
	r.joiner.Finish()
	err = r.drain()
	r.reset()
	r.endFile()
	return err
}

// opener returns what opens an input. counts receives the counts of a table.
func (j *job) opener(counts *csv.Counts, group string) telemetry.Opener {
	switch {
	case j.openJoined != nil:
		return j.openJoined(group)
	case !j.Map.IsTable():
		return j.Open
	}
	cfg := csv.Config{Time: j.Map.Time.Time, FileNames: len(j.Inputs) > 1, Counts: counts, Group: group, Open: j.Rows}
	for i := range j.Map.Channels {
		if c := &j.Map.Channels[i]; !c.Optional && len(c.Or) == 0 {
			cfg.Columns = append(cfg.Columns, c.paths()...)
		}
	}
	return telemetry.Opens(func(path string, wants telemetry.Wants) (*csv.Reader, error) { return csv.Open(path, wants, cfg) })
}

// rows calls emit with every row of every file. text, if not nil, receives the texts in
// the files, and looks the values of the messages that are kept.
func (j *job) rows(ctx context.Context, text func(int64, string), emit func(*row) error, looks ...watcher) (*rowMaker, error) {
	r := newRowMaker(j.plan, j.files, emit)
	r.looks = looks
	for i := range j.files {
		if err := r.read(ctx, i, j.opener(&r.counts.table, j.inputs[i].group), j.progress, text); err != nil {
			return nil, err
		}
		j.read++
	}
	return r, r.checkKept()
}
