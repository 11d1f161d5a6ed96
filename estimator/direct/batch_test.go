package direct

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/numeric/simd"
)

func TestBatchedIsTheMap(t *testing.T) {
	var times []float64
	for i := range 41 {
		times = append(times, 0.025*float64(i+1)*0.97)
	}
	times[7] = 0.2 // of the weights
	each(t, func(t *testing.T, m *Model, readout int, s start) {
		N := len(times)
		d := New(m, K, horizon)
		b := NewBatched(d, times, nil)
		all, one := make([]float64, K*N), make([]float64, K)
		levels := append([]*Batched{b}, b.Bounding()...)
		panels, factors := make([][]float32, len(levels)), make([]float32, b.Matrices()*simd.Width)
		for i := range panels {
			panels[i] = make([]float32, K*simd.Padded(K)*b.Matrices())
		}
		other := newStart(rand.New(rand.NewPCG(6, 6)), len(s.history)/(K+P))
		for _, s := range []start{other, s} { // what is left of the first must not matter
			d.Run(s.x0, s.u, readout, s.history)
			b.Evaluate(all)
			shares := sharesOf(b)
			for l := range shares {
				levels[l].Jacobian(panels[l], b.Matrices(), 0)
			}
			for i, at := range times {
				d.At(one, nil, at)
				for k, want := range one {
					close(t, "displacement", all[i*K+k], want, 1e-11)
				}
				for c := range K {
					dx := make([]float64, K)
					dx[c] = 1
					d.JVP(dx)
					d.JVPAt(one, at)
					for k, want := range one {
						got := 0.0
						if of := m.Derivative[k]; of >= 0 {
							got = at * dx[of]
						}
						for l, share := range shares {
							first, count := levels[l].Factors(factors, i/simd.Width*simd.Width, simd.Width)
							for n := range count {
								row := panels[l][((k*simd.Panels(K)+c/simd.Rows)*b.Matrices()+first+n)*simd.Rows:]
								got += share[i*K+k] * float64(factors[n*simd.Width+i%simd.Width]) * float64(row[c%simd.Rows])
							}
						}
						close(t, "Jacobian", got, want, 4e-6)
					}
				}
			}
		}
		gradient := make([]float64, K)
		var u channel.Signal = s.u
		if n := testing.AllocsPerRun(3, func() {
			d.Run(s.x0, u, readout, s.history)
			d.At(one, one, 0.3)
			d.JVP(s.x0)
			d.JVPAt(one, 0.3)
			d.Leverage()
			d.StartLeverage()
			d.StartLeverageGradient(gradient, gradient[:P])
			b.Evaluate(all)
			b.Jacobian(panels[0], b.Matrices(), 0)
			b.Factors(factors, 16, simd.Width)
		}); n != 0 {
			t.Errorf("%v allocations", n)
		}
	})
}

// The derivatives by the numbers of a plan are those along each of them, to single precision.
func TestBatchedInputs(t *testing.T) {
	times := []float64{0.02, 0.05, 0.13, 0.34, 0.5, 0.75, 0.99}
	each(t, func(t *testing.T, m *Model, readout int, s start) {
		d := New(m, K, horizon)
		b := NewBatched(d, times, nil)
		one, got := make([]float64, K), make([]float32, K*simd.Width)
		numbers := len(s.u.values) * P
		along := make([]plan, numbers)
		for n := range along {
			for range s.u.values {
				along[n].values = append(along[n].values, make([]float64, P))
			}
			along[n].values[n/P][n%P] = 1
		}
		mean := make([]float64, P)
		share := func(row int, from, to float64) float64 {
			along[row*P].Mean(mean, from, to)
			return mean[0]
		}
		d.Run(s.x0, s.u, readout, s.history)
		b.Evaluate(make([]float64, K*len(times)))
		shares, levels := sharesOf(b), append([]*Batched{b}, b.Bounding()...)
		for l := range shares {
			levels[l].Linearise()
		}
		for i, at := range times {
			for _, first := range []int{0, 5} {
				sum := make([]float64, len(got))
				for l, part := range shares {
					clear(got)
					levels[l].InputAt(got, i, share, first, numbers)
					for j, v := range got {
						sum[j] += part[i*K+j/simd.Width] * float64(v)
					}
				}
				for n := first; n < min(numbers, first+simd.Width); n++ {
					d.InputJVP(along[n])
					d.InputJVPAt(one, at)
					for k, want := range one {
						close(t, fmt.Sprintf("state %d at %v by number %d", k, at, n), sum[k*simd.Width+n-first], want, 3e-6)
					}
				}
			}
		}
		if n := testing.AllocsPerRun(3, func() { b.Linearise(); b.InputAt(got, 3, share, 0, numbers) }); n != 0 {
			t.Errorf("%v allocations", n)
		}
	})
}

// sharesOf returns the derivatives of the displacements by those of the level by itself, and, where it is bounded, by those of the levels below.
func sharesOf(b *Batched) [][]float64 {
	if !b.Bounded() {
		return [][]float64{slices.Repeat([]float64{1}, len(b.times)*K)}
	}
	shares := b.Shares()
	return shares[:]
}
