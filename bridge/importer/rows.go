package importer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"strings"

	"github.com/dgm-robotics/dgm/bridge/telemetry"
	"github.com/dgm-robotics/dgm/bridge/timebase"
	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/flightlog"
)

// row is one row as it goes into the log. Its slices are valid until the next
// row.
type row struct {
	t         int64
	begins    bool      // a segment starts here
	name      string    // of the segment
	x, u, aux []float64 // K, P, A
}

// The stamps that follow each other in a log: how far apart they can be, and how
// much earlier a message may have been measured than the one before it, both ns.
const (
	far  = 120e9
	back = 10e9
)

// rowMaker makes rows of the messages of all files.
type rowMaker struct {
	j      *job
	emit   func(*row) error
	joiner *timebase.Joiner
	guard  timebase.Guard
	row    row         // what is emitted
	all    row         // with the channels that are left out of it
	dst    [][]float64 // of each output: the cells of all that it fills

	file    int
	in      []float64 // of each phase: what was last said
	first   int64     // ns, of the file's first message
	started bool      // first is set
	last    int64     // ns, of the row kept before
	open    bool      // a segment is open, so that a row can continue it
	counts  rowCounts
}

// rowCounts says what became of rows.
type rowCounts struct {
	kept, ground, cut, gaps int
	longest                 int64 // ns, of the gaps
	late, wild, sets        int
	largest                 int64 // ns, of the steps of the clock
	stats                   []timebase.Stats
}

// rows calls emit with every row of every file. say, if not nil, takes what the
// robot said in words.
func (j *job) rows(ctx context.Context, say func(int64, string), emit func(*row) error) error {
	r := &rowMaker{j: j, emit: emit, joiner: timebase.New(j.plan.config), guard: timebase.Guard{Far: far, Back: back}}
	n := map[channel.Role]int{}
	for _, o := range j.plan.outputs {
		n[o.role] += o.n
	}
	r.all.x, r.all.u, r.all.aux = make([]float64, n[channel.State]), make([]float64, n[channel.Input]), make([]float64, n[channel.Aux])
	free := map[channel.Role][]float64{channel.State: r.all.x, channel.Input: r.all.u, channel.Aux: r.all.aux}
	for _, o := range j.plan.outputs {
		r.dst = append(r.dst, free[o.role][:o.n:o.n])
		free[o.role] = free[o.role][o.n:]
	}
	for i, path := range j.Inputs {
		if err := r.read(ctx, i, path, say); err != nil {
			return err
		}
		j.at++
	}
	r.counts.late, r.counts.wild = r.joiner.Late(), r.guard.Wild()
	r.counts.sets, r.counts.largest = r.guard.Jumps()
	r.counts.stats = r.joiner.Stats()
	j.counts = r.counts
	if r.counts.kept == 0 {
		return r.nothing()
	}
	return nil
}

// nothing says why there is no row.
func (r *rowMaker) nothing() error {
	base := r.j.plan.tracks[r.j.plan.config.Base].id
	switch {
	case r.counts.ground > 0:
		return fmt.Errorf("%s: none of the %d rows is in the phases of the map (flying); to keep them all, import with --all", r.j.Inputs[0], r.counts.ground)
	case r.counts.cut > 0:
		return fmt.Errorf("%s: nothing is left between time.from and time.to of the map, which count from the file's first message; correct them", r.j.Inputs[0])
	}
	return fmt.Errorf("%s: topic %s gives no row; choose another base", r.j.Inputs[0], base)
}

