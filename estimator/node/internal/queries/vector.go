package queries

import "math"

// vector holds the rows of one field: one for each question, or one for all.
type vector struct {
	name    string
	x       []float64
	size    int // numbers of a row
	content string
}

// row returns row i, or the only one; nil of an empty field.
func (v *vector) row(i int) []float64 {
	if len(v.x) <= v.size {
		return v.x
	}
	return v.x[i*v.size : (i+1)*v.size]
}

// rows returns how many rows there are.
func (v *vector) rows() (int, error) {
	switch {
	case len(v.x) == 0:
		return 0, nil
	case v.size == 0:
		return 0, wrong(v.name, "has %d numbers, and the model has no inputs", len(v.x))
	case len(v.x)%v.size != 0:
		return 0, wrong(v.name, "has %d numbers, which is no multiple of %d (%s)", len(v.x), v.size, v.content)
	}
	for i, x := range v.x {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return 0, wrong(v.name, "element %d is %v", i, x)
		}
	}
	return len(v.x) / v.size, nil
}
