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

// Fit returns the parameters of the filter of states (K: those of the flights, then the rates of positions), by the
// likelihood of the flights. An error names the position that holds too little.
func Fit(flights []window.Flight, states []channel.Channel, positions []int) (*model.Filter, error) {
	measured := len(states) - len(positions)
	out := &model.Filter{R: make([]float64, len(states)), Start: make([]float64, len(states)+len(positions))}
	for k := range measured {
		v, _ := variance(flights, k)
		out.Start[k] = math.Max(v, math.SmallestNonzeroFloat32)
	}
	for i, k := range positions {
		s := collect(flights, k)
		if s.n < 3*order*order {
			return nil, fmt.Errorf("%s has no rate, and %d values are too few to estimate one", states[k].Name, s.n)
		}
		f := newChainFit(s, states[k].Period)
		r, q := f.maximise()
		out.R[k] = r
		out.Chains = append(out.Chains, model.FilterChain{Position: k, Rate: measured + i, Q: q})
		out.Start[k], out.Start[measured+i], out.Start[len(states)+i] = f.start[0], f.start[1], f.start[2]
		out.Gap = math.Max(out.Gap, f.gap)
	}
	return out, nil
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

// series are stretches of one position.
type series struct {
	t [][]int64 // ns
	x [][]float64
	n int // values
}

// collect returns the values of state k, of each flight as large a share.
func collect(flights []window.Flight, k int) (s series) {
	_, all := variance(flights, k)
	share := math.Min(1, samples/math.Max(1, float64(all)))
	for i := range flights {
		f := &flights[i]
		var t []int64
		var x []float64
		for j := range int(math.Ceil(share * float64(f.N()))) {
			if v := f.X[j*f.K+k]; !math.IsNaN(v) {
				t, x = append(t, int64(math.Round(f.T[j]*1e9))), append(x, v)
			}
		}
		s.t, s.x, s.n = append(s.t, t), append(s.x, x), s.n+len(x)
	}
	return s
}

// chainFit is the likelihood of one position as a function of R and Q.
type chainFit struct {
	series
	period float64
	start  [order]float64
	gap    float64 // s
	r, q   float64 // where to begin
	floor  float64 // of R
}

func newChainFit(s series, period float64) *chainFit {
	f := &chainFit{series: s, period: period}
	var square [order + 1]float64 // mean squares of differences
	var count [order + 1]float64
	quantum, still, dt := math.Inf(1), 0.0, 0.0
	for i, x := range s.x {
		d := append([]float64(nil), x...)
		for o := range square {
			for _, v := range d {
				square[o], count[o] = square[o]+v*v, count[o]+1
			}
			for j := range max(0, len(d)-1) {
				d[j] = d[j+1] - d[j]
				if step := math.Abs(d[j]); o == 0 && step > 0 {
					quantum = math.Min(quantum, step)
				} else if o == 0 {
					still++
				}
			}
			d = d[:max(0, len(d)-1)]
		}
		if n := len(x); n > 1 {
			dt += float64(s.t[i][n-1]-s.t[i][0]) * 1e-9
		}
	}
	for o := range square {
		square[o] /= math.Max(1, count[o])
	}
	dt /= math.Max(1, count[1])
	f.gap = gaps * dt
	f.start = [order]float64{positive(square[0]), positive(square[1] / (dt * dt)), positive(square[2] / math.Pow(dt, 4))}
	f.floor = 1e-14 * f.start[0]
	if still > 0.01*count[1] { // the sensor's steps are seen
		f.floor = math.Max(f.floor, quantum*quantum/12)
	}
	// Of white noise alone the third differences have 20 R, of an integrated one Q dt⁵.
	f.r, f.q = math.Max(square[order]/20, f.floor), positive(square[order]/math.Pow(dt, 5))
	return f
}

func positive(v float64) float64 { return math.Max(v, math.SmallestNonzeroFloat32) }

// maximise returns R and Q of the largest likelihood.
func (f *chainFit) maximise() (r, q float64) {
	at := func(p []float64) (r, q float64) { return math.Max(math.Exp(p[0]), f.floor), math.Exp(p[1]) }
	problem := optimize.Problem{Func: func(p []float64) float64 {
		r, q := at(p)
		if v := -f.likelihood(r, q) / float64(f.n); v < unlikely {
			return v
		}
		return unlikely
	}}
	best := math.Inf(1)
	for _, of := range [...][2]float64{{1, 1e-2}, {1e-4, 1}, {1, 1e-6}} {
		p := []float64{math.Log(math.Max(f.r*of[0], f.floor)), math.Log(f.q * of[1])}
		result, err := optimize.Minimize(problem, p, &optimize.Settings{MajorIterations: 60, Converger: &optimize.FunctionConverge{Absolute: 1e-4, Iterations: 12}}, &optimize.NelderMead{SimplexSize: 2})
		if result != nil && result.F < best { // what ended a search does not matter to what it found
			_ = err
			best = result.F
			r, q = at(result.X)
		}
	}
	return r, q
}

// likelihood returns the logarithm of the likelihood of all innovations.
func (f *chainFit) likelihood(r, q float64) (sum float64) {
	k, err := filter.New(filter.Config{
		Channels: []filter.Channel{{Period: f.period, R: r}, {}}, Process: &filter.Kinematic{K: 2, Chains: []filter.Chain{{Position: 0, Rate: 1, Q: q}}},
		Start: f.start[:], Gate: math.MaxFloat64, MaxGap: f.gap,
	}, 0)
	if err != nil {
		return -unlikely
	}
	y := [2]float64{1: math.NaN()}
	for i, x := range f.x {
		k.Reset()
		for j, v := range x {
			y[0] = v
			if res := k.Update(f.t[i][j], y[:], nil); k.Settled() {
				sum += res.Log
			}
		}
	}
	return sum
}
