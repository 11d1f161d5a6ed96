package c99

import (
	"math"
	"slices"
)

// kind is how a constant matrix is stored.
type kind int

const (
	none   kind = iota // all zero
	scaled             // a multiple of the unit matrix: nothing
	picked             // one number at places
	sparse             // numbers with their places
	ranges             // of every row, numbers from one column to another
	dense
	compensated // dense, of one row whose numbers cancel
)

// form is a matrix as it is stored.
type form struct {
	kind
	scale   float64
	index   []int
	numbers []float64
}

// Bytes of a number and of a place, by which forms are compared.
const (
	realBytes  = 4
	placeBytes = 2
)

// mostSum is the largest sum of the absolute values of a row that is summed plainly: its products with numbers up to 1
// leave errors of 1e-6 in single precision. The weights of an exact kernel have larger ones.
const mostSum = 16

// formOf returns the smallest form of a matrix; compensated for a row whose numbers cancel.
func formOf(m []float64, rows, cols int) form {
	var at []int // rows and columns of what is not zero
	var numbers []float64
	for i, v := range m {
		if v != 0 {
			at, numbers = append(at, i/cols, i%cols), append(numbers, v)
		}
	}
	if len(numbers) == 0 {
		return form{kind: none}
	}
	sum := 0.0
	for _, v := range numbers {
		sum += math.Abs(v)
	}
	if rows == 1 && len(numbers) > 1 && sum > mostSum && !all(numbers, numbers[0]) {
		return form{kind: compensated, numbers: m}
	}
	if rows == cols && len(numbers) == rows && all(numbers, numbers[0]) && !slices.ContainsFunc(pairs(at), func(p [2]int) bool { return p[0] != p[1] }) {
		return form{kind: scaled, scale: numbers[0]}
	}
	best, bytes := form{kind: dense, numbers: m}, realBytes*len(m)
	if r, n := rowRanges(m, rows, cols); realBytes*len(n)+placeBytes*len(r) < bytes {
		best, bytes = form{kind: ranges, index: r, numbers: n}, realBytes*len(n)+placeBytes*len(r)
	}
	// Places are read for every number: only what is really sparse is not multiplied by rows.
	if n := realBytes*len(numbers) + placeBytes*len(at); n < bytes {
		best, bytes = form{kind: sparse, index: at, numbers: numbers}, n
	}
	if n := placeBytes * len(at); n < bytes && all(numbers, numbers[0]) && 2*len(numbers) <= len(m) {
		best = form{kind: picked, index: at, scale: numbers[0]}
	}
	return best
}

// rowRanges returns, of every row, the first column that is not zero and the number of columns to the last one, and
// the numbers between.
func rowRanges(m []float64, rows, cols int) (index []int, numbers []float64) {
	for r := range rows {
		row := m[r*cols : (r+1)*cols]
		from, to := 0, cols
		for from < to && row[from] == 0 {
			from++
		}
		for to > from && row[to-1] == 0 {
			to--
		}
		index, numbers = append(index, from%max(cols, 1), to-from), append(numbers, row[from:to]...)
	}
	return index, numbers
}

func pairs(v []int) (out [][2]int) {
	for p := range slices.Chunk(v, 2) {
		out = append(out, [2]int(p))
	}
	return out
}

// all reports whether all numbers are v.
func all(numbers []float64, v float64) bool {
	return !slices.ContainsFunc(numbers, func(x float64) bool { return x != v })
}
