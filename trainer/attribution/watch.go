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
	typical    []float64 // of each fault: median of the largest evidence in a block
	dispersion float64   // median of these
	tail       float64   // 90 % quantile of the largest evidence in a block over the typical one
	excess     float64   // mean of what is beyond it
	Seconds    float64   // of the flights
	Rate       float64   // false alarms per hour for which the threshold is set
}

// Rate of false alarms that is asked for, per hour; and the share of blocks in the tail.
const (
	Rate      = 0.1
	tailShare = 0.1
)

// leastNominal is the least time of flights that the tail is read from, s.
const leastNominal = 30.0

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
	var pooled []float64
	for _, b := range blocks {
		sorted := slices.Sorted(slices.Values(b))
		typical := math.Max(stat.Quantile(0.5, stat.Empirical, sorted, nil), 1)
		n.typical = append(n.typical, typical)
		for _, v := range b {
			pooled = append(pooled, v/typical)
		}
	}
	n.dispersion = stat.Quantile(0.5, stat.Empirical, slices.Sorted(slices.Values(n.typical)), nil)
	slices.Sort(pooled)
	n.tail = stat.Quantile(1-tailShare, stat.Empirical, pooled, nil)
	beyond, count := 0.0, 0.0
	for _, v := range pooled {
		if v > n.tail {
			beyond += v - n.tail
			count++
		}
	}
	n.excess = math.Max(beyond/math.Max(count, 1), leastExcess)
	return n, nil
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

// threshold returns the evidence over the typical one beyond which a fault is named.
func (n *Nominal) threshold() float64 {
	perHour := 3600 / memory * float64(len(n.faults)) * tailShare
	return n.tail + n.excess*math.Log(math.Max(perHour/n.Rate, 1))
}

// order returns the faults with the most evidence, and the largest evidence of any over what is typical
// for it.
func (n *Nominal) order(all []evidence) (first, second int, most float64) {
	second = min(1, len(all)-1)
	for j, e := range all {
		most = math.Max(most, e.D/n.typical[j])
		switch {
		case e.D > all[first].D:
			first, second = j, first
		case j != first && (e.D > all[second].D || second == first):
			second = j
		}
	}
	return first, second, most
}

// leastShare is the likelihood, over that of the most likely fault, from which on one that was named before is
// taken for the cause.
const leastShare = 0.05

// settle is how long after the threshold is passed the fault is named, s: at first the
// signatures of several are alike.
const settle = 0.5

// Watch names what changes in a flight.
func (n *Nominal) Watch(ctx context.Context, m *model.Model, f *window.Flight) (found []Found, err error) {
	all, err := moments(ctx, m, n.faults, f)
	if err != nil {
		return nil, err
	}
	w, threshold, passed := &watcher{faults: n.faults, edges: m.History.Edges}, n.threshold(), math.NaN()
	known, since := make([]float64, len(n.faults)), make([]float64, len(n.faults)) // amounts that were named, which are taken from what is left
	scratch := make([]float64, m.K)
	for i := range all {
		one := all[i]
		one.z = slices.Clone(one.z)
		for j, a := range known {
			if a != 0 {
				w.signature(scratch, &one, j, since[j])
				floats.AddScaled(one.z, -a, scratch)
			}
		}
		evidence := w.add(&one)
		first, second, most := n.order(evidence)
		if math.IsNaN(passed) && most > threshold {
			passed = one.end
		}
		if math.IsNaN(passed) || one.end < passed+settle && i < len(all)-1 {
			continue
		}
		total, likely := 0.0, evidence[first].D
		for j, e := range evidence {
			likelihood := math.Exp(2 * (e.D - likely) / n.dispersion)
			total += likelihood
			if known[j] != 0 && likelihood > leastShare {
				first = j
				break // what is left of a fault that was named, by a better amount
			}
		}
		e, fault := evidence[first], &n.faults[first]
		again := known[first] != 0
		known[first] += e.amount
		if !again {
			since[first] = e.since
		}
		passed = math.NaN()
		w = &watcher{faults: n.faults, edges: m.History.Edges}
		if again {
			continue // it was named: its amount is better known
		}
		found = append(found, Found{
			Segment: f.Name, T: one.end, Since: e.since, Kind: fault.Kind, Name: fault.Name, Amount: e.amount * fault.step, Unit: fault.Unit,
			Confidence: 1 / total, Second: n.faults[second].String(),
		})
	}
	return found, nil
}
