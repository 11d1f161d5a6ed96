package evaluate

import (
	"context"
	"errors"
	"math"
	"slices"

	"github.com/dgm-robotics/dgm/estimator"
	"github.com/dgm-robotics/dgm/estimator/adapt"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/trust"
	"github.com/dgm-robotics/dgm/trainer/score"
	"github.com/dgm-robotics/dgm/trainer/window"
)

// Adapted is what adaptation in flight brings: every flight is run through causally, from a
// filter that has learned nothing on, and what is learned up to a state changes the
// predictions from it. Intervals are those with the factor of live trust, as a planner reads
// them. Ratios are geometric means over channels and horizons.
type Adapted struct {
	Geo      Geo       `json:"geo"`
	Horizons []Horizon `json:"horizons"`

	Ratios
	Factor  Ratios         `json:"factor"` // of predictions without adaptation, with the factor of live trust
	Since   []Since        `json:"since"`
	Amounts []adapt.Amount `json:"amounts"` // that were learned at the end of the last flight
}

// Ratios compare predictions with those without adaptation and without the factor of live
// trust.
type Ratios struct {
	RMSE       float64 `json:"rmse_ratio"`
	Width      float64 `json:"width_ratio"`
	CRPS       float64 `json:"crps_ratio"`
	Coverage95 float64 `json:"coverage95"` // mean over channels and horizons
	Worst      float64 `json:"worst"`      // least coverage of a channel at a horizon
}

// Since holds the ratios of the windows that begin in a time since the start of a flight.
type Since struct {
	From   float64 `json:"from"` // s
	To     float64 `json:"to"`   // s; 0 = to the end
	N      int     `json:"windows"`
	Before float64 `json:"coverage95_before"` // without adaptation and without the factor
	Ratios
	Factor Ratios `json:"factor"`
}

// usualParts are where the times since the start of a flight begin, s.
var usualParts = []float64{0, 0.5, 1, 1.5, 2, 3, 4, 5, 7, 10, 20}

// variant is a stream of predictions.
type variant int

const (
	plainVariant   variant = iota // without adaptation
	trustedVariant                // the same, with the factor
	adaptedVariant                // with adaptation and the factor
	variants
)

// causal runs flights through filter and trust.
type causal struct {
	m        *model.Model
	c        *comparer
	filter   *adapt.Filter
	states   *estimated               // nil = all states are measured
	monitors [variants]*trust.Monitor // nil = no factor
	factor   []float64                // T×K
	parts    []float64                // s, where each part of Since begins
	counters [][variants][]score.Counters
	pred     *estimator.Prediction
}

// ErrUnsettled is why flights cannot be scored with adaptation.
var ErrUnsettled = errors.New("the model's filter does not settle before the last window of any flight: adaptation needs longer flights")

// Adapt runs flights through causally, with and without adaptation: each after opt.Lead, from
// which is learned and which is not scored. The error wraps adapt.ErrNone for a model that
// cannot adapt.
func Adapt(ctx context.Context, m *model.Model, flights []window.Flight, opt Options) (*Adapted, error) {
	opt, _, err := opt.scoring(m.Horizon, flights)
	if err != nil {
		return nil, err
	}
	c, err := newComparer(m, flights, opt)
	if err != nil {
		return nil, err
	}
	r, err := newCausal(m, c, opt)
	if err != nil {
		return nil, err
	}
	windows, err := cut(flights, opt.Horizons[len(opt.Horizons)-1], opt.Stride)
	if err != nil {
		return nil, err
	}
	s := newScorer(m, opt, len(windows))
	s.scored, s.interpolated = c.scored, window.Interpolated(flights, windows, opt.Horizons)
	c.Interpolated = s.interpolated
	o, rest := &c.newOutcomes(1)[0], windows
	for i := range flights {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		n := 0
		for n < len(rest) && rest[n].Flight == i {
			n++
		}
		r.reset()
		for j := range opt.Lead {
			lead := opt.Lead[j : j+1]
			if err := r.fly(&lead[0], window.Cut(lead, opt.Horizons[len(opt.Horizons)-1], opt.Stride), nil, o); err != nil {
				return nil, err
			}
		}
		if err := r.fly(&flights[i], rest[:n], s, o); err != nil {
			return nil, err
		}
		rest = rest[n:]
	}
	if s.windows == 0 {
		return nil, ErrUnsettled
	}
	table, err := s.table(spacing(flights, windows, opt.Stride))
	if err != nil {
		return nil, err
	}
	out := &Adapted{Geo: table.Geo, Horizons: table.Horizons, Amounts: r.filter.State().Amounts(m)}
	r.summarise(out)
	return out, nil
}

