package importer

import (
	"fmt"
	"math"
	"slices"

	"github.com/dgm-robotics/dgm/bridge/csv"
	"github.com/dgm-robotics/dgm/bridge/mapfile"
	"github.com/dgm-robotics/dgm/bridge/telemetry"
	"github.com/dgm-robotics/dgm/bridge/timebase"
	"github.com/dgm-robotics/dgm/estimator/channel"
)

// row is one row as it goes into the log. Its slices are valid until the next
// row.
type row struct {
	t      int64
	begins bool   // a segment begins here
	name   string // of the segment
	file   int    // its number
	values perRole[[]float64]
}

// rowMaker makes rows of the messages of all files.
type rowMaker struct {
	plan   *plan
	files  []*survey
	emit   func(*row) error
	joiner *timebase.Joiner
	judge  *judge
	looks  []watcher
	wires  []float64          // of work
	row    row                // what is emitted
	seen   []float64          // the states of the row before, where some are held
	all    perRole[[]float64] // with the channels that are left out of it
	dst    [][]float64        // of each output: the cells of all that it fills

	path    string
	file    int       // its number
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
	switches                int         // of the instance that counts
	untimed, repeated       int         // messages without a time, and that repeat the one before
	longest                 int64       // ns, of the gaps
	table                   csv.Counts  // of tables
	missing                 []csv.Count // by output; those of topics have no place, and are of messages without a value
	blank                   int         // of topics: without a value of any state, for messages have none
	crooked                 []csv.Count // by output; those of topics have no place
	measured                []int       // rows, by output
	values                  [][]int     // that are measured, by output and channel
	last                    []ending    // by output: what follows its last value in the file
	ended                   []ending    // of all files
}

// ending is the rows at the end of files without a value of an output.
type ending struct {
	n           int
	from, lasts int64 // ns: the first of them, and how long they last
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
		r.dst, r.counts.values = append(r.dst, (*cells)[:n]), append(r.counts.values, make([]int, n))
		*cells = (*cells)[n:]
	}
	r.counts.measured, r.counts.last, r.counts.ended = make([]int, len(p.outputs)), make([]ending, len(p.outputs)), make([]ending, len(p.outputs))
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
		return fmt.Errorf("%s: no row is between time.from and time.to of the map, which count from the file's first message; correct them", first)
	}
	id := r.plan.tracks[r.plan.config.Base].id
	if c := r.files[0].find(id); c != nil && c.N > 1 {
		if t := r.files[0].times.Of(c.Topic.Seq); t.First == t.Last {
			return fmt.Errorf("%s: topic %s gives no row: all its %d messages have one time; record them again with a clock that runs, or choose another base", first, id, c.N)
		}
	}
	return fmt.Errorf("%s: topic %s gives no row; choose another base", first, id)
}

// reset forgets all samples and keeps the phases.
func (r *rowMaker) reset() {
	r.joiner.Reset()
	r.open = false
	for i := range r.plan.phases {
		r.joiner.Add(r.plan.phases[i].track, math.MinInt64/4, r.in[i:i+1])
	}
}

// forget has the robot in no phase until it reports one.
func (r *rowMaker) forget() {
	for i := range r.plan.phases {
		if r.plan.phases[i].known[r.file] {
			r.in[i] = 0
		}
	}
	r.reset()
}

// begin ends what came before: what follows cannot be compared with it.
func (r *rowMaker) begin() error {
	r.joiner.Finish()
	if err := r.drain(); err != nil {
		return err
	}
	r.reset()
	return nil
}

// add adds a message of a track. One of a primary's begins a segment: another instance counts.
func (r *rowMaker) add(track int, t int64, values []float64) error {
	if n := len(r.plan.tracks); track >= n && track < n+len(r.plan.m.Primaries) {
		return r.begin()
	}
	r.plan.unfill(track, values)
	if r.judge.message(track, values) {
		if err := r.begin(); err != nil {
			return err
		}
	}
	if !r.started {
		r.first, r.started = t, true
	}
	r.joiner.Add(track, t, values)
	if len(r.looks) > 0 && r.wanted(t) {
		r.look(track, t, values)
	}
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

// look shows a message to those that look at them.
func (r *rowMaker) look(track int, t int64, values []float64) {
	for _, w := range r.looks {
		w.add(track, t, values)
	}
}

// wanted reports whether a message at a time is in what is kept, by the phases reported before it.
func (r *rowMaker) wanted(t int64) bool {
	from, to := int64(r.plan.m.Time.From), int64(r.plan.m.Time.To)
	return t-r.first >= from && (to <= 0 || t-r.first <= to) && !slices.Contains(r.in, 0)
}

// rewire returns the values of a message, by its number, with those of other columns in their places.
func (r *rowMaker) rewire(n, track int, values []float64) []float64 {
	var now *rewiring
	for i := range r.plan.rewired {
		if x := &r.plan.rewired[i]; x.file == r.file && x.track == track && x.from <= n {
			now = x
		}
	}
	if now == nil {
		return values
	}
	r.wires = append(r.wires[:0], values...)
	for i, to := range now.to {
		r.wires[to] = values[now.of[i]]
	}
	return r.wires
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
	r.fill(jr)
	return r.send(jr.T)
}

// fill makes the channels of a row of topics, and counts of what the message that gives the row its time has no value.
func (r *rowMaker) fill(jr *timebase.Row) {
	lacks, has := false, false
	for i := range r.plan.outputs {
		o := &r.plan.outputs[i]
		switch st := o.write(r.dst[i], jr.Values, r.row.begins); {
		case st == crooked:
			r.counts.crooked[i].N++
		case st == missing && r.plan.config.Signals[o.signal].Track == r.plan.config.Base:
			r.counts.missing[i].N++
			lacks = lacks || o.role == channel.State
		case st == measured:
			has = has || o.role == channel.State
		}
	}
	if lacks && !has {
		r.counts.blank++
	}
}

// table makes a row of a table, whose reader has ordered and divided it.
func (r *rowMaker) table(m *telemetry.Message) error {
	r.plan.unfill(0, m.Values)
	jr := r.joiner.Direct(m.Time, m.Values)
	r.look(0, m.Time, m.Values)
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
	if r.plan.held != nil {
		r.release()
	}
	return r.send(m.Time)
}

// endFile ends a file.
func (r *rowMaker) endFile() {
	for i, e := range r.counts.last {
		if all := &r.counts.ended[i]; e.n > 0 && r.counts.measured[i] > 0 {
			all.n, all.lasts = all.n+e.n, all.lasts+e.lasts
		}
		r.counts.last[i] = ending{}
	}
}

// send emits a row at time t.
func (r *rowMaker) send(t int64) error {
	for i, cells := range r.dst {
		for k, v := range cells {
			if v == v { // not NaN
				r.counts.values[i][k]++
			}
		}
		if first, last := cells[0], cells[len(cells)-1]; first == first || last == last {
			r.counts.measured[i]++
			r.counts.last[i] = ending{}
			continue
		}
		e := &r.counts.last[i]
		if e.n++; e.n == 1 || t < e.from { // or a clock was set
			e.from = t
		}
		e.lasts = t - e.from
	}
	r.row.t, r.row.file, r.row.values = t, r.file, r.plan.kept(r.all)
	r.counts.kept++
	return r.emit(&r.row)
}
