package node

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"

	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/model/artificial"
	"github.com/dgm-robotics/dgm/estimator/wire"
)

const adaptableStep = 0.01 // s, of the equation and between states

// changed is the robot of artificial.Adaptable whose input has another effect, with a clock.
type changed struct {
	t      *testing.T
	n      *Node
	c      *clock
	nc     *nats.Conn
	sent   *listener
	gain   float64 // of the input, over that of the training data: −0.2 = a fifth is lost
	x      [2]float64
	u      float64
	held   bool // the input does not change
	seq    uint64
	rng    *rand.Rand
	change func(s *wire.State) // (optional) of what is sent
	scale  [3]float64          // standard deviations by which the equation divides states and the input
	last   *wire.Prediction
}

func newChanged(t *testing.T, cfg Config, gain float64) *changed {
	return newChangedAt(t, cfg, gain, 5e18/4)
}

// newChangedAt is newChanged at a time, ns.
func newChangedAt(t *testing.T, cfg Config, gain float64, unix int64) *changed {
	return newChangedOf(t, artificial.Adaptable(3, adaptableStep), cfg, gain, unix)
}

// filtered gives a model that adapts a filter with its equation.
func filtered(m *model.Model) *model.Model {
	m.Filter = &model.Filter{R: []float64{3e-6, 3e-6}, Chains: []model.FilterChain{{Position: 0, Rate: 1, Q: 1e-6, Settled: 1}}, Start: []float64{1, 1}, Gap: 1, Equation: *model.EquationOf(m.Stack)}
	return m
}

// newChangedOf is newChangedAt with a model.
func newChangedOf(t *testing.T, m *model.Model, cfg Config, gain float64, unix int64) *changed {
	c := &clock{unix: unix}
	cfg.Vehicle, cfg.Clock = "v1", c.read
	n, err := New(cfg, m)
	if err != nil {
		t.Fatal(err)
	}
	nc := connect(t, serve(t, 0).ClientURL(), nil)
	sent := listen(t, nc, wire.AllPredictions)
	e := model.EquationOf(m.Stack)
	return &changed{t: t, n: n, c: c, nc: nc, sent: sent, gain: gain, rng: rand.New(rand.NewPCG(1, 2)), scale: [3]float64{e.Lift.Std[0], e.Lift.Std[1], m.Inputs.InputStd[0]}}
}

// fly sends states for so many seconds, each of which is answered.
func (r *changed) fly(s float64) {
	r.t.Helper()
	for range int(math.Round(s / adaptableStep)) {
		if r.rng.Float64() < 0.05 && !r.held {
			r.u = 2 * r.rng.NormFloat64()
		}
		r.seq++
		state := wire.State{Seq: r.seq, T: r.c.unix, U: []float64{r.u}, X: []float64{r.x[0] + 0.0015*r.rng.NormFloat64(), r.x[1] + 0.0015*r.rng.NormFloat64()}}
		if r.change != nil {
			r.change(&state)
		}
		r.n.intake.Receive(state.Append(nil), 0)
		_, before := r.n.Totals()
		if rate := r.n.cfg.Rate; rate > 0 {
			if r.seq%uint64(math.Round(1/(rate*adaptableStep))) == 0 {
				r.n.worker.tick(r.nc, r.seq, r.c.steady)
			}
		} else if a := r.n.intake.Mailbox.Get(); a != nil {
			r.n.worker.answer(r.nc, a)
		}
		if _, after := r.n.Totals(); after > before {
			r.last = r.sent.prediction()
		}
		x0, x1, u := r.x[0]/r.scale[0], r.x[1]/r.scale[1], (1+r.gain)*r.u/r.scale[2]
		r.x[0] += -0.02*x0 + 0.016*u
		r.x[1] += 0.01*x0 - 0.02*x1
		r.c.pass(int64(adaptableStep * 1e9))
	}
}

// status returns the status of this moment.
func (r *changed) status() *wire.Status {
	r.n.status.snapshot.request(true)
	r.n.status.snapshot.update(r.n.worker.engine, r.n.cfg.Clock)
	return r.n.compose(0)
}

// gainOf returns the learned gain of the input, %.
func gainOf(t *testing.T, s *wire.Status) wire.Amount {
	t.Helper()
	i := slices.IndexFunc(s.Amounts, func(a wire.Amount) bool { return strings.HasPrefix(a.Name, "gain ") })
	if i < 0 {
		t.Fatalf("no gain among %+v", s.Amounts)
	}
	return s.Amounts[i]
}
