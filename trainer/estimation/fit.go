package estimation

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/optimize"

	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/filter"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/trainer/window"
)

const (
	// samples of a position are enough to fit two numbers.
	samples = 8000
	// gaps is how many usual intervals without a sample a filter waits.
	gaps = 10
	// unlikely replaces a likelihood that is no number.
	unlikely = 1e300
)

// Fit returns the parameters of the filter of states (K: those of the flights, then the estimated ones) that moves pairs of
// position and rate, by the likelihood of the flights. An error names the position that holds too little.
func Fit(flights []window.Flight, states []channel.Channel, pairs []Pair) (*model.Filter, error) {
	out := &model.Filter{R: make([]float64, len(states)), Start: make([]float64, len(states)+len(pairs))}
	measured := len(channel.Measured(states))
	for k := range measured {
		v, _ := variance(flights, k)
		out.Start[k] = positive(v)
	}
	for i, pair := range pairs {
		k, rate := pair.Position, pair.Rate
		if rate >= measured {
			rate = -1
		}
		s := collect(flights, k, rate)
		if s.n < 3*order*order {
			return nil, fmt.Errorf("%s has no rate, and %d values are too few to estimate one", states[k].Name, s.n)
		}
		f := newChainFit(s, states[k].Period)
		f.offset = s.offset(states[k].Period)
		best := f.maximise()
		out.R[k], out.R[pair.Rate] = best.r, best.rate
		out.Chains = append(out.Chains, model.FilterChain{Position: k, Rate: pair.Rate, Q: best.q, Offset: f.offset})
		out.Start[k], out.Start[pair.Rate], out.Start[len(states)+i] = f.start[0], f.start[1], f.start[2]
		out.Gap = math.Max(out.Gap, f.gap)
	}
	return out, settle(flights, out, states)
}

// order of the process: position, rate, acceleration.
const order = 3

// variance returns that of a state in the flights, and the number of its values.
func variance(flights []window.Flight, k int) (v float64, n int) {
	sum, squares := 0.0, 0.0
	for i := range flights {
		f := &flights[i]
		for j := range f.N() {
			if x := f.X[j*f.K+k]; !math.IsNaN(x) {
				sum, squares, n = sum+x, squares+x*x, n+1
			}
		}
	}
	if n < 2 {
		return 0, n
	}
	return math.Max(0, squares-sum*sum/float64(n)) / float64(n), n
}

// Constant reports whether a state has one value throughout: no noise shows in it.
func Constant(flights []window.Flight, k int) bool {
	first := math.NaN()
	for i := range flights {
		f := &flights[i]
		for j := range f.N() {
			if x := f.X[j*f.K+k]; math.IsNaN(first) {
				first = x
			} else if x != first && !math.IsNaN(x) {
				return false
			}
		}
	}
	return true
}

// series are stretches of one position, and of its rate where that is measured.
type series struct {
	t    [][]int64   // ns
	x, v [][]float64 // NaN = not measured
	n    int         // values of the position
}

// collect returns the values of state k, and of its rate (−1 = none), of each flight as large a share.
func collect(flights []window.Flight, k, rate int) (s series) {
	_, all := variance(flights, k)
	share := math.Min(1, samples/math.Max(1, float64(all)))
	for i := range flights {
		f := &flights[i]
		var t []int64
		var x, v []float64
		for j := range int(math.Ceil(share * float64(f.N()))) {
			y, w := f.X[j*f.K+k], math.NaN()
			if rate >= 0 {
				w = f.X[j*f.K+rate]
			}
			if !math.IsNaN(y) || !math.IsNaN(w) {
				t, x, v = append(t, int64(math.Round(f.T[j]*1e9))), append(x, y), append(v, w)
			}
			if !math.IsNaN(y) {
				s.n++
			}
		}
		s.t, s.x, s.v = append(s.t, t), append(s.x, x), append(s.v, v)
	}
	return s
}

// certain is how many standard deviations an offset is from 0 at least.
const certain = 5

// offset returns by how much the rate is more than the slope of the position on average; 0 if that is not certain.
func (s *series) offset(period float64) float64 {
	sum, squares, time := 0., 0., 0.
	for i, t := range s.t {
		x, since, v, moved := math.NaN(), int64(0), math.NaN(), math.NaN()
		for j, y := range s.x[i] {
			if j > 0 {
				mean := v
				if w := s.v[i][j]; !math.IsNaN(w) {
					mean = 0.5 * (v + w)
				}
				moved += mean * float64(t[j]-t[j-1]) * 1e-9
			}
			if w := s.v[i][j]; !math.IsNaN(w) {
				v = w
			}
			if math.IsNaN(y) {
				continue
			}
			left := moved - (y - x)
			if period > 0 {
				left = math.Remainder(left, period)
			}
			if !math.IsNaN(left) {
				sum, squares, time = sum+left, squares+left*left, time+float64(t[j]-since)*1e-9
			}
			x, since, moved = y, t[j], 0
		}
	}
	if !(math.Abs(sum) > certain*math.Sqrt(squares)) {
		return 0
	}
	return sum / time
}

// chainFit is the likelihood of one position as a function of R and Q.
type chainFit struct {
	series
	period float64
	offset float64 // of the rate's sensor
	start  [order]float64
	gap    float64 // s
	begin  noises  // where to begin
	floor  float64 // of R
	rated  bool    // the rate is measured, too
}

