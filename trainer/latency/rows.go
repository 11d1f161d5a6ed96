package latency

import (
	"math"
	"slices"

	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/trainer/window"
)

const (
	most       = 2400  // windows of the regression
	fastest    = 0.005 // s, between nodes
	leastNodes = 6     // intervals of a window
	samples    = 200_000
	portion    = 5000 // samples that are read together of longer logs
	measured   = 0.9  // share of the samples at which a state must be measured that is regressed on
)

// stretch is a flight whose gaps are filled: nodes at which the states are read.
type stretch struct {
	t, at []float64   // s: of samples, of nodes
	u     [][]float64 // P × samples
	x     []float64   // nodes×K
	y     []float64   // nodes×K, whose changes are the responses: x, of an estimated rate the slope of its measured position
}

// problem is the regression for all dead times and lags.
type problem struct {
	K, P      int
	groups    [][]int  // inputs that share a dead time and a lag
	driven    [][]bool // by group: the responses that count, which it drives itself; nil = all
	responses []int    // states
	stretches []stretch
	m, stride int // intervals of a window, and from one to the next
	weights   []float64
	windows   []place
	lifted    int       // functions of the states that multiply an input, beside 1
	A         matrix    // windows × functions of the states
	Y         matrix    // windows × responses
	lifts     []float64 // windows×m×lifted
	longest   float64   // s, dead time and lag at most
	hidden    bool      // the noise of the sensors hides how late inputs act, see instrument
	second    []float64 // (optional) P, s: a second lag of each input; 0 = none
}

// place is a window: m intervals from a node of a stretch.
type place struct{ stretch, first int }

// newProblem gathers the windows of the flights, so many times as long as the shortest. It returns nil where there is nothing to regress.
func newProblem(flights []window.Flight, states []channel.Channel, inputs []int, times int) *problem {
	p := &problem{K: len(states), P: len(inputs)}
	rates := estimatedRates(states)
	p.responses = responses(flights, p.K, rates)
	if len(p.responses) == 0 || p.P == 0 {
		return nil
	}
	dt := interval(flights)
	skip := max(1, int(fastest/dt+1e-9))
	step := dt * float64(skip)
	p.m = times * max(leastNodes, int(math.Round(width/step)))
	p.longest = math.Max(0.4, 10*step)
	p.weights = bell(p.m)
	nodes := 0
	parts := portions(flights)
	for i := range parts {
		if s := newStretch(&parts[i], inputs, skip, rates); s != nil && len(s.at) > 3*p.m {
			p.stretches = append(p.stretches, *s)
			nodes += len(s.at)
		}
	}
	if len(p.stretches) == 0 {
		return nil
	}
	p.scaleInputs()
	p.stride = max(p.m/3, (nodes+most-1)/most)
	for i := range p.stretches {
		s := &p.stretches[i]
		length := s.at[len(s.at)-1] - s.at[0]
		from := s.at[0] + math.Min(p.longest, length/10) // the actuators were not known before
		for n := 0; n+p.m < len(s.at); n += p.stride {
			if s.at[n] >= from {
				p.windows = append(p.windows, place{i, n})
			}
		}
	}
	p.regressors(states, window.Rests(flights, states))
	return p
}

// portions returns the flights, or of longer logs parts that are evenly spread and have so many samples.
func portions(flights []window.Flight) (out []window.Flight) {
	n := 0
	for i := range flights {
		n += flights[i].N()
	}
	if n <= samples {
		return flights
	}
	step := n / (samples / portion) // from the begin of one to the next
	at := 0                         // sample of its flight at which the next one begins
	for i := range flights {
		f := &flights[i]
		for ; at < f.N(); at += step {
			out = append(out, f.Slice(at, min(at+portion, f.N())))
		}
		at -= f.N()
	}
	return out
}

// interval returns the mean interval between samples, s.
func interval(flights []window.Flight) float64 {
	var sum float64
	n := 0
	for i := range flights {
		if f := &flights[i]; f.N() > 1 {
			sum += f.Duration()
			n += f.N() - 1
		}
	}
	return sum / float64(max(n, 1))
}

