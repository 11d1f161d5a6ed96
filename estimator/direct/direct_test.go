package direct

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/dgm-robotics/dgm/estimator/channel"
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
		{Degree: 1, Times: []float64{0.5}},
		{Readout: 1, Degree: degree, Times: []float64{0.1, 0.4}},
		{Rows: 4, Degree: degree, Times: []float64{0.05, 0.2, 0.7}},
		{Readout: 1, Rows: 4, Degree: degree, Times: []float64{0.1, 0.4, 1}},
	} {
		m.add(l, rng)
	}
	return m
}

// add adds a level with weights and a factor.
func (m *Model) add(l Level, rng *rand.Rand) {
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

// bounded returns a model with a further level of each readout, of 2 rows, which bounds that of 4 with the one without history.
func bounded(degree int, rng *rand.Rand) *Model {
	m := model(degree, rng)
	for readout := range 2 {
		short, long := &m.Levels[readout], &m.Levels[2+readout]
		short.Times, short.Weights = long.Times, normal(rng, len(long.Times)*K*m.Columns(short))
		m.add(Level{Readout: readout, Rows: 2, Degree: degree, Times: long.Times}, rng)
		long = &m.Levels[2+readout]
		for range len(long.Times) * K {
			long.Apart = append(long.Apart, 0.5+2*rng.Float64())
		}
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
				for name, model := range map[string]func(degree int, rng *rand.Rand) *Model{"alone": model, "bounded": bounded} {
					t.Run(fmt.Sprintf("degree %d, readout %d, %d rows, %s", degree, readout, rows, name), func(t *testing.T) {
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
