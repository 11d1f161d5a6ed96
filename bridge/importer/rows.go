package importer

import (
	"context"
	"fmt"
	"math"

	"github.com/dgm-robotics/dgm/bridge/csv"
	"github.com/dgm-robotics/dgm/bridge/mapfile"
	"github.com/dgm-robotics/dgm/bridge/telemetry"
	"github.com/dgm-robotics/dgm/bridge/timebase"
	"github.com/dgm-robotics/dgm/estimator/flightlog"
)

// row is one row as it goes into the log. Its slices are valid until the next
// row.
type row struct {
	t      int64
	begins bool   // a segment begins here
	name   string // of the segment
	values perRole[[]float64]
}

// The timestamps that follow each other in a log: how far apart they can be, and how
// much earlier a message may have been measured than the one before it, both ns.
const (
	far  = 120e9
	back = 10e9
)

// rowMaker makes rows of the messages of all files.
type rowMaker struct {
	plan   *plan
	files  []*survey
	emit   func(*row) error
	joiner *timebase.Joiner
	guard  timebase.Guard
	judge  *judge
	row    row                // what is emitted
	all    perRole[[]float64] // with the channels that are left out of it
	dst    [][]float64        // of each output: the cells of all that it fills

	path    string
	in      []float64 // of each phase: what was last reported
	first   int64     // ns, of the file's first message
	started bool      // first is set
	last    int64     // ns, of the row kept before
	open    bool      // a segment is open, so that a row can continue it
	counts  rowCounts
}

// rowCounts counts what became of rows.
type rowCounts struct {
	kept, ground, cut, gaps int
	longest                 int64       // ns, of the gaps
	table                   csv.Counts  // of tables
	missing, crooked        []csv.Count // of tables, by output
}

func newRowMaker(p *plan, files []*survey, emit func(*row) error) *rowMaker {
	r := &rowMaker{plan: p, files: files, emit: emit, joiner: timebase.New(p.config), judge: newJudge(p)}
	for i := range p.outputs {
		all := r.all.of(p.outputs[i].role)
		*all = append(*all, make([]float64, p.outputs[i].n)...)
	}
	free := r.all
	for i := range p.outputs {
		n, cells := p.outputs[i].n, free.of(p.outputs[i].role)
		r.dst = append(r.dst, (*cells)[:n])
		*cells = (*cells)[n:]
	}
	r.counts.missing, r.counts.crooked = make([]csv.Count, len(p.outputs)), make([]csv.Count, len(p.outputs))
	return r
}

// checkKept returns an error where there is no row.
func (r *rowMaker) checkKept() error {
	first := r.files[0].path
	switch {
	case r.counts.kept > 0:
		return nil
	case r.counts.ground > 0:
		return fmt.Errorf("%s: none of the %d rows is in the phases of the map (flying); to keep them all, import with --all", first, r.counts.ground)
	case r.counts.cut > 0:
		return fmt.Errorf("%s: nothing is left between time.from and time.to of the map, which count from the file's first message; correct them", first)
	}
	return fmt.Errorf("%s: topic %s gives no row; choose another base", first, r.plan.tracks[r.plan.config.Base].id)
}

// read makes the rows of file n. text, if not nil, receives the texts in it.
func (r *rowMaker) read(ctx context.Context, n int, open telemetry.Opener, progress func(float64), text func(int64, string)) error {
	f := r.files[n]
	home := int64(0) // the offset of the recorder's clock from the base's
	if c := f.find(r.plan.tracks[r.plan.config.Base].id); c != nil {
		home = f.clocks.Offset(c.Topic.Clock)
	}
	wants := telemetry.Wants{Select: r.plan.paths}
	if text != nil {
		wants.Text = func(t int64, s string) { text(t-home, s) }
	}
	s, err := open(f.path, wants)
	if err != nil {
		return err
	}
	defer s.Close()
	r.path, r.started, r.open = f.path, false, false
	r.guard = timebase.Guard{Far: far, Back: back}
	r.row.name = csv.Stem(f.path)
	r.row.name = r.row.name[:min(len(r.row.name), flightlog.MaxName)]
	r.judge.begin()
	r.in = r.in[:0]
	for i := range r.plan.phases {
		r.in = append(r.in, r.plan.phases[i].begin[n])
	}
	r.reset()
	var tracks []topicTrack // by Seq
	err = telemetry.Each(ctx, s, progress, func(m *telemetry.Message) error {
		if m.Row != nil {
			return r.table(m)
		}
		for m.Topic.Seq >= len(tracks) {
			tracks = append(tracks, topicTrack{})
		}
		tr := &tracks[m.Topic.Seq]
		if !tr.known {
			*tr = topicTrack{known: true, track: r.plan.trackOf(idOf(m.Topic)), offset: f.clocks.Offset(m.Topic.Clock)}
		}
		if tr.track < 0 {
			return nil
		}
		t := m.Time - home
		if m.Stamped {
			t += tr.offset
		}
		return r.add(tr.track, t, m.Values)
	})
	if err != nil {
		return err
	}
	r.joiner.Finish()
	err = r.drain()
	r.reset()
	return err
}

