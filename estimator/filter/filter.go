package filter

import (
	"errors"
	"fmt"
	"math"
)

// Process is the dynamics between samples.
type Process interface {
	// Dim returns the number n of its states. The first K are those of the filter's channels.
	Dim() int
	// Step moves x (n) by dt s under the input u (P; nil = none) to next (n), writes the derivative of next by x to f
	// (n×n row-major), and adds the covariance that the time adds to q (n×n).
	Step(next, f, q, x, u []float64, dt float64)
}

// Channel is one channel of the filter.
type Channel struct {
	Period  float64 // of an angle, in its unit; 0 = none
	R       float64 // variance of its sensor, unit²; not read where nothing measures it
	Free    bool    // its estimate is the measurement, whose innovations say nothing of the filter
	Changes bool    // its sensor never measures one value twice in a row: a repeated one is no measurement
}

// Config describes a filter.
type Config struct {
	Channels []Channel // K
	Process  Process
	Start    []float64 // n, variances of states that the first sample does not hold
	Gate     float64   // (optional) standard deviations beyond which a measurement is an outlier; default DefaultGate
	Settled  []float64 // (optional) K, variances of states up to which an estimate counts; 0 = any
	Sensors  []bool    // (optional) K, channels that sensors measure: an estimate counts once each of them was
	Attitude *Attitude // (optional) channels that are the attitude of a body
	Adapts   bool      // follows sensors whose noise is another one than R, see package comment
	MaxGap   float64   // s without a sample, after which the filter restarts
}

const (
	// DefaultGate is far out for a normal error: one in half a million.
	DefaultGate = 5.
	// mostRejected is how many outliers of a channel in a row mean that the filter is lost.
	mostRejected = 5
	// settled is how many samples a filter has seen at least when its estimate counts.
	settled = 8
	// longest is the part of a step in which the process is taken as linear, s.
	longest = 0.05
)

// Reset is the reason why a filter has restarted.
type Reset int

// The reasons.
const (
	None      Reset = iota
	First           // sample
	Gap             // longer than Config.MaxGap
	Backwards       // time went back
	Lost            // too many measurements in a row did not fit
	Diverged        // a number was not finite, or a variance not positive
	Resets          // how many reasons there are
)

func (r Reset) String() string {
	return [...]string{"none", "first sample", "gap", "time went back", "lost", "diverged"}[r]
}

// Result is the effect of a sample.
type Result struct {
	Used, Rejected int     // channels
	Reset          Reset   // None = the filter went on
	Judged         int     // channels used that are not free
	NIS            float64 // sum of their ν²/S: of mean Judged in a consistent filter
	Lagged         float64 // sum of the products of ν/√S with that of the channel's measurement before: of mean 0 in one
	Pairs          int     // of these
	Log            float64 // log likelihood of what was measured, nat; of an outlier that at the gate
}

// Filter estimates a state. It is not safe for concurrent use.
type Filter struct {
	cfg   Config
	k, n  int
	gate2 float64
	began bool
	last  int64     // ns
	input []float64 // (optional) P, held from the last sample on; of length 0 before
	state
	nu    []float64 // K, innovations of the last sample, NaN = not measured
	ratio []float64 // K, ν²/(Gate² S) of the last sample: above 1 is an outlier; NaN = not measured

	next, f, q, work, column []float64

	late  late
	trace *Trace // nil = nothing is recorded
}

// New returns a filter before its first sample. The error names a contradiction in the configuration.
func New(c Config, inputs int) (*Filter, error) {
	k := len(c.Channels)
	if c.Process == nil {
		return nil, errors.New("filter: there is no process")
	}
	n := c.Process.Dim()
	if k == 0 || n < k || len(c.Start) != n {
		return nil, fmt.Errorf("filter: %d channels, a process of %d states and %d variances at the start do not go together", k, n, len(c.Start))
	}
	for i, v := range c.Start {
		if !(v > 0) || math.IsInf(v, 0) {
			return nil, fmt.Errorf("filter: variance %v of state %d at the start is not positive", v, i)
		}
	}
	for i, ch := range c.Channels {
		if !(ch.R >= 0) || math.IsInf(ch.R, 0) {
			return nil, fmt.Errorf("filter: variance %v of the sensor of channel %d is negative", ch.R, i)
		}
	}
	if len(c.Settled) > 0 && len(c.Settled) != k {
		return nil, fmt.Errorf("filter: %d limits of settled variances for %d channels", len(c.Settled), k)
	}
	if len(c.Sensors) > 0 && len(c.Sensors) != k {
		return nil, fmt.Errorf("filter: %d of %d channels are said to be measured or not", len(c.Sensors), k)
	}
	if c.Gate == 0 {
		c.Gate = DefaultGate
	}
	if !(c.Gate > 0) || !(c.MaxGap > 0) {
		return nil, fmt.Errorf("filter: gate %v and longest gap %v must be positive", c.Gate, c.MaxGap)
	}
	return &Filter{
		cfg: c, k: k, n: n, gate2: c.Gate * c.Gate, input: make([]float64, 0, inputs),
		state: newState(n, k), nu: make([]float64, k), ratio: make([]float64, k),
		next: make([]float64, n), f: make([]float64, n*n), q: make([]float64, n*n), work: make([]float64, n*n), column: make([]float64, n),
	}, nil
}

// Reset forgets the state and what was found of the sensors, as before the first sample. Counters are kept.
func (f *Filter) Reset() {
	f.began = false
	f.state.forget()
}