// bell returns weights of m intervals that vanish at both ends, sum 1.
func bell(m int) []float64 {
	w, sum := make([]float64, m), 0.0
	for i := range w {
		s := (2*float64(i)+1)/float64(m) - 1
		w[i] = (1 - s*s) * (1 - s*s)
		sum += w[i]
	}
	for i := range w {
		w[i] /= sum
	}
	return w
}

// newStretch fills what is not measured, linearly. It returns nil where some state or input is not known at all.
func newStretch(f *window.Flight, inputs []int, skip int, rates []estimated) *stretch {
	first := 0
	for ; first < f.N(); first++ {
		known := true
		for _, j := range inputs {
			known = known && !math.IsNaN(f.Input(first)[j])
		}
		if known {
			break
		}
	}
	if f.N()-first < 2 {
		return nil
	}
	s := &stretch{t: f.T[first:]}
	for _, j := range inputs {
		u := make([]float64, len(s.t))
		for i := range u {
			u[i] = f.Input(first + i)[j]
		}
		s.u = append(s.u, u)
	}
	K := f.K
	aim := append([]float64(nil), f.Aim()[first*K:]...)
	for k := range K {
		if !fill(aim, s.t, K, k) {
			return nil
		}
	}
	for i := 0; i < len(s.t); i += skip {
		s.at = append(s.at, s.t[i])
		s.x = append(s.x, aim[i*K:(i+1)*K]...)
	}
	s.y = s.x
	if len(rates) > 0 {
		s.y = slices.Clone(s.x)
		s.differentiate(f, first, skip, rates)
	}
	return s
}

// scaleInputs standardises the inputs.
func (p *problem) scaleInputs() {
	for j := range p.P {
		var n, mean, square float64
		for i := range p.stretches {
			for _, v := range p.stretches[i].u[j] {
				n++
				d := v - mean
				mean += d / n
				square += d * (v - mean)
			}
		}
		std := math.Sqrt(square / n)
		for i := range p.stretches {
			u := p.stretches[i].u[j]
			for q := range u {
				u[q] = (u[q] - mean) / std
			}
		}
	}
}

// basis holds the functions φ of the states: angles by sine and cosine, others standardised, and their products up to a degree
// that their number allows; last the dry friction of rates, without which a start from rest looks late.
type basis struct {
	states       []channel.Channel
	mean, std    []float64
	linear       int
	degree       int
	lift         int // products of these many first functions multiply inputs, beside 1
	total        int
	rests        []float64 // K, see window.Rests
	scratch, out []float64
}

func (p *problem) newBasis(states []channel.Channel, rests []float64) *basis {
	b := &basis{states: states, rests: rests, mean: make([]float64, p.K), std: make([]float64, p.K)}
	for k := range p.K {
		var n, square float64
		for i := range p.stretches {
			for q := k; q < len(p.stretches[i].x); q += p.K {
				n++
				v := p.stretches[i].x[q]
				d := v - b.mean[k]
				b.mean[k] += d / n
				square += d * (v - b.mean[k])
			}
		}
		if b.std[k] = math.Sqrt(square / n); !(b.std[k] > 0) {
			b.std[k] = 1
		}
		if b.linear++; states[k].Period > 0 {
			b.linear++
		}
	}
	L := b.linear
	quadratic, cubic := L*(L+1)/2, L*(L+1)*(L+2)/6
	b.degree, b.lift, b.total = 1, L, 1+L
	if quadratic <= 300 {
		b.degree, b.total = 2, b.total+quadratic
	}
	if cubic <= 120 {
		b.degree, b.lift, b.total = 3, L+quadratic, b.total+cubic
	}
	for _, width := range b.rests {
		if width > 0 {
			b.total++
		}
	}
	b.scratch, b.out = make([]float64, L), make([]float64, b.total)
	return b
}

