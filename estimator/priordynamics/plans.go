package priordynamics

import "github.com/dgm-robotics/dgm/estimator/numeric/simd"

// Plans are sixteen inputs over a horizon, of the same rows, side by side: what is linear in an
// input is one product for all of them.
type Plans struct {
	X []float32 // [1 + rows·P][Width]: one, then the inputs of the plans, standardised

	rows      int
	mean, std []float64                               // P, of the inputs
	share     func(row int, from, to float64) float64 // of a time that a row is held; of the time from, where both are the same
}

// NewPlans takes the memory for plans of so many rows, whose inputs have a mean and a standard
// deviation. share returns how much of a time a row of them is held, or whether it is at a
// time, where that has no length.
func NewPlans(rows int, mean, std []float64, share func(row int, from, to float64) float64) *Plans {
	s := &Plans{X: make([]float32, (1+rows*len(mean))*simd.Width), rows: rows, mean: mean, std: std, share: share}
	for lane := range simd.Width {
		s.X[lane] = 1
	}
	return s
}

// Set writes a plan (rows×P) to a lane.
func (l *Plans) Set(lane int, plan []float64) {
	P := len(l.mean)
	for i, u := range plan {
		l.X[(1+i)*simd.Width+lane] = simd.Single((u - l.mean[i%P]) / l.std[i%P])
	}
}

// Span is a time over which the mean of a plan is taken, times a factor.
type Span struct{ From, To, Factor float64 }

// PlanMatrix holds the weights of Plans.X in rows of numbers.
type PlanMatrix struct {
	panels  []float32
	columns int
}

// Means returns the matrix of the mean inputs (P) over each of the spans, standardised by a mean
// and a standard deviation, behind so many rows of zeros. It reads no row after the spans.
func (l *Plans) Means(zeros int, mean, std []float64, spans ...Span) PlanMatrix {
	P, last := len(mean), 0
	shares := make([]float64, len(spans)*l.rows)
	for i, s := range spans {
		for r := range l.rows {
			if share := l.share(r, s.From, s.To); share > tiny {
				shares[i*l.rows+r], last = share, max(last, 1+r)
			}
		}
	}
	m := PlanMatrix{columns: 1 + last*P}
	m.panels = simd.Packed(zeros+len(spans)*P, m.columns, func(row, c int) float64 {
		if row < zeros {
			return 0
		}
		i, p := (row-zeros)/P, (row-zeros)%P
		switch factor := spans[i].Factor / std[p]; {
		case c == 0:
			return factor * (l.mean[p] - mean[p])
		case (c-1)%P == p:
			return factor * l.std[p] * shares[i*l.rows+(c-1)/P]
		}
		return 0
	})
	return m
}

// Part returns the product with the plans.
func (l *Plans) Part(m *PlanMatrix) simd.Part { return simd.Part{L: m.panels, X: l.X, K: m.columns} }
