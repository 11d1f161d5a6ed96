package dynamicsnet

import (
	"context"
	"math"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"testing"

	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/numeric/mlp"
	prior "github.com/dgm-robotics/dgm/estimator/priordynamics"
	"github.com/dgm-robotics/dgm/trainer/priordynamics"
	"github.com/dgm-robotics/dgm/trainer/priordynamics/manipulator"
	"github.com/dgm-robotics/dgm/trainer/window"
)

// swing is a damped pendulum that a torque drives: θ̈ = −9 sin θ − 0.3 θ̇ + u, θ = 0 hanging.
// The angle does not wrap, and so is no channel that a lifting makes a sine of: a linear
// equation cannot follow it.
func swing(seed uint64, flights int) (out []window.Flight) {
	rng := rand.New(rand.NewPCG(seed, 0))
	for at := range flights {
		s := window.Series{Name: "swing"}
		x, v, u := 2.5*(2*rng.Float64()-1), 2*rng.NormFloat64(), 0.0
		for i := range 300 {
			if i%40 == 0 {
				u = 2 * rng.NormFloat64()
			}
			s.T, s.X, s.U = append(s.T, int64(i)*1e7), append(s.X, x, v), append(s.U, u)
			for range 10 {
				v += 1e-3 * (-9*math.Sin(x) - 0.3*v + u)
				x += 1e-3 * v
			}
		}
		out = append(out, window.Prepare(at, s, swinging.States, 1, window.Options{})...)
	}
	return out
}

var swinging = window.Task{States: []channel.Channel{{Name: "angle", Role: channel.State}, {Name: "rate", Role: channel.State}}, Inputs: 1, Horizon: 0.5}

// small are settings of a training of a second.
func small() Settings {
	s := Default(2)
	s.Hidden = []int{16}
	s.Match.Steps, s.Shoot.Steps, s.Shoot.Windows = 600, 100, 500
	return s
}

