//go:build linux

package feature

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dgm-robotics/dgm/estimator/internal/guardtest"
	"github.com/dgm-robotics/dgm/estimator/numeric/mlp"
)

// A row's features and what is carried back are those of the formulas where every slice
// lies beside a page that cannot be touched, whatever the angles are: no other row and no
// column of the basis is written, and without a tangent none of its numbers.
func TestRFFStaysInItsRows(t *testing.T) {
	both(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(3, 3))
		var g guardtest.Pages
		defer g.Release()
		fill := func(n int, next func() float64) []float64 {
			x := g.Numbers(t, n, rng.IntN(3) > 0)
			for i := range x {
				x[i] = next()
			}
			return x
		}
		same := func(got, want float64) bool {
			return got == want || math.IsNaN(got) && math.IsNaN(want) || math.Abs(got-want) <= 1e-12*(1+math.Abs(want))
		}
		for draw := range 1500 {
			half, D, rows := 1+rng.IntN(14), 1+rng.IntN(6), 1+rng.IntN(3)
			F := 2 * half
			m := NewMap(2, 1, D, F, []int{1}, []mlp.Activation{mlp.Linear}, Basis{Terms: rng.IntN(3)}, false)
			T := m.Features()
			m.Omega = fill(half*D, rng.NormFloat64)
			p := NewPhi(&m, rows)
			p.Phi, p.DPhi, p.trig, p.rate = fill(rows*T, math.NaN), fill(rows*T, math.NaN), fill(rows*F, math.NaN), fill(rows*half, math.NaN)
			p.omega = g.Numbers(t, len(p.omega), true)
			p.transpose(&m)
			z, dz := fill(D, rng.NormFloat64), fill(D, rng.NormFloat64)
			switch draw % 12 {
			case 3:
				z[rng.IntN(D)] = math.NaN()
			case 6:
				z[rng.IntN(D)] = math.Inf(1)
			}
			tangent := draw%3 != 0
			if !tangent {
				dz = nil
			}
			i := rng.IntN(rows)
			const unit, gate, dgate = 0.3, 1.7, -0.4
			p.rff(&m, i, z, dz, unit, gate, dgate)

			want := NewPhi(&m, rows)
			for _, x := range [][]float64{want.Phi, want.DPhi, want.trig, want.rate} {
				for j := range x {
					x[j] = math.NaN()
				}
			}
			copy(want.omega, p.omega)
			for j := range half {
				s, c := math.Sincos(want.angle(j, z))
				s, c = unit*s, unit*c
				want.trig[i*F+j], want.trig[i*F+half+j] = c, s
				want.Phi[i*T+j], want.Phi[i*T+half+j] = gate*c, gate*s
				if tangent {
					r := want.angle(j, dz)
					want.rate[i*half+j] = r
					want.DPhi[i*T+j], want.DPhi[i*T+half+j] = dgate*c-gate*s*r, dgate*s+gate*c*r
				}
			}
			for what, x := range map[string][2][]float64{
				"trig": {p.trig, want.trig}, "feature": {p.Phi, want.Phi}, "rate": {p.rate, want.rate}, "slope": {p.DPhi, want.DPhi},
			} {
				for j, v := range x[1] {
					if !same(x[0][j], v) {
						t.Fatalf("draw %d: %d frequencies, %d dimensions, row %d of %d: %s %d is %v, want %v", draw, half, D, i, rows, what, j, x[0][j], v)
					}
				}
			}

			bar, dbar, zbar, dzbar := fill(F, rng.NormFloat64), fill(F, rng.NormFloat64), fill(D, rng.NormFloat64), fill(D, rng.NormFloat64)
			if !tangent {
				dbar = nil
			}
			theta, dtheta := append([]float64(nil), bar...), append([]float64(nil), dbar...)
			wantZ, wantDZ := append([]float64(nil), zbar...), append([]float64(nil), dzbar...)
			if !tangent {
				dtheta = nil
			}
			amp := want.angleAdjoint(theta, dtheta, want.trig[i*F:(i+1)*F], want.rate[i*half:(i+1)*half], gate, dgate)
			for j := range half {
				for d := range D {
					wantZ[d] += m.Omega[j*D+d] * theta[j]
					if tangent {
						wantDZ[d] += m.Omega[j*D+d] * dtheta[j]
					}
				}
			}
			if got := p.rffAdjoint(&m, i, gate, dgate, bar, dbar, zbar, dzbar); !same(got, amp) {
				t.Fatalf("draw %d: %d frequencies: adjoint of the amplitude %v, want %v", draw, half, got, amp)
			}
			for d := range D {
				if !same(zbar[d], wantZ[d]) || !same(dzbar[d], wantDZ[d]) {
					t.Fatalf("draw %d: %d frequencies, dimension %d: adjoints %v and %v, want %v and %v", draw, half, d, zbar[d], dzbar[d], wantZ[d], wantDZ[d])
				}
			}
			if tangent {
				// the sum, and the adjoints of a sum
				const x, y, a, b, c = 0.6, -1.1, 0.8, -0.3, 1.9
				w, row, sum := fill(F, rng.NormFloat64), fill(F, rng.NormFloat64), fill(F, rng.NormFloat64)
				wantSum := append([]float64(nil), sum...)
				trig, rate := want.trig[i*F:(i+1)*F], want.rate[i*half:(i+1)*half]
				for j, r := range rate {
					wantSum[j] += x*trig[j] - y*r*trig[half+j]
					wantSum[half+j] += x*trig[half+j] + y*r*trig[j]
				}
				p.rffSum(sum, p.trig[i*F:(i+1)*F], p.rate[i*half:(i+1)*half], x, y)
				for j, v := range wantSum {
					if !same(sum[j], v) {
						t.Fatalf("draw %d: %d frequencies: sum %d is %v, want %v", draw, half, j, sum[j], v)
					}
				}
				for j, v := range w {
					theta[j], dtheta[j] = a*v, b*v+c*row[j]
				}
				amp := want.angleAdjoint(theta, dtheta, trig, rate, gate, dgate)
				clear(wantZ)
				clear(wantDZ)
				for j := range half {
					for d := range D {
						wantZ[d] += m.Omega[j*D+d] * theta[j]
						wantDZ[d] += m.Omega[j*D+d] * dtheta[j]
					}
				}
				clear(zbar)
				clear(dzbar)
				if got := p.rffAdjointCombined(&m, i, gate, dgate, w, row, a, b, c, bar, dbar, zbar, dzbar); !same(got, amp) {
					t.Fatalf("draw %d: %d frequencies: adjoint of the amplitude along %v, want %v", draw, half, got, amp)
				}
				for d := range D {
					if !same(zbar[d], wantZ[d]) || !same(dzbar[d], wantDZ[d]) {
						t.Fatalf("draw %d: %d frequencies, dimension %d: adjoints along %v and %v, want %v and %v", draw, half, d, zbar[d], dzbar[d], wantZ[d], wantDZ[d])
					}
				}
			}
			g.Release()
		}
	})
}
