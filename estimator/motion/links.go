package motion

import (
	"fmt"
	"slices"

	"github.com/dgm-robotics/dgm/estimator/program"
)

// linked are the terms of joints with angles q and rates w that their links add, and declares what they share of their accelerations.
func (b *builder) linked(q, w program.Reg) (terms []term) {
	n := b.Rows(q)
	var runs [][2]int
	var sums []float64
	for first := range n {
		for last := first + 1; last < n; last++ {
			runs = append(runs, [2]int{first, last})
			sum := make([]float64, n)
			for j := first; j <= last; j++ {
				sum[j] = 1
			}
			sums = append(sums, sum...)
		}
	}
	directions, squares := b.SinCos(b.Affine(len(runs), nil, program.Part{X: q, M: sums})), b.Function(program.Square, w)
	for i := range n {
		of := fmt.Sprintf(" of joint %d", i+1)
		for r, run := range runs {
			if run[0] <= i && i <= run[1] && run != [2]int{0, i} { // which is the direction that every joint of an arm has
				angles := fmt.Sprintf("angles %d to %d", run[0]+1, run[1]+1)
				terms = append(terms, b.times(i, directions, len(runs)+r, 1, "sine of "+angles+of, "rad/s²"), b.times(i, directions, r, 1, "cosine of "+angles+of, "rad/s²"))
			}
		}
		for j := range n {
			by := fmt.Sprintf(" of joint %d", j+1)
			terms = append(terms, b.times(i, squares, j, 1, "acceleration"+of+" by the square of the rate"+by, "1/rad"))
			if j != i {
				b.shares = append(b.shares, term{row: i, at: j, factor: 1, parameter: b.parameter("share"+of+" in the acceleration"+by, "1")})
			}
		}
	}
	return terms
}

// sharesOf are the terms of what joints share of a register with a row for each.
func (b *builder) sharesOf(a program.Reg) []term {
	terms := slices.Clone(b.shares)
	for i := range terms {
		terms[i].of = a
	}
	return terms
}

// shared appends N times a register with a row for each joint.
func (b *builder) shared(a program.Reg) program.Reg {
	if len(b.shares) == 0 {
		return a
	}
	n := b.Rows(a)
	return b.Affine(n, nil, program.Part{X: a, M: diagonal(n, 1)}, program.Part{X: b.law(n, b.sharesOf(a)...), M: diagonal(n, 1)})
}
