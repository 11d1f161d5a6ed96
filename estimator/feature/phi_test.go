package feature_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dgm-robotics/dgm/estimator/feature"
)

func alike(a, b []float64) bool {
	for i := range a {
		if !(math.Abs(a[i]-b[i]) <= 1e-12*(1+math.Abs(b[i]))) {
			return false
		}
	}
	return len(a) == len(b)
}

// Features in blocks are those of all rows at once; what Sum adds is the sum of these, and
// Back's adjoints are those of the sum: with gate and without, odd and even halves.
func TestBlocksSumsAndAdjoints(t *testing.T) { feature.Both(t, blocksSumsAndAdjoints) }

func blocksSumsAndAdjoints(t *testing.T) {
	for draw, f := range []int{0, 2, 6, 10, 26, 100} {
		rng := rand.New(rand.NewPCG(uint64(draw), 8))
		e := newExample(rng, f, draw%2 == 0)
		all := []float64{0, 0.05, 0.2, 0.3, 0.45, 0.6, 0.7}
		n, T, D, k := len(all), e.m.Features(), e.m.D, draw%2
		eval := e.at(e.m.Basis, all...)
		whole, blocks := feature.NewPhi(&e.m, n), feature.NewBlocks(&e.m, n, 3)
		e.m.RandomFeatures(whole, eval, k)
		a, b := normal(rng, n), normal(rng, n)
		sum, want := normal(rng, T), make([]float64, T)
		copy(want, sum)
		for from := 0; from < n; from += 3 {
			to := min(n, from+3)
			e.m.RandomFeatureRows(blocks, eval, k, from, to)
			phi, dphi := blocks.Rows(&e.m, from, to)
			if !alike(phi, whole.Phi[from*T:to*T]) || !alike(dphi, whole.DPhi[from*T:to*T]) {
				t.Fatalf("%d features: rows from %d on are others in blocks", f, from)
			}
			for i := from; i < to; i++ {
				for j := range T {
					want[j] += a[i]*phi[(i-from)*T+j] + b[i]*dphi[(i-from)*T+j]
				}
			}
		}
		blocks.Sum(&e.m, eval, sum, a, b, 0, n)
		if !alike(sum, want) {
			t.Fatalf("%d features: the sum is %v, want %v", f, sum, want)
		}
		// What Back adds to z, ż and the amplitudes is by how much w·(a φ) + (b w + c row)·φ̇
		// changes with them.
		w, row, c := normal(rng, T), normal(rng, T), 0.7
		for i := range n {
			bar, dbar := make([]float64, T), make([]float64, T)
			for j, v := range w {
				bar[j], dbar[j] = a[i]*v, b[i]*v+c*row[j]
			}
			value := func() (v float64) {
				phi := feature.NewPhi(&e.m, n)
				e.m.RandomFeatures(phi, eval, k)
				for j := range T {
					v += bar[j]*phi.Phi[i*T+j] + dbar[j]*phi.DPhi[i*T+j]
				}
				return v
			}
			slope := func(x *float64) float64 {
				const h = 1e-6
				was := *x
				*x = was + h
				up := value()
				*x = was - h
				down := value()
				*x = was
				return (up - down) / (2 * h)
			}
			z, dz := e.m.Z(eval, i, k)
			numeric := []float64{slope(&e.m.LogAmp[2*k]), slope(&e.m.LogAmp[2*k+1])}
			for d := range D {
				numeric = append(numeric, slope(&z[d]), slope(&dz[d]))
			}
			// Another map by now: Back knows the one of RandomRows.
			omega, amps := e.m.Omega, e.m.LogAmp
			e.m.Omega, e.m.LogAmp = normal(rng, len(omega)), normal(rng, len(amps))
			start := normal(rng, 2*D)
			got := func(amp [2]float64, zbar, dzbar []float64) []float64 {
				out := amp[:]
				for d := range D {
					out = append(out, zbar[d]-start[d], dzbar[d]-start[D+d])
				}
				return out
			}
			z1, dz1 := append([]float64(nil), start[:D]...), append([]float64(nil), start[D:]...)
			z2, dz2 := append([]float64(nil), start[:D]...), append([]float64(nil), start[D:]...)
			along := got(blocks.AdjointCombined(&e.m, eval, i, w, row, a[i], b[i], c, z2, dz2), z2, dz2)
			one := got(blocks.Adjoint(&e.m, eval, i, bar, dbar, z1, dz1), z1, dz1)
			e.m.Omega, e.m.LogAmp = omega, amps
			if !alike(along, one) {
				t.Fatalf("%d features, row %d: adjoints %v along, %v one by one", f, i, along, one)
			}
			for j, v := range one {
				if !(math.Abs(v-numeric[j]) <= 1e-7*(1+math.Abs(numeric[j]))) {
					t.Fatalf("%d features, row %d: adjoint %d is %v, the difference says %v", f, i, j, v, numeric[j])
				}
			}
		}
	}
}
