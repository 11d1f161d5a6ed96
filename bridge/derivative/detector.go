// Package derivative finds out which channel of a log is the measured time
// derivative of which other, for logs whose author did not say.
//
// For channel x and candidate v it compares, over stretches of a few samples,
//
//	(x(t₁) − x(t₀)) / (t₁ − t₀)    with    1/(t₁ − t₀) ∫ v dt
//
// which are equal for the true derivative whatever the length of the stretch,
// unlike a difference quotient and the value of v at one time. Short stretches
// resolve fast motion and are noisy, long ones average the noise away, so four
// lengths are kept and for each pair the one with the highest correlation
// decides: v is the derivative of x if the least-squares slope lies between 0.9
// and 1.1 and the correlation is 0.9 or more.
package derivative

import (
	"cmp"
	"math"
	"slices"

	"github.com/dgm-robotics/dgm/estimator/channel"
)

const (
	slopeMin, slopeMax = 0.9, 1.1
	correlationMin     = 0.9
	correlationNear    = 0.95 // where the slope is not that of a derivative
	stretchesMin       = 20   // fewer say nothing
)

// lengths of stretches, in sampling intervals. The first is the central
// difference.
var lengths = [...]int{2, 8, 32, 128}

// Found is one detected pair.
type Found struct {
	Channel     string  // the channel
	Derivative  string  // its time derivative
	Slope       float64 // of the channel's rate of change on the derivative; 1 = equal scale
	Correlation float64 //
}

// Detector gathers samples in memory that does not depend on their number.
type Detector struct {
	states  []channel.Channel
	K       int
	t       int64     // ns, of the last sample
	x       []float64 // K, the last sample
	begun   bool
	lengths [len(lengths)]stretches
}

// stretches is the state for one length.
type stretches struct {
	steps int
	span  float64   // s, of the open stretch
	rise  []float64 // K, x(t) − x(t₀) of the open stretch
	area  []float64 // K, ∫ x dt of the open stretch
	pairs []moments // K×K, of rate of channel i (row) and mean of channel j
}

// New returns a Detector for state channels. Those that name their derivative
// take part as candidates only.
func New(states []channel.Channel) *Detector {
	K := len(states)
	d := &Detector{states: states, K: K, x: make([]float64, K)}
	for l := range d.lengths {
		d.lengths[l] = stretches{rise: make([]float64, K), area: make([]float64, K), pairs: make([]moments, K*K)}
	}
	return d
}

// Break says that the next sample does not continue the last one.
func (d *Detector) Break() { d.begun = false }

// Add takes the next sample: time t (ns), states x (K), NaN = not measured.
// Samples that do not come after the last one are left out.
func (d *Detector) Add(t int64, x []float64) {
	if !d.begun {
		for l := range d.lengths {
			d.lengths[l].restart()
		}
	} else {
		dt := 1e-9 * float64(t-d.t)
		if dt <= 0 {
			return
		}
		for l := range d.lengths {
			s := &d.lengths[l]
			s.span += dt
			for k := range d.K {
				s.rise[k] += wrap(x[k]-d.x[k], d.states[k].Period)
				s.area[k] += 0.5 * dt * (x[k] + d.x[k])
			}
			if s.steps++; s.steps == lengths[l] {
				s.close()
				s.restart()
			}
		}
	}
	d.t, d.begun = t, true
	copy(d.x, x)
}

func (s *stretches) restart() {
	s.steps, s.span = 0, 0
	clear(s.rise)
	clear(s.area)
}

// close adds the open stretch to the moments of all pairs. A channel that was
// not measured somewhere in it is NaN by now and is left out.
func (s *stretches) close() {
	K := len(s.rise)
	for i := range K {
		rate := s.rise[i] / s.span
		if math.IsNaN(rate) {
			continue
		}
		for j := range K {
			if mean := s.area[j] / s.span; i != j && !math.IsNaN(mean) {
				s.pairs[i*K+j].add(rate, mean)
			}
		}
	}
}

