package direct

import (
	"github.com/tphakala/simd/f64"

	"github.com/dgm-robotics/dgm/estimator/numeric/matmul"
	"github.com/dgm-robotics/dgm/estimator/numeric/simd"
)

// Linearise prepares InputAt, after Evaluate: g is differentiated by the columns of the plan and by
// those of the input at the start, of which it is a polynomial of the level's degree.
func (b *Batched) Linearise() {
	l, n := b.level(), b.level().inputs()
	b.sumInputs(l)
	if len(l.second) == 0 {
		for i, at := range l.at {
			row, low := b.byInput[i*n:(i+1)*n], b.inputSums[at*n:(at+1)*n]
			f64.Sub(row, b.inputSums[min(at+1, l.T-1)*n:], low)
			f64.Scale(row, row, l.share[i])
			f64.Add(row, row, low)
		}
		return
	}
	for j := range l.T {
		from, to := l.first[j], l.first[j+1]
		if from == to {
			continue
		}
		b.inputsBy(l, b.byInput[from*n:to*n], from, j)
		if j+1 == l.T {
			continue
		}
		b.inputsBy(l, b.nextInput[from*n:to*n], from, j+1)
		for i := from; i < to; i++ {
			row, next := b.byInput[i*n:(i+1)*n], b.nextInput[i*n:(i+1)*n]
			f64.Sub(next, next, row)
			f64.AddScaled(row, l.share[i], next)
		}
	}
}

// inputsBy sets rows of byInput, from a time on, by the weights of time j of a level of degree 2.
func (b *Batched) inputsBy(l *batchedLevel, dst []float64, from, j int) {
	n := l.inputs()
	columns := matmul.Matrix(len(dst)/n, l.plan, l.columns[from*l.V+1:])
	columns.Stride = l.V
	b.work.Affine(matmul.Matrix(len(dst)/n, n, dst), columns, matmul.Matrix(l.plan, n, l.second[j*l.plan*n:]), b.inputSums[j*n:(j+1)*n])
}

// sumInputs sets what byInput has of the start, T rows.
func (b *Batched) sumInputs(l *batchedLevel) {
	TK, n, L := l.T*l.K, l.inputs(), b.d.m.Lift.Dim()
	b.sumMixed(l)
	for j := range l.T {
		copy(b.inputSums[j*n:], l.G[(j*l.V+1)*l.K:(j*l.V+1+l.plan)*l.K])
	}
	start := b.d.column[1 : 1+l.starts]
	products := l.rows(l.fixed) - l.starts*(l.starts+1)/2
	for p := range l.P {
		sums := b.sums[:TK]
		copy(sums, l.fixed[(1+L+p)*TK:])
		for at, a := products, 0; l.Degree == 2 && a < l.starts; a++ {
			for o := a; o < l.starts; o++ {
				if a == L+p {
					f64.AddScaled(sums, start[o], l.fixed[at*TK:(at+1)*TK])
				}
				if o == L+p {
					f64.AddScaled(sums, start[a], l.fixed[at*TK:(at+1)*TK])
				}
				at++
			}
		}
		for j := range l.T {
			copy(b.inputSums[j*n+(l.plan+p)*l.K:], sums[j*l.K:(j+1)*l.K])
		}
	}
}

// InputAt adds the derivatives of the displacement at time i of the last Linearise by Width
// numbers of a plan from first on, of so many, to dst (K × Width); share returns how much of a
// time a row of the plan is held.
func (b *Batched) InputAt(dst []float32, i int, share func(row int, from, to float64) float64, first, numbers int) {
	l, m, t, n := b.level(), b.d.m, b.times[i], b.level().inputs()
	by, K := b.byInput[i*n:(i+1)*n], l.K
	clear(b.byNumber)
	// add adds the derivatives by a column.
	add := func(lane, column int, factor float64) {
		if lane >= 0 && lane < simd.Width {
			f64.AddScaled(b.byNumber[lane*K:(lane+1)*K], factor, by[column*K:(column+1)*K])
		}
	}
	for row := first / l.P; row*l.P < min(first+simd.Width, numbers); row++ {
		lane := row*l.P - first
		if row == 0 {
			for p, std := range m.UStd {
				add(lane+p, l.plan+p, t/std)
			}
		}
		held := false
		for block := range l.plan / l.P {
			s := share(row, t*float64(block)/float64(m.Blocks), t*float64(block+1)/float64(m.Blocks))
			if s == 0 && held {
				break
			}
			if held = s > 0; !held {
				continue
			}
			for p, std := range m.UStd {
				add(lane+p, block*l.P+p, t*s/std)
			}
		}
	}
	for k := range K {
		row := (*[simd.Width]float32)(dst[k*simd.Width:])
		for lane := range row {
			row[lane] += simd.Single(b.byNumber[lane*K+k])
		}
	}
}
