package motion

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/program"
)

// Example returns the equation of a kind with all roles of K states and random parameters.
func example(t *testing.T, name string, world, squared bool, P int) (e *Equation, K int) {
	t.Helper()
	e = &Equation{Kind: name, World: world, Squared: squared}
	required, optional := Roles(name)
	for _, role := range append(required, optional...) {
		switch role {
		case "angle #":
			for i := range 3 {
				e.Roles = append(e.Roles, Role{fmt.Sprintf("angle %d", i+1), i, 1, i == 1}, Role{fmt.Sprintf("rate %d", i+1), 3 + i, 1, false})
			}
		case "rate #":
		default:
			e.Roles = append(e.Roles, Role{role, len(e.Roles), 1, false})
		}
	}
	K = len(e.Roles)
	if err := e.Declare(K, make([]channel.Channel, P)); err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, uint64(len(name))))
	for i := range e.Parameters {
		v := 0.1 * rng.NormFloat64()
		e.Parameters[i].Value, e.Parameters[i].Low, e.Parameters[i].High = v, v-1, v+1
	}
	if err := e.Check(K, P); err != nil {
		t.Fatal(err)
	}
	return e, K
}

// The Jacobian of every kind is that of differences.
func TestJacobians(t *testing.T) {
	for _, name := range Kinds() {
		for _, world := range []bool{false, true} {
			const P = 2
			e, K := example(t, name, world, world, P)
			w, rng := NewWork(e, K, P, 0.02), rand.New(rand.NewPCG(2, 3))
			z := make([]float64, K+P)
			for i := range z {
				z[i] = 0.5 + 0.5*rng.Float64()
			}
			at := func() []float64 {
				d := make([]float64, K)
				w.Add(d, z[:K], z[K:])
				return d
			}
			g := make([]float64, (K+P)*K)
			w.Jacobian(g, z[:K], z[K:])
			for c := range z {
				const eps = 1e-6
				z[c] += eps
				more := at()
				z[c] -= 2 * eps
				less := at()
				z[c] += eps
				for k := range K {
					if want := (more[k] - less[k]) / (2 * eps); math.Abs(g[c*K+k]-want) > 1e-7*(1+math.Abs(want)) {
						t.Errorf("%s: by %d of %d: %g, differences %g", name, c, k, g[c*K+k], want)
					}
				}
			}
		}
	}
}

// With θ as a register an equation is that with θ in it.
func TestParametersAsRegister(t *testing.T) {
	for _, name := range Kinds() {
		const P = 2
		e, K := example(t, name, true, false, P)
		p := &program.Program{}
		x, u, theta := p.Input("x", K, 1), p.Input("u", P, 1), p.Input("theta", len(e.Parameters), 1)
		out := Increment(p, e, x, u, theta, program.None, 0.02)
		m := program.New[float64](p, program.Options{})
		for i, q := range e.Parameters {
			m.Set(theta, i, 0, 0, q.Value)
		}
		at, in := make([]float64, K), []float64{0.3, -0.4}
		for k := range at {
			at[k] = 0.1 * float64(k+1)
			m.Set(x, k, 0, 0, at[k])
		}
		m.Set(u, 0, 0, 0, in[0])
		m.Set(u, 1, 0, 0, in[1])
		m.Value()
		want := make([]float64, K)
		NewWork(e, K, P, 0.02).Add(want, at, in)
		for k, v := range want {
			if got := m.Get(out, k, 0, 0); math.Abs(got-v) > 1e-12*(1+math.Abs(v)) || v == 0 {
				t.Errorf("%s: state %d moves by %g, %g", name, k, got, v)
			}
		}
	}
}

// Bounds are for laws: what a velocity does to the position, and rates to the angles, is as true beyond them.
func TestKinematicsHaveNoBounds(t *testing.T) {
	for _, name := range []string{"multirotor", "fixed wing", "single track", "single track with yaw rate", "dynamic single track", "differential drive", "surface vessel"} {
		e, K := example(t, name, false, false, 1)
		for i := range e.Parameters {
			e.Parameters[i] = Parameter{}
		}
		const h = 0.01
		x, free, bounded := make([]float64, K), make([]float64, K), make([]float64, K)
		for k := range x {
			x[k] = 0.2 * float64(k+1)
		}
		u := []float64{0.1}
		NewWork(e, K, 1, h).Add(free, x, u)
		for _, r := range e.Roles {
			if d := r.Name; d == "p" || d == "q" || d == "r" || d == "yaw_rate" || d[0] == 'v' || d == "surge" || d == "sway" {
				e.Bound[r.State] = 0.01
			}
		}
		NewWork(e, K, 1, h).Add(bounded, x, u)
		moved := 0.
		for k, v := range free {
			moved += math.Abs(v)
			if v != bounded[k] {
				t.Errorf("%s: state %d moves by %g within bounds, %g without", name, k, bounded[k], v)
			}
		}
		if moved < 0.001 {
			t.Errorf("%s does not move", name)
		}
	}
}