// Found returns the pairs, each channel at most once on each side, in the order
// of the channels. near are channels left without a derivative although another
// follows their rate of change closely: only the slope is off, by a unit or a
// poor sensor. They are for people to look at.
func (d *Detector) Found() (found, near []Found) {
	var good, off []pair
	for i, c := range d.states {
		if c.Derivative != "" {
			continue
		}
		for j, other := range d.states {
			// A derivative has another unit, per second.
			if i == j || (c.Unit != "" && c.Unit == other.Unit) || d.taken(other.Name) {
				continue
			}
			slope, corr := d.best(i, j)
			p := pair{i, j, slope, corr}
			switch {
			case corr >= correlationMin && slope >= slopeMin && slope <= slopeMax:
				good = append(good, p)
			case corr >= correlationNear && (other.Unit == c.Unit+"/s" || slope > 0.5 && slope < 2):
				off = append(off, p)
			}
		}
	}
	hasOne, isOne := make([]bool, d.K), make([]bool, d.K)
	return d.choose(good, hasOne, isOne), d.choose(off, hasOne, isOne)
}

// pair is a channel i and a candidate j for its derivative.
type pair struct {
	i, j        int
	slope, corr float64
}

// choose takes the pairs with the highest correlation first, each channel once on
// each side, and marks them in hasOne and isOne (K each).
func (d *Detector) choose(all []pair, hasOne, isOne []bool) []Found {
	slices.SortStableFunc(all, func(a, b pair) int { return cmp.Compare(b.corr, a.corr) })
	var chosen []pair
	for _, p := range all {
		if !hasOne[p.i] && !isOne[p.j] {
			hasOne[p.i], isOne[p.j] = true, true
			chosen = append(chosen, p)
		}
	}
	slices.SortFunc(chosen, func(a, b pair) int { return cmp.Compare(a.i, b.i) })
	var out []Found
	for _, p := range chosen {
		out = append(out, Found{d.states[p.i].Name, d.states[p.j].Name, p.slope, p.corr})
	}
	return out
}

// taken says whether a channel is named as another's derivative.
func (d *Detector) taken(name string) bool {
	for _, c := range d.states {
		if c.Derivative == name {
			return true
		}
	}
	return false
}

// Slope returns, for channels i and j of the states, the slope of i's rate of change
// on j and their correlation, of either sign, for the length of stretches at which
// they correlate best. ok is false where there is too little to say.
func (d *Detector) Slope(i, j int) (slope, corr float64, ok bool) {
	for l := range d.lengths {
		m := &d.lengths[l].pairs[i*d.K+j]
		if m.n < stretchesMin || m.xx <= 0 || m.yy <= 0 {
			continue
		}
		if c := m.xy / math.Sqrt(m.xx*m.yy); math.Abs(c) > math.Abs(corr) {
			slope, corr, ok = m.xy/m.xx, c, true
		}
	}
	return slope, corr, ok
}

// best returns slope and correlation for the length at which a pair correlates
// best.
func (d *Detector) best(i, j int) (slope, corr float64) {
	for l := range d.lengths {
		m := &d.lengths[l].pairs[i*d.K+j]
		if m.n < stretchesMin || m.xx <= 0 || m.yy <= 0 {
			continue
		}
		if c := m.xy / math.Sqrt(m.xx*m.yy); c > corr {
			slope, corr = m.xy/m.xx, c
		}
	}
	return slope, corr
}

// moments are the running second moments of y (a rate) and x (a candidate)
// around their means (Welford 1962).
type moments struct {
	n          int
	my, mx     float64
	yy, xx, xy float64
}

func (m *moments) add(y, x float64) {
	m.n++
	dy, dx := y-m.my, x-m.mx
	m.my += dy / float64(m.n)
	m.mx += dx / float64(m.n)
	m.yy += dy * (y - m.my)
	m.xx += dx * (x - m.mx)
	m.xy += dx * (y - m.my)
}

// wrap returns the difference of two values of a periodic channel on its short
// side; period 0 = not periodic.
func wrap(diff, period float64) float64 {
	if period == 0 {
		return diff
	}
	return diff - period*math.Round(diff/period)
}