// KeepNoise makes the sensors' noise that of the configuration.
func (f *Filter) KeepNoise() { f.cfg.Adapts = false }

// Rejected returns the number of outliers of each channel (K). It is valid until the next call.
func (f *Filter) Rejected() []int { return f.total }

// Innovations returns ν of each channel at the last sample (K), and the test ratio ν²/(Gate² S) (K), which is
// above 1 for an outlier. Both are NaN for unmeasured channels, and at the first sample of the filter. Both are
// views.
func (f *Filter) Innovations() (nu, ratio []float64) { return f.nu, f.ratio }

// Settled reports whether the filter has had enough samples since its start for its estimate to count: at once
// if no variance has a limit.
func (f *Filter) Settled() bool { return f.began && f.settled }

// settle notes when the estimate counts. It does from then on, until the robot moves otherwise than the process: a variance that
// grows by the process itself says that it is less certain.
func (f *Filter) settle() {
	for k, measured := range f.cfg.Sensors {
		if measured && !f.known[k] {
			return
		}
	}
	waits := false
	for k, most := range f.cfg.Settled {
		if waits = waits || most > 0; most > 0 && f.p[k*f.n+k] > most {
			return
		}
	}
	f.settled = f.settled || !waits || f.samples >= settled
}

// Estimate returns the state (K) at the last sample, a view. Angles are near the measurements.
func (f *Filter) Estimate() []float64 { return f.x[:f.k] }

// Covariance writes the covariance of the state at the last sample to dst (K×K row-major).
func (f *Filter) Covariance(dst []float64) {
	for i := range f.k {
		copy(dst[i*f.k:(i+1)*f.k], f.p[i*f.n:])
	}
}

// Update takes a sample of time t, ns: y (K) with NaN for what was not measured, and the input u (P; nil = none) that is
// held from t on.
func (f *Filter) Update(t int64, y, u []float64) (r Result) {
	dt := float64(t-f.last) * 1e-9
	for k := range f.nu {
		f.nu[k], f.ratio[k] = math.NaN(), math.NaN()
	}
	switch {
	case !f.began:
		return f.begin(t, y, u, First)
	case dt < 0:
		return f.begin(t, y, u, Backwards)
	case dt > f.cfg.MaxGap:
		return f.begin(t, y, u, Gap)
	}
	f.move(dt)
	f.over(y)
	f.trace.predicted(f)
	for k, v := range y {
		if !math.IsNaN(v) && !math.IsInf(v, 0) && f.fresh(k, v) {
			f.measure(k, v, &r)
		}
	}
	f.hold(t, u)
	f.samples++
	switch {
	case f.lost():
		return f.begin(t, y, u, Lost)
	case !f.sound():
		return f.begin(t, y, u, Diverged)
	}
	f.settle()
	f.trace.updated(f)
	f.late.keep(f, y)
	return r
}

// begin starts at a sample.
func (f *Filter) begin(t int64, y, u []float64, why Reset) Result {
	used := 0
	clear(f.x)
	clear(f.p)
	clear(f.row)
	clear(f.run)
	clear(f.known)
	for i, v := range f.cfg.Start {
		f.p[i*f.n+i] = v
	}
	for k, v := range y {
		if !math.IsNaN(v) && !math.IsInf(v, 0) {
			f.first(k, v)
			used++
		}
	}
	f.began, f.samples, f.settled = used > 0, 1, false
	f.settle()
	f.hold(t, u)
	f.trace.begins(f)
	f.late.held = 0
	f.late.keep(f, y)
	return Result{Used: used, Reset: why}
}

func (f *Filter) hold(t int64, u []float64) {
	f.last = t
	f.input = append(f.input[:0], u...)
}

// move propagates state and covariance by dt s, in parts that are short.
func (f *Filter) move(dt float64) {
	parts := max(1, int(math.Ceil(dt/longest)))
	f.trace.moves()
	for range parts {
		n := f.n
		clear(f.q)
		f.cfg.Process.Step(f.next, f.f, f.q, f.x, f.input, dt/float64(parts))
		copy(f.x, f.next)
		f.trace.moved(f)
		for i := range n { // F P
			row := f.work[i*n : (i+1)*n]
			clear(row)
			for l, v := range f.f[i*n : (i+1)*n] {
				if v == 0 {
					continue
				}
				for j, p := range f.p[l*n : (l+1)*n] {
					row[j] += v * p
				}
			}
		}
		for i := range n { // F P Fᵀ + Q
			for j := range i + 1 {
				s := f.q[i*n+j]
				for l, v := range f.f[j*n : (j+1)*n] {
					s += f.work[i*n+l] * v
				}
				f.p[i*n+j], f.p[j*n+i] = s, s
			}
		}
	}
}

func (f *Filter) lost() bool {
	for _, n := range f.row {
		if n >= mostRejected {
			return true
		}
	}
	return false
}

// sound reports whether all numbers are finite, variances are positive and correlations within 1.
func (f *Filter) sound() bool {
	for i, v := range f.x {
		d := f.p[i*f.n+i]
		if math.IsNaN(v) || math.IsInf(v, 0) || !(d > 0) || math.IsInf(d, 0) {
			return false
		}
		for j := range i {
			if c := f.p[i*f.n+j]; !(c*c <= d*f.p[j*f.n+j]*(1+1e-6)) {
				return false
			}
		}
	}
	return true
}
