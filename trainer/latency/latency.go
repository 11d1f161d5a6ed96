package latency

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"

	"github.com/dgm-robotics/dgm/estimator/actuator"
	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/trainer/window"
)

// What the regression must gain by latencies that equations read the inputs with them, and by latencies of each input beside those of its
// kind.
const (
	worthwhile      = 0.98
	worthwhileApart = 0.95
)

// coarse is the share of the time between two samples below which latencies are not distinguished: motors that seem to act a millisecond
// apart would let an equation read, in the difference of them, how their common command changes.
const coarse = 0.25

// Actuators returns how the inputs follow their commands: as all inputs of their kind, unless the data say otherwise, and a dead time and a lag
// describe what the input does; at once where that is not known, or is less than a quarter of a sample; nil where it gains nothing.
func (r *Result) Actuators() (out []actuator.Response) {
	gain, each := r.Gain, r.Gain < worthwhileApart*r.gainOfKinds
	if !each {
		gain = r.gainOfKinds
	}
	if !(gain < worthwhile) || len(r.kinds) != len(r.fitted) {
		return nil
	}
	read := slices.Clone(r.fitted)
	for i, kind := range r.kinds {
		if !each || kind.Known && (!r.Inputs[i].Known || !r.apart(read[i], kind)) {
			read[i] = kind
		}
	}
	for i := range read {
		out = append(out, r.together(read, i))
	}
	if !actuator.Acts(out) {
		return nil
	}
	return out
}

// together returns the mean latency of input i and of those of its unit whose intervals do not distinguish them from it: two tracks of which one seems
// later would let an equation read, in their difference, how their common command changes.
func (r *Result) together(all []model.Latency, i int) (out actuator.Response) {
	n := 0.0
	for j, l := range all {
		if l.Known && r.units[j] == r.units[i] && !r.apart(l, all[i]) && !r.apart(all[i], l) {
			n++
			out.Dead += (l.Dead - out.Dead) / n
			out.Lag += (l.Lag - out.Lag) / n
		}
	}
	if l := all[i]; !l.Known || l.Dead+l.Lag < coarse*r.step {
		return actuator.Response{}
	}
	return out
}

// apart reports whether the latency of an input is another one than that of its kind.
func (r *Result) apart(l, kind model.Latency) bool {
	differ := func(v, low, high, of float64) bool {
		return (of < low || of > high) && math.Abs(v-of) >= coarse*r.step
	}
	return l.Known && (differ(l.Dead, l.DeadLow, l.DeadHigh, kind.Dead) || differ(l.Lag, l.LagLow, l.LagHigh, kind.Lag))
}

var errSingular = errors.New("latency: the log's inputs cannot be distinguished from its states")

// Result is when the inputs of a log act.
type Result struct {
	Inputs []model.Latency // one for each input
	Gain   float64         // root mean square of what the regression leaves, over that with inputs that act at once; 1 = no gain

	fitted []model.Latency // Inputs that equations read, whether a dead time and a lag describe them or not: Known by their sum
	kinds  []model.Latency // for each input that of all inputs of its kind as one
	step   float64         // s, between two samples
	units  []string        // of the inputs

	gainOfKinds float64 // Gain with these
	open        int     // inputs that vary by themselves, whose dead time the windows leave open
	shorter     *Result // of shorter windows, which leave more open, or nil
}

// Windows are so long, s, or so many times as long: in long ones the noise of the sensors counts less, and so do fast changes of the inputs. They are long
// where they leave fewer inputs open, and gain as much by latencies, or where they gain so much more and find others.
const (
	width       = 0.1
	longer      = 4
	clearlyMore = 0.8
)

// Estimate returns the latency of each input, from the states and inputs of the flights. An input that does not vary, that follows from the states, or whose
// dead time the flights leave open, is not Known. Windows are long where short ones leave more inputs open, or hide when these act: noise of the
// states makes the poles of the robot seem slow, which dead times and lags then make up for.
func Estimate(ctx context.Context, flights []window.Flight, channels []channel.Channel) (*Result, error) {
	short, err := estimate(ctx, flights, channels, 1)
	if err != nil || short.open == 0 && short.gainOfKinds >= worthwhile {
		return short, err
	}
	long, err := estimate(ctx, flights, channels, longer)
	if err != nil || long.open > short.open || long.gainOfKinds > short.gainOfKinds {
		return short, err
	}
	if long.open == short.open && (long.gainOfKinds > clearlyMore*short.gainOfKinds || short.holds(long)) {
		return short, nil
	}
	long.shorter = short
	return long, nil
}

// holds reports whether the intervals of r, which are narrower, hold what other windows found.
func (r *Result) holds(other *Result) bool {
	for i, o := range other.fitted {
		l := r.fitted[i]
		if o.Known && !(l.Known && l.DeadLow <= o.Dead && o.Dead <= l.DeadHigh && l.LagLow <= o.Lag && o.Lag <= l.LagHigh) {
			return false
		}
	}
	return true
}