func linear(t *testing.T, flights []window.Flight) *prior.Model {
	t.Helper()
	m, err := priordynamics.Regress(flights, swinging, priordynamics.Shape{Step: 0.02, Degree: 1, Ridge: 1e-9})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// errorOf is the score on flights that are held out.
func errorOf(m *prior.Model, held []window.Flight) float64 {
	return score([]*trial{{fold: window.Fold{Held: held}, task: swinging}}, func(*trial) *prior.Model { return m })
}

func TestNetsLearnWhatTheEquationLeaves(t *testing.T) {
	train, held := swing(1, 12), swing(2, 4)
	m := linear(t, train)
	before := errorOf(m, held)
	nets, err := Train(context.Background(), m, train, swinging, small(), []uint64{1, 2})
	if err != nil {
		t.Fatal(err)
	}
	for i := range nets {
		if err := nets[i].Check(2, 1); err != nil {
			t.Error(err)
		}
		if got := errorOf(&nets[i], held); !(got < 0.35*before) {
			t.Errorf("net %d: error %.4f, the equation's is %.4f", i, got, before)
		}
	}
	if reflect.DeepEqual(nets[0].Net, nets[1].Net) {
		t.Error("two seeds, one net")
	}
	if len(m.Net.Layers) > 0 {
		t.Error("the equation was changed")
	}
	// The result does not depend on the number of processors.
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	again, err := Train(context.Background(), m, train, swinging, small(), []uint64{1})
	if err != nil || !reflect.DeepEqual(again[0], nets[0]) {
		t.Errorf("another result on one processor, %v", err)
	}
}

func TestChooseTakesTheDecayWithTheLeastError(t *testing.T) {
	flights := swing(3, 8)
	folds := window.Folds(flights, swinging.Horizon, 2)
	c, err := Choose(context.Background(), folds, swinging, prior.Body{}, prior.Chain{}, small(), 1)
	if err != nil {
		t.Fatal(err)
	}
	best := slices.MinFunc(c.Candidates, func(a, b Candidate) int {
		if a.Score < b.Score {
			return -1
		}
		return 1
	})
	if c.Settings.Decay != best.Decay || !(best.Score < c.Equation) || len(c.Folds) != len(folds) {
		t.Errorf("%+v", c)
	}
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	nets, err := c.Fit(ended, flights, []uint64{1, 2, 3})
	if err != nil || len(nets) != 3 {
		t.Fatalf("%d nets, %v", len(nets), err)
	}
	// A net without any training is the equation.
	if out := nets[0].Net.Layers[1].W; slices.ContainsFunc(out, func(w float64) bool { return w != 0 }) {
		t.Errorf("weights %v of a net that was not trained", out)
	}
	if brief, err := Choose(ended, folds, swinging, prior.Body{}, prior.Chain{}, small(), 1); err != nil || len(brief.Candidates) != 1 {
		t.Errorf("after the context ended: %+v, %v", brief, err)
	}
	if _, err := Choose(ended, nil, swinging, prior.Body{}, prior.Chain{}, small(), 1); err == nil {
		t.Error("a choice without folds")
	}
}

// A pendulum is a chain of one link, which is below its nets.
func TestNetsOnAChain(t *testing.T) {
	pendulum := swinging
	pendulum.States = []channel.Channel{{Name: "angle", Role: channel.State, Period: channel.Angle, Derivative: "rate"}, {Name: "rate", Role: channel.State}}
	flights, set := swing(8, 4), small()
	set.Match.Steps, set.Shoot.Steps = 150, 25 // nets have next to nothing to learn
	chain, _ := manipulator.Identify(context.Background(), flights, pendulum, math.Inf(1))
	c, err := Choose(context.Background(), window.Folds(flights, pendulum.Horizon, 2), pendulum, prior.Body{}, chain, set, 1)
	if err != nil {
		t.Fatal(err)
	}
	if !c.Chained() || !(c.Equation < 0.01) || len(c.Candidates) != 1 {
		t.Errorf("%+v", c)
	}
	nets, err := c.Fit(context.Background(), flights, []uint64{1})
	if err != nil {
		t.Fatal(err)
	}
	if err := nets[0].Check(2, 1); err != nil || math.Abs(nets[0].Chain.Sine[0]-9) > 0.1 {
		t.Errorf("gravity %v, in truth 9; %v", nets[0].Chain.Sine, err)
	}
	if got := errorOf(&nets[0], swing(9, 2)); !(got < 0.03) {
		t.Errorf("error %v", got)
	}
	linear, err := Choose(context.Background(), window.Folds(flights, pendulum.Horizon, 2), pendulum, prior.Body{}, prior.Chain{}, set, 1)
	if err != nil || linear.Chained() {
		t.Errorf("a chain of nothing, %v", err)
	}
}

func TestTooFewWindowsAreAnError(t *testing.T) {
	flights := swing(4, 1)
	m := linear(t, flights)
	short := []window.Flight{flights[0].Slice(0, 80)}
	if _, err := Train(context.Background(), m, short, swinging, small(), []uint64{1}); err == nil {
		t.Error("nets are trained on 31 windows")
	}
	folds := []window.Fold{{Train: []window.Flight{flights[0].Slice(0, 5)}, Held: flights}}
	if _, err := Choose(context.Background(), folds, swinging, prior.Body{}, prior.Chain{}, small(), 1); err == nil {
		t.Error("an equation is fitted to 5 samples")
	}
}

// random returns a model of degree 2 with declared kinematics and a net, and windows.
func random() (*prior.Model, *batch, int) {
	const K, P, B, nodes = 12, 2, 3, 4
	rng := rand.New(rand.NewPCG(5, 0))
	var states []channel.Channel
	for i := range K {
		c := channel.Channel{Role: channel.State, Invariant: i < 3}
		if i >= 6 && i < 9 {
			c.Period = channel.Angle
		}
		states = append(states, c)
	}
	normal := func(n int, scale float64) []float64 {
		out := make([]float64, n)
		for i := range out {
			out[i] = scale * rng.NormFloat64()
		}
		return out
	}
	m := &prior.Model{Step: 0.1, Degree: 2, Lift: channel.NewLift(states), UMean: make([]float64, P), UStd: []float64{1, 2}}
	m.Body = prior.Body{Position: []int{0, 1, 2}, Velocity: []int{3, 4, 5}, Attitude: []int{6, 7, 8}, Rates: []int{9, 10, 11}, Sign: slices.Repeat([]float64{1}, 12), Omega: 1, InBody: true}
	m.Bound = slices.Repeat([]float64{10}, m.Lift.Dim()+P)
	m.Weights = normal(m.Terms()*K, 0.02)
	set := Settings{Hidden: []int{7, 5}, Activation: mlp.Tanh}
	m.Net, m.NetScale = set.net(m, K), slices.Repeat([]float64{0.1}, K)
	m.Net.Glorot(rng)
	b := &batch{n: B, x0: normal(B*K, 0.4), u: normal(nodes*B*P, 1), y: normal(nodes*B*K, 1)}
	return m, b, nodes
}

// links returns a model of a chain of two links and a net, and windows.
func links() (*prior.Model, *batch, int) {
	m, b, nodes := random()
	states := []channel.Channel{{Period: channel.Angle}, {Period: channel.Angle}, {}, {}}
	const K = 4
	m.Body, m.Degree, m.Lift, m.NetScale = prior.Body{}, 1, channel.NewLift(states), m.NetScale[:K]
	m.Bound, m.Weights = m.Bound[:m.Lift.Dim()+2], m.Weights[:m.Terms()*K]
	m.Chain = prior.Chain{
		Angles: []int{0, 1}, Rates: []int{2, 3}, Unit: []float64{1, 1}, Relative: true, Mass: []float64{0.5, 0.6}, Rotor: []float64{0.1},
		Sine: []float64{9, 4}, Cosine: []float64{0, 1}, Viscous: []float64{0.1, 0.2}, Dry: []float64{0.2, 0.1}, Gain: []float64{1, 0, 0, 2},
	}
	set := Settings{Hidden: []int{7, 5}, Activation: mlp.Tanh}
	m.Net = set.net(m, K)
	m.Net.Glorot(rand.New(rand.NewPCG(6, 0)))
	b.x0, b.y = b.x0[:b.n*K], b.y[:nodes*b.n*K]
	return m, b, nodes
}

// The nodes of a batch are those of the roll-outs on board.
func TestForwardIsTheRollout(t *testing.T) {
	for _, of := range []func() (*prior.Model, *batch, int){random, links} {
		m, b, nodes := of()
		checkForward(t, m, b, nodes)
	}
}

func checkForward(t *testing.T, m *prior.Model, b *batch, nodes int) {
	r := newRollout(m, nodes, b.n)
	r.forward(b)
	for i := range b.n {
		roll := prior.New(m, r.k, m.Step*float64(nodes))
		roll.Run(b.x0[i*r.k:(i+1)*r.k], perStep{b, i, m.Step})
		got := make([]float64, r.k)
		for n := 1; n <= nodes; n++ {
			roll.At(got, nil, float64(n)*m.Step)
			for k, want := range got {
				if d := r.nodes[n].d[i*r.k+k]; math.Abs(d-want) > 1e-12 {
					t.Fatalf("window %d, node %d, state %d: %v, expected %v", i, n, k, d, want)
				}
			}
		}
	}
}

// perStep is the input of one window of a batch.
type perStep struct {
	b    *batch
	row  int
	step float64
}

func (p perStep) Mean(dst []float64, from, _ float64) { p.At(dst, from) }

func (p perStep) At(dst []float64, t float64) {
	n := min(int(t/p.step+0.5), len(p.b.u)/p.b.n/len(dst)-1)
	copy(dst, p.b.u[(n*p.b.n+p.row)*len(dst):])
}

// The gradient is that of central differences.
func TestBackward(t *testing.T) {
	for _, of := range []func() (*prior.Model, *batch, int){random, links} {
		m, b, nodes := of()
		checkBackward(t, m, b, nodes)
	}
}

func checkBackward(t *testing.T, m *prior.Model, b *batch, nodes int) {
	params := make([]float64, m.Net.Params())
	m.Net.Bind(params)
	r := newRollout(m, nodes, b.n)
	loss := func(adjoints []float64) (sum float64) {
		r.forward(b)
		for n := range nodes {
			for j, d := range r.nodes[n+1].d {
				e := d - b.y[n*len(r.nodes[n].d)+j]
				sum += 0.5 * e * e
				if adjoints != nil {
					adjoints[n*len(r.nodes[n].d)+j] = e
				}
			}
		}
		return sum
	}
	adjoints := make([]float64, len(b.y))
	loss(adjoints)
	set := Settings{Hidden: []int{7, 5}, Activation: mlp.Tanh}
	grad, flat := set.net(m, r.k), make([]float64, len(params))
	grad.Bind(flat)
	r.backward(b, adjoints, &grad)
	for i, v := range params {
		const h = 1e-5
		params[i] = v + h
		up := loss(nil)
		params[i] = v - h
		down := loss(nil)
		params[i] = v
		if want := (up - down) / (2 * h); math.Abs(flat[i]-want) > 1e-7*(1+math.Abs(want)) {
			t.Fatalf("parameter %d: %v, by differences %v", i, flat[i], want)
		}
	}
}

// A stage without steps is left out: what is left trains alone, at the full decay.
func TestStagesThatAreOff(t *testing.T) {
	flights := swing(6, 6)
	m, held := linear(t, flights), swing(7, 3)
	before := errorOf(m, held)
	fit := func(set Settings) prior.Model {
		t.Helper()
		nets, err := Train(context.Background(), m, flights, swinging, set, []uint64{1})
		if err != nil {
			t.Fatal(err)
		}
		return nets[0]
	}
	matched, shot := small(), small()
	matched.Shoot.Steps, shot.Match.Steps, shot.Shoot.Steps = 0, 0, 1000
	for name, set := range map[string]Settings{"matching alone": matched, "shooting alone": shot} {
		net := fit(set)
		if got := errorOf(&net, held); !(got < 0.6*before) {
			t.Errorf("%s: error %.4f, the equation's is %.4f", name, got, before)
		}
	}
	other := matched
	other.Shoot.Rate, other.Shoot.Batch = 1, 7
	if !reflect.DeepEqual(fit(other), fit(matched)) {
		t.Error("shooting that is left out changes the net")
	}
}

// A fold in which all models are wrong does not decide between them, and a model that
// diverges in one fold loses to one that is worse in the others.
func TestOverFolds(t *testing.T) {
	score := func(errors ...float64) float64 {
		var squares [][2][]float64
		for _, e := range errors {
			squares = append(squares, [2][]float64{{e * e}, {1}})
		}
		return overFolds(squares)
	}
	if same := score(0.5, 0.5); math.Abs(same-0.5) > 1e-6 {
		t.Errorf("equal folds of 0.5 have the score %v", same)
	}
	if weak, strong := score(1.02, 0.01, 0.01), score(1, 0.05, 0.05); weak > strong {
		t.Errorf("score %v, that of a model five times worse on two of three folds is %v", weak, strong)
	}
	if wild, tame := score(20, 0.1, 0.1), score(0.5, 0.3, 0.3); wild < tame {
		t.Errorf("score %v of a model that diverges, %v of one that does not", wild, tame)
	}
}

func TestClimb(t *testing.T) {
	for _, c := range []struct {
		best  float64
		tried []float64
	}{
		{1, []float64{3, 2, 1}},
		{2, []float64{3, 2, 1}},
		{3, []float64{3, 2, 4}},
		{4, []float64{3, 2, 4, 5}},
		{5, []float64{3, 2, 4, 5}},
	} {
		var tried []float64
		least := math.Inf(1)
		err := climb([]float64{1, 2, 3, 4, 5}, func(v float64) (bool, error) {
			tried = append(tried, v)
			d := math.Abs(v - c.best)
			better := d < least
			least = math.Min(least, d)
			return better, nil
		})
		if err != nil || !slices.Equal(tried, c.tried) {
			t.Errorf("best at %v: tried %v, want %v; %v", c.best, tried, c.tried, err)
		}
	}
}
