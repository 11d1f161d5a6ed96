package predictors

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/stat"

	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/numeric/mlp"
	prior "github.com/dgm-robotics/dgm/estimator/priordynamics"
	"github.com/dgm-robotics/dgm/trainer"
	"github.com/dgm-robotics/dgm/trainer/replay"
	"github.com/dgm-robotics/dgm/trainer/window"
)

// wander is a recording of a rate that white noise changes, and its integral.
func wander() *data {
	task := window.Task{States: []channel.Channel{{Name: "x", Role: channel.State, Derivative: "v"}, {Name: "v", Role: channel.State}}, Horizon: 0.25}
	rng := rand.New(rand.NewPCG(1, 2))
	var flights []window.Flight
	for at := range 6 {
		s, x, v := window.Series{Name: "wander"}, 0.0, 3*rng.NormFloat64()
		for i := range 500 {
			s.T, s.X = append(s.T, int64(i)*1e7), append(s.X, x, v)
			x += 0.01 * v
			v += 0.1 * rng.NormFloat64()
		}
		flights = append(flights, window.Prepare(at, s, task.States, 0, window.Options{})...)
	}
	return &data{of: &recording{horizons: []float64{0.05, 0.25}, stride: 0.01}, task: task, train: &trainer.Data{Flights: flights[:5]}, test: flights[5:]}
}

func TestHeldBackIsAFifthOfEveryFlight(t *testing.T) {
	d := wander()
	fold := heldBack(d.train.Flights)
	if len(fold.Held) != 5 || window.Samples(fold.Held) != 500 || window.Samples(fold.Train) != 2000 {
		t.Errorf("%d of %d samples in %d parts", window.Samples(fold.Held), window.Samples(fold.Train), len(fold.Held))
	}
	if first, last := fold.Held[0].T[0], fold.Held[4].T[99]; first != 0 || math.Abs(last-4.99) > 1e-9 {
		t.Errorf("from %v to %v s", first, last)
	}
}

// The kinematics of the nets are constant velocity, and nets that predict nothing leave
// noise of the scale times e^-1 at every step.
func TestPETSAddsUpNoise(t *testing.T) {
	d := wander()
	m, err := kinematic(d, d.train.Flights)
	if err != nil {
		t.Fatal(err)
	}
	p := &pets{equation: m, scale: []float64{0, 0.1 * math.E}, times: d.of.horizons, psi: make([]float64, m.Terms())}
	for range 40 {
		p.nets = append(p.nets, petsNet(2, 2))
	}
	p.reserve()
	w := replay.New(2, p.times)
	w.Read(&d.test[0], 100)
	mean, std := make([]float64, 4), make([]float64, 4)
	if err := p.predict(mean, std, w); err != nil {
		t.Fatal(err)
	}
	for i, time := range p.times {
		if v := w.X0[1]; math.Abs(mean[2*i]-v*time) > 0.05 || math.Abs(mean[2*i+1]) > 0.1 {
			t.Errorf("after %v s: displacement %v, rate %v", time, mean[2*i:2*i+2], v)
		}
		if want := 0.1 * math.Sqrt(time/m.Step); math.Abs(std[2*i+1]/want-1) > 0.12 {
			t.Errorf("after %v s: deviation %v, expected %v", time, std[2*i+1], want)
		}
	}
}

// A member learns mean and deviation where both change.
func TestMemberLearnsMeanAndVariance(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	data := &transitions{n: 4000}
	for range data.n {
		x := 2*rng.Float64() - 1
		data.v, data.y = append(data.v, x), append(data.y, math.Sin(3*x)+(0.3+0.25*x)*rng.NormFloat64())
	}
	net, err := trainMember(context.Background(), data, 1, 1200, 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []float64{-0.6, 0, 0.6} {
		got := evaluate(&net, x)
		logVar, _ := logVariance(got[1])
		if want := 0.3 + 0.25*x; math.Abs(got[0]-math.Sin(3*x)) > 0.1 || math.Abs(math.Exp(0.5*logVar)/want-1) > 0.3 {
			t.Errorf("at %v: mean %v, deviation %v, expected %v and %v", x, got[0], math.Exp(0.5*logVar), math.Sin(3*x), want)
		}
	}
}

func evaluate(net *mlp.Net, x float64) []float64 {
	tape := mlp.NewTape(net, 1, false)
	net.Forward(tape, 1, []float64{x}, nil)
	return tape.Out()
}

// Scaled widths cover 95 % of what is held out.
func TestConformalWidthsCover(t *testing.T) {
	d := wander()
	raw := func(mean, std []float64, w *replay.Window) error {
		for j := range mean {
			mean[j], std[j] = 0, 7
		}
		return nil
	}
	for _, share := range []float64{0, modelShare} {
		scaled, err := conformal(d, d.test, raw, share)
		if err != nil {
			t.Fatal(err)
		}
		mean, std := make([]float64, 4), make([]float64, 4)
		var inside []float64
		for w := range replay.Each(d.test, window.Cut(d.test, d.task.Horizon, d.of.stride), d.of.horizons) {
			if err := scaled(mean, std, w); err != nil {
				t.Fatal(err)
			}
			in := 0.0
			if math.Abs(w.Measured[3]) <= 1.96*std[3] {
				in = 1
			}
			inside = append(inside, in)
		}
		if got := stat.Mean(inside, nil); math.Abs(got-0.95) > 0.01 {
			t.Errorf("share %v: %v are covered", share, got)
		}
	}
}

// What an interrupted training leaves is not scored.
func TestInterruptedEnsemblesAreAnError(t *testing.T) {
	d := wander()
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	m, err := kinematic(d, d.train.Flights)
	if err != nil {
		t.Fatal(err)
	}
	for name, fit := range map[string]func(context.Context, *data, *prior.Model, []window.Flight, model.Readout) (predict, error){petsName: fitPETS, rolloutsName: fitRollouts} {
		if _, err := fit(ended, d, m, d.train.Flights, model.Plan); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