// topicTrack is the track of a topic of a file.
type topicTrack struct {
	known  bool
	track  int   // −1 = none
	offset int64 // ns, of the topic's clock
}

// reset forgets all samples and keeps the phases.
func (r *rowMaker) reset() {
	r.joiner.Reset()
	r.open = false
	for i := range r.plan.phases {
		r.joiner.Add(r.plan.phases[i].track, math.MinInt64/4, r.in[i:i+1])
	}
}

// add adds a message of a track.
func (r *rowMaker) add(track int, t int64, values []float64) error {
	ok, jumped := r.guard.Accept(t)
	if !ok {
		return nil
	}
	if set := r.judge.message(track, values); jumped || set {
		r.joiner.Finish()
		if err := r.drain(); err != nil {
			return err
		}
		r.reset()
	}
	if !r.started {
		r.first, r.started = t, true
	}
	r.joiner.Add(track, t, values)
	for i := range r.plan.phases {
		p := &r.plan.phases[i]
		if p.topic != track {
			continue
		}
		if in, ok := p.decide(values[p.column]); ok {
			r.in[i] = zeroOrOne(in)
			r.joiner.Add(p.track, t, r.in[i:i+1])
		}
	}
	return r.drain()
}

// drain makes rows of what is complete.
func (r *rowMaker) drain() error {
	for {
		jr := r.joiner.Next()
		if jr == nil {
			return nil
		}
		if err := r.joined(jr); err != nil {
			return err
		}
	}
}

// joined makes a row of topics: cut, in the phases, divided by gaps.
func (r *rowMaker) joined(jr *timebase.Row) error {
	from, to := int64(r.plan.m.Time.From), int64(r.plan.m.Time.To)
	if at := jr.T - r.first; from > 0 && at < from || to > 0 && at > to {
		r.counts.cut++
		r.open = false
		return nil
	}
	for i := range r.plan.phases {
		if jr.Values[r.plan.phases[i].at] != 1 {
			r.counts.ground++
			r.open = false
			return nil
		}
	}
	r.row.begins = !r.open
	if step := jr.T - r.last; r.open && step > r.plan.gap {
		r.counts.gaps++
		r.counts.longest = max(r.counts.longest, step)
		r.row.begins = true
	}
	r.last, r.open = jr.T, true
	for i := range r.plan.outputs {
		r.plan.outputs[i].write(r.dst[i], jr.Values, r.row.begins)
	}
	return r.send(jr.T)
}

// table makes a row of a table, whose reader has ordered and divided it.
func (r *rowMaker) table(m *telemetry.Message) error {
	jr := r.joiner.Direct(m.Time, m.Values)
	r.row.name, r.row.begins = m.Row.Segment, m.Row.Begins
	for i := range r.plan.outputs {
		o := &r.plan.outputs[i]
		switch o.write(r.dst[i], jr.Values, r.row.begins) {
		case missing:
			r.counts.missing[i].Add(r.path, m.Row.Line)
		case crooked:
			r.counts.crooked[i].Add(r.path, m.Row.Line)
		case unbounded:
			return &mapfile.Error{File: r.path, Line: m.Row.Line, Field: "channel " + o.label, Reason: fmt.Sprintf("%v is infinite after scale and offset", jr.Values[o.at]),
				Remedy: "correct it, or scale and offset in the map"}
		}
	}
	return r.send(m.Time)
}

// send emits a row at time t.
func (r *rowMaker) send(t int64) error {
	r.row.t, r.row.values = t, r.plan.kept(r.all)
	r.counts.kept++
	return r.emit(&r.row)
}