// read makes the rows of one file.
func (r *rowMaker) read(ctx context.Context, n int, path string, say func(int64, string)) error {
	clocks := &r.j.files[n].clocks
	home := int64(0) // what the base's clock is behind the recorder's
	if c := r.j.files[n].find(r.j.plan.tracks[r.j.plan.config.Base].id); c != nil {
		home = clocks.Offset(c.Topic.Clock)
	}
	wants := telemetry.Wants{Select: r.j.plan.paths}
	if say != nil {
		wants.Text = func(t int64, text string) { say(t-home, text) }
	}
	s, err := r.j.Open(path, wants)
	if err != nil {
		return err
	}
	defer s.Close()
	s.Until(ctx.Done())
	r.file, r.started, r.open = n, false, false
	r.guard = timebase.Guard{Far: far, Back: back}
	r.row.name = stem(path)
	r.in = r.in[:0]
	for i := range r.j.plan.phases {
		r.in = append(r.in, r.j.plan.phases[i].begin[n])
	}
	r.reset()
	var tracks []int // by Seq of the topic: its track + 1
	var offsets []int64
	for k := 0; ; k++ {
		if k%4096 == 0 {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			r.j.tell(float64(s.Taken()) / float64(max(1, s.Size())))
		}
		m, err := s.Next()
		if err != nil && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		for m.Topic.Seq >= len(tracks) {
			tracks = append(tracks, -1)
			offsets = append(offsets, 0)
		}
		if tracks[m.Topic.Seq] < 0 {
			tracks[m.Topic.Seq] = r.j.plan.trackOf(m.Topic) + 1
			offsets[m.Topic.Seq] = clocks.Offset(m.Topic.Clock)
		}
		if tracks[m.Topic.Seq] == 0 {
			continue
		}
		t := m.Time - home
		if m.Stamped {
			t += offsets[m.Topic.Seq]
		}
		if err := r.take(tracks[m.Topic.Seq]-1, t, m.Values); err != nil {
			return err
		}
	}
	r.joiner.Finish()
	err = r.drain()
	r.reset()
	return err
}

// reset begins anew with the phases as they are.
func (r *rowMaker) reset() {
	r.joiner.Reset()
	r.open = false
	for i := range r.j.plan.phases {
		r.joiner.Add(r.j.plan.phases[i].track, math.MinInt64/4, r.in[i:i+1])
	}
}

// take takes a message of a track.
func (r *rowMaker) take(track int, t int64, values []float64) error {
	ok, jumped := r.guard.Take(t)
	if !ok {
		return nil
	}
	if jumped {
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
	for i := range r.j.plan.phases {
		p := &r.j.plan.phases[i]
		if p.topic != track {
			continue
		}
		if in, ok := p.says(values[p.column]); ok {
			r.in[i] = 0
			if in {
				r.in[i] = 1
			}
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
		if err := r.make(jr); err != nil {
			return err
		}
	}
}

func (r *rowMaker) make(jr *timebase.Row) error {
	m := r.j.Map
	at := jr.T - r.first
	if from, to := int64(m.Time.From), int64(m.Time.To); from > 0 && at < from || to > 0 && at > to {
		r.counts.cut++
		r.open = false
		return nil
	}
	for i := range r.j.plan.phases {
		if jr.Values[r.j.plan.phases[i].at] != 1 {
			r.counts.ground++
			r.open = false
			return nil
		}
	}
	r.row.t, r.row.begins = jr.T, !r.open
	if step := jr.T - r.last; r.open && step > r.j.plan.gap {
		r.counts.gaps++
		r.counts.longest = max(r.counts.longest, step)
		r.row.begins = true
	}
	r.last, r.open = jr.T, true
	for i := range r.j.plan.outputs {
		r.j.plan.outputs[i].write(r.dst[i], jr.Values)
	}
	r.row.x, r.row.u, r.row.aux = r.j.plan.kept(channel.State, r.all.x), r.j.plan.kept(channel.Input, r.all.u), r.j.plan.kept(channel.Aux, r.all.aux)
	r.counts.kept++
	return r.emit(&r.row)
}

// paths returns the fields that are read of a topic.
func (p *plan) paths(t *telemetry.Topic) []string {
	if i := p.trackOf(t); i >= 0 {
		return p.tracks[i].paths
	}
	return nil
}

// trackOf returns the track of a topic, or −1.
func (p *plan) trackOf(t *telemetry.Topic) int {
	for i := range p.tracks {
		if p.tracks[i].id == (topicID{t.Name, t.Instance}) {
			return i
		}
	}
	return -1
}

// stem is the name of a file without its folder and its endings for kind and
// packing, as a segment is called.
func stem(path string) string {
	base := filepath.Base(path)
	for _, packed := range []string{".gz", ".zst"} {
		base = strings.TrimSuffix(base, packed)
	}
	if short := strings.TrimSuffix(base, filepath.Ext(base)); short != "" {
		base = short
	}
	return base[:min(len(base), flightlog.MaxName)]
}
