package node

import (
	"fmt"
	"math"
	"slices"

	"github.com/dgm-robotics/dgm/estimator"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/wire"
)

// craft is a model made ready to predict: all that changes when another model is
// taken. It is made on any goroutine and then used by one.
type craft struct {
	m      *model.Model
	times  []float64 // s
	rungs  rungs
	bridge *bridge // nil where each state is answered
	health *health // nil where the model has no dynamics net
	file   []byte  // the model's, where what happens is recorded
	trust  []byte  // what was known of its intervals when it was last in use; nil = nothing
}

// newCraft takes the memory for a model under a configuration, which is complete
// but for the times.
func newCraft(c *Config, m *model.Model) (*craft, error) {
	m = private(m)
	if err := m.Check(); err != nil { // completes what follows from other fields
		return nil, err
	}
	times := c.Times
	if times == nil {
		times = modelTimes(m)
	}
	r := &craft{times: times}
	var err error
	if c.Record != "" {
		if r.file, m, err = asFile(m); err != nil {
			return nil, err
		}
	}
	r.m = m
	of := &predictors{m: m, plain: c.Plain}
	if r.rungs, err = newRungs(of, times, c.Chain); err != nil {
		return nil, err
	}
	if c.Rate > 0 {
		if !m.Displacement {
			return nil, fmt.Errorf("the model does not start its predictions at the state, so that no state can be propagated to a tick: train one of windows, or answer each state")
		}
		if r.bridge, err = newBridge(of, min(silentFrom*c.AgeLimit.Seconds(), m.Horizon)); err != nil {
			return nil, err
		}
	}
	r.health = newHealth(of, times)
	return r, nil
}

// private returns a model of which nothing is shared that checking it writes: what
// follows from other fields is filled in by whoever makes a predictor, and several
// goroutines do.
func private(m *model.Model) *model.Model {
	own := *m
	own.Members, own.Refits = slices.Clone(m.Members), slices.Clone(m.Refits)
	return &own
}

// modelTimes returns the times that a model predicts at where nothing else is
// asked for.
func modelTimes(m *model.Model) []float64 {
	times := make([]float64, m.Points)
	for i := range times {
		times[i] = m.Horizon * float64(i+1) / float64(m.Points)
	}
	return times
}

// fits returns an error if a model cannot take the place of another while states
// come.
func fits(m, before *model.Model) error {
	a, b := wire.Layout(m.Channels), wire.Layout(before.Channels)
	if m.K != before.K || m.P != before.P || a != b {
		return fmt.Errorf("the model has %d states and %d inputs with layout %s, the one in use has %d and %d with layout %s: it is of another vehicle, or its channels are in another order",
			m.K, m.P, a, before.K, before.P, b)
	}
	return nil
}

// warm predicts once from the model's mean inputs, with every predictor that there
// is, so that memory is there and the first costs are known.
func (r *craft) warm(now func() int64) {
	q := estimator.Query{X0: make([]float64, r.m.K)}
	if len(r.m.Checks) > 0 {
		q.X0 = r.m.Checks[0].X0
	}
	for i := range r.rungs {
		g := &r.rungs[i]
		for range 2 { // the first one finds its memory
			began := now()
			g.p.predict(g.dst, &q)
			g.cost = cost{mean: float64(now() - began)}
		}
	}
	if r.bridge != nil {
		r.bridge.start(&q, r.m.Sensor)
	}
}

func sqrt(v float64) float64 { return math.Sqrt(max(v, 0)) }
