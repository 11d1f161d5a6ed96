package attribution

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

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
	faults    []Fault
	whitening *whitening
	threshold []float64 // of each fault and range of ages: evidence beyond which something has changed
	excess    []float64 // of each as well: the mean of the evidence beyond the tail's beginning
	Seconds   float64   // of the flights
	Rate      float64   // false alarms per hour for which the threshold is set
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
	parts := halves(flights)
	each, both, err := whitenings(ctx, m, parts)
	if err != nil {
		return nil, err
	}
	n.whitening = both
	blocks := make([][]float64, len(n.faults)*len(ages))
	for i, half := range parts {
		for f := range half {
			if err := n.block(ctx, m, newWatcher(each[1-i], n.faults, m.History.Edges), &half[f], blocks); err != nil {
				return nil, err
			}
		}
	}
	if n.Seconds < leastNominal {
		return nil, fmt.Errorf("%w: %.3g s of flights without a fault, at least %g s are needed to know how often they look like one", ErrTooShort, n.Seconds, leastNominal)
	}
	n.setThresholds(blocks)
	return n, nil
}

// halves splits flights where half of their time has passed.
func halves(flights []window.Flight) (out [2][]window.Flight) {
	left := window.Samples(flights) / 2
	for i := range flights {
		f := &flights[i]
		at := min(max(left, 0), f.N())
		left -= f.N()
		for half, part := range [2]window.Flight{f.Slice(0, at), f.Slice(at, f.N())} {
			if part.N() > 1 {
				out[half] = append(out[half], part)
			}
		}
	}
	return out
}

// block appends the largest evidence in blocks of time of a flight to those of each fault and range of ages.
func (n *Nominal) block(ctx context.Context, m *model.Model, w *watcher, f *window.Flight, blocks [][]float64) error {
	largest, until := make([]float64, len(blocks)), math.NaN()
	for one, err := range moments(ctx, m, n.faults, f) {
		if err != nil {
			return err
		}
		if math.IsNaN(until) {
			until = one.end + memory
		}
		for i, e := range w.add(one) {
			largest[i] = math.Max(largest[i], e.D)
		}
		if one.end >= until {
			for i, v := range largest {
				blocks[i] = append(blocks[i], v)
			}
			clear(largest)
			until += memory
			n.Seconds += memory
		}
	}
	return nil
}

// setThresholds sets them by the tails of the largest evidence in blocks of time: those of all faults at ages of one range, and of
// each its own, of a channel whose disturbances come and go.
func (n *Nominal) setThresholds(blocks [][]float64) {
	typical, pooled := make([]float64, len(blocks)), make([][]float64, len(ages))
	for i, b := range blocks {
		slices.Sort(b)
		typical[i] = math.Max(stat.Quantile(0.5, stat.Empirical, b, nil), 1)
		for _, v := range b {
			pooled[i%len(ages)] = append(pooled[i%len(ages)], v/typical[i])
		}
	}
	n.threshold, n.excess = make([]float64, len(blocks)), make([]float64, len(blocks))
	number := math.Log(math.Max(3600/memory*float64(len(blocks))*tailShare/n.Rate, 1))
	for age, p := range pooled {
		slices.Sort(p)
		tail, excess := exponentialTail(p)
		for i := age; i < len(blocks); i += len(ages) {
			ownTail, ownExcess := exponentialTail(blocks[i])
			n.excess[i] = max(typical[i]*excess, ownExcess, leastExcess)
			n.threshold[i] = math.Max(typical[i]*tail, ownTail) + number*n.excess[i]
		}
	}
}

// exponentialTail returns where the tail of values, ascending, begins, and the mean of what is beyond it.
func exponentialTail(sorted []float64) (from, excess float64) {
	from = stat.Quantile(1-tailShare, stat.Empirical, sorted, nil)
	i, _ := slices.BinarySearch(sorted, from)
	beyond := sorted[i:]
	return from, stat.Mean(beyond, nil) - from
}

// leastExcess is that of innovations that are normal and independent: the evidence of a fault that did not
// happen is half a χ² of one degree.
const leastExcess = 1.0

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

// candidate is a fault with its evidence at the age where it is most beyond the threshold.
type candidate struct {
	evidence
	at     int // fault and range of ages
	beyond float64
}

// order returns all faults, the one whose evidence is farthest beyond its threshold first.
func (n *Nominal) order(all []evidence) []candidate {
	out := make([]candidate, len(n.faults))
	for j := range out {
		out[j].beyond = math.Inf(-1)
		for i := j * len(ages); i < (j+1)*len(ages); i++ {
			if beyond := all[i].D - n.threshold[i]; beyond > out[j].beyond {
				out[j] = candidate{all[i], i, beyond}
			}
		}
	}
	slices.SortFunc(out, func(a, b candidate) int { return cmp.Compare(b.beyond, a.beyond) })
	return out
}

// settle is how long after the threshold is passed the fault is named, s: at first the
// signatures of several are alike.
const settle = 0.5

// Watch names what changes first in a flight; nil = nothing. What the model predicts after it is of
// another robot, and is not watched.
func (n *Nominal) Watch(ctx context.Context, m *model.Model, f *window.Flight) (*Found, error) {
	w, passed := newWatcher(n.whitening, n.faults, m.History.Edges), math.Inf(1)
	var found *Found
	for one, err := range moments(ctx, m, n.faults, f) {
		if err != nil {
			return nil, err
		}
		order := n.order(w.add(one))
		if order[0].beyond > 0 {
			passed, found = math.Min(passed, one.end), n.found(order, f, one.end)
		}
		if one.end < passed+settle {
			continue
		}
		if order[0].beyond > 0 {
			return found, nil
		}
		passed, found = math.Inf(1), nil // what came next contradicts it
	}
	return found, nil
}

// found describes the first of the candidates.
func (n *Nominal) found(order []candidate, f *window.Flight, t float64) *Found {
	first, second, total := &order[0], &order[min(1, len(order)-1)], 0.0
	for i := range order {
		total += math.Exp((order[i].beyond - first.beyond) / n.excess[first.at])
	}
	fault := &n.faults[first.at/len(ages)]
	return &Found{
		Segment: f.Name, T: t, Since: first.since, Kind: fault.Kind, Name: fault.Name, Amount: first.amount * fault.step, Unit: fault.Unit,
		Confidence: 1 / total, Second: n.faults[second.at/len(ages)].String(),
	}
}
