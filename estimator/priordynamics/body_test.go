package priordynamics

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/dgm-robotics/dgm/estimator/channel"
)

// flyer lists the states of a rigid body, out of order, and what is declared of it.
func flyer(inBody bool, period float64) ([]channel.Channel, channel.Kinematics) {
	var states []channel.Channel
	for _, name := range []string{"u", "v", "w", "p", "q", "r", "x", "y", "z"} {
		states = append(states, channel.Channel{Name: name, Role: channel.State, Invariant: name >= "x"})
	}
	for _, name := range []string{"yaw", "roll", "pitch"} {
		states = append(states, channel.Channel{Name: name, Role: channel.State, Period: period})
	}
	return states, channel.Kinematics{
		Relation: channel.Quadrotor, Position: []string{"x", "y", "-z"}, Velocity: []string{"u", "-v", "w"},
		Attitude: []string{"roll", "-pitch", "yaw"}, Rates: []string{"p", "q", "-r"}, InBody: inBody,
	}
}

// flown returns a random equation of a flyer with two inputs.
func flown(t *testing.T, degree int, inBody bool, period, size float64) *Model {
	states, k := flyer(inBody, period)
	body, err := NewBody(&k, states)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(uint64(degree), 4))
	m := &Model{Step: 0.1, Degree: degree, Lift: channel.NewLift(states), UMean: []float64{1, 0}, UStd: []float64{2, 0.5}, Body: body}
	m.Bound = make([]float64, m.Lift.Dim()+2)
	for i := range m.Bound {
		m.Bound[i] = 9
	}
	m.Weights = make([]float64, m.Terms()*12)
	for i := range m.Weights {
		m.Weights[i] = size * rng.NormFloat64()
	}
	if err := m.Check(12, 2); err != nil {
		t.Fatal(err)
	}
	return m
}

// aloft is a start state: fast, turning, at an angle (in units of the period).
func aloft(pitch, period float64) []float64 {
	unit := period / (2 * math.Pi)
	return []float64{1, -0.5, 0.3, 0.8 * unit, -1.1 * unit, 0.6 * unit, 5, -3, 2, 2 * unit, -0.7 * unit, pitch * unit}
}

// eachFlyer runs a test for both axes of the velocity, and radians and degrees.
func eachFlyer(t *testing.T, run func(t *testing.T, inBody bool, period float64)) {
	for _, inBody := range []bool{false, true} {
		for _, period := range []float64{channel.Angle, 360} {
			t.Run(fmt.Sprintf("in body %v, period %.4g", inBody, period), func(t *testing.T) { run(t, inBody, period) })
		}
	}
}

// TestBodyDerivatives compares the derivatives by x0 and by time, and the field's
// adjoint, with differences: level, steep, and through the vertical.
func TestBodyDerivatives(t *testing.T) {
	eachFlyer(t, func(t *testing.T, inBody bool, period float64) {
		for degree := 1; degree <= 2; degree++ {
			m := flown(t, degree, inBody, period, 0.01)
			p := New(m, 12, 1)
			for _, pitch := range []float64{0.3, -1.2, 1.5} {
				x0 := aloft(pitch, period)
				dx := make([]float64, 12)
				for k := range dx {
					dx[k] = math.Sin(float64(3*k + 1))
				}
				checkTurn(t, p, x0, dx, constant{1.2, -0.1})
				checkRate(t, p, x0)
				checkField(t, m, x0, []float64{1.2, -0.1})
			}
		}
	})
}

// near compares with differences of order 4.
func near(t *testing.T, what string, got float64, f func(h float64) float64, h float64) {
	t.Helper()
	central := func(h float64) float64 { return (f(h) - f(-h)) / (2 * h) }
	if want := (4*central(h/2) - central(h)) / 3; math.Abs(got-want) > 1e-7*(1+math.Abs(want)) {
		t.Errorf("%s: %.10g, differences %.10g", what, got, want)
	}
}

func checkTurn(t *testing.T, p *Rollout, x0, dx []float64, u channel.Signal) {
	t.Helper()
	got, out, x := make([]float64, len(x0)), make([]float64, len(x0)), make([]float64, len(x0))
	for _, time := range []float64{0.03, 0.5, 0.87} {
		p.Run(x0, u)
		p.JVP(dx)
		p.JVPAt(got, time)
		for k := range got {
			near(t, fmt.Sprintf("by x0, t %g, state %d", time, k), got[k], func(h float64) float64 {
				for i := range x {
					x[i] = x0[i] + h*dx[i]
				}
				p.Run(x, u)
				p.At(out, nil, time)
				return out[k]
			}, 1e-4)
		}
	}
}

func checkRate(t *testing.T, p *Rollout, x0 []float64) {
	t.Helper()
	p.Run(x0, steps(0.33))
	d, dd := make([]float64, len(x0)), make([]float64, len(x0))
	for _, time := range []float64{0.05, 0.36, 0.77} {
		p.At(d, dd, time)
		for k, got := range append([]float64(nil), dd...) {
			near(t, fmt.Sprintf("by time, t %g, state %d", time, k), got, func(h float64) float64 {
				p.At(d, nil, time+h)
				return d[k]
			}, 1e-4)
		}
	}
}

func checkField(t *testing.T, m *Model, x0, u []float64) {
	t.Helper()
	K := len(x0)
	f := NewField(m, K)
	fbar, xbar, dst := make([]float64, K), make([]float64, K), make([]float64, K)
	for k := range fbar {
		fbar[k] = math.Cos(float64(2 * k))
	}
	f.Adjoint(xbar, x0, u, fbar)
	for k := range x0 {
		near(t, fmt.Sprintf("field by state %d", k), xbar[k], func(h float64) float64 {
			x := append([]float64(nil), x0...)
			x[k] += h
			f.At(dst, x, u)
			sum := 0.0
			for c, g := range fbar {
				sum += g * dst[c]
			}
			return sum
		}, 1e-4)
	}
}

