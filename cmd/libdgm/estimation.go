//go:build cgo

package main

import (
	"math"
	"sync"

	"github.com/dgm-robotics/dgm/estimator/filter"
	"github.com/dgm-robotics/dgm/estimator/priordynamics"
)

// estimation is what the samples of dgm_update make of the state of one open model.
type estimation struct {
	lock      sync.Mutex
	estimator *filter.Estimator // nil = no sample has come, or the model has no filter
	input     []float64         // P, held from the last sample on
	measured  []float64         // K, of the last sample
	change    *priordynamics.Change
}

// estimate is a dgm_estimate; of length 0 is not wanted.
type estimate struct {
	x, p0, p, innovation, ratio []float64
	p0Used                      int
	taken                       filter.Taken
	unsettled                   bool
}

// update takes a sample at t, ns: y (K) with NaN for what was not measured, u (P) from then on, of length 0 the last one.
func (l *loaded) update(t int64, y, u []float64, e *estimate) error {
	K, P := l.m.K, l.m.P
	if len(y) != K || len(u) != P && len(u) != 0 {
		return fail(codeWrong, "y and u have %d and %d numbers, expected %d and %d, or no u", len(y), len(u), K, P)
	}
	for _, f := range [...]struct {
		name      string
		got, want int
	}{{"x", len(e.x), K}, {"P0", len(e.p0), K * K}, {"P", len(e.p), K * K}, {"innovation", len(e.innovation), K}, {"ratio", len(e.ratio), K}} {
		if f.got != 0 && f.got != f.want {
			return fail(codeWrong, "%s: has room for %d numbers, expected %d or none", f.name, f.got, f.want)
		}
	}
	for k, v := range y {
		if math.IsInf(v, 0) {
			return fail(codeWrong, "y: %s is %v; a state that was not measured is NaN", l.m.Channels[k].Name, v)
		}
	}
	for k, v := range u {
		if v-v != 0 {
			return fail(codeWrong, "u: %s is %v", l.m.Channels[K+k].Name, v)
		}
	}
	s := &l.estimated
	s.lock.Lock()
	defer s.lock.Unlock()
	if l.m.Filter == nil {
		return l.passOn(y, e)
	}
	if s.estimator == nil {
		made, err := filter.NewEstimator(l.m)
		if err != nil {
			return err
		}
		made.KeepLate()
		s.estimator, s.input, s.change = made, append([]float64(nil), l.m.Inputs.InputMean[:P]...), priordynamics.NewChange(K, P)
	}
	if len(u) == P {
		copy(s.input, u)
	}
	s.measured = append(s.measured[:0], y...)
	for k, c := range l.m.Channels[:K] {
		if c.Estimated {
			s.measured[k] = math.NaN()
		}
	}
	of := s.estimator
	l.changed(of, s.change)
	e.taken = of.Take(t, s.measured, s.input, true)
	if e.unsettled = !of.Filter.Settled(); len(e.x) > 0 {
		of.State(e.x, s.measured)
	}
	if len(e.p0) > 0 {
		e.p0Used = copy(e.p0, of.StartCovariance())
	}
	if len(e.p) > 0 {
		of.Covariance(e.p)
	}
	nu, ratio := of.Filter.Innovations()
	copy(e.innovation, nu)
	copy(e.ratio, ratio)
	if e.taken.Dropped {
		e.nothing()
	}
	return nil
}

// nothing has no innovations.
func (e *estimate) nothing() {
	for _, of := range [...][]float64{e.innovation, e.ratio} {
		for k := range of {
			of[k] = math.NaN()
		}
	}
}

// passOn makes a sample of a model without a filter the state itself.
func (l *loaded) passOn(y []float64, e *estimate) error {
	for k, v := range y {
		if math.IsNaN(v) {
			return fail(codeWrong, "y: %s is not measured, and the model has no filter that would estimate it", l.m.Channels[k].Name)
		}
	}
	copy(e.x, y)
	clear(e.p)
	for k, r := range l.m.Sensor {
		if len(e.p) > 0 {
			e.p[k*l.m.K+k] = r
		}
	}
	e.nothing()
	e.taken.Used = len(y)
	return nil
}

// restart forgets all samples of update.
func (l *loaded) restart() {
	l.estimated.lock.Lock()
	l.estimated.estimator = nil
	l.estimated.lock.Unlock()
}
