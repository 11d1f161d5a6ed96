package node

import (
	"github.com/dgm-robotics/dgm/estimator"
	"github.com/dgm-robotics/dgm/estimator/node/trust"
	"github.com/dgm-robotics/dgm/estimator/wire"
)

// engine turns states into messages. It reads no clock: what the time was, and
// what was chosen by it, it is told in a task. So the same tasks give the same
// messages, bit for bit, which is what a replay does.
type engine struct {
	cfg   *Config
	craft *craft
	trust *trust.Monitor // nil = switched off

	out    wire.Prediction
	factor []float64 // T×K
	health int       // predictions until the next look
	bridge bool      // the bridge stands on the state of the present task
	query  estimator.Query
}

// task is one prediction to be made: the state, and what the clock said.
type task struct {
	a     *arrival
	tick  uint64 // 0 = the answer to a state
	due   int64  // ns, steady: the tick, or when work on the state began
	rung  int
	fresh bool // the first task of its state

	contested bool
	end       int64 // ns, steady, when the prediction was ready
	unix      int64 // ns, the same on the wall clock; 0 where that is not the robot's
}

func newEngine(cfg *Config, c *craft) *engine {
	e := &engine{cfg: cfg}
	e.use(c)
	return e
}

// use takes another model. What is known of the intervals of the last one goes
// with it.
func (e *engine) use(c *craft) {
	e.craft, e.bridge = c, false
	m := c.m
	o := &e.out
	o.Vehicle, o.Model, o.Instance = e.cfg.Vehicle, m.ID, e.cfg.Instance
	o.Channels, o.Units = nil, nil
	for _, ch := range m.Channels[:m.K] {
		o.Channels = append(o.Channels, ch.Name)
		o.Units = append(o.Units, ch.Unit)
	}
	e.trust, e.factor = nil, nil
	if !e.cfg.NoTrust {
		period := make([]float64, m.K)
		for k := range period {
			period[k] = m.Channels[k].Period
		}
		e.trust = trust.New(trust.Config{K: m.K, Times: c.times, Period: period, Every: e.cfg.FalseAlarms.Seconds()})
		if c.trust != nil {
			_ = e.trust.Restore(c.trust, m.ID) // was tried when it was read
		}
		e.factor = make([]float64, len(c.times)*m.K)
	}
}

// age returns how old the state of a task is at its time, ns.
func (k *task) age() int64 { return max(k.a.age+k.due-k.a.at, 0) }

// predict makes the prediction of a task. What it returns belongs to the engine.
func (e *engine) predict(k *task) (*estimator.Prediction, wire.Reason) {
	s := &k.a.state
	q := &e.query
	*q = estimator.Query{X0: s.X, P0: orNil(s.P0), U: orNil(s.U), Plan: orNil(s.Plan)}
	age := k.age()
	if k.fresh {
		e.bridge = false
	}
	if k.tick == 0 && age > int64(e.cfg.Validity) {
		return nil, wire.Expired
	}
	if _, _, ok := judgeAge(age, int64(e.cfg.AgeLimit)); !ok {
		return nil, wire.TooOld
	}
	if k.tick > 0 {
		b := e.craft.bridge
		if !e.bridge {
			if e.bridge = b.start(q, e.craft.m.Sensor); !e.bridge {
				return nil, wire.NonFinite
			}
		}
		b.at(float64(age) * 1e-9)
		q.X0, q.P0, q.Plan = b.x, b.P, b.planFrom(q.Plan, float64(age)*1e-9)
	}
	g := &e.craft.rungs[k.rung]
	if !g.p.predict(g.dst, q) {
		return nil, wire.NonFinite
	}
	return g.dst, wire.OK
}

// finish makes the message of a prediction, or says why it must not be sent. It is
// appended to dst.
func (e *engine) finish(dst []byte, k *task, d *estimator.Prediction) ([]byte, wire.Reason) {
	s, age := &k.a.state, k.age()
	validity := int64(e.cfg.Validity)
	t, waited := s.T, k.end-k.a.at+k.a.age // since it was measured
	if k.tick > 0 {
		t, waited = s.T+age, k.end-k.due
	}
	last := d.Times[len(d.Times)-1]
	validity = min(validity, int64(last*1e9))
	// By the wall clock too, which goes on where a suspended computer's steady one
	// does not, and by which planners judge.
	if waited > validity || (k.unix != 0 && k.unix > t+validity) {
		return dst, wire.Expired
	}
	if e.trust != nil {
		e.trust.Predicted(t, d.Mean, d.ObsStd)
		e.trust.Factors(e.factor[:len(d.Mean)])
	}
	widen, f, _ := judgeAge(age, int64(e.cfg.AgeLimit))
	if widen > 1 {
		for i := range d.Std {
			d.Std[i] *= widen
			d.ObsStd[i] *= widen
		}
	}
	o := &e.out
	o.Seq, o.T, o.ValidUntil, o.Tick, o.Age = s.Seq, t, t+validity, k.tick, 0
	if k.tick > 0 {
		o.Age = float64(age) * 1e-9
	}
	o.Horizon, o.Mean, o.Std, o.ObsStd = d.Times, d.Mean, d.Std, d.ObsStd
	o.Inputs, o.OOD = d.Readout.String(), d.OOD
	o.Factor = e.factor[:min(len(e.factor), len(d.Mean))]
	o.Flags = f | e.flags(k, d)
	return o.Append(dst), wire.OK
}

// flags returns the flags of a prediction but for those of the state's age.
func (e *engine) flags(k *task, d *estimator.Prediction) wire.Flags {
	var f wire.Flags
	set := func(flag wire.Flags, on bool) {
		if on {
			f |= flag
		}
	}
	deadline := e.cfg.deadline(k.a.period)
	set(wire.Late, deadline > 0 && k.end-k.from() > deadline)
	set(wire.OutOfDistribution, d.OutOfDistribution)
	set(wire.Contested, k.contested)
	set(wire.Partial, e.craft.m.Provenance.Partial != "")
	set(wire.Shortened, k.rung > 0)
	set(wire.Miscalibrated, e.trust != nil && e.trust.Miscalibrated() > 0)
	set(wire.CarriedCovariance, len(k.a.state.P0) > 0 && e.craft.m.Displacement)
	set(wire.Chained, k.tick > 0 || e.craft.rungs[k.rung].p.chained())
	return f
}

// from returns when the time of a deadline began: with the tick, or when the state
// came.
func (k *task) from() int64 {
	if k.tick > 0 {
		return k.due
	}
	return k.a.at
}

// learn takes from a state what it tells about predictions made before, after the
// state was predicted from.
func (e *engine) learn(k *task) {
	if k.fresh && e.trust != nil {
		e.trust.Observed(k.a.state.T, k.a.state.X)
	}
}

// look takes the task's query into the health score, now and then.
func (e *engine) look() {
	if e.craft.health == nil {
		return
	}
	if e.health--; e.health <= 0 {
		e.health = healthEvery
		e.craft.health.look(&e.query)
	}
}

// orNil makes an absent vector nil, which is how a query says so.
func orNil(v []float64) []float64 {
	if len(v) == 0 {
		return nil
	}
	return v
}
