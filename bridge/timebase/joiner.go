package timebase

import (
	"math"
	"slices"

	"github.com/dgm-robotics/dgm/bridge/frames"
)

// How is the value of a signal between two samples.
type How uint8

// The ways.
const (
	Linear   How = iota // on the straight line between them
	Turning             // a periodic value: on the short way around
	Rotation            // four values w, x, y, z of an attitude: turning at a constant rate
	Hold                // that of the sample before
	Exact               // not measured
)

// Signal is one value, or the four of an attitude, at the rows' times.
type Signal struct {
	Track  int     // which topic
	At     []int   // which of its values
	How    How     //
	Period float64 // of Turning
	// MaxAge is, in ns, how far the samples before and after may be apart, and for
	// Hold how old the sample may be; 0 = any.
	MaxAge int64
	// Near is, in ns, how far the next sample may be from a row at which the value counts as
	// measured; 0 = any. It keeps what is interpolated over many rows from being one measurement
	// each.
	Near int64
}

// Config describes a Joiner. Topics are tracks here, by number.
type Config struct {
	Widths  []int // values in a sample of each track
	Base    int   // the track whose stamps are the rows'
	Signals []Signal
	Slack   int64 // ns, by how much later stamps than a row's are waited for before it is made; at least the largest MaxAge that is not of Hold
}

// Row is the signals at one time. Its values are valid until the next row.
type Row struct {
	T      int64     // ns
	Values []float64 // of the signals, one after the other; NaN = not measured
}

// Stats counts what became of a signal over all rows.
type Stats struct {
	Measured int   // a sample has the row's time
	Between  int   // found between two samples, or held
	Stale    int   // not measured: samples too far apart or too old
	Far      int   // not measured: no sample near the row's time
	Before   int   // not measured: no sample yet, or none after
	MaxAge   int64 // ns, of what was held, or between the samples used
}

// Joiner makes rows of samples.
type Joiner struct {
	Late  int     // samples that came too late for their row, or repeated a time of the base
	Stats []Stats // what became of the signals

	cfg     Config
	tracks  []track
	row     Row
	high    int64 // ns, the highest stamp seen
	begun   bool  // high is set
	emitted int64 // ns, time of the last row
	any     bool  // a row was made since the start or the last Reset
	done    bool  // Finish was called
}

// maxHeld bounds the samples that are held of one topic.
const maxHeld = 1 << 17

// New returns a Joiner.
func New(cfg Config) *Joiner {
	n := 0
	for _, s := range cfg.Signals {
		if len(s.At) == 0 || s.How == Rotation && len(s.At) != 4 {
			panic("timebase: a signal has one value or more, a rotation four")
		}
		n += len(s.At)
	}
	j := &Joiner{cfg: cfg, tracks: make([]track, len(cfg.Widths)), Stats: make([]Stats, len(cfg.Signals))}
	for i, w := range cfg.Widths {
		j.tracks[i].width = w
	}
	j.row.Values = make([]float64, n)
	return j
}

// Add takes a sample of a track: its time (ns) and values. After it, Next is
// called until it has no more rows.
func (j *Joiner) Add(which int, t int64, x []float64) {
	if !j.begun || t > j.high {
		j.high, j.begun = t, true
	}
	tr := &j.tracks[which]
	if which == j.cfg.Base {
		if j.any && t <= j.emitted || !tr.insert(t, x, true) {
			j.Late++
		}
		return
	}
	if !tr.insert(t, x, false) {
		j.Late++
	}
	if tr.len() > maxHeld {
		tr.head++
	}
}

// Wait has rows wait for stamps that are later by more than so many ns, at least.
func (j *Joiner) Wait(ns int64) { j.cfg.Slack = max(j.cfg.Slack, ns) }

// Finish ends the samples: Next returns the rest.
func (j *Joiner) Finish() { j.done = true }

// Reset forgets all samples: what follows has nothing to do with what came
// before.
func (j *Joiner) Reset() {
	for i := range j.tracks {
		j.tracks[i].head = len(j.tracks[i].t)
	}
	j.begun, j.any, j.done = false, false, false
}

// Next returns the next row that is complete, or nil.
func (j *Joiner) Next() *Row {
	base := &j.tracks[j.cfg.Base]
	if base.len() == 0 {
		j.trim()
		return nil
	}
	t := base.time(0)
	if !j.done && base.len() < maxHeld && j.high-t <= j.cfg.Slack {
		return nil
	}
	j.row.T = t
	v := j.row.Values
	for i := range j.cfg.Signals {
		s := &j.cfg.Signals[i]
		n := len(s.At)
		if s.Track == j.cfg.Base {
			pick(v[:n], base.values(0), s.At)
			j.Stats[i].Measured++
		} else {
			j.tracks[s.Track].passTo(t)
			j.between(i, t, v[:n])
		}
		v = v[n:]
	}
	base.head++
	j.emitted, j.any = t, true
	return &j.row
}