// A heavier robot is one whose forces accelerate it less; gravity and torques are the same.
func TestMass(t *testing.T) {
	for _, name := range []string{"multirotor", "fixed wing"} {
		const P, h, heavier = 2, 0.01, 0.25
		e, K := example(t, name, false, false, P)
		if !e.HasMass() {
			t.Fatalf("a %s has no mass", name)
		}
		x, u := make([]float64, K), []float64{0.3, -0.4}
		for k := range x {
			x[k] = 0.1 * float64(k+1)
		}
		increment := func(w *Work) []float64 {
			d := make([]float64, K)
			w.Add(d, x, u)
			return d
		}
		w := NewLoadedWork(e, K, P, h)
		w.SetMass(heavier)
		got, g := increment(w), make([]float64, (K+P+1)*K)
		w.Jacobian(g, x, u)
		const eps = 1e-6
		w.SetMass(heavier + eps)
		more := increment(w)
		w.SetMass(heavier - eps)
		less := increment(w)
		for k, v := range g[(K+P)*K:] {
			if want := (more[k] - less[k]) / (2 * eps); math.Abs(v-want) > 1e-8*(1+math.Abs(want)) {
				t.Errorf("%s: state %d by the mass: %g, differences %g", name, k, v, want)
			}
		}
		for i, p := range e.Parameters {
			if strings.Contains(p.Name, "acceleration x") || strings.Contains(p.Name, "acceleration y") || strings.Contains(p.Name, "acceleration z") || strings.HasPrefix(p.Name, "drag") || strings.HasPrefix(p.Name, "thrust") || strings.HasPrefix(p.Name, "lift") || strings.HasPrefix(p.Name, "side force") {
				e.Parameters[i].Value /= 1 + heavier
			}
		}
		for k, v := range increment(NewWork(e, K, P, h)) {
			if math.Abs(got[k]-v) > 1e-12*(1+math.Abs(v)) {
				t.Errorf("%s: state %d of a heavier robot moves by %g, one with weaker forces by %g", name, k, got[k], v)
			}
		}
	}
	for _, name := range Kinds() {
		if e, K := example(t, name, false, false, 1); e.HasMass() != (name == "multirotor" || name == "fixed wing") || K == 0 {
			t.Errorf("%s: a mass is %t", name, e.HasMass())
		}
	}
}

// A robot that moves is the same in axes of the world and of the body.
func TestAxes(t *testing.T) {
	for _, c := range []struct {
		kind   string
		x      []float64 // in axes of the body
		world  func(x []float64) []float64
		turned []int
	}{
		{"multirotor", []float64{0.3, -0.2, 0.7, 0.1, 0.2, -0.3, 1, 2, 3, 1, 0.5, -0.5}, func(x []float64) []float64 { return rotate(x[:3], x[9:]) }, []int{9, 10, 11}},
		{"fixed wing", []float64{0.3, -0.2, 0.7, 0.1, 0.2, -0.3, 1, 2, 3, 10, 0.5, -0.5}, func(x []float64) []float64 { return rotate(x[:3], x[9:]) }, []int{9, 10, 11}},
		{"dynamic single track", []float64{0.7, 3, 0.5, 0.4, 1, 2, 0.1}, func(x []float64) []float64 { return rotate([]float64{0, 0, x[0]}, []float64{x[1], x[2], 0})[:2] }, []int{1, 2}},
		{"sliding single track", []float64{0.7, 3, 0.5, 0.4, 1, 2, 0.1}, func(x []float64) []float64 { return rotate([]float64{0, 0, x[0]}, []float64{x[1], x[2], 0})[:2] }, []int{1, 2}},
		{"surface vessel", []float64{0.7, 3, 0.5, 0.4, 1, 2}, func(x []float64) []float64 { return rotate([]float64{0, 0, x[0]}, []float64{x[1], x[2], 0})[:2] }, []int{1, 2}},
	} {
		body, K := example(t, c.kind, false, false, 1)
		world, _ := example(t, c.kind, true, false, 1)
		const h, n = 1e-3, 200
		u := []float64{0.4}
		a, b := append([]float64(nil), c.x...), append([]float64(nil), c.x...)
		for i, v := range c.world(b) {
			b[c.turned[i]] = v
		}
		wa, wb := NewWork(body, K, 1, h), NewWork(world, K, 1, h)
		for range n {
			wa.Add(a, a, u)
			wb.Add(b, b, u)
		}
		for i, v := range c.world(a) {
			a[c.turned[i]] = v
		}
		for k, v := range a {
			if math.Abs(b[k]-v) > 3e-4*(1+math.Abs(v)) { // the secant of the pitch is softened
				t.Errorf("%s: state %d is %g in axes of the world, %g by those of the body", c.kind, k, b[k], v)
			}
		}
	}
}

