package plant

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dgm-robotics/dgm/estimator/channel"
)

// anywhere draws a state, inputs and parameters around the plant's own.
func anywhere(p *Plant, rng *rand.Rand) (x, u, prm []float64) {
	x, u, prm = make([]float64, len(p.States)), make([]float64, len(p.Inputs)), p.Values()
	for i := range x {
		x[i] = 1.2 * (2*rng.Float64() - 1)
	}
	for i := range u {
		u[i] = 2*rng.Float64() - 1
	}
	for i := range prm {
		prm[i] *= 0.7 + 0.6*rng.Float64()
	}
	return x, u, prm
}

func TestDescriptionsAreComplete(t *testing.T) {
	seen := map[string]bool{}
	for _, p := range All() {
		k := len(p.States)
		if err := channel.Check(p.Channels()); err != nil {
			t.Errorf("%s: %v", p.Name, err)
		}
		if seen[p.Name] || p.Name == "" || p.Text == "" || p.Duration <= 0 {
			t.Errorf("%q: name, text or duration", p.Name)
		}
		seen[p.Name] = true
		if len(p.Noise) != k || len(p.X0) != k || len(p.Low) != k || len(p.High) != k || len(p.U0) != len(p.Inputs) {
			t.Errorf("%s: a default has the wrong length", p.Name)
		}
		for i, c := range p.States {
			if p.Low[i] > p.High[i] || c.Noise != p.Noise[i] || c.Noise <= 0 {
				t.Errorf("%s: %s: box or noise", p.Name, c.Name)
			}
		}
		if (p.Push == nil) != (len(p.Disturbances) == 0) {
			t.Errorf("%s: disturbances without an effect, or the other way round", p.Name)
		}
		if q, ok := Named(p.Name); !ok || q.Name != p.Name {
			t.Errorf("%s is not found by its name", p.Name)
		}
	}
	if _, ok := Named("submarine"); ok {
		t.Error("found a plant that does not exist")
	}
}

// Channels called the derivative of another, invariant or periodic must be so.
func TestStructureOfChannelsHolds(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for _, p := range All() {
		x, u, prm := anywhere(&p, rng)
		f, moved := make([]float64, len(x)), make([]float64, len(x))
		p.F(f, x, u, prm)
		for i, c := range p.States {
			if j := channel.Index(p.States, c.Derivative); j >= 0 && f[i] != x[j] {
				t.Errorf("%s: d %s/dt is not %s", p.Name, c.Name, c.Derivative)
			}
			shift := c.Period
			if c.Invariant {
				shift = 17
			}
			if shift == 0 {
				continue
			}
			old := x[i]
			x[i] += shift
			p.F(moved, x, u, prm)
			x[i] = old
			for k := range f {
				if math.Abs(moved[k]-f[k]) > 1e-12*(1+math.Abs(f[k])) {
					t.Errorf("%s: d %s/dt changes when %s shifts by %g", p.Name, p.States[k].Name, c.Name, shift)
				}
			}
		}
	}
}

// The adjoint against central differences with Richardson's extrapolation,
// whose own error is about 1e-10 of the largest entry here.
func TestVJPAgainstDifferences(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, p := range All() {
		for range 20 {
			x, u, prm := anywhere(&p, rng)
			k := len(x)
			g := make([]float64, k)
			for i := range g {
				g[i] = rng.NormFloat64()
			}
			f := make([]float64, k)
			value := func() float64 {
				p.F(f, x, u, prm)
				var sum float64
				for i := range f {
					sum += g[i] * f[i]
				}
				return sum
			}
			slope := func(v *float64) float64 {
				old := *v
				at := func(h float64) float64 {
					*v = old + h
					up := value()
					*v = old - h
					down := value()
					*v = old
					return (up - down) / (2 * h)
				}
				h := 1e-3 * math.Max(math.Abs(old), 1e-4)
				return (4*at(h/2) - at(h)) / 3
			}
			// Rows are added to: start from something.
			dx, du, dp := filled(k), filled(len(u)), filled(len(prm))
			p.VJP(dx, du, dp, x, u, prm, g)
			for name, pair := range map[string][2][]float64{"state": {dx, x}, "input": {du, u}, "parameter": {dp, prm}} {
				got, at := pair[0], pair[1]
				for i := range at {
					want := slope(&at[i])
					scale := 1 + math.Abs(value())/math.Max(math.Abs(at[i]), 1e-4)
					if e := math.Abs(got[i] - 7 - want); e > 1e-8*(scale+math.Abs(want)) {
						t.Errorf("%s: %s %d: adjoint %v, differences %v", p.Name, name, i, got[i]-7, want)
					}
				}
			}
			p.VJP(nil, nil, nil, x, u, prm, g) // nothing wanted is fine
		}
	}
}

func filled(n int) []float64 {
	v := make([]float64, n)
	for i := range v {
		v[i] = 7
	}
	return v
}

func TestJacobianTimesDirection(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for _, p := range All() {
		x, u, prm := anywhere(&p, rng)
		k, n := len(x), len(u)
		jx, ju := filled(k*k), filled(k*n)
		p.jacobian(jx, ju, nil, x, u, prm)
		up, down := make([]float64, k), make([]float64, k)
		dir := make([]float64, k+n)
		for i := range dir {
			dir[i] = rng.NormFloat64()
		}
		const h = 1e-5
		step := func(dst []float64, h float64) {
			xx, uu := append([]float64{}, x...), append([]float64{}, u...)
			for i := range xx {
				xx[i] += h * dir[i]
			}
			for i := range uu {
				uu[i] += h * dir[k+i]
			}
			p.F(dst, xx, uu, prm)
		}
		step(up, h)
		step(down, -h)
		for i := range k {
			var want float64
			for j := range k {
				want += jx[i*k+j] * dir[j]
			}
			for j := range n {
				want += ju[i*n+j] * dir[k+j]
			}
			if got := (up[i] - down[i]) / (2 * h); math.Abs(got-want) > 1e-5*(1+math.Abs(want)) {
				t.Errorf("%s: row %d: %v by differences, %v by the Jacobian", p.Name, i, got, want)
			}
		}
	}
}

// jacobian sets jx (K×K), ju (K×P) and jp (K×Q), all row-major, to the
// derivatives of f. Each may be nil: not wanted. It allocates.
func (p *Plant) jacobian(jx, ju, jp, x, u, params []float64) {
	k := len(p.States)
	g := make([]float64, k)
	row := func(j []float64, i, n int) []float64 {
		if j == nil {
			return nil
		}
		r := j[i*n : (i+1)*n]
		clear(r)
		return r
	}
	for i := range k {
		g[i] = 1
		p.VJP(row(jx, i, k), row(ju, i, len(p.Inputs)), row(jp, i, len(p.Params)), x, u, params, g)
		g[i] = 0
	}
}
