package priordynamics

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/priordynamics"
	"github.com/dgm-robotics/dgm/trainer/window"
)

// swinging is what is predicted of the pendulum.
var swinging = window.Task{States: pendulum, Inputs: 1, Horizon: 0.5}

var pendulum = []channel.Channel{
	{Name: "theta", Role: channel.State, Period: channel.Angle, Derivative: "omega"},
	{Name: "omega", Role: channel.State},
}

// swing records a driven, damped pendulum with sensor noise: θ̈ = −20 sin θ − 0.3 θ̇ + 5 u.
func swing(seed uint64, seconds, noise float64) window.Flight {
	rng := rand.New(rand.NewPCG(seed, 1))
	const dt, fine = 0.005, 10
	n := int(seconds / dt)
	s := window.Series{T: make([]int64, n), X: make([]float64, 2*n), U: make([]float64, n)}
	th, om, u := 1.0, 0.0, 0.0
	for i := range n {
		if i%40 == 0 {
			u = 2 * rng.NormFloat64()
		}
		s.T[i], s.U[i] = int64(i)*5e6, u
		s.X[2*i], s.X[2*i+1] = th+noise*rng.NormFloat64(), om+10*noise*rng.NormFloat64()
		for range fine {
			h := dt / fine
			om += h * (-20*math.Sin(th) - 0.3*om + 5*u)
			th += h * om
		}
	}
	return window.Prepare(0, s, pendulum, 1, window.Options{})[0]
}

var tumbling = func() (all []channel.Channel) {
	for _, name := range []string{"vx", "vy", "vz", "p", "q", "r", "x", "y", "z", "roll", "pitch", "yaw"} {
		c := channel.Channel{Name: name, Role: channel.State, Invariant: len(name) == 1 && name >= "x"}
		if len(name) > 2 {
			c.Period = channel.Angle
		}
		all = append(all, c)
	}
	return all
}()

