package direct

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/numeric/simd"
)

const horizon = 1.0

// plan is an input of equal steps over the horizon, the last one held.
type plan struct {
	values [][]float64
}

func (s plan) row(t float64) int {
	return min(int(t*float64(len(s.values))/horizon+1e-9), len(s.values)-1)
}

func (s plan) At(dst []float64, t float64) { copy(dst, s.values[s.row(t)]) }

func (s plan) Mean(dst []float64, a, b float64) {
	clear(dst)
	step := horizon / float64(len(s.values))
	for i, v := range s.values {
		low, high := math.Max(a, float64(i)*step), math.Min(b, float64(i+1)*step)
		if i == len(s.values)-1 {
			high = b
		}
		for c, u := range v {
			dst[c] += u * math.Max(0, high-low) / (b - a)
		}
	}
}

func normal(rng *rand.Rand, n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = rng.NormFloat64()
	}
	return out
}

const K, P = 3, 2

var states = []channel.Channel{{Name: "a", Period: channel.Angle, Derivative: "b"}, {Name: "b"}, {Name: "c", Invariant: true}}

// model returns levels of both readouts, without history and with 4 rows of it, of which
// the ones with history are of a degree.
func model(degree int, rng *rand.Rand) *Model {
	m := &Model{Lift: channel.NewLift(states), UMean: []float64{1, 0}, UStd: []float64{2, 0.5}, Derivative: []int{1, -1, -1}, Blocks: 3}
	m.Lift.Mean[2], m.Lift.Std[2] = 0.3, 1.5
	for _, l := range []Level{
		{Degree: 1, Times: []float64{0.5}}, {Readout: 1, Degree: degree, Times: []float64{0.1, 0.4}},
		{Rows: 4, Degree: degree, Times: []float64{0.05, 0.2, 0.7}}, {Readout: 1, Rows: 4, Degree: degree, Times: []float64{0.1, 0.4, 1}},
	} {
		l.Weights = normal(rng, len(l.Times)*K*m.Columns(&l))
		n := m.Columns(&l) - 1
		l.Mean = normal(rng, n)
		for range n {
			l.Std = append(l.Std, 0.5+rng.Float64())
		}
		for range 3 * n {
			l.Factor = append(l.Factor, 0.4*rng.NormFloat64()/math.Sqrt(float64(n)))
		}
		l.Rest = 0.3
		m.Levels = append(m.Levels, l)
	}
	return m
}

type start struct {
	x0, history []float64
	u           plan
}

func newStart(rng *rand.Rand, rows int) start {
	s := start{x0: normal(rng, K), history: normal(rng, rows*(K+P))}
	for range 7 {
		s.u.values = append(s.u.values, normal(rng, P))
	}
	return s
}

// each runs a test for every degree, readout and amount of history.
func each(t *testing.T, test func(t *testing.T, m *Model, readout int, s start)) {
	for degree := 1; degree <= 2; degree++ {
		for readout := range 2 {
			for _, rows := range []int{0, 3, 4, 9} {
				t.Run(fmt.Sprintf("degree %d, readout %d, %d rows", degree, readout, rows), func(t *testing.T) {
					rng := rand.New(rand.NewPCG(uint64(degree), uint64(readout)))
					m := model(degree, rng)
					if err := m.Check(K, P, 4); err != nil {
						t.Fatal(err)
					}
					s := newStart(rng, rows)
					if readout == 1 {
						s.u.values = s.u.values[:1]
					}
					test(t, m, readout, s)
				})
			}
		}
	}
}

