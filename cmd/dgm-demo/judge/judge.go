package judge

import (
	"math"
	"slices"
	"time"

	"github.com/dgm-robotics/dgm/estimator/wire"
)

// Config describes the messages.
type Config struct {
	K       int           // channels of a state
	Period  time.Duration // between two states
	Horizon []float64     // T, s, times of the predictions: whole numbers of periods
	Echo    bool          // every state is echoed, see Judge.Echo
}

// patience is how long a prediction is awaited, beyond the horizon, before it counts
// as missing.
const patience = time.Second

// Z95 is half the width of the central 95 % of a standard normal distribution.
const Z95 = 1.959963984540054

// Judge follows one vehicle. It is not safe for concurrent use.
type Judge struct {
	cfg     Config
	lags    []int    // T, times in periods
	ring    []Moment // state seq at seq mod len
	any     bool
	first   int64  // ns, time of the first state
	newest  uint64 // highest seq
	early   []early
	echoes  []echo // early ones
	latency histogram
	echoed  histogram
	seconds seconds
	count   Result
}

// Moment is a state with the prediction that was made from it.
type Moment struct {
	Seq      uint64
	T        int64     // ns, as in the messages
	X        []float64 // K, measured
	Answered bool      // by a prediction of the whole horizon that can be used
	Mean     []float64 // T×K row-major; only where Answered
	ObsStd   []float64 // T×K
	Factor   []float64 // T×K; empty where the prediction has none

	points  int  // of the prediction that can be used: fewer where it is flagged as shortened
	known   bool // else never filled, or forgotten
	arrived bool // a prediction, usable or not
	echoed  bool
	overdue bool // it arrived after its successor was due
}

// early is a prediction that arrived before its state: the server serves each subscriber
// separately, and the estimator was served first.
type early struct {
	p    wire.Prediction
	unix int64
}

// echo is the echo of a state.
type echo struct {
	seq  uint64
	unix int64
}

// mostEarly bounds the number of early messages.
const mostEarly = 16

const (
	badHorizon = "judge: the times of a prediction must be whole numbers of periods"
	badLength  = "judge: wrong length of a state"
)

// New returns a judge. It panics if the times are no whole numbers of periods:
// then no measurement exists at the time of a prediction.
func New(c Config) *Judge {
	j := &Judge{cfg: c}
	for _, t := range c.Horizon {
		lag := t / c.Period.Seconds()
		if lag < 0.5 || math.Abs(lag-math.Round(lag)) > 1e-6 {
			panic(badHorizon)
		}
		j.lags = append(j.lags, int(math.Round(lag)))
	}
	j.ring = make([]Moment, slices.Max(j.lags)+int(patience/c.Period)+1)
	n := len(c.Horizon) * c.K
	for i := range j.ring {
		all := make([]float64, c.K+2*n)
		m := &j.ring[i]
		m.X, m.Mean, m.ObsStd = all[:c.K:c.K], all[c.K:c.K+n:c.K+n], all[c.K+n:]
	}
	j.seconds = newSeconds(len(j.ring), c.Period)
	j.count = Result{Horizon: c.Horizon, K: c.K, Scored: make([]int, n), Covered: make([]int, n)}
	return j
}

// State takes a state that arrived at unix, ns. A repeated one, or one out of order, is
// not counted.
func (j *Judge) State(s *wire.State, unix int64) {
	if len(s.X) != j.cfg.K {
		panic(badLength)
	}
	if j.any && s.Seq <= j.newest {
		return
	}
	if !j.any {
		j.first = s.T
	}
	j.any, j.newest = true, s.Seq
	m := &j.ring[s.Seq%uint64(len(j.ring))]
	j.leave(m)
	m.Seq, m.T, m.known, m.arrived, m.echoed, m.Answered, m.points = s.Seq, s.T, true, false, false, false, 0
	copy(m.X, s.X)
	j.count.States++
	second := j.seconds.at(s.T-j.first, &j.count)
	second.states++
	if m.overdue = unix-s.T > int64(j.cfg.Period); m.overdue {
		j.count.OverdueStates++
		second.busy = true
	}
	j.count.Flight = time.Duration(s.T - j.first)
	for i, lag := range j.lags {
		if before := j.At(s.Seq - uint64(lag)); before != nil && i < before.points {
			j.score(before, i, m.X)
		}
	}
	j.catchUp(s.Seq)
}