// at returns the functions of a state, 1 first; the slice is valid until the next call.
func (b *basis) at(x []float64) []float64 {
	lin, out := b.scratch[:0], append(b.out[:0], 1)
	for k := range b.states {
		if period := b.states[k].Period; period > 0 {
			s, c := math.Sincos(2 * math.Pi / period * x[k])
			lin = append(lin, s, c)
		} else {
			lin = append(lin, (x[k]-b.mean[k])/b.std[k])
		}
	}
	out = append(out, lin...)
	if b.degree > 1 {
		for i := range lin {
			for j := i; j < len(lin); j++ {
				out = append(out, lin[i]*lin[j])
			}
		}
	}
	if b.degree > 2 {
		for i := range lin {
			for j := i; j < len(lin); j++ {
				for k := j; k < len(lin); k++ {
					out = append(out, lin[i]*lin[j]*lin[k])
				}
			}
		}
	}
	for k, width := range b.rests {
		if width > 0 {
			out = append(out, math.Tanh(x[k]/width))
		}
	}
	return out
}

// regressors makes what does not depend on dead times and lags.
func (p *problem) regressors(states []channel.Channel, rests []float64) {
	b := p.newBasis(states, rests)
	p.lifted = b.lift
	p.A, p.Y = newMatrix(len(p.windows), b.total), newMatrix(len(p.windows), len(p.responses))
	p.lifts = make([]float64, len(p.windows)*p.m*b.lift)
	near := make([][]float64, 4) // functions at the nodes about an interval
	for r, w := range p.windows {
		s := &p.stretches[w.stretch]
		A, Y := p.A.row(r), p.Y.row(r)
		at := func(q int) []float64 {
			q = min(max(q, 0), len(s.at)-1)
			return append([]float64(nil), b.at(s.x[q*p.K:(q+1)*p.K])...)
		}
		for i := range near {
			near[i] = at(w.first - 2 + i)
		}
		for i := range p.m {
			q := w.first + i
			y0, y1 := s.y[q*p.K:(q+1)*p.K], s.y[(q+1)*p.K:(q+2)*p.K]
			near = append(near[1:], at(q+2))
			before, after := near[1], near[2]
			dt, weight := s.at[q+1]-s.at[q], p.weights[i]
			for c := range A { // the integral of the cubic through four nodes
				A[c] += weight * dt / 24 * (13*(before[c]+after[c]) - near[0][c] - near[3][c])
			}
			for c, k := range p.responses {
				Y[c] += weight * (y1[k] - y0[k])
			}
			lift := p.lift(r, i)
			for c := range lift {
				lift[c] = (before[1+c] + after[1+c]) / 2
			}
		}
	}
	p.A.standardise()
	p.Y.standardise()
}

// lift returns the functions of the states that multiply inputs in interval i of window r.
func (p *problem) lift(r, i int) []float64 {
	at := (r*p.m + i) * p.lifted
	return p.lifts[at : at+p.lifted]
}

// acts returns the columns of the inputs of group g with a dead time and a lag, windows × columnsOf(g).
func (p *problem) acts(g int, q pair) matrix {
	var all []matrix
	for _, j := range p.groups[g] {
		all = append(all, p.one(j, q[0], q[1]))
	}
	if len(all) == 1 {
		return all[0]
	}
	return beside(all...)
}

func (p *problem) columnsOf(g int) int { return len(p.groups[g]) * (p.lifted + 2) }

// one returns the columns of input j, windows × (lifted + 2): the input, its products with functions of the states, and its
// square.
func (p *problem) one(j int, dead, lag float64) matrix {
	B := newMatrix(len(p.windows), p.lifted+2)
	integrals := make([][]float64, len(p.stretches))
	for i := range p.stretches {
		s := &p.stretches[i]
		integrals[i] = make([]float64, len(s.at))
		integrate(integrals[i], s.t, s.u[j], s.at, dead, lag)
		if p.second != nil && p.second[j] > 0 {
			s.behind(integrals[i], j, dead, lag, p.second[j])
		}
	}
	for r, w := range p.windows {
		V, at, row := integrals[w.stretch], p.stretches[w.stretch].at, B.row(r)
		for i := range p.m {
			q := w.first + i
			d := V[q+1] - V[q]
			part := p.weights[i] * d
			row[0] += part
			for c, v := range p.lift(r, i) {
				row[1+c] += part * v
			}
			row[p.lifted+1] += part * d / (at[q+1] - at[q])
		}
	}
	return B
}
