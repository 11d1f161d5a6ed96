package estimation

import (
	"math"
	"slices"

	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/filter"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/trainer/window"
)

// Score is how a filter did on flights.
type Score struct {
	NIS      float64 // mean of ν²/S of the measurements used of channels that are filtered: 1 in a consistent filter
	Used     int     // measurements
	Rejected int     // outliers

	Whiteness float64 // correlation of ν/√S from one measurement of a channel to the next: 0 in one that is right
	Pairs     int     // of such

	Covariance []float64 // K×K, mean of those of the estimates
	States     []Score   // K, of the measurements of each state alone; without a covariance
}

// mean makes sums of a number of measurements that are judged means.
func (s *Score) mean(judged int) {
	s.NIS /= math.Max(1, float64(judged))
	if s.Pairs > 0 && s.NIS > 0 {
		s.Whiteness /= float64(s.Pairs) * s.NIS
	}
}

// add adds the innovations of a filter's last sample to those of each state; last (K) has those before over their standard deviations, NaN = none.
func (s *Score) add(f *filter.Filter, last []float64) {
	nu, ratio := f.Innovations()
	for k := range s.States {
		of := &s.States[k]
		switch z := math.Copysign(filter.DefaultGate*math.Sqrt(ratio[k]), nu[k]); {
		case ratio[k] > 1:
			of.Rejected++
			last[k] = math.NaN()
		case !math.IsNaN(z):
			of.Used++
			of.NIS += z * z
			if !math.IsNaN(last[k]) {
				of.Whiteness += z * last[k]
				of.Pairs++
			}
			last[k] = z
		}
	}
}

// layout is how the states of a model lie among those of flights, which are measured, or all (K).
type layout struct {
	states []channel.Channel // K
	like   []int             // K: the state of the flights; of an estimated one that of its position
}

func newLayout(spec *model.Filter, states []channel.Channel, K int) layout {
	l := layout{states: states, like: make([]int, len(states))}
	if K == len(states) {
		for k := range l.like {
			l.like[k] = k
		}
		return l
	}
	at := 0
	for k := range states {
		if !states[k].Estimated {
			l.like[k] = at
			at++
		}
	}
	for _, c := range spec.Chains {
		if states[c.Rate].Estimated {
			l.like[c.Rate] = l.like[c.Position]
		}
	}
	return l
}

// run takes a flight through a filter that begins with it. y (n×K) is what was measured; each is called after a sample.
func (l *layout) run(f *filter.Filter, of *window.Flight, each func(i int, r filter.Result)) (y []float64) {
	K := len(l.states)
	y = make([]float64, of.N()*K)
	f.Reset()
	for i := range of.N() {
		row := y[i*K : (i+1)*K]
		for k := range row {
			row[k] = of.X[i*of.K+l.like[k]]
			if l.states[k].Estimated {
				row[k] = math.NaN()
			}
		}
		each(i, f.Update(of.Origin+int64(math.Round(of.T[i]*1e9)), row, of.Input(i)))
	}
	return y
}

// Apply returns the flights with all states (K): what the filter, causally, made of the samples so far. They are compared
// with the measurements, and with the estimate where nothing measures a state. Until the filter has settled, states that
// are estimated are not known.
func Apply(flights []window.Flight, spec *model.Filter, states []channel.Channel) ([]window.Flight, Score, error) {
	var score Score
	if len(flights) == 0 {
		return nil, score, nil
	}
	f, err := filter.Of(spec, states, flights[0].P)
	if err != nil {
		return nil, score, err
	}
	l, K := newLayout(spec, states, flights[0].K), len(states)
	p, n, judged := make([]float64, K*K), 0., 0
	score.Covariance, score.States = make([]float64, K*K), make([]Score, K)
	out := make([]window.Flight, len(flights))
	for i := range flights {
		of := &flights[i]
		x, settled, last := make([]float64, of.N()*K), make([]bool, of.N()), slices.Repeat([]float64{math.NaN()}, K)
		y := l.run(f, of, func(j int, r filter.Result) {
			if settled[j] = f.Settled(); settled[j] {
				score.NIS += r.NIS
				score.Used += r.Used
				judged += r.Judged
				score.Rejected += r.Rejected
				score.Whiteness += r.Lagged
				score.Pairs += r.Pairs
				score.add(f, last)
				f.Covariance(p)
				n++
				for i, v := range p {
					score.Covariance[i] += (v - score.Covariance[i]) / n
				}
			}
			copy(x[j*K:], f.Estimate())
		})
		for j, v := range y {
			switch k := j % K; {
			case math.IsNaN(v) && (spec.R[k] == 0 && !states[k].Estimated || !settled[j/K]):
				x[j] = math.NaN() // nothing is known of it
			case states[k].Estimated:
				y[j] = x[j]
			}
		}
		out[i] = of.Estimated(x, y, l.like)
	}
	score.mean(judged)
	for k := range score.States {
		score.States[k].mean(score.States[k].Used)
	}
	return out, score, nil
}

