package c99

import "fmt"

// value is numbers in the work area, or constants: rows of one column, rows of a block of columns, or rows of all
// columns. Its tangent, where it has one, follows it.
type value struct {
	rows, width int    // width: numbers of a row
	array       string // name of the constants; "" = in the work area
	active      bool   // whether it has a tangent
	first, last int    // instructions from which and until which it is alive
	at          int    // place in the work area
}

func (v *value) size() int { return v.rows * v.width }

// memory returns the numbers that it takes in the work area.
func (v *value) memory() int {
	switch {
	case v.array != "":
		return 0
	case v.active:
		return 2 * v.size()
	}
	return v.size()
}

// place is an argument: a number of a value, or of its tangent.
type place struct {
	*value
	tangent bool
	row     int
	column  string // an expression that is added; "" = 0
}

// of is the first number of a value.
func of(v *value) place { return place{value: v} }

// tangent is the first number of the tangent of a value.
func tangent(v *value) place { return place{value: v, tangent: true} }

// from is the row of the place from which on it is read.
func (p place) from(row int) place {
	p.row += row
	return p
}

// columns is the place with an expression added.
func (p place) columns(expression string) place {
	p.column = expression
	return p
}

func (p place) String() string {
	at, text := p.row*p.width, p.array
	if p.array == "" {
		text = "dgm_work"
		at += p.at
	}
	if p.tangent {
		at += p.size()
	}
	if at > 0 {
		text += fmt.Sprintf(" + %d", at)
	}
	if p.column != "" {
		text += " + " + p.column
	}
	return text
}
