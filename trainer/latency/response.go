package latency

import (
	"math"
	"slices"

	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/trainer/window"
)

// responses are the states that are measured at most samples of the log, without positions whose rate is estimated: that is their slope.
func responses(flights []window.Flight, K int, rates []estimated) (out []int) {
	for k := range K {
		if slices.ContainsFunc(rates, func(r estimated) bool { return r.position == k }) {
			continue
		}
		n, there := 0, 0
		for i := range flights {
			f := &flights[i]
			for j, aim := 0, f.Aim(); j < f.N(); j++ {
				n++
				if !math.IsNaN(aim[j*K+k]) {
					there++
				}
			}
		}
		if float64(there) >= measured*float64(n) && there > 0 {
			out = append(out, k)
		}
	}
	return out
}

// estimated is a rate that nothing measures, and the position that it is of; both are states.
type estimated struct{ position, rate int }

func estimatedRates(states []channel.Channel) (out []estimated) {
	for k, c := range states {
		if i := channel.Index(states, c.Derivative); c.Derivative != "" && i >= 0 && states[i].Estimated {
			out = append(out, estimated{k, i})
		}
	}
	return out
}

// differentiate writes the slope of each measured position, from the node before to the one after, in the place of estimated rates: a
// filter that has an equation of motion, which reads the inputs at once, makes rates that follow them at once.
// In a window noise counts as often as its weights bend.
func (s *stretch) differentiate(f *window.Flight, first, skip int, rates []estimated) {
	K := f.K
	measured := make([]float64, 0, len(s.t)*K)
	for i := range s.t {
		measured = append(measured, f.Compared(first+i)...)
	}
	for _, r := range rates {
		if !fill(measured, s.t, K, r.position) {
			continue
		}
		for i := range s.at {
			from, to := max(i-1, 0), min(i+1, len(s.at)-1)
			s.y[i*K+r.rate] = (measured[to*skip*K+r.position] - measured[from*skip*K+r.position]) / (s.at[to] - s.at[from])
		}
	}
}

// fill interpolates what is missing of column k of x (n×K) linearly in time, and reports whether anything is there.
func fill(x, t []float64, K, k int) bool {
	last := -1
	for i := range t {
		if math.IsNaN(x[i*K+k]) {
			continue
		}
		for j := last + 1; j < i; j++ {
			if last < 0 {
				x[j*K+k] = x[i*K+k]
				continue
			}
			w := (t[j] - t[last]) / (t[i] - t[last])
			x[j*K+k] = x[last*K+k] + w*(x[i*K+k]-x[last*K+k])
		}
		last = i
	}
	for j := last + 1; j < len(t) && last >= 0; j++ {
		x[j*K+k] = x[last*K+k]
	}
	return last >= 0
}

// integrate writes the integral of the delayed input from at[0] to each time of at, which ascend, to out (len(at)). u is held
// from each time of t to the next, and was u[0] for ever before.
func integrate(out, t, u, at []float64, dead, lag float64) {
	now := math.Min(t[0], at[0])
	v, ud := u[0], u[0] // the actuator, and what it follows
	next := 1           // sample that arrives next
	sum := 0.0
	advance := func(to float64) {
		h := to - now
		now = to
		if lag <= 0 {
			sum, v = sum+ud*h, ud
			return
		}
		rest := -math.Expm1(-h / lag) // share of the way that the actuator goes
		sum += ud*h + (v-ud)*lag*rest
		v += (ud - v) * rest
	}
	for i, a := range at {
		for ; next < len(t) && t[next]+dead <= a; next++ {
			if b := t[next] + dead; b > now {
				advance(b)
			}
			ud = u[next]
		}
		advance(a)
		if i == 0 {
			sum = 0
		}
		out[i] = sum
	}
}

// behind makes an integral of input j with a lag one of the same with a second lag behind it: in partial fractions,
//
//	1/((1+τs)(1+σs)) = (τ/(1+τs) − σ/(1+σs)) / (τ−σ)
func (s *stretch) behind(integral []float64, j int, dead, lag, second float64) {
	if math.Abs(lag-second) < apartLags {
		second = lag + apartLags
	}
	other := make([]float64, len(integral))
	integrate(other, s.t, s.u[j], s.at, dead, second)
	for i, v := range other {
		integral[i] = (lag*integral[i] - second*v) / (lag - second)
	}
}

// apartLags is the least difference of two lags, s: of equal ones there are no partial fractions.
const apartLags = 2e-4