// Echo takes the echo of state seq that arrived at unix, ns.
func (j *Judge) Echo(seq uint64, unix int64) {
	if (!j.any || seq > j.newest) && len(j.echoes) < mostEarly {
		j.echoes = append(j.echoes, echo{seq, unix})
		return
	}
	m := j.At(seq)
	if m == nil || m.echoed {
		return
	}
	m.echoed = true
	took := time.Duration(unix - m.T)
	j.echoed.add(took)
	if took > j.cfg.Period/2 {
		j.seconds.at(m.T-j.first, &j.count).busy = true
	}
}

// catchUp takes the early messages up to state seq.
func (j *Judge) catchUp(seq uint64) {
	waiting := j.early
	j.early = nil
	for _, e := range waiting {
		if e.p.Seq <= seq {
			j.Prediction(&e.p, e.unix)
		} else {
			j.early = append(j.early, e)
		}
	}
	echoes := j.echoes
	j.echoes = nil
	for _, e := range echoes {
		if e.seq <= seq {
			j.Echo(e.seq, e.unix)
		} else {
			j.echoes = append(j.echoes, e)
		}
	}
}

// Prediction takes a prediction that arrived at unix, ns.
func (j *Judge) Prediction(p *wire.Prediction, unix int64) {
	if (!j.any || p.Seq > j.newest) && len(j.early) < mostEarly {
		j.early = append(j.early, early{clone(p), unix})
		return
	}
	m := j.At(p.Seq)
	if m == nil || m.T != p.T || m.arrived {
		j.count.Unasked++
		return
	}
	m.arrived = true
	j.count.Answered++
	j.latency.add(time.Duration(unix - p.T))
	if j.newest > p.Seq {
		j.count.Overdue++
		j.seconds.at(m.T-j.first, &j.count).overdue++
	}
	if p.Flags&wire.OutOfDistribution != 0 {
		j.count.Outside++
	}
	if p.Flags&wire.NoHistory != 0 {
		j.count.NoHistory++
		j.seconds.at(m.T-j.first, &j.count).noHistory++
	}
	switch {
	case len(p.Channels) != j.cfg.K || !j.asked(p):
		j.count.Unreadable++
		return
	case !sound(p):
		j.count.NotFinite++
		return
	}
	m.points = len(p.Horizon)
	if m.Answered = m.points == len(j.lags); !m.Answered {
		j.count.Shortened++
	}
	copy(m.Mean, p.Mean)
	copy(m.ObsStd, p.ObsStd)
	m.Factor = append(m.Factor[:0], p.Factor...)
	for i, lag := range j.lags[:m.points] {
		if then := j.At(p.Seq + uint64(lag)); then != nil {
			j.score(m, i, then.X)
		}
	}
}

// asked reports whether a prediction is for the times asked for, or for the first of
// them and flagged as shortened.
func (j *Judge) asked(p *wire.Prediction) bool {
	n := len(p.Horizon)
	if n == 0 || n > len(j.cfg.Horizon) || n < len(j.cfg.Horizon) && p.Flags&wire.Shortened == 0 {
		return false
	}
	return slices.Equal(p.Horizon, j.cfg.Horizon[:n])
}

// Unreadable counts a prediction that could not be decoded.
func (j *Judge) Unreadable() { j.count.Unreadable++ }

// At returns state seq with its prediction if it is recent enough to be
// remembered, else nil. It changes with the next State.
func (j *Judge) At(seq uint64) *Moment {
	if m := &j.ring[seq%uint64(len(j.ring))]; m.known && m.Seq == seq {
		return m
	}
	return nil
}

