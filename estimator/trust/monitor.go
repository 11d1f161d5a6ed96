package trust

import (
	"math"
	"slices"
)

// Config describes what is predicted.
type Config struct {
	K      int       // channels
	Times  []float64 // T, s, ascending
	Period []float64 // K, of channels that are angles; 0 = not periodic
	Every  float64   // (optional) s between false alarms on average, over all series; defaults to 100 hours

	Checked func(Check) // (optional) called with every check, for studies
}

// Check is one comparison of a prediction with a measurement.
type Check struct {
	Bucket, Channel int
	Made, At        int64   // ns, when the prediction was made, and the measurement
	Z               float64 // error over obs_std
	Published       float64 // factor
	Separate        bool    // the prediction was made after the separate check before was decided
}

// Monitor checks the predictions of one model. It is not safe for concurrent use.
type Monitor struct {
	cfg    Config
	until  []float64 // B, s, ends of the buckets
	places []place   // T, of the times
	from   []float64 // B, s, where the later half of a bucket begins
	series []series  // B×K
	tubes  tubes

	waiting []waiting // ring, oldest at first
	first   int
	n       int
	last    int64   // ns, when the newest of them was made
	step    int64   // ns between two
	checked []int64 // B, ns, when the prediction was made that was checked last; separate by more than that
	decided []int64 // B, ns, when the last separate check was decided
	mean    []float64
	std     []float64

	seen   bool
	seenAt int64 // ns, when x was measured
	x      []float64
}

// waiting is a prediction whose time has not come.
type waiting struct {
	t      int64 // ns
	rows   int
	next   int       // bucket that it waits for
	mean   []float64 // T×K
	std    []float64 // T×K, obs_std
	factor []float64 // B×K, published
	path   path
}

// fractions of the horizon at which buckets end.
var fractions = [...]float64{0.1, 0.25, 0.5, 1}

const (
	mostWaiting = 64
	perHorizon  = 48 // predictions that are kept within the horizon
	perBucket   = 4  // checks within the time of a bucket
	never       = math.MinInt64 / 2
)

// New allocates all memory.
func New(c Config) *Monitor {
	if c.Every == 0 {
		c.Every = 100 * 3600
	}
	m := &Monitor{cfg: c, mean: make([]float64, c.K), std: make([]float64, c.K), x: make([]float64, c.K)}
	last := c.Times[len(c.Times)-1]
	row := 0
	for _, f := range fractions {
		for c.Times[row] < f*last*(1-1e-9) {
			row++
		}
		if n := len(m.until); n > 0 && m.until[n-1] == c.Times[row] {
			continue
		}
		before := 0.
		if n := len(m.until); n > 0 {
			before = m.until[n-1]
		}
		m.until = append(m.until, c.Times[row])
		m.from = append(m.from, max((before+c.Times[row])/2, c.Times[0]))
	}
	for _, t := range c.Times {
		m.places = append(m.places, m.place(t))
	}
	B := len(m.until)
	m.series = make([]series, B*c.K)
	m.checked, m.decided = make([]int64, B), make([]int64, B)
	m.step = int64(last * 1e9 / perHorizon)
	for range mostWaiting {
		n := len(c.Times) * c.K
		m.waiting = append(m.waiting, waiting{mean: make([]float64, n), std: make([]float64, n), factor: make([]float64, B*c.K)})
	}
	m.Reset()
	return m
}

// Reset returns to the state of New.
func (m *Monitor) Reset() {
	for i := range m.series {
		m.series[i].reset(m.limit(i / m.cfg.K))
	}
	m.tubes.reset()
	m.forget()
}

// forget drops the predictions that wait, as at a jump of the robot's clock.
func (m *Monitor) forget() {
	m.first, m.n, m.last, m.seen, m.tubes.decided = 0, 0, never, false, never
	for b := range m.checked {
		m.checked[b], m.decided[b] = never, never
	}
}

// limit returns c of the series of a bucket.
func (m *Monitor) limit(b int) float64 {
	return float64(len(m.series)) * m.cfg.Every / m.until[b]
}

// Predicted adds a prediction that was made at t, ns on the robot's clock, for
// the first rows of the times: mean and obs_std rows×K, and the model's factors of tubes. Most
// are too close to the one before and are left out.
func (m *Monitor) Predicted(t int64, mean, obsStd []float64, tube Tube) {
	if t < m.last {
		m.forget()
	}
	if m.last != never && t-m.last < m.step {
		return
	}
	if m.n == mostWaiting {
		m.first, m.n = (m.first+1)%mostWaiting, m.n-1
	}
	w := &m.waiting[(m.first+m.n)%mostWaiting]
	m.n++
	m.last = t
	w.t, w.rows, w.next = t, len(mean)/m.cfg.K, 0
	copy(w.mean, mean)
	copy(w.std, obsStd)
	for i := range w.factor {
		w.factor[i] = m.series[i].factor
	}
	w.path = path{model: tube, published: m.Tube(tube)}
}

