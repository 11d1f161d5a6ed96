package simd

import "math"

// Part is one summand of a product: columns of panels L times the rows of X that
// belong to them.
//
// Panel p reads K + p·Grow columns of L, beginning where panel p−1 ended, and Skip
// numbers further. So with Grow = Rows, K = Rows the panels are those of a lower
// triangle, packed; with Skip they are a range of the columns of a wider matrix.
type Part struct {
	L    []float32 // [panel][column][Rows]
	X    []float32 // [column][Width]
	K    int       // columns of the first panel
	Grow int       // more columns of each further panel
	Skip int       // numbers skipped in L after each panel
	at   int       // where the panel begins, numbers
	k    int       // its columns
}

// ends returns the numbers of L and the columns of X that a product with the given
// number of panels reads.
func (p *Part) ends(panels int) (numbers, columns int) {
	if panels == 0 {
		return 0, 0
	}
	all := panels*p.K + p.Grow*panels*(panels-1)/2
	return Rows*all + p.Skip*(panels-1), p.K + p.Grow*(panels-1)
}

// Pack writes rows×cols numbers, of which at(r, c) is one, as panels to dst. The
// rows that fill up the last panel are zeros.
func Pack(dst []float32, rows, cols int, at func(r, c int) float64) {
	i := 0
	for p := range Panels(rows) {
		for c := range cols {
			for r := p * Rows; r < (p+1)*Rows; r++ {
				dst[i] = 0
				if r < rows {
					dst[i] = Single(at(r, c))
				}
				i++
			}
		}
	}
}

// Packed returns the panels of Pack.
func Packed(rows, cols int, at func(r, c int) float64) []float32 {
	out := make([]float32, Padded(rows)*cols)
	Pack(out, rows, cols, at)
	return out
}

// PackLower writes the lower triangle of n×n numbers, whose rows are stride apart
// in l, as panels: panel p has the columns up to its last row.
func PackLower(dst []float32, n int, l []float64, stride int) {
	clear(dst[:LowerSize(n)])
	for r := range n {
		panel := r / Rows
		to := dst[Rows*Rows*panel*(panel+1)/2+r%Rows:]
		for c, v := range l[r*stride : r*stride+r+1] {
			to[c*Rows] = Single(v)
		}
	}
}

// LowerSize returns the numbers that PackLower writes.
func LowerSize(n int) int {
	p := Panels(n)
	return Rows * Rows * p * (p + 1) / 2
}

// smallest is the smallest normal number of single precision. Subnormal numbers take
// many processors a hundred times longer.
const smallest = 0x1p-126

// Single rounds to single precision; subnormal results become 0.
func Single(v float64) float32 {
	if math.Abs(v) < smallest { // one branch, rarely taken: signs are not predictable
		return 0
	}
	return float32(v)
}

// Width is the number of points of a block.
const Width = 16

// Rows is the number of rows of a panel.
const Rows = 4

// Panels returns how many panels n rows take.
func Panels(n int) int { return (n + Rows - 1) / Rows }

// Padded returns the number of rows filled up to whole panels.
func Padded(rows int) int { return Panels(rows) * Rows }

// begin sets the parts to their first panel and panics where there is less than
// the product would read.
func begin(panels int, parts []Part) {
	if len(parts) == 0 || panels < 0 {
		panic(badLength)
	}
	for i := range parts {
		p := &parts[i]
		numbers, columns := p.ends(panels)
		if p.K < 0 || p.Grow < 0 || p.Skip < 0 || len(p.L) < numbers || len(p.X) < columns*Width {
			panic(badLength)
		}
		p.at, p.k = 0, p.K
	}
}

// next sets a part to its next panel.
func (p *Part) next() {
	p.at += Rows*p.k + p.Skip
	p.k += p.Grow
}
