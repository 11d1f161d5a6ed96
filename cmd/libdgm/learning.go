//go:build cgo

package main

import (
	"errors"
	"math"
	"sync"

	"github.com/dgm-robotics/dgm/estimator"
	"github.com/dgm-robotics/dgm/estimator/adapt"
	"github.com/dgm-robotics/dgm/estimator/filter"
	"github.com/dgm-robotics/dgm/estimator/priordynamics"
)

// learning is what samples of the robot of today have shown of one open model.
type learning struct {
	lock   sync.Mutex
	filter *adapt.Filter // nil = no sample has come
	newest int64         // ns
}

// learn adds a sample at t, ns.
func (l *loaded) learn(t int64, x, u []float64) error {
	if len(x) != l.m.K || len(u) != l.m.P {
		return fail(codeWrong, "x and u have %d and %d numbers, expected %d and %d", len(x), len(u), l.m.K, l.m.P)
	}
	for _, v := range append(append([]float64(nil), x...), u...) {
		if v-v != 0 || math.IsNaN(v) {
			return fail(codeWrong, "a number of x or u is %v", v)
		}
	}
	l.learned.lock.Lock()
	defer l.learned.lock.Unlock()
	if l.learned.filter == nil {
		f, err := adapt.New(l.m, func(times []float64) (adapt.Predictor, error) { return l.fast.For(times) })
		switch {
		case errors.Is(err, adapt.ErrNone):
			return fail(codeUnsupported, "%v", err)
		case err != nil:
			return err
		}
		l.learned.filter, l.learned.newest = f, math.MinInt64
	}
	if t <= l.learned.newest {
		return fail(codeWrong, "t: %d ns is not after the last sample, at %d ns", t, l.learned.newest)
	}
	l.learned.newest = t
	l.learned.filter.Observed(t, x, u)
	return nil
}

// forget forgets all samples.
func (l *loaded) forget() {
	l.learned.lock.Lock()
	l.learned.filter = nil
	l.learned.lock.Unlock()
}

// changed has an estimator move the robot of today, if a sample was learned from; by is its memory.
func (l *loaded) changed(e *filter.Estimator, by *priordynamics.Change) {
	l.learned.lock.Lock()
	defer l.learned.lock.Unlock()
	if l.learned.filter != nil {
		l.learned.filter.Change(by)
		e.Changed(by)
	}
}

// amounts returns what was learned; none before the first sample.
func (l *loaded) amounts() []adapt.Amount {
	l.learned.lock.Lock()
	defer l.learned.lock.Unlock()
	if l.learned.filter == nil {
		return nil
	}
	return l.learned.filter.State().Amounts(l.m)
}

// correction corrects the answers of one worker by the state of a call.
type correction struct {
	by    *adapt.Corrector
	state *adapt.State
}

func (c *correction) Effective(q *estimator.Query) *estimator.Query {
	return c.by.Effective(q, c.state)
}

func (c *correction) Correct(dst *estimator.Prediction, q *estimator.Query) bool {
	return c.by.Correct(dst, q, c.state)
}

// correct makes the answers of p those of the robot of today. Corrected before, they stay those of the model where
// everything was forgotten.
func (l *loaded) correct(p *predictor) {
	l.learned.lock.Lock()
	defer l.learned.lock.Unlock()
	if l.learned.filter == nil {
		if p.state != nil {
			p.batch.Corrected(nil)
			p.state = nil
		}
		return
	}
	if p.state == nil {
		p.state = new(adapt.State)
		p.batch.Corrected(func() estimator.Correction { return &correction{adapt.NewCorrector(l.m), p.state} })
	}
	p.state.CopyFrom(l.learned.filter.State())
}