// estimate is Estimate with windows so many times as long.
func estimate(ctx context.Context, flights []window.Flight, channels []channel.Channel, times int) (*Result, error) {
	states := channel.Select(channels, channel.State)
	P := len(channels) - len(states)
	out := &Result{Inputs: make([]model.Latency, P), Gain: 1, kinds: make([]model.Latency, P), fitted: make([]model.Latency, P), step: sampling(flights), gainOfKinds: 1}
	var varying []int
	for _, c := range channels[len(states):] {
		out.units = append(out.units, c.Unit)
	}
	for j := range P {
		if moves(flights, j) {
			varying = append(varying, j)
		}
	}
	out.open = len(varying) // until they are determined
	p := newProblem(flights, states, varying, times)
	if p == nil || len(p.windows) < blocks {
		return out, nil
	}
	// Inputs of a kind as one are found in noise that hides each; then each for itself.
	p.groups = alike(channels[len(states):], varying)
	at, err := p.estimate(ctx, nil, varying, out)
	copy(out.kinds, out.fitted)
	out.gainOfKinds = out.Gain
	if err == nil && len(p.groups) < p.P {
		begin := make([]pair, p.P)
		for g, members := range p.groups {
			for _, i := range members {
				begin[i] = at[g]
			}
		}
		p.groups = p.groups[:0]
		for i := range varying {
			p.groups = append(p.groups, []int{i})
		}
		at, err = p.estimate(ctx, begin, varying, out)
	}
	if err == nil {
		p.doubt(at, varying, out.Inputs)
	}
	for j := range out.Inputs {
		out.Inputs[j].Known = out.Inputs[j].Known && !p.hidden
	}
	return out, unlessSingular(err)
}

// sampling returns the mean time between two samples, s.
func sampling(flights []window.Flight) float64 {
	sum, n := 0.0, 0
	for i := range flights {
		sum, n = sum+flights[i].Duration(), n+flights[i].N()-1
	}
	return sum / float64(max(n, 1))
}

// unlessSingular returns err, but nil where the inputs follow from the states: then nothing is known of them.
func unlessSingular(err error) error {
	if errors.Is(err, errSingular) {
		return nil
	}
	return err
}

// alike returns the places of inputs that may share a latency: of one unit, their names differing in digits only.
func alike(inputs []channel.Channel, varying []int) (groups [][]int) {
	kinds := map[string]int{}
	for i, j := range varying {
		c := &inputs[j]
		kind := c.Unit + " " + strings.Map(func(r rune) rune {
			if r >= '0' && r <= '9' {
				return -1
			}
			return r
		}, c.Name)
		g, there := kinds[kind]
		if !there {
			g = len(groups)
			kinds[kind], groups = g, append(groups, nil)
		}
		groups[g] = append(groups[g], i)
	}
	return groups
}

// estimate sets the latencies that are known of the groups, and returns those of greatest likelihood.
func (p *problem) estimate(ctx context.Context, begin []pair, varying []int, out *Result) ([]pair, error) {
	p.driven = nil
	at, err := p.fit(ctx, begin)
	if err != nil {
		return nil, err
	}
	p.drive(at)
	if at, err = p.fitFrom(ctx, at, false); err != nil {
		return nil, err
	}
	if begin == nil {
		if at, err = p.instrument(ctx, at, coarse*out.step); err != nil {
			return nil, err
		}
	}
	values, residuals, ok := p.values(at)
	if !ok {
		return at, nil
	}
	states := newProjector(p.A)
	out.open = 0
	for g, members := range p.groups {
		dead, lag, sum := values[3*g], values[3*g+1], values[3*g+2]
		l := model.Latency{Dead: dead.mean, DeadLow: dead.low, DeadHigh: dead.high, Lag: lag.mean, LagLow: lag.low, LagHigh: lag.high}
		own := p.own(g, states)
		inside := own && at[g][0] < p.longest
		l.Known = inside && dead.high-dead.low < p.longest/4
		read := l
		read.Known = inside && sum.high-sum.low < p.longest/4
		for _, i := range members {
			j := varying[i]
			if l.Known || !out.Inputs[j].Known {
				out.Inputs[j] = l
			}
			if read.Known || !out.fitted[j].Known {
				out.fitted[j] = read
			}
			if own && !out.Inputs[j].Known {
				out.open++
			}
		}
	}
	out.Gain = p.gain(residuals)
	return at, nil
}

// gain returns the root mean square of the residuals over that with inputs that act at once, of the responses that are driven; 1 where these have none.
func (p *problem) gain(residuals matrix) float64 {
	none, counts, used := p.residuals(make([]pair, len(p.groups))), p.anyDriven(), 0
	if none.Cols == 0 {
		return 1
	}
	for c := range residuals.Cols {
		if counts == nil || counts[c] {
			used++
		}
	}
	return math.Exp((cost(residuals, counts) - cost(none, counts)) / float64(residuals.Rows*max(used, 1)))
}

// follows is the share of an input's variance, beside what functions of the states explain, below which it follows from the states: the position
// that a servo is sent is where it is. When it acts is then what the functions lack, and no latency.
const follows = 0.005

// own reports whether the inputs of a group vary by themselves, beside what functions of the states explain.
func (p *problem) own(g int, states *projector) bool {
	if !states.ok {
		return false
	}
	acts := p.acts(g, pair{})
	rest := variances(states.rest(acts))
	for i := range p.groups[g] {
		c, mean := i*(p.lifted+2), 0.0
		for r := range acts.Rows {
			mean += acts.row(r)[c] / float64(acts.Rows)
		}
		if variance := variances(acts)[c] - mean*mean; rest[c] < follows*variance {
			return false
		}
	}
	return true
}

// moves reports whether an input has two values.
func moves(flights []window.Flight, j int) bool {
	first := math.NaN()
	for i := range flights {
		for n := range flights[i].N() {
			if v := flights[i].Input(n)[j]; !math.IsNaN(v) {
				if !math.IsNaN(first) && v != first {
					return true
				}
				first = v
			}
		}
	}
	return false
}