// The displacement is the sum over the columns that the package describes.
func TestColumns(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	m, s := model(2, rng), newStart(rng, 4)
	l := &m.Levels[2]
	for _, at := range []float64{0.03, 0.1, 0.2, 0.6, 1} {
		linear := []float64{math.Sin(s.x0[0]), math.Cos(s.x0[0]), (s.x0[1] - 0.3) / 1.5}
		input := func(u []float64) { linear = append(linear, (u[0]-1)/2, u[1]/0.5) }
		input(s.u.values[0])
		for b := range 3 {
			u := make([]float64, P)
			s.u.Mean(u, at*float64(b)/3, at*float64(b+1)/3)
			input(u)
		}
		products := linear
		linear = append([]float64{1}, linear...)
		for row := s.history; len(row) > 0; row = row[K+P:] {
			for k := range K {
				linear = append(linear, row[k]-s.x0[k])
			}
			input(row[K:])
		}
		for i, a := range products {
			for _, b := range products[i:] {
				linear = append(linear, a*b)
			}
		}
		if len(linear) != m.Columns(l) {
			t.Fatalf("%d columns, %d are counted", len(linear), m.Columns(l))
		}
		got := displacement(m, 0, s, at)
		for k := range K {
			i, share := 0, 0.0
			if at > 0.2 {
				i = 1
			}
			if at > 0.05 {
				share = math.Min(1, (at-l.Times[i])/(l.Times[i+1]-l.Times[i]))
			}
			want := []float64{s.x0[1], 0, 0}[k]
			for c, v := range linear {
				w := l.Weights[(i*K+k)*len(linear)+c]
				want += v * (w + share*(l.Weights[((i+1)*K+k)*len(linear)+c]-w))
			}
			if want *= at; math.Abs(got[k]-want) > 1e-11 {
				t.Errorf("channel %d at %v s: %v, want %v", k, at, got[k], want)
			}
		}
	}
}

func displacement(m *Model, readout int, s start, t float64) []float64 {
	d, out := New(m, K, horizon), make([]float64, K)
	d.Run(s.x0, s.u, readout, s.history)
	d.At(out, nil, t)
	return out
}

