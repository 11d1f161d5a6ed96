package drive

import (
	"math"
	"testing"

	"github.com/dgm-robotics/dgm/estimator/numeric/ode"
	"github.com/dgm-robotics/dgm/firmware-sim/plant"
	"github.com/dgm-robotics/dgm/firmware-sim/seed"
)

// fly closes the loop of a plant and its driver and shows every tick to see.
func fly(t *testing.T, p *plant.Plant, d Driver, tick float64, ticks int, see func(i int, x, u []float64)) {
	t.Helper()
	x, u, prm := append([]float64{}, p.X0...), make([]float64, len(p.Inputs)), p.Values()
	r := ode.NewRK4(len(x))
	f := func(dst []float64, _ float64, x []float64) { p.F(dst, x, u, prm) }
	for i := range ticks {
		d.Command(u, x)
		if !r.Advance(f, x, 0, tick, 1) {
			t.Fatalf("%s: not finite at tick %d", p.Name, i)
		}
		see(i, x, u)
	}
}

// What is flown must stay where a real robot would be, for half an hour and
// every seed tried, and must move enough to be worth learning.
func TestEnvelopes(t *testing.T) {
	deg := math.Pi / 180
	envelopes := map[string]struct {
		most  []float64 // |x| stays below
		least []float64 // root mean square is above
	}{
		"pendulum": {[]float64{3, 9}, []float64{0.3, 1}},
		"cartpole": {[]float64{1.5, 2, 15 * deg, 1}, []float64{0.3, 0.2, 1 * deg, 0.08}},
		"quadrotor": {
			[]float64{3.5, 3.5, 2.5, 2.5, 2.5, 0.2, 35 * deg, 35 * deg, 90 * deg, 4, 4, 2.5},
			[]float64{0.5, 0.5, 0.2, 0.2, 0.2, 0, 4 * deg, 4 * deg, 0, 1, 1, 0.4},
		},
		"planar-quadrotor": {[]float64{2.5, 5, 2.5, 4, 60 * deg, 12}, []float64{0.3, 0.5, 0.9, 0.3, 8 * deg, 0.5}},
	}
	for name, e := range envelopes {
		p, _ := plant.Named(name)
		for s := range uint64(3) {
			const tick, ticks = 0.005, 200 * 1800
			d, _ := For(&p, tick, seed.New(s, seed.Drive, 0, 0))
			square := make([]float64, len(p.States))
			fly(t, &p, d, tick, ticks, func(i int, x, u []float64) {
				for k, v := range x {
					square[k] += v * v / ticks
					if !(math.Abs(v) < e.most[k]) {
						t.Fatalf("%s, seed %d: %s = %v after %.1f s", name, s, p.States[k].Name, v, float64(i)*tick)
					}
				}
				for k, v := range u {
					if name == "quadrotor" && (v < 0 || v > pilotMaxForce) {
						t.Fatalf("seed %d: F%d = %v N", s, k+1, v)
					}
				}
			})
			for k, v := range square {
				if math.Sqrt(v) < e.least[k] {
					t.Errorf("%s, seed %d: %s has root mean square %v", name, s, p.States[k].Name, math.Sqrt(v))
				}
			}
		}
	}
}

func TestACopyCommandsTheSameFuture(t *testing.T) {
	for _, name := range plant.Names() {
		p, _ := plant.Named(name)
		a, _ := For(&p, 0.01, seed.New(1, seed.Drive, 0, 0))
		b, _ := For(&p, 0.01, seed.New(2, seed.Drive, 0, 0))
		n := len(p.Inputs)
		u, v, x := make([]float64, n), make([]float64, n), p.X0
		for range 500 {
			a.Command(u, x)
		}
		b.CopyFrom(a)
		for i := range 500 {
			a.Command(u, x)
			b.Command(v, x)
			for k := range u {
				if u[k] != v[k] {
					t.Fatalf("%s: tick %d: %v and %v", name, i, u, v)
				}
			}
		}
	}
}

// The smooth signal has unit variance whatever its band and tick, and is smooth:
// a band of f Hz moves by about 2πf of its size a second.
func TestWander(t *testing.T) {
	for _, c := range []struct{ band, tick float64 }{{0.5, 0.005}, {0.5, 0.05}, {3, 0.01}} {
		w, src := NewWander(c.band, c.tick), seed.New(1, seed.Drive, 0, 0)
		var square, slope, last float64
		const n = 2_000_000
		for range n {
			v := w.Next(src)
			square += v * v / n
			slope += (v - last) * (v - last) / (n * c.tick * c.tick)
			last = v
		}
		if math.Abs(square-1) > 0.15 {
			t.Errorf("band %v, tick %v: variance %v", c.band, c.tick, square)
		}
		if speed := math.Sqrt(slope) / (2 * math.Pi * c.band); speed > 1.05 {
			t.Errorf("band %v, tick %v: root mean square slope %v of the band", c.band, c.tick, speed)
		}
	}
}

func TestStepsLastAsLongAsTheyShould(t *testing.T) {
	s, src := NewSteps(0.5, 2, 0.01), seed.New(1, seed.Drive, 0, 0)
	last, held := s.Next(src), 1
	for range 100_000 {
		v := s.Next(src)
		if v == last {
			held++
			continue
		}
		if math.Abs(v) > 1 || held < 50 || held > 200 {
			t.Fatalf("level %v after %d ticks", v, held)
		}
		last, held = v, 1
	}
}

// The gains must put all four poles at −λ: from a lean the loop, without its
// random parts, decays like (1 + …) e^{−λt}.
func TestBalancePoles(t *testing.T) {
	p := plant.Cartpole()
	p.X0 = []float64{0.02, 0, 0.01, 0}
	b := NewBalance(&p, 0.001, seed.New(1, seed.Drive, 0, 0))
	b.goal, b.shake = NewSteps(1e6, 1e7, 0.001), Wander{}
	var at4, at6 float64
	fly(t, &p, b, 0.001, 6000, func(i int, x, _ []float64) {
		switch i {
		case 3999:
			at4 = math.Abs(x[0])
		case 5999:
			at6 = math.Abs(x[0])
		}
	})
	// Friction in the joint and the cubic in front change the rate a little.
	if rate := math.Log(at4/at6) / 2; rate < 1.4 || rate > 2.6 {
		t.Errorf("decays with %v 1/s, want somewhat below %v", rate, balancePole)
	}
}
