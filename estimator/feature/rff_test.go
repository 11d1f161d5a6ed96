package feature

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dgm-robotics/dgm/estimator/numeric/mlp"
)

// angles are near zero, near multiples of π/4, at the end of what the vector unit reduces
// and anywhere between.
func angles() (all []float64) {
	rng := rand.New(rand.NewPCG(1, 1))
	for i := range 20000 {
		all = append(all, (2*rng.Float64()-1)*math.Pow(10, float64(i%12)-6)*0.1)
	}
	for n := -200; n <= 200; n++ {
		x := float64(n) * math.Pi / 4
		all = append(all, x, math.Nextafter(x, 1e9), math.Nextafter(x, -1e9), 1e5-float64(n+200))
	}
	return append(all, 0, math.Copysign(0, -1), 5e-324, -1e-300, maxAngle, -maxAngle)
}

// phiOf returns the map and the memory for rows of the frequencies (half×D).
func phiOf(omega []float64, D, rows int) (*Map, *Phi) {
	m := NewMap(1, 1, D, 2*len(omega)/D, []int{1}, []mlp.Activation{mlp.Linear}, Basis{}, false)
	m.Omega = omega
	p := NewPhi(&m, rows)
	p.transpose(&m)
	return &m, p
}

// The features' sines and cosines and the library's agree to rounding.
func TestRFFEqualsTheLibrary(t *testing.T) {
	both(t, func(t *testing.T) {
		all := angles()
		for from := 0; from < len(all); {
			n := 1 + from%23
			theta := all[from:min(from+n, len(all))]
			from += n
			n = len(theta)
			m, p := phiOf(theta, 1, 1)
			p.rff(m, 0, []float64{1}, nil, 1, 1, 0)
			for i, v := range theta {
				s, c := math.Sincos(v)
				sin, cos := p.trig[n+i], p.trig[i]
				if !(math.Abs(sin-s) <= 2.3e-16) || !(math.Abs(cos-c) <= 2.3e-16) || p.Phi[i] != cos || p.Phi[n+i] != sin {
					t.Fatalf("%v: %v %v, the library's %v %v", v, sin, cos, s, c)
				}
				if math.Abs(v) < 1e-5 && !(math.Abs(sin-s) <= 2.3e-16*math.Abs(v)) {
					t.Fatalf("%v: sine %v", v, sin)
				}
			}
		}
	})
}

func TestRFFOfLargeAngles(t *testing.T) {
	both(t, func(t *testing.T) {
		theta := []float64{1, 1e6, math.Inf(1), math.NaN(), -1e300, 2, 3}
		for i := range theta {
			one := append(append([]float64{}, theta[i:]...), theta[:i]...)
			m, p := phiOf(one, 1, 1)
			const unit, g, dg = 0.3, 1.7, -0.4
			p.rff(m, 0, []float64{1}, []float64{2}, unit, g, dg)
			n := len(one)
			for j, v := range one {
				s, c := math.Sincos(v)
				c, s, r := unit*c, unit*s, 2*v
				for _, x := range []struct {
					what      string
					got, want float64
				}{
					{"cosine", p.trig[j], c},
					{"sine", p.trig[n+j], s},
					{"rate", p.rate[j], r},
					{"first feature", p.Phi[j], g * c},
					{"second feature", p.Phi[n+j], g * s},
					{"first slope", p.DPhi[j], dg*c - g*s*r},
					{"second slope", p.DPhi[n+j], dg*s + g*c*r},
				} {
					same := x.got == x.want || math.IsNaN(x.got) && math.IsNaN(x.want)
					if !same && !(math.Abs(x.got-x.want) <= 1e-15*math.Abs(x.want)) {
						t.Errorf("%v: %s %v, want %v", v, x.what, x.got, x.want)
					}
				}
			}
		}
	})
}

