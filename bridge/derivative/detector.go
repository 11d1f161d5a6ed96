// Package derivative finds out which channel of a log is the measured time
// derivative of which other, for logs that do not declare it.
//
// For channel x and candidate v it compares, over stretches of a few samples,
//
//	(x(t₁) − x(t₀)) / (t₁ − t₀)    with    1/(t₁ − t₀) ∫ v dt
//
// which are equal for the true derivative whatever the length of the stretch. Short
// stretches resolve fast motion and are noisy, long ones average the noise away: of four
// lengths the one with the highest correlation decides. v is the derivative of x if the
// least-squares slope is between 0.9 and 1.1 and the correlation is 0.9 or more.
// Stretches that are far from the usual of their ten seconds do not count. A pair holds
// as long as most of the ten seconds with motion show it. A speed that moves a position along a heading, which is a state, is
// not its derivative, however long the robot goes straight on.
package derivative

import (
	"cmp"
	"math"
	"regexp"
	"slices"

	"github.com/dgm-robotics/dgm/estimator/channel"
)

const (
	slopeMin, slopeMax = 0.9, 1.1
	correlationMin     = 0.9
	correlationNear    = 0.95 // where the slope is not that of a derivative
	stretchesMin       = 20   // fewer show nothing

	pieceSpan     = 10.0 // s, of a piece
	pieceLeast    = 40   // stretches of one, at least
	pieceMost     = 4096 // and at most, however high the rate of samples
	spike         = 4    // times the 0.9 quantile of a piece: not used
	offLine       = 4    // times the mean distance from the line: not used either …
	trims         = 3    // … each time from the line through the rest
	agreeLeast    = 3    // pieces that make a pair
	contradictory = 1.25 // ratio of rates that cannot both be a derivative's
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
	Heading     string  // (optional) of one that is none: the state along which it moves the channel
	Units       Units   // (optional) of one that is none: those by which the slope is explained
	Sign        Sign    // (optional) of one that is none
}

// Units are those of a channel and of what is its derivative, in words; "" = not known.
type Units struct{ Channel, Derivative string }

// Sign is how the sign of a channel's rate of change is to that of another channel.
type Sign int

// The signs, besides one that is the same.
const (
	Opposite Sign = iota + 1 // throughout
	Turned                   // in some parts of the log, and the same in others
)

// Detector gathers samples in memory that does not depend on their number.
type Detector struct {
	states     []channel.Channel
	K          int
	t          int64     // ns, of the last sample
	x          []float64 // K, the last sample
	begun      bool
	candidates []bool // K×K: whether channel j (column) may be the derivative of i (row)
	gaps       gaps
	began      bool // a row of the segment was added
	lengths    [len(lengths)]stretches
	kept       kept
}

// New returns a Detector for state channels. Those that name their derivative
// are candidates only, and in Slope of that pair.
func New(states []channel.Channel) *Detector {
	K := len(states)
	d := &Detector{states: states, K: K, x: make([]float64, K), candidates: make([]bool, K*K)}
	for i, c := range states {
		for j, other := range states {
			switch {
			case i == j:
			case c.Derivative != "":
				d.candidates[i*K+j] = c.Derivative == other.Name
			default: // a derivative has another unit, per second
				declared := slices.ContainsFunc(states, func(c channel.Channel) bool { return c.Derivative == other.Name })
				d.candidates[i*K+j] = !(c.Unit != "" && channel.SameUnit(c.Unit, other.Unit)) && !declared
			}
		}
	}
	d.gaps = gaps{period: make([]float64, K), missing: make([]int, K)}
	for k, c := range states {
		d.gaps.period[k] = c.Period
	}
	for l := range d.lengths {
		d.lengths[l] = stretches{rise: make([]float64, K), area: make([]float64, K), pairs: make([]moments, K*K), votes: make([]votes, K*K)}
	}
	return d
}

// Break begins a new segment: the next sample does not continue the last one.
func (d *Detector) Break() {
	d.gaps.each(true, d.add)
	d.begun, d.began = false, false
}

// Add adds the next sample: time t (ns), states x (K), NaN = not measured. The gaps of a
// slower sensor are bridged linearly.
// Samples that are not later than the last one are left out.
func (d *Detector) Add(t int64, x []float64) {
	if last, ok := d.gaps.last(); ok && d.began && t <= last {
		return
	}
	d.began = true
	d.gaps.add(t, x)
	d.gaps.each(false, d.add)
}

func (d *Detector) add(t int64, x []float64) {
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
				rates, means := s.close(d.candidates)
				if l == keptLength {
					d.kept.add(rates, means)
				}
				s.restart()
			}
		}
	}
	d.t, d.begun = t, true
	copy(d.x, x)
}