func newCausal(m *model.Model, c *comparer, opt Options) (*causal, error) {
	var fast *estimator.Fast
	filter, err := adapt.New(m, func(times []float64) (p adapt.Predictor, err error) {
		if fast == nil {
			fast, err = estimator.NewFast(m, times)
			return fast, err
		}
		return fast.For(times)
	})
	if err != nil {
		return nil, err
	}
	states, err := newEstimated(m)
	if err != nil {
		return nil, err
	}
	r := &causal{m: m, c: c, filter: filter, states: states, factor: make([]float64, len(opt.Horizons)*m.K), parts: opt.Parts, pred: c.onboard.NewPrediction()}
	if r.parts == nil {
		r.parts = usualParts
	}
	r.counters = make([][variants][]score.Counters, len(r.parts))
	period := make([]float64, m.K) // angles of a flight are continuous
	for v := trustedVariant; v < variants; v++ {
		c := trust.Config{K: m.K, Times: opt.Horizons, Period: period}
		if v == trustedVariant {
			c.Checked = opt.Checked
		}
		r.monitors[v] = trust.New(c)
	}
	for i := range r.counters {
		for v := range r.counters[i] {
			r.counters[i][v] = make([]score.Counters, len(r.factor))
		}
	}
	return r, nil
}

// reset forgets what was learned.
func (r *causal) reset() {
	r.filter.Reset()
	for _, m := range r.monitors {
		if m != nil {
			m.Reset()
		}
	}
}

// fly runs one flight through; s nil = it is not scored.
func (r *causal) fly(f *window.Flight, windows []window.Window, s *scorer, o *outcome) error {
	own := r.states.begin(f)
	for i := range f.N() {
		t := f.Origin + int64(math.Round(f.T[i]*1e9))
		r.states.take(t, i, r.filter)
		if len(windows) > 0 && windows[0].Start == i {
			windows = windows[1:]
			if own.Known(i) { // a filter that moves the robot as learned settles at other samples
				if err := r.score(f, own, i, s, o); err != nil {
					return at(f, i, err)
				}
			}
		}
		for v, m := range r.monitors {
			if variant(v) == adaptedVariant {
				m.Observed(t, own.Compared(i))
			} else if m != nil {
				m.Observed(t, f.Compared(i))
			}
		}
		if x := own.State(i); !slices.ContainsFunc(x, math.IsNaN) {
			r.filter.Observed(t, x, f.Input(i))
		}
	}
	return nil
}

// score makes and counts the predictions of a window that begins with sample i; s nil = it is not scored.
func (r *causal) score(f, own *window.Flight, i int, s *scorer, o *outcome) error {
	if r.c.compare(o, f, i); o.ok {
		r.adapt(o, own, i, s != nil)
	}
	if !o.ok {
		return errNotFinite
	}
	if s == nil {
		return nil
	}
	return s.add(o)
}