// Newest returns the newest state that has a prediction, or nil.
func (j *Judge) Newest() *Moment {
	for back := range uint64(len(j.ring)) {
		if m := j.At(j.newest - back); m != nil && m.Answered {
			return m
		}
	}
	return nil
}

// Result returns the counts so far. With final, states that are not answered yet count
// as missing.
func (j *Judge) Result(final bool) Result {
	r := j.count
	r.Scored, r.Covered = slices.Clone(r.Scored), slices.Clone(r.Covered)
	r.P50, r.P99, r.Max = j.latency.at(0.5), j.latency.at(0.99), j.latency.max
	r.EchoP99, r.EchoMax = j.echoed.at(0.99), j.echoed.max
	open := j.seconds.clone()
	if final {
		for i := range j.ring {
			j.unanswered(&r, &open, &j.ring[i])
		}
		r.Unasked += len(j.early)
	}
	open.close(&r)
	return r
}

// Waiting returns how many states may still be answered.
func (j *Judge) Waiting() int {
	n := 0
	for i := range j.ring {
		if m := &j.ring[i]; m.known && !m.arrived {
			n++
		}
	}
	return n
}

// leave forgets a state.
func (j *Judge) leave(m *Moment) {
	j.unanswered(&j.count, &j.seconds, m)
	m.known = false
}

// unanswered counts a state that was not answered and will not be, or not echoed.
func (j *Judge) unanswered(r *Result, seconds *seconds, m *Moment) {
	if !m.known {
		return
	}
	second := seconds.at(m.T-j.first, r)
	if j.cfg.Echo && !m.echoed {
		second.busy = true
	}
	switch {
	case m.arrived:
	case m.overdue:
		r.Overdue++
		second.overdue++
	default:
		r.Missing++
		second.missing++
	}
}

// score compares time i of a prediction with the measurement of that time.
func (j *Judge) score(m *Moment, i int, x []float64) {
	for k, v := range x {
		n := i*j.cfg.K + k
		j.count.Scored[n]++
		if math.Abs(v-m.Mean[n]) <= Z95*m.ObsStd[n] {
			j.count.Covered[n]++
		}
	}
}

// clone returns a copy that shares no memory.
func clone(p *wire.Prediction) wire.Prediction {
	c := *p
	c.Channels, c.Units = slices.Clone(p.Channels), slices.Clone(p.Units)
	c.Horizon, c.Mean, c.Std, c.ObsStd = slices.Clone(p.Horizon), slices.Clone(p.Mean), slices.Clone(p.Std), slices.Clone(p.ObsStd)
	c.Factor = slices.Clone(p.Factor)
	return c
}

// sound reports whether all numbers are finite and no deviation is negative.
func sound(p *wire.Prediction) bool {
	for _, v := range [][]float64{p.Mean, p.Std, p.ObsStd} {
		for _, x := range v {
			if math.IsNaN(x) || math.IsInf(x, 0) {
				return false
			}
		}
	}
	return slices.Min(p.Std) >= 0 && slices.Min(p.ObsStd) >= 0
}

// histogram counts durations in bins that are 2 % wide, from a microsecond to
// ten seconds, so that quantiles of an endless flight need no memory.
type histogram struct {
	bins [816]int
	n    int
	max  time.Duration
}

const binWidth = 1.02

func (h *histogram) add(d time.Duration) {
	i := math.Log(max(1, float64(d)/float64(time.Microsecond))) / math.Log(binWidth)
	h.bins[min(int(i), len(h.bins)-1)]++
	h.n++
	h.max = max(h.max, d)
}

// at returns the q-quantile, to 2 %; 0 of nothing.
func (h *histogram) at(q float64) time.Duration {
	if h.n == 0 {
		return 0
	}
	rank := min(int(q*float64(h.n)), h.n-1)
	for i, n := range h.bins {
		if rank -= n; rank < 0 {
			return min(h.max, time.Duration(math.Pow(binWidth, float64(i)+0.5)*float64(time.Microsecond)))
		}
	}
	return h.max
}
