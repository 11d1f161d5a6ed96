package plant

import (
	"encoding/json"
	"math"
	"os"
	"testing"

	"github.com/dgm-robotics/dgm/estimator/numeric/ode"
)

type goldenSystem struct {
	Params     map[string]float64
	NoiseStd   []float64 `json:"noise_std"`
	States     []struct{ Name, Unit string }
	Trajectory struct {
		X0     []float64 `json:"x0"`
		T      []float64
		X      [][]float64
		Growth []float64
	}
}

// rhsGolden is read apart: "F" (forces) and "f" (right-hand side) differ only
// in case, which encoding/json does not distinguish in struct tags.
type rhsGolden struct {
	x, forces, f []float64
}

func readGolden(t *testing.T, key string) (goldenSystem, []rhsGolden) {
	t.Helper()
	data, err := os.ReadFile("testdata/plants.json")
	if err != nil {
		t.Fatal(err)
	}
	var all map[string]json.RawMessage
	if err := json.Unmarshal(data, &all); err != nil {
		t.Fatal(err)
	}
	var sys goldenSystem
	if err := json.Unmarshal(all[key], &sys); err != nil {
		t.Fatal(err)
	}
	var raw struct{ RHS []map[string][]float64 }
	if err := json.Unmarshal(all[key], &raw); err != nil {
		t.Fatal(err)
	}
	var rows []rhsGolden
	for _, r := range raw.RHS {
		rows = append(rows, rhsGolden{r["x"], r["F"], r["f"]})
	}
	return sys, rows
}

var goldenKeys = map[string]string{
	"lotka-volterra": "lotka_volterra", "lorenz": "lorenz",
	"double-pendulum": "double_pendulum", "quadrotor-paper": "quadrocopter",
}

func TestGoldenDescriptions(t *testing.T) {
	for name, key := range goldenKeys {
		p, _ := Named(name)
		g, _ := readGolden(t, key)
		for i, c := range p.States {
			if c.Name != g.States[i].Name || (c.Unit != g.States[i].Unit && g.States[i].Unit != "1") {
				t.Errorf("%s: state %d is %s (%s), golden %v", name, i, c.Name, c.Unit, g.States[i])
			}
			if p.Noise[i] != g.NoiseStd[i] || p.X0[i] != g.Trajectory.X0[i] {
				t.Errorf("%s: noise or initial condition of %s", name, c.Name)
			}
		}
		for _, q := range p.Params {
			if want, ok := g.Params[q.Name]; !ok || math.Abs(q.Value-want) > 1e-15 {
				t.Errorf("%s: parameter %s is %v, golden %v", name, q.Name, q.Value, want)
			}
		}
	}
}

func TestGoldenRightHandSides(t *testing.T) {
	for name, key := range goldenKeys {
		p, _ := Named(name)
		_, rows := readGolden(t, key)
		got := make([]float64, len(p.States))
		worst := 0.0
		for _, r := range rows {
			u := r.forces
			if u == nil {
				u = p.U0
			}
			p.F(got, r.x, u, p.Values())
			for i := range got {
				// A handful of roundings of terms of the size of the largest.
				e := math.Abs(got[i]-r.f[i]) / (1 + largest(r.f))
				worst = math.Max(worst, e)
				if !(e <= 1e-14) {
					t.Errorf("%s: f[%d] = %v at %v, golden %v", name, i, got[i], r.x, r.f[i])
				}
			}
		}
		t.Logf("%s: largest deviation %.1e of the largest component", name, worst)
	}
}

// Dopri5 at rtol = atol = 1e-12 errs by less than one tolerance a step, and an
// error is multiplied by at most the trajectory's growth until the end. Over
// the 400 to 1,000 steps taken here errors partly cancel, and most are made
// where less growth is left: allow 2 tolerances of the largest state so far,
// times the growth so far. Seen: below 0.2.
func TestGoldenTrajectories(t *testing.T) {
	const tol, allow = 1e-12, 2
	for name, key := range goldenKeys {
		p, _ := Named(name)
		g, _ := readGolden(t, key)
		k, prm := len(p.States), p.Values()
		f := func(dst []float64, _ float64, x []float64) { p.F(dst, x, p.U0, prm) }
		solver := ode.NewDopri5(k, ode.Config{RTol: tol})
		x := make([]float64, k*len(g.Trajectory.T))
		if !solver.Solve(x, f, p.X0, 0, g.Trajectory.T) {
			t.Fatalf("%s: integration failed", name)
		}
		var growth, size, worst, worstRatio float64
		for i, want := range g.Trajectory.X {
			growth = math.Max(growth, g.Trajectory.Growth[i])
			size = math.Max(size, largest(want))
			for c := range want {
				e := math.Abs(x[i*k+c] - want[c])
				worst = math.Max(worst, e)
				worstRatio = math.Max(worstRatio, e/(tol*(1+size)*growth))
				if !(e <= allow*tol*(1+size)*growth) {
					t.Fatalf("%s: %s at %v is %v, golden %v (off by %g)", name, p.States[c].Name,
						g.Trajectory.T[i], x[i*k+c], want[c], e)
				}
			}
		}
		t.Logf("%s: largest deviation %.1e = %.2f tolerances x size x growth", name, worst, worstRatio)
	}
}

func largest(v []float64) float64 {
	m := 0.0
	for _, a := range v {
		m = math.Max(m, math.Abs(a))
	}
	return m
}