// adapt makes the predictions of a window that begins with a sample of a flight, whose states are those of the adapted filter,
// and replaces the model's in o by the adapted one. It counts them where scored.
func (r *causal) adapt(o *outcome, f *window.Flight, start int, scored bool) {
	c, from := r.c, r.c.pred
	t, since := f.Origin+int64(math.Round(f.T[start]*1e9)), f.T[start]-f.T[0]
	var group [variants][]score.Counters
	if scored {
		i := len(r.parts) - 1
		for since < r.parts[i] {
			i--
		}
		group = r.counters[i]
	}
	r.count(group[plainVariant], o, from, nil)
	r.count(group[trustedVariant], o, from, r.trusted(trustedVariant, t, from))
	if r.states != nil {
		if c.compare(o, f, start); !o.ok {
			return
		}
	}
	if q := r.filter.Effective(&c.query); q == &c.query || !c.onboard.Predict(r.pred, q) {
		copy(r.pred.Mean, from.Mean)
		copy(r.pred.Std, from.Std)
		copy(r.pred.ObsStd, from.ObsStd)
		r.pred.Readout, r.pred.NoHistory = from.Readout, from.NoHistory
	}
	r.filter.Correct(r.pred, &c.query)
	factor := r.trusted(adaptedVariant, t, r.pred)
	r.count(group[adaptedVariant], o, r.pred, factor)
	for j := range o.std {
		o.mean[byModel][j], o.std[j] = r.pred.Mean[j]-c.X0[j%r.m.K], r.std(r.pred, j)*factor[j]
	}
	for i := range o.angle {
		o.angle[i][byModel] = rotationAngle(c.euler(o.mean[byModel], i), c.euler(o.measured, i))
	}
}

// std returns the deviation of a prediction that is scored.
func (r *causal) std(p *estimator.Prediction, j int) float64 {
	if r.c.truth {
		return p.Std[j]
	}
	return p.ObsStd[j]
}

// trusted adds a prediction to the monitor of a variant and returns its factors.
func (r *causal) trusted(v variant, t int64, p *estimator.Prediction) []float64 {
	m := r.monitors[v]
	m.Factors(r.factor)
	m.Predicted(t, p.Mean, p.ObsStd, trust.Tube(p.Tube))
	return r.factor
}

// count scores a prediction with factors (T×K, nil = 1) into to (T×K, nil = nowhere).
func (r *causal) count(to []score.Counters, o *outcome, p *estimator.Prediction, factor []float64) {
	for j := range to {
		x, std := o.measured[j], r.std(p, j)
		if math.IsNaN(x) {
			continue
		}
		if factor != nil {
			std *= factor[j]
		}
		to[j].Add(x, p.Mean[j]-r.c.X0[j%r.m.K], std)
	}
}

// summarise sets the ratios.
func (r *causal) summarise(out *Adapted) {
	var all [variants][]score.Counters
	for v := range all {
		all[v] = make([]score.Counters, len(r.factor))
	}
	for i, group := range r.counters {
		for v := range group {
			for j, c := range group[v] {
				all[v][j].Merge(&c)
			}
		}
		since := Since{From: r.parts[i], N: most(group[plainVariant])}
		if i+1 < len(r.parts) {
			since.To = r.parts[i+1]
		}
		since.Before, since.Ratios, since.Factor = ratios(group)
		if since.N > 0 {
			out.Since = append(out.Since, since)
		}
	}
	_, out.Ratios, out.Factor = ratios(all)
}

// most returns the largest number of points of a series.
func most(c []score.Counters) (n int) {
	for i := range c {
		n = max(n, c[i].N)
	}
	return n
}

func ratios(group [variants][]score.Counters) (before float64, adapted, trusted Ratios) {
	before = coverage(group[plainVariant]).Coverage95
	return before, ratio(group[adaptedVariant], group[plainVariant]), ratio(group[trustedVariant], group[plainVariant])
}

func coverage(of []score.Counters) Ratios {
	r, n := Ratios{Worst: 1}, 0.0
	for i := range of {
		if of[i].N == 0 {
			continue
		}
		_, _, c := of[i].Coverage()
		r.Coverage95, r.Worst, n = r.Coverage95+c, math.Min(r.Worst, c), n+1
	}
	r.Coverage95 /= math.Max(n, 1)
	return r
}

func ratio(of, base []score.Counters) Ratios {
	out, n := coverage(of), 0.0
	for i := range of {
		if a, b := &of[i], &base[i]; b.N > 0 && b.Square > 0 && a.Square > 0 {
			out.RMSE += math.Log(a.RMSE() / b.RMSE())
			out.Width += math.Log(a.Std() / b.Std())
			out.CRPS += math.Log(a.CRPS() / b.CRPS())
			n++
		}
	}
	if n == 0 {
		n = 1
	}
	out.RMSE, out.Width, out.CRPS = math.Exp(out.RMSE/n), math.Exp(out.Width/n), math.Exp(out.CRPS/n)
	return out
}