// rotate returns R(a)v.
func rotate(a, v []float64) []float64 {
	p := &program.Program{}
	in, vec := p.Input("a", 3, 1), p.Input("v", 3, 1)
	out := NewAttitude(p, in, true).World(vec)
	back := NewAttitude(p, in, true).Body(out)
	m := program.New[float64](p, program.Options{})
	for i := range 3 {
		m.Set(in, i, 0, 0, a[i])
		m.Set(vec, i, 0, 0, v[i])
	}
	m.Value()
	w := make([]float64, 3)
	for i := range w {
		w[i] = m.Get(out, i, 0, 0)
		if math.Abs(m.Get(back, i, 0, 0)-v[i]) > 1e-12 {
			panic("R is not orthogonal")
		}
	}
	return w
}

func TestContradictions(t *testing.T) {
	for want, edit := range map[string]func(e *Equation){
		`kind "submarine" is unknown; known are multirotor, fixed wing, single track, single track with yaw rate, dynamic single track, sliding single track, differential drive, surface vessel, joints, servo joints, coupled servo joints`: func(e *Equation) { e.Kind = "submarine" },
		`role "roll": state 12 of 12 is out of range, or has two roles`:           func(e *Equation) { e.Roles[0].State = 12 },
		`a multirotor has no role "keel"`:                                         func(e *Equation) { e.Roles[0].Name = "keel" },
		`a multirotor needs the role "roll"`:                                      func(e *Equation) { e.Roles = e.Roles[1:] },
		`x, y, z, vx, vy, vz belong together`:                                     func(e *Equation) { e.Roles = e.Roles[:11] },
		`role "p": scale 0`:                                                       func(e *Equation) { e.Roles[3].Scale = 0 },
		`13 bounds, expected 14`:                                                  func(e *Equation) { e.Bound = e.Bound[1:] },
		`bound 0 must be positive`:                                                func(e *Equation) { e.Bound[3] = 0 },
		`23 parameters, expected 24 of at most 512`:                               func(e *Equation) { e.Parameters = e.Parameters[1:] },
		`parameter "constant acceleration y": NaN`:                                func(e *Equation) { e.Parameters[2].High = math.NaN() },
		`parameter "constant acceleration y": 7 is outside of its interval 8 … 9`: func(e *Equation) { e.Parameters[2].Value, e.Parameters[2].Low, e.Parameters[2].High = 7, 8, 9 },
	} {
		e, K := example(t, "multirotor", true, false, 2)
		edit(e)
		if err := e.Check(K, 2); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// Dry friction holds a joint at rest as long as the other terms are not larger, slows it by as much while it moves, and lets it come to rest,
// with steps of any length.
func TestFrictionHolds(t *testing.T) {
	const friction, gain = 5.0, 2.0
	e := &Equation{Kind: "servo joints", Roles: []Role{{"angle 1", 0, 0.1, false}, {"rate 1", 1, 0.1, false}}} // tenths of rad
	if err := e.Declare(2, make([]channel.Channel, 1)); err != nil {
		t.Fatal(err)
	}
	for i, p := range e.declared(2, make([]channel.Channel, 1)) {
		switch p.Name {
		case "dry friction of joint 1":
			e.Parameters[i].Value = friction
		case "acceleration of joint 1":
			e.Parameters[i].Value = gain
		}
	}
	for _, h := range []float64{0.001, 0.02, 0.2} {
		w, n := NewWork(e, 2, 1, h), int(math.Round(1/h))
		run := func(x []float64, u float64) []float64 {
			for range n {
				d := make([]float64, 2)
				w.Add(d, x, []float64{u})
				x[0], x[1] = x[0]+d[0], x[1]+d[1]
			}
			return x
		}
		if x := run([]float64{3, 0}, 0.99*friction/gain); math.Abs(x[0]-3) > 1e-12 || math.Abs(x[1]) > 1e-12 {
			t.Errorf("steps of %g s: a joint that friction can hold is at %v", h, x)
		}
		if x := run([]float64{3, 0}, -4); math.Abs(x[0]-(3-15)) > 1e-9 || math.Abs(x[1]+30) > 1e-9 { // −2·4 + 5 rad/s² for 1 s
			t.Errorf("steps of %g s: a joint that is pulled is at %v", h, x)
		}
		if x := run([]float64{3, 20}, 0); math.Abs(x[0]-(3+4)) > 5*h || math.Abs(x[1]) > 1e-12 { // 2 rad/s, slowed by 5 rad/s²: 0.4 rad
			t.Errorf("steps of %g s: a joint that coasts is at %v", h, x)
		}
	}
}

// Of what accelerates a coupled joint the others have their shares, less what its friction takes off: a joint that friction holds moves none.
func TestFrictionOfCoupledJoints(t *testing.T) {
	const friction, gain, share = 5.0, 2.0, 0.5
	e := &Equation{Kind: "coupled servo joints", Roles: []Role{{"angle 1", 0, 1, false}, {"rate 1", 1, 1, false}, {"angle 2", 2, 1, false}, {"rate 2", 3, 1, false}}}
	if err := e.Declare(4, make([]channel.Channel, 2)); err != nil {
		t.Fatal(err)
	}
	set := map[string]float64{"dry friction of joint 1": friction, "acceleration of joint 1": gain, "share of joint 2 in the acceleration of joint 1": share}
	for i, p := range e.Parameters {
		if v, ok := set[p.Name]; ok {
			e.Parameters[i].Value = v
			delete(set, p.Name)
		}
	}
	if len(set) > 0 {
		t.Fatalf("no parameters %v of %v", set, e.Parameters)
	}
	for _, h := range []float64{0.001, 0.02, 0.2} {
		w, n := NewWork(e, 4, 2, h), int(math.Round(1/h))
		for u, want := range map[float64][]float64{0.99 * friction / gain: {0, 0, 0, 0}, -4: {-1.5, -3, -0.75, -1.5}} { // −2·4 + 5 rad/s² for 1 s, and half of that
			x := make([]float64, 4)
			for range n {
				d := make([]float64, 4)
				w.Add(d, x, []float64{u, 0})
				for k := range x {
					x[k] += d[k]
				}
			}
			for k, v := range want {
				if math.Abs(x[k]-v) > 1e-9 {
					t.Errorf("steps of %g s, input %g: the joints are at %v, want %v", h, u, x, want)
					break
				}
			}
		}
	}
}

func TestNothingIsAllocated(t *testing.T) {
	e, K := example(t, "multirotor", true, false, 2)
	w, x, u, d := NewWork(e, K, 2, 0.01), make([]float64, K), make([]float64, 2), make([]float64, K)
	g := make([]float64, K*(K+2))
	if n := testing.AllocsPerRun(10, func() { w.Add(d, x, u); w.Jacobian(g, x, u); w.JVP(d, x, u, x, u); w.Adjoint(d, x, x, u) }); n > 0 {
		t.Errorf("%g allocations", n)
	}
}

func BenchmarkMultirotor(b *testing.B) {
	e := &Equation{Kind: "multirotor", World: true}
	for i, role := range append(rigidRoles, rigidOptional...) {
		e.Roles = append(e.Roles, Role{role, i, 1, false})
	}
	if err := e.Declare(12, make([]channel.Channel, 4)); err != nil {
		b.Fatal(err)
	}
	w, x, u, d, g := NewWork(e, 12, 4, 0.01), make([]float64, 12), make([]float64, 4), make([]float64, 12), make([]float64, 16*12)
	b.Run("increment", func(b *testing.B) {
		for b.Loop() {
			w.Add(d, x, u)
		}
	})
	b.Run("JVP", func(b *testing.B) {
		for b.Loop() {
			w.JVP(d, x, u, x, u)
		}
	})
	b.Run("Jacobian", func(b *testing.B) {
		for b.Loop() {
			w.Jacobian(g, x, u)
		}
	})
}