func tumbler(t testing.TB, inBody bool) priordynamics.Body {
	t.Helper()
	b, err := priordynamics.NewBody(&channel.Kinematics{
		Relation: channel.Quadrotor, Position: []string{"x", "y", "z"}, Velocity: []string{"vx", "vy", "vz"},
		Attitude: []string{"roll", "pitch", "yaw"}, Rates: []string{"p", "q", "r"}, InBody: inBody,
	}, tumbling)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// tumble records a rigid body whose velocity and rates swing slowly, far from
// upright, with sensor noise.
func tumble(t testing.TB, seed uint64, seconds, noise float64, inBody bool) []window.Flight {
	rng := rand.New(rand.NewPCG(seed, 2))
	b := tumbler(t, inBody)
	const dt, fine = 0.01, 20
	n := int(seconds / dt)
	s := window.Series{T: make([]int64, n), X: make([]float64, 12*n)}
	x, rate, phase := make([]float64, 12), make([]float64, 12), make([]float64, 6)
	for i := range phase {
		phase[i] = 6 * rng.Float64()
	}
	x[9], x[10] = 0.4, 0.8
	for i := range n {
		s.T[i] = int64(i) * 1e7
		for k, v := range x {
			s.X[12*i+k] = v + noise*rng.NormFloat64()
		}
		for j := range fine {
			at := dt * (float64(i) + float64(j)/fine)
			for k := range phase {
				x[k] = math.Sin(1.3*at*(1+0.2*float64(k)) + phase[k])
			}
			x[4] *= 0.9
			b.Derivative(rate, x)
			for k := 6; k < 12; k++ {
				x[k] += dt / fine * rate[k]
			}
		}
	}
	return window.Prepare(0, s, tumbling, 0, window.Options{})
}

func TestShootingGradient(t *testing.T) {
	for degree := 1; degree <= 3; degree++ {
		checkGradient(t, []window.Flight{swing(1, 6, 0.01)}, pendulum, 1, Shape{Step: 0.05, Degree: degree, Ridge: 1e-4})
	}
	checkGradient(t, []window.Flight{swing(1, 6, 0.01)}, pendulum, 1, Shape{Step: 0.05, Degree: 1, Ridge: 1e-4, Dry: true})
	for _, inBody := range []bool{false, true} {
		shape := Shape{Step: 0.05, Degree: 2, Ridge: 1e-4, Body: tumbler(t, inBody)}
		checkGradient(t, tumble(t, 3, 6, 0.01, inBody), tumbling, 0, shape)
	}
}

// checkGradient compares the adjoint of a shape's roll-outs with differences.
func checkGradient(t *testing.T, f []window.Flight, states []channel.Channel, p int, shape Shape) {
	t.Helper()
	m, err := Regress(f, window.Task{States: states, Inputs: p}, shape)
	if err != nil {
		t.Fatal(err)
	}
	o := newShooting(m, gather(f, window.Task{States: states, Inputs: p}, 0.05, 8, 30, &priordynamics.Body{}))
	x := append([]float64(nil), o.start...)
	rng := rand.New(rand.NewPCG(5, 5))
	for i := range x {
		x[i] += 0.01 * rng.NormFloat64()
	}
	grad, dir := make([]float64, len(x)), make([]float64, len(x))
	o.evaluate(grad, x)
	want := 0.0
	for i := range dir {
		dir[i] = rng.NormFloat64()
		want += dir[i] * grad[i]
	}
	slope := func(h float64) float64 {
		up, down := make([]float64, len(x)), make([]float64, len(x))
		for i := range x {
			up[i], down[i] = x[i]+h*dir[i], x[i]-h*dir[i]
		}
		return (o.evaluate(nil, up) - o.evaluate(nil, down)) / (2 * h)
	}
	const h = 1e-5
	if got := (4*slope(h/2) - slope(h)) / 3; math.Abs(got-want) > 1e-6*math.Abs(want) {
		t.Errorf("degree %d: adjoint %.10g, differences %.10g", shape.Degree, want, got)
	}
}

// judge returns the log error over hold of a model's roll-outs on flights.
func judge(m *priordynamics.Model, flights []window.Flight) float64 {
	f := newShooting(m, gather(flights, window.Task{States: pendulum, Inputs: 1}, 0.05, 10, 200, &priordynamics.Body{}))
	return f.evaluate(nil, f.start)
}

// usual is the effort of a training with the defaults.
var usual = Effort{Windows: 1500, Iterations: 200}

// Under sensor noise
// the fitted roll-outs follow an unseen flight better than those of single steps.
func TestShootingPredictsBetterThanRegression(t *testing.T) {
	train, test := []window.Flight{swing(1, 20, 0.02)}, []window.Flight{swing(2, 10, 0.02)}
	shape := Shape{Step: 0.05, Degree: 1, Ridge: 1e-5}
	before, err := Regress(train, window.Task{States: pendulum, Inputs: 1}, shape)
	if err != nil {
		t.Fatal(err)
	}
	after, err := Fit(context.Background(), train, swinging, shape, usual)
	if err != nil {
		t.Fatal(err)
	}
	if a, b := judge(after, test), judge(before, test); a > b-0.05 {
		t.Errorf("log error over hold: shooting %.3f, single steps %.3f", a, b)
	}
}

// TestChoose: what is chosen without seeing a flight predicts it as well as the
// best of all candidates, give or take a tenth.
func TestChoose(t *testing.T) {
	if testing.Short() {
		t.Skip("fits two dozen equations: minutes under the race detector, and no goroutine that the other tests do not have")
	}
	train, test := []window.Flight{swing(3, 8, 0.02)}, []window.Flight{swing(4, 8, 0.02)}
	told := 0
	choice, err := Choose(context.Background(), train, swinging, priordynamics.Body{}, func(done, of int) {
		if done != told || of < 3 {
			t.Errorf("candidate %d of %d after %d", done, of, told)
		}
		told++
	})
	if err != nil {
		t.Fatal(err)
	}
	m, err := Fit(context.Background(), train, swinging, choice.Shape, usual)
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Check(2, 1); err != nil {
		t.Error(err)
	}
	windows := window.Cut(test, 0.5, 0.05)
	best := math.Inf(1)
	for _, c := range choice.Candidates {
		if c.Degree > 1 && c.Ridge != 1e-5 || c.Degree > 2 {
			continue // the rest cost minutes and are no better here
		}
		other, err := Fit(context.Background(), train, swinging, c.Shape, usual)
		if err != nil {
			t.Fatal(err)
		}
		score, _ := rolloutError(other, test, windows, 0.5, rmsDisplacement(test, windows, 0.5))
		best = min(best, score)
	}
	if got, _ := rolloutError(m, test, windows, 0.5, rmsDisplacement(test, windows, 0.5)); got > best+0.1 {
		t.Errorf("chose step %g, degree %d: log error over hold %.3f, the best candidate has %.3f", m.Step, m.Degree, got, best)
	}
}