// rotation returns R(a), written as the product of its three turns.
func rotation(a vec3) mat3 {
	sf, cf := math.Sincos(a[0])
	st, ct := math.Sincos(a[1])
	sp, cp := math.Sincos(a[2])
	z := mat3{{cp, -sp, 0}, {sp, cp, 0}, {0, 0, 1}}
	y := mat3{{ct, 0, st}, {0, 1, 0}, {-st, 0, ct}}
	x := mat3{{1, 0, 0}, {0, cf, -sf}, {0, sf, cf}}
	times := func(a, b mat3) (c mat3) {
		for i := range 3 {
			for j := range 3 {
				for k := range 3 {
					c[i][j] += a[i][k] * b[k][j]
				}
			}
		}
		return c
	}
	return times(times(z, y), x)
}

// TestBodyIsRigid: the angles turn so that Ṙ = R [ω]×, and R carries velocities.
func TestBodyIsRigid(t *testing.T) {
	a, w, v := vec3{0.7, -0.9, 2.1}, vec3{0.4, -1.3, 0.8}, vec3{1, -2, 0.5}
	rate, _, _ := attitudeRate(a, w)
	r := rotation(a)
	cross := mat3{{0, -w[2], w[1]}, {w[2], 0, -w[0]}, {-w[1], w[0], 0}}
	const h = 1e-5
	up, down := rotation(a.plus(h, rate)), rotation(a.plus(-h, rate))
	for i := range 3 {
		for j := range 3 {
			want := r[i][0]*cross[0][j] + r[i][1]*cross[1][j] + r[i][2]*cross[2][j]
			// 1e-3: what softness does at this pitch
			if got := (up[i][j] - down[i][j]) / (2 * h); math.Abs(got-want) > 3e-3 {
				t.Errorf("entry %d, %d of the rotation's rate: %v, expected %v", i, j, got, want)
			}
		}
	}
	got, _, _ := worldVelocity(a, v)
	if want := r.mul(v); math.Abs(got[0]-want[0])+math.Abs(got[1]-want[1])+math.Abs(got[2]-want[2]) > 1e-14 {
		t.Errorf("velocity %v, expected %v", got, want)
	}
}

// TestBodyOrder: without weights the rollout follows the kinematic relations with order 2 (and
// what is left of an increment after Leave is nothing).
func TestBodyOrder(t *testing.T) {
	m := flown(t, 1, true, channel.Angle, 0)
	end := func(step float64) []float64 {
		m.Step = step
		p := New(m, 12, 1)
		x := aloft(0.3, channel.Angle)
		p.Run(x, constant{1, 0})
		d := make([]float64, 12)
		p.At(d, nil, 1)
		return d
	}
	exact, a, b := end(1e-4), end(0.1), end(0.05)
	worst := func(v []float64) (w float64) {
		for k := range v {
			w = math.Max(w, math.Abs(v[k]-exact[k]))
		}
		return w
	}
	if ea, eb := worst(a), worst(b); ea < 1e-6 || eb > ea/3.5 {
		t.Errorf("error %.3g with step 0.1, %.3g with 0.05", ea, eb)
	}
	x, d := aloft(0.3, channel.Angle), make([]float64, 12)
	for k := range d {
		d[k] = 0.01 * float64(k)
	}
	whole := append([]float64(nil), d...)
	m.Body.Add(whole, x, 0.1)
	left := append([]float64(nil), whole...)
	m.Body.Subtract(left, x, whole, 0.1)
	for k := range d {
		if math.Abs(left[k]-d[k]) > 1e-15 {
			t.Errorf("state %d: %v is left of the learned %v", k, left[k], d[k])
		}
	}
}

func TestBodyStaysFinite(t *testing.T) {
	m := flown(t, 2, true, channel.Angle, 0.01)
	p := New(m, 12, 1)
	d := make([]float64, 12)
	for _, pitch := range []float64{math.Pi / 2, -math.Pi / 2} {
		p.Run(aloft(pitch, channel.Angle), constant{1, 0})
		p.At(d, nil, 1)
		for k, v := range d {
			if math.IsNaN(v) || math.Abs(v) > 1e3 {
				t.Errorf("pitch %g: state %d moved by %g", pitch, k, v)
			}
		}
	}
}

func TestBodyIsRefused(t *testing.T) {
	states, good := flyer(true, 360)
	for says, edit := range map[string]func(b *Body){
		"state 12 of 12":               func(b *Body) { b.Rates[1] = 12 },
		"state 3 is declared twice":    func(b *Body) { b.Velocity[0] = 3 },
		"2 states where three or none": func(b *Body) { b.Position = b.Position[:2] },
		"position and velocity belong": func(b *Body) { b.Position = nil },
		"attitude and rates belong":    func(b *Body) { b.Rates = nil },
		"needs the attitude":           func(b *Body) { b.Attitude, b.Rates = nil, nil },
		"11 signs":                     func(b *Body) { b.Sign = b.Sign[:11] },
		"sign 0.5 is neither 1 nor -1": func(b *Body) { b.Sign[4] = 0.5 },
		"omega 0 must be positive":     func(b *Body) { b.Omega = 0 },
		"omega NaN must be positive":   func(b *Body) { b.Omega = math.NaN() },
	} {
		b, err := NewBody(&good, states)
		if err != nil {
			t.Fatal(err)
		}
		if err := b.Check(12); err != nil {
			t.Fatal(err)
		}
		edit(&b)
		if err := b.Check(12); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("expected %q, got %v", says, err)
		}
	}
}
