package attribution

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/trainer/window"
)

// Found is a change that was named.
type Found struct {
	Segment    string  `json:"segment"`
	T          float64 `json:"t"`     // s in the segment, when it was named
	Since      float64 `json:"since"` // s in the segment, the most likely onset
	Kind       string  `json:"kind"`
	Name       string  `json:"name"`
	Amount     float64 `json:"amount"`
	Unit       string  `json:"unit"`
	Confidence float64 `json:"confidence"` // share of the likelihood of all faults
	Second     string  `json:"second"`     // the next most likely
}

// Nominal is what the evidence for faults is in flights without one.
type Nominal struct {
	faults     []Fault
	threshold  []float64 // of each fault: evidence beyond which something has changed
	dispersion float64   // typical largest evidence in a block for a fault that did not happen
	Seconds    float64   // of the flights
	Rate       float64   // false alarms per hour for which the threshold is set
}

// Rate of false alarms that is asked for, per hour; and the share of blocks in the tail.
const (
	Rate      = 0.1
	tailShare = 0.1
)

// leastNominal is the least time of flights that the tail is read from, s.
const leastNominal = 20.0

// ErrTooShort is where flights without faults are too short.
var ErrTooShort = errors.New("too short")

// NewNominal reads the evidence of flights in which nothing changed.
func NewNominal(ctx context.Context, m *model.Model, flights []window.Flight) (*Nominal, error) {
	n := &Nominal{faults: faults(m), Rate: Rate}
	for i := range n.faults {
		if f := &n.faults[i]; f.Kind == Offset {
			f.step = offsetStep(flights, f.at)
		}
	}
	n.faults = slices.DeleteFunc(n.faults, func(f Fault) bool { return !(f.step > 0) })
	if len(n.faults) == 0 {
		return nil, fmt.Errorf("%w: the model has no inputs, and no state moves in flights of %.3g s", ErrTooShort, window.Duration(flights))
	}
	blocks := make([][]float64, len(n.faults))
	for i := range flights {
		all, err := moments(ctx, m, n.faults, &flights[i])
		if err != nil {
			return nil, err
		}
		w, largest, until := &watcher{faults: n.faults, edges: m.History.Edges}, make([]float64, len(n.faults)), math.NaN()
		for j := range all {
			if math.IsNaN(until) {
				until = all[j].end + memory
			}
			for f, e := range w.add(&all[j]) {
				largest[f] = math.Max(largest[f], e.D)
			}
			if all[j].end >= until {
				for f, v := range largest {
					blocks[f] = append(blocks[f], v)
				}
				clear(largest)
				until += memory
				n.Seconds += memory
			}
		}
	}
	if n.Seconds < leastNominal {
		return nil, fmt.Errorf("%w: %.3g s of flights without a fault, at least %g s are needed to know how often they look like one", ErrTooShort, n.Seconds, leastNominal)
	}
	var typical, pooled []float64
	for _, b := range blocks {
		slices.Sort(b)
		usual := math.Max(stat.Quantile(0.5, stat.Empirical, b, nil), 1)
		floats.Scale(1/usual, b)
		typical, pooled = append(typical, usual), append(pooled, b...)
	}
	slices.Sort(pooled)
	perHour := 3600 / memory * float64(len(n.faults)) * tailShare
	tail, excess := exponentialTail(pooled)
	for j, b := range blocks {
		ownTail, ownExcess := exponentialTail(b) // of a channel whose disturbances come and go
		n.threshold = append(n.threshold, typical[j]*(math.Max(tail, ownTail)+math.Max(excess, ownExcess)*math.Log(math.Max(perHour/n.Rate, 1))))
	}
	slices.Sort(typical)
	n.dispersion = stat.Quantile(0.5, stat.Empirical, typical, nil)
	return n, nil
}

// exponentialTail returns where the tail of values, ascending, begins, and the mean of what is beyond it.
func exponentialTail(sorted []float64) (from, excess float64) {
	from = stat.Quantile(1-tailShare, stat.Empirical, sorted, nil)
	i, _ := slices.BinarySearch(sorted, from)
	beyond := sorted[i:]
	return from, math.Max(stat.Mean(beyond, nil)-from, leastExcess)
}

// leastExcess is that of errors that are independent: the evidence of a fault that did not
// happen is half a χ² of one degree, about two typical blocks.
const leastExcess = 0.5

// offsetStep returns the step of an offset's signature: a hundredth of the channel's spread.
func offsetStep(flights []window.Flight, k int) float64 {
	var x []float64
	for i := range flights {
		for j := 0; j < flights[i].N(); j += 10 {
			if v := flights[i].State(j)[k]; !math.IsNaN(v) {
				x = append(x, v)
			}
		}
	}
	return stat.StdDev(x, nil) / 100
}

// order returns the faults with the most evidence, and whether that for any is beyond its threshold.
func (n *Nominal) order(all []evidence) (first, second int, changed bool) {
	second = min(1, len(all)-1)
	for j, e := range all {
		changed = changed || e.D > n.threshold[j]
		switch {
		case e.D > all[first].D:
			first, second = j, first
		case j != first && (e.D > all[second].D || second == first):
			second = j
		}
	}
	return first, second, changed
}

// settle is how long after the threshold is passed the fault is named, s: at first the
// signatures of several are alike.
const settle = 0.5

// Watch names what changes first in a flight; nil = nothing. What the model predicts after it is of
// another robot, and is not watched.
func (n *Nominal) Watch(ctx context.Context, m *model.Model, f *window.Flight) (*Found, error) {
	all, err := moments(ctx, m, n.faults, f)
	if err != nil {
		return nil, err
	}
	w, passed := &watcher{faults: n.faults, edges: m.History.Edges}, math.Inf(1)
	for i := range all {
		one := &all[i]
		evidence := w.add(one)
		first, second, changed := n.order(evidence)
		if changed {
			passed = math.Min(passed, one.end)
		}
		if math.IsInf(passed, 1) || one.end < passed+settle && i < len(all)-1 {
			continue
		}
		total, e, fault := 0.0, evidence[first], &n.faults[first]
		for _, other := range evidence {
			total += math.Exp(2 * (other.D - e.D) / n.dispersion)
		}
		return &Found{
			Segment: f.Name, T: one.end, Since: e.since, Kind: fault.Kind, Name: fault.Name, Amount: e.amount * fault.step, Unit: fault.Unit,
			Confidence: 1 / total, Second: n.faults[second].String(),
		}, nil
	}
	return nil, nil
}