// settle counts what is still open.
func (d *Detector) settle() {
	d.gaps.each(true, d.add)
	for l := range d.lengths {
		d.lengths[l].settle(d.candidates)
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
		for j := range d.states {
			if !d.candidates[i*d.K+j] {
				continue
			}
			switch p, is := d.judge(i, j); {
			case is:
				good = append(good, p)
			case p.corr > 0:
				off = append(off, p)
			}
		}
	}
	hasOne, isOne := make([]bool, d.K), make([]bool, d.K)
	return d.choose(good, hasOne, isOne), d.choose(off, hasOne, isOne)
}

// judge reports whether channel j is the derivative of channel i. Of one that is nearly it returns the pair, else a
// correlation of 0.
func (d *Detector) judge(i, j int) (p pair, is bool) {
	c, other := &d.states[i], &d.states[j]
	slope, corr, _ := d.best(i, j, func(corr float64) float64 { return corr })
	if s, c, ok := d.voted(i, j); ok && (corr < correlationMin || slope < slopeMin || slope > slopeMax) {
		slope, corr = s, c
	}
	p = pair{i: i, j: j, slope: slope, corr: corr}
	if p.sign = d.sign(i, j); p.sign != 0 {
		p.corr = max(corr, correlationMin)
		return p, false
	}
	switch {
	case corr >= correlationMin && slope >= slopeMin && slope <= slopeMax:
		p.heading = d.kept.turned(d.states, i, j)
		return p, p.heading == ""
	case corr >= correlationNear && unitsOf(slope) != Units{}:
		p.units = unitsOf(slope)
		return p, false
	case corr >= correlationNear && (channel.SameUnit(other.Unit, c.Unit+"/s") || slope > 0.5 && slope < 2):
		return p, false
	}
	return pair{}, false
}

// pair is a channel i and a candidate j for its derivative.
type pair struct {
	i, j        int
	slope, corr float64
	heading     string
	units       Units
	sign        Sign
}

// sign returns how the sign of channel i's rate of change is to that of j, which may be its derivative, where it is not the same. Of a robot
// that swings it is opposite for what is no rate, too, so that a rate is to be called so, or be one by its unit.
func (d *Detector) sign(i, j int) Sign {
	same, opposite := 0, 0
	for l := range d.lengths {
		v := &d.lengths[l].votes[i*d.K+j]
		if v.agree+v.opposite > same+opposite && v.agree+v.opposite >= v.against-v.opposite {
			same, opposite = v.agree, v.opposite
		}
	}
	c, other := &d.states[i], &d.states[j]
	switch rate := c.Unit != "" && channel.SameUnit(other.Unit, c.Unit+"/s") || rateName.MatchString(other.Name) && !rateName.MatchString(c.Name); {
	case !rate:
		return 0
	case same >= fewestSigns && opposite >= fewestSigns:
		return Turned
	case same == 0 && opposite > 0:
		return Opposite
	}
	return 0
}

// fewestSigns are the pieces of either sign that show that it turns.
const fewestSigns = 2

// rateName matches what rates are called.
var rateName = regexp.MustCompile(`(?i)(vel|rate|omega|gyro|speed|dot)|^(v[xyz]?|[pqr]|qd\d*|w[xyz])$`)

// unitFactors are what the slope of a channel on its derivative is where one of them is in another unit.
var unitFactors = map[float64]Units{
	180 / math.Pi: {"degrees", "radians per second"}, math.Pi / 180: {"radians", "degrees per second"}, 1000: {"thousandths of a unit", "units per second"}, 0.001: {"units", "thousandths of a unit per second"},
}

// unitsOf returns the units that explain a slope, if any do.
func unitsOf(slope float64) Units {
	for factor, units := range unitFactors {
		if by := slope / factor; by >= slopeMin && by <= slopeMax {
			return units
		}
	}
	return Units{}
}

// choose chooses the pairs with the highest correlation first, each channel once on
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
		out = append(out, Found{d.states[p.i].Name, d.states[p.j].Name, p.slope, p.corr, p.heading, p.units, p.sign})
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

// Slope returns, for channels i and j of the states, of which j is the derivative that
// i names or one that it may have, the slope of i's rate of change
// on j and their correlation, of either sign, for the length of stretches at which
// they correlate best. ok is false where the data are too few.
func (d *Detector) Slope(i, j int) (slope, corr float64, ok bool) {
	d.settle()
	return d.best(i, j, math.Abs)
}

// best returns slope and correlation of a pair for the length at which size of its
// correlation is largest and above zero.
func (d *Detector) best(i, j int, size func(corr float64) float64) (slope, corr float64, ok bool) {
	for l := range d.lengths {
		m := &d.lengths[l].pairs[i*d.K+j]
		if m.n < stretchesMin || m.xx <= 0 || m.yy <= 0 {
			continue
		}
		if c := m.xy / math.Sqrt(m.xx*m.yy); size(c) > size(corr) {
			slope, corr, ok = m.xy/m.xx, c, true
		}
	}
	return slope, corr, ok
}
