package csv

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
)

// Quaternion is four columns of a table that are an attitude.
type Quaternion struct {
	At    []int  // columns, in the order of Order
	Order string // wxyz or xyzw
	By    string // what shows the order; "" = their names do
	YUp   bool   // the second axis of its vector is up, by how the robot turns
}

// quaternionEnds are what the names of the parts of a quaternion end in.
var quaternionEnds = [][]string{{"w", "x", "y", "z"}, {"0", "1", "2", "3"}, {"0]", "1]", "2]", "3]"}, {"1", "2", "3", "4"}}

// Quaternion returns the first quaternion of a table, nil where there is none: columns that are called like qw, orientation.w or quat_0, or
// have no names at all, and whose squares sum to 1.
func (o *Outline) Quaternion() *Quaternion {
	for _, ends := range quaternionEnds {
		if at, norm := o.ending(ends); at != nil && math.Abs(norm-1) < oddNorm {
			q := &Quaternion{At: at, Order: "wxyz"}
			if ends[0] != "w" {
				q.find(o, "wxyz")
			}
			q.YUp = q.yUp(o)
			return q
		}
	}
	for i := range max(0, len(o.Columns)-3) {
		q := &Quaternion{At: []int{i, i + 1, i + 2, i + 3}}
		if !slices.ContainsFunc(q.At, func(k int) bool { c := &o.Columns[k]; return c.Name != "column"+c.Column || c.Numbers < o.Rows }) && math.Abs(o.norm(q.At)-1) < oddNorm && slices.ContainsFunc(q.At, func(k int) bool { return o.Columns[k].Low < o.Columns[k].High }) {
			q.find(o, "xyzw")
			return q
		}
	}
	return nil
}

// findScaled says of the columns of a quaternion that is written with another norm than 1, as in integers, that they are no attitude as
// they are.
func (o *Outline) findScaled() {
	for _, ends := range quaternionEnds {
		if at, norm := o.ending(ends); at != nil && math.Abs(norm-1) >= oddNorm {
			for _, i := range at {
				o.Columns[i].Not = fmt.Sprintf("a part of a quaternion whose norm is %.6g: divide by it", norm)
			}
			return
		}
	}
}

// ending returns the columns that have the name of a quaternion ahead of four ends, and nearly one norm, and that; nil = there are none.
func (o *Outline) ending(ends []string) (at []int, norm float64) {
	for _, c := range o.Columns {
		begin, ok := strings.CutSuffix(strings.ToLower(c.Name), ends[0])
		if words := strings.FieldsFunc(begin, func(r rune) bool { return strings.ContainsRune("._/[ ", r) }); !ok || !slices.ContainsFunc(words, quaternionName.MatchString) {
			continue
		}
		at = at[:0]
		for _, end := range ends {
			if i := slices.IndexFunc(o.Columns, func(c Column) bool { return strings.ToLower(c.Name) == begin+end && c.Others == 0 && c.Numbers > 0 }); i >= 0 {
				at = append(at, i)
			}
		}
		if norm = o.norm(at); len(at) == 4 && norm > 0 {
			return at, norm
		}
	}
	return nil, 0
}

// What shows the order of a quaternion.
const (
	upright     = 0.7 // the mean cosine of the tilt of a robot that stands, drives or flies upright
	moreUpright = 0.3 // than in the other order
	mostlyReal  = 0.8 // the mean square of w, of a robot that turns little
)

// square returns the mean square of a column.
func (o *Outline) square(i int) float64 {
	sum, n := 0.0, 0.0
	for _, v := range o.Columns[i].some {
		if !math.IsNaN(v) {
			sum, n = sum+v*v, n+1
		}
	}
	return sum / n
}

// find finds the order of a quaternion whose columns do not say it: in one of the two the robot may be upright. Else it is the usual one.
func (q *Quaternion) find(o *Outline, usual string) {
	w, x := o.cosTilt(q.At[1], q.At[2]), o.cosTilt(q.At[0], q.At[1])
	switch {
	case w > upright && w-x > moreUpright:
		q.Order, q.By = "wxyz", "w first: the robot is upright then"
	case x > upright && x-w > moreUpright:
		q.Order, q.By = "xyzw", "w last: the robot is upright then"
	default:
		if first, last := o.square(q.At[0]), o.square(q.At[3]); first > mostlyReal && first > last {
			usual = "wxyz"
		} else if last > mostlyReal {
			usual = "xyzw"
		}
		other := map[string]string{"wxyz": "xyzw", "xyzw": "wxyz"}[usual]
		q.Order, q.By = usual, fmt.Sprintf("GUESSED: it may be %s", other)
	}
}

// yUp reports whether a robot turns about y, and leans less far from it than from z.
func (q *Quaternion) yUp(o *Outline) bool {
	x, y, z := q.At[1], q.At[2], q.At[3]
	if q.Order == "xyzw" {
		x, y, z = q.At[0], q.At[1], q.At[2]
	}
	up := o.cosTilt(x, z)
	return up > upright && up-o.cosTilt(x, y) > moreUpright
}

// cosTilt returns the mean cosine of the angle between the vertical axes of body and world, by the columns of x and y.
func (o *Outline) cosTilt(x, y int) float64 {
	sum, n := 0.0, 0.0
	for row := range o.Columns[x].some {
		if v := 1 - 2*(o.Columns[x].some[row]*o.Columns[x].some[row]+o.Columns[y].some[row]*o.Columns[y].some[row]); !math.IsNaN(v) {
			sum, n = sum+v, n+1
		}
	}
	return sum / n
}

// quaternionName matches what the parts of a quaternion are called, ahead of their letter or number.
var quaternionName = regexp.MustCompile(`^(.*[^a-z])?(q|quat|quaternion|orientation|rotation|attitude|rot|ori|att|pose)$`)

// oddNorm is how far the norm of a quaternion is from 1 at most, and those of its rows from each other.
const oddNorm = 0.025

// norm returns the mean norm of columns, as far as they are known; 0 = that of some row is another one.
func (o *Outline) norm(columns []int) float64 {
	all, n := 0.0, 0.0
	for row := range o.Columns[0].some {
		sum := 0.0
		for _, i := range columns {
			sum += o.Columns[i].some[row] * o.Columns[i].some[row]
		}
		switch norm := math.Sqrt(sum); {
		case math.IsNaN(norm) || norm == 0: // lost
		case n > 0 && math.Abs(norm*n/all-1) > 2*oddNorm:
			return 0
		default:
			all, n = all+norm, n+1
		}
	}
	if all == 0 {
		return 0
	}
	return all / n
}
