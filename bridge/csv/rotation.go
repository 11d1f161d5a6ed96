package csv

import (
	"math"
	"regexp"
	"slices"
	"strings"

	"github.com/dgm-robotics/dgm/bridge/frames"
)

// matrixEnds are what the names of the parts of a rotation matrix end in, row by row.
var matrixEnds = [][]string{
	strings.Fields("11 12 13 21 22 23 31 32 33"), strings.Fields("00 01 02 10 11 12 20 21 22"),
	strings.Fields("1_1 1_2 1_3 2_1 2_2 2_3 3_1 3_2 3_3"), strings.Fields("0_0 0_1 0_2 1_0 1_1 1_2 2_0 2_1 2_2"),
	strings.Fields("1][1] 1][2] 1][3] 2][1] 2][2] 2][3] 3][1] 3][2] 3][3]"), strings.Fields("0][0] 0][1] 0][2] 1][0] 1][1] 1][2] 2][0] 2][1] 2][2]"),
	strings.Fields("1,1] 1,2] 1,3] 2,1] 2,2] 2,3] 3,1] 3,2] 3,3]"), strings.Fields("0,0] 0,1] 0,2] 1,0] 1,1] 1,2] 2,0] 2,1] 2,2]"),
	strings.Fields("xx xy xz yx yy yz zx zy zz"),
	strings.Fields("0 1 2 3 4 5 6 7 8"), strings.Fields("1 2 3 4 5 6 7 8 9"), strings.Fields("0] 1] 2] 3] 4] 5] 6] 7] 8]"), strings.Fields("1] 2] 3] 4] 5] 6] 7] 8] 9]"),
}

// matrixName matches what is ahead of the numbers of a part of a rotation matrix, in lower case.
var matrixName = regexp.MustCompile(`^(.*[^a-z])?(r|rot|rotm|rmat|rotmat|rotation|rotationmatrix|matrix|mat|dcm|attitude|orientation|m|t|c)[._ (\[]*$`)

// Rotation returns the columns of the first rotation matrix of a table, row by row: nine that are called alike, with their row and column
// or their number, and are orthogonal in each row of the table. nil = there is none.
func (o *Outline) Rotation() []int {
	for _, ends := range matrixEnds {
		for i := range o.Columns {
			begin, ok := strings.CutSuffix(strings.ToLower(o.Columns[i].Name), ends[0])
			if !ok || !matrixName.MatchString(begin) {
				continue
			}
			if at := o.named(begin, ends); at != nil && o.rotates(at) {
				return at
			}
		}
	}
	return nil
}

// named returns the columns with a beginning and each of several ends, in their order; nil = one of them is missing, or no number.
func (o *Outline) named(begin string, ends []string) (at []int) {
	for _, end := range ends {
		i := slices.IndexFunc(o.Columns, func(c Column) bool { return strings.ToLower(c.Name) == begin+end && c.Others == 0 && c.Numbers > 0 })
		if i < 0 {
			return nil
		}
		at = append(at, i)
	}
	return at
}

// rotates reports whether nine columns are a rotation in all rows in which they are known, and not the same one throughout.
func (o *Outline) rotates(at []int) bool {
	known := 0
	for row := range o.Columns[at[0]].some {
		var m [9]float64
		for k, i := range at {
			m[k] = o.Columns[i].some[row]
		}
		switch q := frames.FromMatrix(m); {
		case math.IsNaN(q[0]):
		case q == frames.Quaternion{}:
			return false
		default:
			known++
		}
	}
	return known > 0 && slices.ContainsFunc(at, func(i int) bool { return o.Columns[i].Low < o.Columns[i].High })
}
