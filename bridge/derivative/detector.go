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
// and 1.1 and the correlation is 0.9 or more. Stretches that are far from the usual
// of their ten seconds do not count, so that a spike does not decide. Where part of a
// log is in another unit, or wrong, the rest decides: the pair holds as long as most
// of the ten seconds that speak of it do.
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

	pieceSpan     = 10.0 // s, of a piece
	pieceLeast    = 40   // stretches of one, at least
	spike         = 4    // times the 0.9 quantile of a piece: not believed
	offLine       = 4    // times the mean distance from the line: not believed either …
	trims         = 3    // … each time from the line through the rest
	agreeLeast    = 3    // pieces that make a pair
	contradictory = 1.25 // ratio of slopes that cannot both be a derivative's
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
	settled bool      // the pieces that are open have been counted
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
	votes []votes   // K×K

	rates, means [][]float64 // per stretch of the open piece: K
	lasted       float64     // s, the open piece
}

// votes are pieces that took a pair for one, and that correlate with another slope.
type votes struct {
	agree, against int
	slope, corr    float64 // sums over those that agree
}

// New returns a Detector for state channels. Those that name their derivative
// take part as candidates only.
func New(states []channel.Channel) *Detector {
	K := len(states)
	d := &Detector{states: states, K: K, x: make([]float64, K)}
	for l := range d.lengths {
		d.lengths[l] = stretches{rise: make([]float64, K), area: make([]float64, K), pairs: make([]moments, K*K), votes: make([]votes, K*K)}
	}
	return d
}

// Break says that the next sample does not continue the last one.
func (d *Detector) Break() { d.begun = false }

// Add takes the next sample: time t (ns), states x (K), NaN = not measured.
// Samples that do not come after the last one are left out.
func (d *Detector) Add(t int64, x []float64) {
	d.settled = false
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

// close adds the open stretch to the open piece. A channel that was not measured
// somewhere in it is NaN by now.
func (s *stretches) close() {
	K := len(s.rise)
	both := make([]float64, 2*K)
	for k := range K {
		both[k], both[K+k] = s.rise[k]/s.span, s.area[k]/s.span
	}
	s.rates, s.means = append(s.rates, both[:K:K]), append(s.means, both[K:])
	if s.lasted += s.span; s.lasted >= pieceSpan && len(s.rates) >= pieceLeast {
		s.settle()
	}
}

// settle counts the open piece: its stretches for all pairs, without those that are
// far from the usual of a channel, and what it says by itself of each pair.
func (s *stretches) settle() {
	K := len(s.rise)
	fast, far := usual(s.rates, K), usual(s.means, K)
	for i := range K {
		for j := range K {
			if i == j {
				continue
			}
			s.votes[i*K+j].count(s.piece(i, j, fast[i], far[j], &s.pairs[i*K+j]))
		}
	}
	s.rates, s.means, s.lasted = nil, nil, 0
}

// piece returns the moments of a pair in the open piece, of values up to fast and far,
// and adds them to all. What is far from the line through the rest does not count.
func (s *stretches) piece(i, j int, fast, far float64, all *moments) moments {
	pass := func(visit func(rate, mean float64)) {
		for n, rates := range s.rates {
			if rate, mean := rates[i], s.means[n][j]; math.Abs(rate) <= fast && math.Abs(mean) <= far { // neither is NaN
				visit(rate, mean)
			}
		}
	}
	var own moments
	pass(own.add)
	for range trims {
		if own.n < stretchesMin || own.xx <= 0 {
			break
		}
		slope := own.xy / own.xx
		rest, n := 0.0, 0.0
		pass(func(rate, mean float64) {
			rest += math.Abs(rate - own.my - slope*(mean-own.mx))
			n++
		})
		limit := offLine * rest / n
		line := own
		own = moments{}
		pass(func(rate, mean float64) {
			if math.Abs(rate-line.my-slope*(mean-line.mx)) <= limit {
				own.add(rate, mean)
			}
		})
	}
	all.merge(&own)
	return own
}

// usual returns, per channel (K), how large a value may be and be believed.
func usual(rows [][]float64, K int) []float64 {
	out := make([]float64, K)
	var abs []float64
	for k := range K {
		abs = abs[:0]
		for _, row := range rows {
			if v := math.Abs(row[k]); v <= math.MaxFloat64 {
				abs = append(abs, v)
			}
		}
		out[k] = math.MaxFloat64
		slices.Sort(abs)
		if n := len(abs); n > 0 && abs[n*9/10] > 0 {
			out[k] = spike * abs[n*9/10]
		}
	}
	return out
}

func (v *votes) count(m moments) {
	if m.n < stretchesMin || m.xx <= 0 || m.yy <= 0 {
		return
	}
	slope, corr := m.xy/m.xx, m.xy/math.Sqrt(m.xx*m.yy)
	switch {
	case math.Abs(corr) < correlationMin:
	case slope >= slopeMin && slope <= slopeMax:
		v.agree++
		v.slope += slope
		v.corr += corr
	case slope < 1/contradictory || slope > contradictory:
		v.against++
	}
}

// settle counts what is still open.
func (d *Detector) settle() {
	if d.settled {
		return
	}
	d.settled = true
	for l := range d.lengths {
		d.lengths[l].settle()
	}
}

// Found returns the pairs, each channel at most once on each side, in the order
// of the channels. near are channels left without a derivative although another
// follows their rate of change closely: only the slope is off, by a unit or a
// poor sensor. They are for people to look at.
func (d *Detector) Found() (found, near []Found) {
	d.settle()
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
			if s, c, ok := d.voted(i, j); ok && (corr < correlationMin || slope < slopeMin || slope > slopeMax) {
				slope, corr = s, c
			}
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

// voted returns mean slope and correlation of a pair's pieces for the length at which
// most of them agree; ok is false where these are few or no more than contradict.
func (d *Detector) voted(i, j int) (slope, corr float64, ok bool) {
	most := 0
	for l := range d.lengths {
		v := &d.lengths[l].votes[i*d.K+j]
		if v.agree >= agreeLeast && v.agree >= v.against && v.agree > most {
			most, ok = v.agree, true
			slope, corr = v.slope/float64(v.agree), v.corr/float64(v.agree)
		}
	}
	return slope, corr, ok
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
	d.settle()
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

// merge adds the values of o (Chan, Golub and LeVeque 1979).
func (m *moments) merge(o *moments) {
	if o.n == 0 {
		return
	}
	a, b := float64(m.n), float64(o.n)
	dy, dx, w := o.my-m.my, o.mx-m.mx, a*b/(a+b)
	m.yy += o.yy + w*dy*dy
	m.xx += o.xx + w*dx*dx
	m.xy += o.xy + w*dx*dy
	m.my += dy * b / (a + b)
	m.mx += dx * b / (a + b)
	m.n += o.n
}

// wrap returns the difference of two values of a periodic channel on its short
// side; period 0 = not periodic.
func wrap(diff, period float64) float64 {
	if period == 0 {
		return diff
	}
	return diff - period*math.Round(diff/period)
}
