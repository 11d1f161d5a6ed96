package importer

import (
	"fmt"
	"strings"

	"github.com/dgm-robotics/dgm/bridge/csv"
)

// matrixOf returns the nine columns of a table's rotation matrix of which roll, pitch and yaw are proposed; nil = none. Where the table
// has them as angles, too, or as a quaternion, the matrix is said to be a copy of those.
func matrixOf(o *csv.Outline, q *csv.Quaternion, angles bool) []int {
	at, same := o.Rotation(), ""
	switch {
	case angles:
		same = "roll, pitch and yaw, as a rotation matrix"
	case q.At != nil:
		same = "the quaternion, as a rotation matrix"
	default:
		return at
	}
	for _, i := range at {
		o.Columns[i].Same = same
	}
	return nil
}

// matrix adds roll, pitch and yaw of a rotation matrix, where there is one.
func (s *suggestion) matrix(o *csv.Outline, at []int) {
	if at == nil {
		return
	}
	var names []string
	for _, i := range at {
		names = append(names, fmt.Sprintf("%q", o.Columns[i].Column))
	}
	fmt.Fprintf(&s.text, "\n[[attitude]] # roll, pitch and yaw of a rotation matrix\ncolumns = [%s] # row by row, GUESSED: from body to world; of one from world to body list it column by column\norder = \"matrix\"\n", strings.Join(names, ", "))
}