func close(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if math.Abs(got-want) > tolerance*(1+math.Abs(want)) {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

func TestDerivatives(t *testing.T) {
	each(t, func(t *testing.T, m *Model, readout int, s start) {
		const h = 1e-6
		d, value, rate := New(m, K, horizon), make([]float64, K), make([]float64, K)
		d.Run(s.x0, s.u, readout, s.history)
		for _, at := range []float64{0.02, 0.13, 0.34, 0.75, 0.99} {
			d.At(value, rate, at)
			up, down := displacement(m, readout, s, at+h), displacement(m, readout, s, at-h)
			for k := range K {
				close(t, "by time", rate[k], (up[k]-down[k])/(2*h), 1e-6)
			}
			for c := range K {
				x := append([]float64(nil), s.x0...)
				s.x0[c] = x[c] + h
				up := displacement(m, readout, s, at)
				s.x0[c] = x[c] - h
				down := displacement(m, readout, s, at)
				s.x0[c] = x[c]
				dx := make([]float64, K)
				dx[c] = 1
				d.JVP(dx)
				d.JVPAt(value, at)
				for k := range K {
					close(t, fmt.Sprintf("channel %d by state %d", k, c), value[k], (up[k]-down[k])/(2*h), 1e-6)
				}
			}
		}
	})
}

func TestNothingLaterIsRead(t *testing.T) {
	each(t, func(t *testing.T, m *Model, readout int, s start) {
		if readout == 1 {
			return
		}
		at := 3.0 / 7
		before := displacement(m, readout, s, at)
		earlier := displacement(m, readout, s, at+0.01)
		s.u.values[3] = normal(rand.New(rand.NewPCG(5, 5)), P)
		for k, v := range displacement(m, readout, s, at) {
			if v != before[k] {
				t.Errorf("channel %d: %v, with another input later %v", k, before[k], v)
			}
			if displacement(m, readout, s, at+0.01)[k] == earlier[k] {
				t.Errorf("channel %d: an input before it changes nothing", k)
			}
		}
	})
}

func TestBatchedIsTheMap(t *testing.T) {
	var times []float64
	for i := range 41 {
		times = append(times, 0.025*float64(i+1)*0.97)
	}
	times[7] = 0.2 // of the weights
	each(t, func(t *testing.T, m *Model, readout int, s start) {
		N := len(times)
		d := New(m, K, horizon)
		b := NewBatched(d, times)
		all, one := make([]float64, K*N), make([]float64, K)
		panels, factors := make([]float32, K*simd.Padded(K)*b.Matrices()), make([]float32, b.Matrices()*simd.Width)
		other := newStart(rand.New(rand.NewPCG(6, 6)), len(s.history)/(K+P))
		for _, s := range []start{other, s} { // what is left of the first must not matter
			d.Run(s.x0, s.u, readout, s.history)
			b.Evaluate(all)
			b.Jacobian(panels, b.Matrices(), 0)
			first, count := 0, 0
			for i, at := range times {
				d.At(one, nil, at)
				for k, want := range one {
					close(t, "displacement", all[i*K+k], want, 1e-11)
				}
				if i%simd.Width == 0 {
					first, count = b.Factors(factors, i, simd.Width)
				}
				for c := range K {
					dx := make([]float64, K)
					dx[c] = 1
					d.JVP(dx)
					d.JVPAt(one, at)
					for k, want := range one {
						got := 0.0
						if of := m.Derivative[k]; of >= 0 {
							got = at * dx[of]
						}
						for n := range count {
							row := panels[((k*simd.Panels(K)+c/simd.Rows)*b.Matrices()+first+n)*simd.Rows:]
							got += float64(factors[n*simd.Width+i%simd.Width]) * float64(row[c%simd.Rows])
						}
						close(t, "Jacobian", got, want, 3e-6)
					}
				}
			}
		}
		gradient := make([]float64, K)
		var u channel.Signal = s.u
		if n := testing.AllocsPerRun(3, func() {
			d.Run(s.x0, u, readout, s.history)
			d.At(one, one, 0.3)
			d.JVP(s.x0)
			d.JVPAt(one, 0.3)
			d.Leverage()
			d.StartLeverage()
			d.StartLeverageGradient(gradient, gradient[:P])
			b.Evaluate(all)
			b.Jacobian(panels, b.Matrices(), 0)
			b.Factors(factors, 16, simd.Width)
		}); n != 0 {
			t.Errorf("%v allocations", n)
		}
	})
}

// The derivatives by the numbers of a plan are those along each of them, to single precision, and the
// gradient of a sum of displacements is theirs, in double.
func TestBatchedInputs(t *testing.T) {
	times := []float64{0.02, 0.05, 0.13, 0.34, 0.5, 0.75, 0.99}
	each(t, func(t *testing.T, m *Model, readout int, s start) {
		d := New(m, K, horizon)
		b := NewBatched(d, times)
		one, got := make([]float64, K), make([]float32, K*simd.Width)
		numbers := len(s.u.values) * P
		along := make([]plan, numbers)
		for n := range along {
			for range s.u.values {
				along[n].values = append(along[n].values, make([]float64, P))
			}
			along[n].values[n/P][n%P] = 1
		}
		mean := make([]float64, P)
		share := func(row int, from, to float64) float64 {
			along[row*P].Mean(mean, from, to)
			return mean[0]
		}
		d.Run(s.x0, s.u, readout, s.history)
		b.Evaluate(make([]float64, K*len(times)))
		b.Linearise()
		bars := normal(rand.New(rand.NewPCG(7, 7)), K*len(times))
		byPlan, byState, wantPlan, wantState := make([]float64, numbers), make([]float64, K), make([]float64, numbers), make([]float64, K)
		NewBatchedAdjoint(b).Run(byState, bars, func(bar []float64, from, to float64) {
			for row := range s.u.values {
				part := 0.0
				if to > from {
					part = share(row, from, to)
				} else if row == s.u.row(from) {
					part = 1
				}
				for p, v := range bar {
					byPlan[row*P+p] += part * v
				}
			}
		})
		for i, at := range times {
			for c := range K {
				dx := make([]float64, K)
				dx[c] = 1
				d.JVP(dx)
				d.JVPAt(one, at)
				for k, v := range one {
					wantState[c] += bars[i*K+k] * v
				}
			}
			for n := range numbers {
				d.InputJVP(along[n])
				d.InputJVPAt(one, at)
				for k, v := range one {
					wantPlan[n] += bars[i*K+k] * v
				}
			}
			for _, first := range []int{0, 5} {
				clear(got)
				b.InputAt(got, i, share, first, numbers)
				for n := first; n < numbers; n++ {
					d.InputJVP(along[n])
					d.InputJVPAt(one, at)
					for k, want := range one {
						close(t, fmt.Sprintf("state %d at %v by number %d", k, at, n), float64(got[k*simd.Width+n-first]), want, 3e-6)
					}
				}
			}
		}
		for n, want := range wantPlan {
			close(t, fmt.Sprintf("gradient by number %d", n), byPlan[n], want, 1e-11)
		}
		for c, want := range wantState {
			close(t, fmt.Sprintf("gradient by state %d", c), byState[c], want, 1e-11)
		}
		if n := testing.AllocsPerRun(3, func() { b.Linearise(); b.InputAt(got, 3, share, 0, numbers) }); n != 0 {
			t.Errorf("%v allocations", n)
		}
	})
}

func TestLeverage(t *testing.T) {
	each(t, func(t *testing.T, m *Model, readout int, s start) {
		d, gradient := New(m, K, horizon), make([]float64, K)
		d.Run(s.x0, s.u, readout, s.history)
		l := d.level
		whole := d.Leverage()
		d.plan(horizon, false)
		d.products(d.column)
		n, want := len(l.Mean), 0.0
		standard := func(j int) float64 { return (d.column[1+j] - l.Mean[j]) / l.Std[j] }
		for j := range n {
			want += standard(j) * standard(j)
		}
		for i := range len(l.Factor) / n {
			w := 0.0
			for j := range n {
				w += l.Factor[i*n+j] * standard(j)
			}
			want -= w * w
		}
		want /= l.Rest * float64(n)
		close(t, "leverage", whole, want, 1e-12)
		held := d.StartLeverage()
		d.StartLeverageGradient(gradient, make([]float64, P))
		if readout == 0 && held == whole {
			t.Error("the leverage of the start reads the plan")
		}
		s.u.values = s.u.values[:1]
		d.Run(s.x0, s.u, readout, s.history)
		close(t, "leverage with the input held", d.Leverage(), held, 1e-12)
		const h = 1e-6
		for c := range K {
			x := s.x0[c]
			s.x0[c] = x + h
			d.Run(s.x0, s.u, readout, s.history)
			up := d.Leverage()
			s.x0[c] = x - h
			d.Run(s.x0, s.u, readout, s.history)
			close(t, "gradient", gradient[c], (up-d.Leverage())/(2*h), 1e-6)
			s.x0[c] = x
		}
	})
}

func TestContradictionsAreRefused(t *testing.T) {
	for want, change := range map[string]func(m *Model){
		"scalers of 2 inputs":         func(m *Model) { m.UMean = m.UMean[:1] },
		"must be positive":            func(m *Model) { m.UStd[1] = 0 },
		"scalers: number 0 is NaN":    func(m *Model) { m.UMean[0] = math.NaN() },
		"2 derivatives, expected 3":   func(m *Model) { m.Derivative = m.Derivative[:2] },
		"state 3 of 3":                func(m *Model) { m.Derivative[0] = 3 },
		"blocks are outside":          func(m *Model) { m.Blocks = MaxBlocks + 1 },
		"17 levels, at most 16":       func(m *Model) { m.Levels = append(m.Levels, make([]Level, 13)...) },
		"no level without history":    func(m *Model) { m.Levels = m.Levels[1:] },
		"readout 2 is unknown":        func(m *Model) { m.Levels[2].Readout = 2 },
		"rows of history are outside": func(m *Model) { m.Levels[2].Rows = 5 },
		"degree 3":                    func(m *Model) { m.Levels[2].Degree = 3 },
		"0 times":                     func(m *Model) { m.Levels[2].Times = nil },
		"ascend from above 0":         func(m *Model) { m.Levels[2].Times[0] = 0 },
		"times: number 2 is +Inf":     func(m *Model) { m.Levels[2].Times[2] = math.Inf(1) },
		"weights, expected":           func(m *Model) { m.Levels[2].Weights = m.Levels[2].Weights[1:] },
		"weights: number 9 is NaN":    func(m *Model) { m.Levels[2].Weights[9] = math.NaN() },
		"mean and std of 2 and":       func(m *Model) { m.Levels[2].Mean = m.Levels[2].Mean[:2] },
		"factor of 1 numbers":         func(m *Model) { m.Levels[2].Factor = m.Levels[2].Factor[:1] },
		"std 0 must":                  func(m *Model) { m.Levels[2].Std[3] = 0 },
		"factor: number 0 is +Inf":    func(m *Model) { m.Levels[2].Factor[0] = math.Inf(1) },
	} {
		m := model(1, rand.New(rand.NewPCG(7, 7)))
		change(m)
		if err := m.Check(K, P, 4); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", want, err)
		}
	}
}