// SetSensors sets the variances of the sensors (K) of what a filter estimates: predictions start from the estimate and are
// compared with a measurement, whose noise the likelihood has found, and with the estimate of what nothing measures.
func SetSensors(r []float64, spec *model.Filter) {
	for _, c := range spec.Chains {
		r[c.Position], r[c.Rate] = spec.R[c.Position], spec.R[c.Rate]
	}
}

// again takes a flight that Apply returned through the filter once more. y (K) is what was measured; each is called after a
// sample, until it returns false.
func again(f *window.Flight, spec *model.Filter, states []channel.Channel, each func(i int, k *filter.Filter, y []float64) bool) error {
	k, err := filter.Of(spec, states, f.P)
	if err != nil {
		return err
	}
	K := len(states)
	y := make([]float64, K)
	for i := range f.N() {
		for j, v := range f.Y[i*K : (i+1)*K] {
			if y[j] = v; states[j].Estimated {
				y[j] = math.NaN()
			}
		}
		k.Update(f.Origin+int64(math.Round(f.T[i]*1e9)), y, f.Input(i))
		if !each(i, k, y) {
			break
		}
	}
	return nil
}

// As returns the flights as a robot with the model estimates its states: as measured where the model has no filter.
func As(m *model.Model, flights []window.Flight) ([]window.Flight, Score, error) {
	if m.Filter == nil {
		return flights, Score{}, nil
	}
	return Apply(flights, m.Filter, m.Channels[:m.K])
}

// A rate whose estimate counts has at most so many times its median variance, or a variance that it has as often: near the top a
// pendulum's rate is less certain each time.
const (
	unsettled = 4
	often     = 0.9
)

// settle sets the variances up to which estimates count, by the usual ones in flights.
func settle(flights []window.Flight, spec *model.Filter, states []channel.Channel) error {
	f, err := filter.Of(spec, states, flights[0].P)
	if err != nil {
		return err
	}
	l, K, p := newLayout(spec, states, flights[0].K), len(states), make([]float64, len(states)*len(states))
	usual := make([][]float64, len(spec.Chains))
	for i := range flights {
		l.run(f, &flights[i], func(int, filter.Result) {
			f.Covariance(p)
			for j, c := range spec.Chains {
				usual[j] = append(usual[j], p[c.Rate*K+c.Rate])
			}
		})
	}
	for j, all := range usual {
		if states[spec.Chains[j].Rate].Estimated {
			slices.Sort(all)
			spec.Chains[j].Settled = max(unsettled*all[len(all)/2], all[int(often*float64(len(all)))])
		}
	}
	return nil
}

// smooth returns the flights with all states, each given all samples of its flight.
func smooth(flights []window.Flight, spec *model.Filter, states []channel.Channel) ([]window.Flight, error) {
	f, err := filter.Of(spec, states, flights[0].P)
	if err != nil {
		return nil, err
	}
	l, K := newLayout(spec, states, flights[0].K), len(states)
	var out []window.Flight
	for i := range flights {
		var trace filter.Trace
		f.Record(&trace)
		l.run(f, &flights[i], func(int, filter.Result) {})
		all, x := smoothed(&trace, nil), make([]float64, 0, flights[i].N()*K)
		for j := 0; j < len(all); j += trace.N {
			x = append(x, all[j:j+K]...)
		}
		out = append(out, flights[i].Estimated(x, nil, l.like))
	}
	return out, nil
}

// mostOutliers is the share of the measurements above which outliers are none: the filter is wrong.
const mostOutliers = 0.1

// noiseSums are, of a channel's innovations ν of variance S, those of which the likelihood has its slope by the sensor's variance: of ν²/S² and of 1/S,
// which are the same where it is most likely.
type noiseSums struct{ measured, expected float64 }

// addNoise adds the innovations of a filter's last sample.
func addNoise(sums []noiseSums, f *filter.Filter) {
	nu, ratio := f.Innovations()
	for k, v := range nu {
		if r := ratio[k] * filter.DefaultGate * filter.DefaultGate; r > 0 && ratio[k] <= 1 {
			s := v * v / r
			sums[k].measured += r / s
			sums[k].expected += 1 / s
		}
	}
}

// likelihood returns the sum of the log likelihoods of the innovations of samples, nat, of an outlier that at the gate, and how
// many these are; −∞ where too many are outliers. It adds what they say of the sensors to noise (K).
func likelihood(flights []window.Flight, spec *model.Filter, states []channel.Channel, noise []noiseSums) (sum, n float64) {
	f, err := filter.Of(spec, states, flights[0].P)
	if err != nil {
		return math.Inf(-1), 1
	}
	f.KeepNoise()
	l := newLayout(spec, states, flights[0].K)
	used, rejected := 0, 0
	for i := range flights {
		l.run(f, &flights[i], func(_ int, r filter.Result) {
			if f.Settled() {
				sum, n = sum+r.Log, n+1
				addNoise(noise, f)
				used, rejected = used+r.Used, rejected+r.Rejected
			}
		})
	}
	if n == 0 || math.IsNaN(sum) || float64(rejected) > mostOutliers*float64(used+rejected) {
		return math.Inf(-1), math.Max(1, n)
	}
	return sum, n
}
