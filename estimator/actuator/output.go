package actuator

import (
	"slices"
	"sort"
)

// Output is what acts of commands, a channel.Signal. Several may read it at once while nothing is added.
type Output struct {
	responses []Response // P
	begin     []float64  // s, of each command, ascending; the first one was held before, too
	u         []float64  // ×P, the commands
	v         []float64  // ×P, the outputs where they begin to act, a dead time after begin
	sum       []float64  // ×P, integrals of the commands from the first one's begin on

	bars     []float64 // ×3P, of u, v and sum; none until the first Add
	left     []float64 // P, of the last interval, see Response.Left
	interval float64   // s
}

// NewOutput returns the output of P inputs, of which no command is known.
func NewOutput(responses []Response) *Output {
	P := len(responses)
	return &Output{responses: responses, left: make([]float64, P), interval: -1}
}

// Clear forgets the commands.
func (o *Output) Clear() {
	o.begin, o.u, o.v, o.sum, o.bars = o.begin[:0], o.u[:0], o.v[:0], o.sum[:0], o.bars[:0]
}

// Hold adds the command u (P), held from t on, after those before it. The first one was held before, too.
func (o *Output) Hold(t float64, u []float64) {
	P, n := len(o.responses), len(o.begin)
	o.begin, o.u = append(o.begin, t), append(o.u, u[:P]...)
	if n == 0 {
		o.v = append(o.v, u[:P]...)
		for range P {
			o.sum = append(o.sum, 0)
		}
		return
	}
	if dt := t - o.begin[n-1]; dt != o.interval {
		o.interval = dt
		for p, r := range o.responses {
			o.left[p] = r.Left(dt)
		}
	}
	for p := range P {
		held := o.u[(n-1)*P+p]
		o.v = append(o.v, follow(o.v[(n-1)*P+p], held, o.left[p]))
		o.sum = append(o.sum, o.sum[(n-1)*P+p]+held*o.interval)
	}
}

// at returns the place of the command of input p that acts at t.
func (o *Output) at(p int, t float64) int {
	t += tiny - o.responses[p].Dead
	return max(0, sort.Search(len(o.begin), func(i int) bool { return o.begin[i] > t })-1)
}

// tiny is what rounding moves a time at most, s.
const tiny = 1e-9

// output returns that of input p at t, and the integral of its command until a dead time before.
func (o *Output) output(p int, t float64) (v, sum float64) {
	i := o.at(p, t)
	k, dt := i*len(o.responses)+p, t-o.responses[p].Dead-o.begin[i]
	return follow(o.v[k], o.u[k], o.responses[p].Left(dt)), o.sum[k] + o.u[k]*dt
}

// At writes the outputs at t to dst (P).
func (o *Output) At(dst []float64, t float64) {
	for p := range o.responses {
		dst[p], _ = o.output(p, t)
	}
}

// Mean writes the mean outputs from a to b, s, a < b, to dst (P).
func (o *Output) Mean(dst []float64, a, b float64) {
	for p, r := range o.responses {
		from, before := o.output(p, a)
		to, after := o.output(p, b)
		dst[p] = r.Mean(after-before, from, to, b-a)
	}
}

// Add adds the gradient of a number by the mean outputs from a to b, or by the outputs at a where b is not after it, to that by the
// commands: bar (P), the adjoint of Mean and At.
func (o *Output) Add(bar []float64, a, b float64) {
	if n := 3 * len(o.u); len(o.bars) != n {
		o.bars = slices.Grow(o.bars[:0], n)[:n]
		clear(o.bars)
	}
	for p, r := range o.responses {
		switch y := bar[p]; {
		case y == 0:
		case b <= a:
			o.add(p, a, y, 0)
		default:
			y /= b - a
			o.add(p, a, r.Lag*y, -y)
			o.add(p, b, -r.Lag*y, y)
		}
	}
}

// add adds the gradients by the output of input p at t and by the integral of its command.
func (o *Output) add(p int, t, byOutput, bySum float64) {
	i, n := o.at(p, t), len(o.u)
	k, dt := i*len(o.responses)+p, t-o.responses[p].Dead-o.begin[i]
	left := o.responses[p].Left(dt)
	o.bars[k] += byOutput*(1-left) + bySum*dt
	o.bars[n+k] += byOutput * left
	o.bars[2*n+k] += bySum
}

// Gradient returns the gradient by the commands (×P) of all that was added since Clear, until the next Add; none where nothing was.
func (o *Output) Gradient() []float64 {
	if len(o.bars) == 0 {
		return nil
	}
	P, n := len(o.responses), len(o.u)
	u, v, sum := o.bars[:n], o.bars[n:2*n], o.bars[2*n:]
	for i := len(o.begin) - 1; i > 0; i-- {
		dt := o.begin[i] - o.begin[i-1]
		for p, r := range o.responses {
			k, before, left := i*P+p, (i-1)*P+p, r.Left(dt)
			u[before] += v[k]*(1-left) + sum[k]*dt
			v[before] += v[k] * left
			sum[before] += sum[k]
		}
	}
	for p := range P {
		u[p] += v[p] // the first command was held before
	}
	return u
}