// Observed adds what was measured at t, ns on the robot's clock. Of the two
// measurements about the end of a bucket the nearer one is compared.
func (m *Monitor) Observed(t int64, x []float64) {
	B := len(m.until)
	for i := range m.n {
		w := &m.waiting[(m.first+i)%mostWaiting]
		age, before := seconds(t-w.t), -1.
		m.follow(w, age, x)
		if m.seen {
			before = seconds(m.seenAt - w.t)
		}
		for w.next < B && age >= m.until[w.next]*(1-slack) {
			b := w.next
			w.next++
			until := m.until[b]
			switch {
			case age-until <= until-before && age <= until*(1+slack) || age-until < until-before && b < B-1 && age <= m.from[b+1]:
				m.check(w, b, t, age, x)
			case before >= m.from[b]*(1-slack) && before <= until:
				m.check(w, b, m.seenAt, before, m.x)
			}
		}
	}
	for m.n > 0 && m.waiting[m.first].next == B {
		m.ended(&m.waiting[m.first])
		m.first, m.n = (m.first+1)%mostWaiting, m.n-1
	}
	m.seen, m.seenAt = true, t
	copy(m.x, x)
}

// slack is the share of a time by which stamps of a regular clock may be off.
const slack = 1e-3

func seconds(ns int64) float64 { return float64(ns) * 1e-9 }

// check compares one prediction with a measurement age s after it.
func (m *Monitor) check(w *waiting, b int, t int64, age float64, x []float64) {
	if w.t-m.checked[b] < int64(m.until[b]*1e9/perBucket) && m.checked[b] != never {
		return
	}
	if !m.at(w, age) {
		return // the horizon was shortened
	}
	m.checked[b] = w.t
	separate := w.t > m.decided[b]
	if separate {
		m.decided[b] = t
	}
	K := m.cfg.K
	p := m.place(age)
	for k := range K {
		d := m.off(k, x[k]-m.mean[k])
		if z := d / m.std[k]; !math.IsNaN(z) { // 0/0: no information
			published := w.factor[p.before*K+k] + p.share*(w.factor[p.bucket*K+k]-w.factor[p.before*K+k])
			m.series[b*K+k].add(z, published, separate)
			if m.cfg.Checked != nil {
				m.cfg.Checked(Check{b, k, w.t, t, z, published, separate})
			}
		}
	}
}

// place is where a time is between the ends of two buckets.
type place struct {
	before, bucket int
	share          float64 // of the way from the one to the other
}

// place returns where time t is: before the first end and behind the last it is
// there.
func (m *Monitor) place(t float64) place {
	b := 0
	for b < len(m.until)-1 && m.until[b] < t {
		b++
	}
	if b == 0 || t >= m.until[b] {
		return place{b, b, 0}
	}
	return place{b - 1, b, (t - m.until[b-1]) / (m.until[b] - m.until[b-1])}
}

// Factors writes the factor of every number of a prediction to dst (rows×K).
func (m *Monitor) Factors(dst []float64) {
	K := m.cfg.K
	for i := range len(dst) / K {
		p := &m.places[i]
		before, at := m.series[p.before*K:][:K], m.series[p.bucket*K:][:K]
		for k := range K {
			dst[i*K+k] = before[k].factor + p.share*(at[k].factor-before[k].factor)
		}
	}
}

// Miscalibrated returns how many series have an alarm.
func (m *Monitor) Miscalibrated() int {
	n := 0
	for i := range m.series {
		if m.series[i].alarm.on {
			n++
		}
	}
	return n
}

// Report is what a monitor found, B×K row-major; −1 where nothing was checked.
type Report struct {
	Buckets      []float64 // B, s
	Checks       []float64
	Coverage     []float64 // of mean ± 1.96 obs_std
	Recalibrated []float64 // of mean ± 1.96·factor·obs_std
	Nees         []float64
	Factor       []float64
	Alarms       int
}

// Clone returns a copy that shares no memory.
func (r *Report) Clone() Report {
	return Report{
		slices.Clone(r.Buckets), slices.Clone(r.Checks), slices.Clone(r.Coverage), slices.Clone(r.Recalibrated),
		slices.Clone(r.Nees), slices.Clone(r.Factor), r.Alarms,
	}
}

// Report writes to r, in its memory.
func (m *Monitor) Report(r *Report) {
	r.Buckets = append(r.Buckets[:0], m.until...)
	r.Checks, r.Coverage, r.Recalibrated, r.Nees, r.Factor = r.Checks[:0], r.Coverage[:0], r.Recalibrated[:0], r.Nees[:0], r.Factor[:0]
	for i := range m.series {
		s := &m.series[i]
		coverage, recalibrated, nees := s.coverage, s.recalibrated, s.nees
		if s.checks == 0 {
			coverage, recalibrated, nees = -1, -1, -1
		}
		r.Checks, r.Factor = append(r.Checks, s.checks), append(r.Factor, s.factor)
		r.Coverage, r.Recalibrated, r.Nees = append(r.Coverage, coverage), append(r.Recalibrated, recalibrated), append(r.Nees, nees)
	}
	r.Alarms = m.Miscalibrated()
}