// Features, their derivative and what is carried back are those of the formulas, for
// every number of frequencies and dimensions, and nothing beside the row is written.
func TestRFFAndAdjoint(t *testing.T) {
	both(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(2, 2))
		draw := func(n int) []float64 {
			x := make([]float64, n)
			for i := range x {
				x[i] = rng.NormFloat64()
			}
			return x
		}
		near := func(what string, half int, a, b []float64) {
			t.Helper()
			for i := range a {
				if !(math.Abs(a[i]-b[i]) <= 1e-13*(1+math.Abs(b[i]))) {
					t.Fatalf("%d frequencies: %s %d is %v, want %v", half, what, i, a[i], b[i])
				}
			}
		}
		for half := 1; half <= 27; half++ {
			D := 1 + half%5
			m, p := phiOf(draw(half*D), D, 3)
			for _, x := range [][]float64{p.Phi, p.DPhi, p.trig, p.rate} {
				for i := range x {
					x[i] = 7
				}
			}
			z, dz := draw(D), draw(D)
			const unit, g, dg = 0.3, 1.7, -0.4
			p.rff(m, 1, z, dz, unit, g, dg)
			F := 2 * half
			bar, dbar, zbar, dzbar := draw(F), draw(F), draw(D), draw(D)
			wantZ, wantDZ := append([]float64{}, zbar...), append([]float64{}, dzbar...)
			alone := append([]float64{}, zbar...)
			phi, dphi, trig, rate := make([]float64, F), make([]float64, F), make([]float64, F), make([]float64, half)
			amp, ampAlone := 0.0, 0.0
			for j := range half {
				var a, r float64
				for d := range D {
					a += m.Omega[j*D+d] * z[d]
					r += m.Omega[j*D+d] * dz[d]
				}
				c, s := unit*math.Cos(a), unit*math.Sin(a)
				trig[j], trig[half+j], rate[j] = c, s, r
				phi[j], phi[half+j] = g*c, g*s
				dphi[j], dphi[half+j] = dg*c-g*s*r, dg*s+g*c*r
				ampAlone += bar[j]*phi[j] + bar[half+j]*phi[half+j]
				amp += dbar[j]*dphi[j] + dbar[half+j]*dphi[half+j]
				onAlone := -g*s*bar[j] + g*c*bar[half+j]
				onAngle := onAlone + dbar[j]*(-dg*s-g*c*r) + dbar[half+j]*(dg*c-g*s*r)
				onRate := -g*s*dbar[j] + g*c*dbar[half+j]
				for d := range D {
					wantZ[d] += m.Omega[j*D+d] * onAngle
					wantDZ[d] += m.Omega[j*D+d] * onRate
					alone[d] += m.Omega[j*D+d] * onAlone
				}
			}
			near("feature", half, p.Phi[F:2*F], phi)
			near("slope", half, p.DPhi[F:2*F], dphi)
			near("trig", half, p.trig[F:2*F], trig)
			near("rate", half, p.rate[half:2*half], rate)
			for name, x := range map[string][]float64{"feature": p.Phi, "slope": p.DPhi, "trig": p.trig, "rate": p.rate} {
				n := len(x) / 3
				for i := range n {
					if x[i] != 7 || x[2*n+i] != 7 {
						t.Fatalf("%d frequencies: a %s of another row was written", half, name)
					}
				}
			}
			again, z2 := append(append([]float64{}, bar...), 9), append(append([]float64{}, zbar...), 9)
			longBar, longDBar, longZ, longDZ := append(bar, 9), append(dbar, 9), append(zbar, 9), append(dzbar, 9)
			zbar, dzbar = longZ[:D], longDZ[:D]
			got := p.rffAdjoint(m, 1, g, dg, longBar[:F], longDBar[:F], zbar, dzbar)
			if longBar[F] != 9 || longDBar[F] != 9 || longZ[D] != 9 || longDZ[D] != 9 {
				t.Fatalf("%d frequencies: what is behind an adjoint was written", half)
			}
			near("adjoint", half, append([]float64{got}, zbar...), append([]float64{amp + ampAlone}, wantZ...))
			near("adjoint of the tangent", half, dzbar, wantDZ)
			got = p.rffAdjoint(m, 1, g, dg, again[:F], nil, z2[:D], nil)
			near("adjoint alone", half, append([]float64{got}, z2...), append(append([]float64{ampAlone}, alone...), 9))
			if again[F] != 9 {
				t.Fatalf("%d frequencies: what is behind an adjoint was written", half)
			}
		}
	})
}

func BenchmarkRFF(b *testing.B) {
	m, p := phiOf(make([]float64, 150), 3, 1)
	m.DrawOmega(rand.New(rand.NewPCG(1, 1)))
	p.transpose(m)
	z, bar, dbar, zbar := []float64{1, 2, 3}, make([]float64, 100), make([]float64, 100), make([]float64, 3)
	b.Run("there", func(b *testing.B) {
		for b.Loop() {
			p.rff(m, 0, z, z, 0.1, 1, 1)
		}
	})
	b.Run("back", func(b *testing.B) {
		for b.Loop() {
			p.rffAdjoint(m, 0, 1, 1, bar, dbar, zbar, zbar)
		}
	})
}