// noises are what is fitted: variances of the sensors of position and rate, and the intensity of the process.
type noises struct{ r, q, rate float64 }

func newChainFit(s series, period float64) *chainFit {
	f := &chainFit{series: s, period: period}
	var x, v differences
	for i := range s.x {
		x.add(s.t[i], s.x[i])
		v.add(s.t[i], s.v[i])
	}
	dt := x.end()
	f.gap = gaps * dt
	f.start = [order]float64{positive(x.square[0]), positive(x.square[1] / (dt * dt)), positive(x.square[2] / math.Pow(dt, 4))}
	f.floor = 1e-14 * f.start[0]
	if x.still > 0.01*x.count[1] { // the sensor's steps are seen
		f.floor = math.Max(f.floor, x.quantum*x.quantum/12)
	}
	// Of white noise alone the third differences have 20 R, of an integrated one Q dt⁵; the second differences of a rate have 6 R.
	f.begin = noises{r: math.Max(x.square[order]/20, f.floor), q: positive(x.square[order] / math.Pow(dt, 5))}
	if v.count[2] > 0 {
		v.end()
		f.rated, f.begin.rate, f.start[1] = true, positive(v.square[2]/6), positive(v.square[0])
	}
	return f
}

// differences are mean squares of the values of a series and of their differences up to an order.
type differences struct {
	square, count [order + 1]float64
	quantum       float64 // the least step that is not 0
	still, time   float64 // steps of 0; s
}

func (d *differences) add(t []int64, x []float64) {
	if d.quantum == 0 {
		d.quantum = math.Inf(1)
	}
	var at []int64
	var values []float64
	for i, v := range x {
		if !math.IsNaN(v) {
			at, values = append(at, t[i]), append(values, v)
		}
	}
	if n := len(values); n > 1 {
		d.time += float64(at[n-1]-at[0]) * 1e-9
	}
	for o := range d.square {
		for _, v := range values {
			d.square[o], d.count[o] = d.square[o]+v*v, d.count[o]+1
		}
		for j := range max(0, len(values)-1) {
			values[j] = values[j+1] - values[j]
			if step := math.Abs(values[j]); o == 0 && step > 0 {
				d.quantum = math.Min(d.quantum, step)
			} else if o == 0 {
				d.still++
			}
		}
		values = values[:max(0, len(values)-1)]
	}
}

// end makes sums means, and returns the mean interval, s.
func (d *differences) end() float64 {
	for o := range d.square {
		d.square[o] /= math.Max(1, d.count[o])
	}
	return d.time / math.Max(1, d.count[1])
}

func positive(v float64) float64 { return math.Max(v, math.SmallestNonzeroFloat32) }

// maximise returns the noises of the largest likelihood.
func (f *chainFit) maximise() (best noises) {
	at := func(p []float64) noises {
		n := noises{r: math.Max(math.Exp(p[0]), f.floor), q: math.Exp(p[1])}
		if f.rated {
			n.rate = math.Exp(p[2])
		}
		return n
	}
	problem := optimize.Problem{Func: func(p []float64) float64 {
		if v := -f.likelihood(at(p)) / float64(f.n); v < unlikely {
			return v
		}
		return unlikely
	}}
	least := math.Inf(1)
	for _, of := range [...]noises{{1, 1e-2, 1}, {1e-4, 1, 1e-2}, {1, 1e-6, 1}} {
		p := []float64{math.Log(math.Max(f.begin.r*of.r, f.floor)), math.Log(f.begin.q * of.q)}
		if f.rated {
			p = append(p, math.Log(f.begin.rate*of.rate))
		}
		result, _ := optimize.Minimize(problem, p, &optimize.Settings{MajorIterations: 30 * len(p), Converger: &optimize.FunctionConverge{Absolute: 1e-4, Iterations: 12}}, &optimize.NelderMead{SimplexSize: 2})
		if result != nil && result.F < least { // what ended a search does not matter to what it found
			least, best = result.F, at(result.X)
		}
	}
	return best
}

// likelihood returns the logarithm of the likelihood of all innovations; of an outlier that at the gate.
func (f *chainFit) likelihood(n noises) (sum float64) {
	k, err := filter.New(filter.Config{
		Channels: []filter.Channel{{Period: f.period, R: n.r}, {R: n.rate}}, Process: &filter.Kinematic{K: 2, Chains: []filter.Chain{{Position: 0, Rate: 1, Q: n.q, Offset: f.offset}}},
		Start: f.start[:], MaxGap: f.gap,
	}, 0)
	if err != nil {
		return -unlikely
	}
	var y [2]float64
	used, rejected := 0, 0
	for i, x := range f.x {
		k.Reset()
		for j, v := range x {
			y[0], y[1] = v, f.v[i][j]
			if res := k.Update(f.t[i][j], y[:], nil); j >= settled {
				sum += res.Log
				used, rejected = used+res.Used, rejected+res.Rejected
			}
		}
	}
	if float64(rejected) > mostOutliers*float64(used+rejected) {
		return -unlikely
	}
	return sum
}

// settled is how many samples of a stretch do not count: the start is diffuse.
const settled = 8
