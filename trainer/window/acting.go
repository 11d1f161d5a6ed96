package window

import (
	"math"
	"slices"

	"github.com/dgm-robotics/dgm/estimator/actuator"
)

// Acting returns the flights with inputs that are what acts of the commands: in InputAt and InputMean, and so in windows. U stays the
// commands.
func Acting(flights []Flight, responses []actuator.Response) []Flight {
	if !actuator.Acts(responses) {
		return flights
	}
	out, wholes := slices.Clone(flights), map[*Flight]*Flight{}
	for i := range out {
		f := &out[i]
		if f.whole == nil {
			f.act(responses)
			continue
		}
		f.acting = responses
		whole, done := wholes[f.whole]
		if !done {
			of := *f.whole
			whole = &of
			whole.act(responses)
			wholes[f.whole] = whole
		}
		f.whole = whole
	}
	return out
}

// Settled returns Acting without the beginnings of the flights in which commands may still act that came before their logs: an actuator that is not
// where the first command would have it moves by what no equation of the robot knows. A short flight loses a tenth.
func Settled(flights []Flight, responses []actuator.Response) []Flight {
	out := slices.Clone(Acting(flights, responses))
	for i := range out {
		f := &out[i]
		whole, _ := f.Past(0)
		until, n := whole.T[0]+math.Min(actuator.Reach(responses), f.Duration()/10), 0
		for f.T[n] < until {
			n++
		}
		if n > 0 {
			acting := *f
			out[i] = acting.Following(n, f.N())
		}
	}
	return out
}

// act sets what acts of the inputs: the first command was held before.
func (f *Flight) act(responses []actuator.Response) {
	f.acting, f.followed = responses, make([]float64, f.N()*f.P)
	for p, r := range responses {
		v := f.command(0, p)
		for i := range f.N() {
			if i > 0 {
				v = r.Follow(v, f.command(i-1, p), f.T[i]-f.T[i-1])
			}
			f.followed[i*f.P+p] = v
		}
	}
}

// command returns input p as it is held from sample i on; before it is known the first that is.
func (f *Flight) command(i, p int) float64 {
	for ; i < f.N(); i++ {
		if u := f.U[i*f.P+p]; !math.IsNaN(u) {
			return u
		}
	}
	return 0
}

// output returns what acts of input p at t, see package actuator, and the integral of the commands that did.
func (f *Flight) output(p int, t float64) (v, sum float64) {
	r := f.acting[p]
	t -= r.Dead
	i := max(f.at(t), 0)
	u, dt := f.command(i, p), t-f.T[i]
	return r.Follow(f.followed[i*f.P+p], u, dt), f.integral[i*f.P+p] + u*dt
}

// outputs writes what acts at t to dst (P), where held are the commands.
func (f *Flight) outputs(dst, held []float64, t float64) {
	whole, _ := f.Past(0)
	for p := range f.acting {
		dst[p], _ = whole.output(p, t)
	}
	f.unlessKnown(dst, held)
}

// meanOutputs writes the mean of what acts from a to b to dst (P), where held are the commands at a.
func (f *Flight) meanOutputs(dst, held []float64, a, b float64) {
	whole, _ := f.Past(0)
	for p, r := range f.acting {
		from, before := whole.output(p, a)
		to, after := whole.output(p, b)
		dst[p] = r.Mean(after-before, from, to, b-a)
	}
	f.unlessKnown(dst, held)
}

// unlessKnown replaces what acts of inputs that are constant, exactly, and of those that are not known yet, by what is held.
func (f *Flight) unlessKnown(dst, held []float64) {
	for p, u := range held {
		if f.constant[p] || math.IsNaN(u) {
			dst[p] = u
		}
	}
}