// Direct returns the row of one sample of the base, where all signals are of the base:
// a table's. Order and repeated times are the caller's.
func (j *Joiner) Direct(t int64, x []float64) *Row {
	j.row.T = t
	v := j.row.Values
	for i := range j.cfg.Signals {
		at := j.cfg.Signals[i].At
		pick(v[:len(at)], x, at)
		v = v[len(at):]
	}
	return &j.row
}

// trim drops what no row can need while there is none.
func (j *Joiner) trim() {
	for i := range j.tracks {
		if i != j.cfg.Base && j.tracks[i].len() > 64 {
			j.tracks[i].passTo(j.high - j.cfg.Slack)
		}
	}
}

// between finds signal i at time t. The track's first sample is the last one not
// after t, if there is one.
func (j *Joiner) between(i int, t int64, dst []float64) {
	s, st := &j.cfg.Signals[i], &j.Stats[i]
	tr := &j.tracks[s.Track]
	for k := range dst {
		dst[k] = math.NaN()
	}
	if tr.len() == 0 || tr.time(0) > t {
		st.Before++
		return
	}
	t0 := tr.time(0)
	if t0 == t {
		pick(dst, tr.values(0), s.At)
		st.Measured++
		return
	}
	if s.How == Hold {
		if age := t - t0; s.MaxAge > 0 && age > s.MaxAge {
			st.Stale++
		} else if s.Near > 0 && age > s.Near {
			st.Far++
		} else {
			pick(dst, tr.values(0), s.At)
			st.Between++
			st.MaxAge = max(st.MaxAge, age)
		}
		return
	}
	if tr.len() < 2 || s.How == Exact {
		st.Before++
		return
	}
	t1 := tr.time(1)
	if s.MaxAge > 0 && t1-t0 > s.MaxAge {
		st.Stale++
		return
	}
	if s.Near > 0 && min(t-t0, t1-t) > s.Near {
		st.Far++
		return
	}
	mix(dst, s, tr.values(0), tr.values(1), float64(t-t0)/float64(t1-t0))
	st.Between++
	st.MaxAge = max(st.MaxAge, t1-t0)
}

func pick(dst, x []float64, at []int) {
	for i, k := range at {
		dst[i] = x[k]
	}
}

// mix finds signal s at share r (0 to 1) between samples a and b.
func mix(dst []float64, s *Signal, a, b []float64, r float64) {
	if s.How == Rotation {
		q, okA := quaternion(a, s.At).Unit()
		p, okB := quaternion(b, s.At).Unit()
		if !okA || !okB {
			return // dst is NaN: no attitude
		}
		m := frames.Slerp(q, p, r)
		copy(dst, m[:])
		return
	}
	for i, k := range s.At {
		d := b[k] - a[k]
		if s.How == Turning {
			d -= s.Period * math.Round(d/s.Period)
		}
		dst[i] = a[k] + r*d
	}
}

func quaternion(x []float64, at []int) (q frames.Quaternion) {
	for i, k := range at {
		q[i] = x[k]
	}
	return q
}

// track holds the samples of one topic in the order of their times.
type track struct {
	width int
	t     []int64
	x     []float64 // len(t)×width
	head  int       // samples before it are dropped
}

func (tr *track) len() int               { return len(tr.t) - tr.head }
func (tr *track) time(i int) int64       { return tr.t[tr.head+i] }
func (tr *track) values(i int) []float64 { k := (tr.head + i) * tr.width; return tr.x[k : k+tr.width] }

// insert puts a sample at its place. Of samples with one time the first is kept, or the
// last. It returns false where the time repeats and the first is kept.
func (tr *track) insert(t int64, x []float64, first bool) bool {
	tr.compact()
	x = x[:tr.width]
	i := len(tr.t)
	if i == tr.head || tr.t[i-1] < t { // in order, as nearly all are
		tr.t, tr.x = append(tr.t, t), append(tr.x, x...)
		return true
	}
	for i > tr.head && tr.t[i-1] > t {
		i--
	}
	if i > tr.head && tr.t[i-1] == t {
		if !first {
			copy(tr.x[(i-1)*tr.width:], x)
		}
		return !first
	}
	tr.t, tr.x = slices.Insert(tr.t, i, t), slices.Insert(tr.x, i*tr.width, x...)
	return true
}

// passTo drops the samples before the last one that is not after t.
func (tr *track) passTo(t int64) {
	for tr.len() > 1 && tr.time(1) <= t {
		tr.head++
	}
}

// compact moves the samples to the start of their memory when half of it or more
// is dropped.
func (tr *track) compact() {
	if tr.head >= 64 && 2*tr.head >= len(tr.t) {
		tr.t, tr.x, tr.head = slices.Delete(tr.t, 0, tr.head), slices.Delete(tr.x, 0, tr.head*tr.width), 0
	}
}
