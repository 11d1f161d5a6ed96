package csv

import (
	"fmt"
	"path/filepath"

	"github.com/dgm-robotics/dgm/bridge/frames"
)

// unitAt is the unit of a column, and the file that gives it.
type unitAt struct {
	unit, file string
	inCells    bool // behind each number
}

// agree returns an error where a table gives a column another unit than a table that was read
// before: a map converts no table by itself.
func (t *table) agree(counts *Counts, columns []string) error {
	if t.units == nil || counts == nil {
		return nil
	}
	if counts.units == nil {
		counts.units = map[string]unitAt{}
	}
	for _, c := range columns {
		i := t.index(c)
		if i < 0 {
			continue
		}
		here := unitAt{unit: plainUnit(t.units[i]), file: t.path}
		before, known := counts.units[c]
		switch scale, offset, ok := frames.Unit(before.unit, here.unit); {
		case here.unit == "":
		case !known:
			counts.units[c] = here
		case !ok || scale != 1 || offset != 0:
			return t.fail(0, "column "+quote(c), fmt.Sprintf("is in %s here, and in %s in %s", here.unit, before.unit, filepath.Base(before.file)), "import the tables one by one, or convert the column of one of them")
		}
	}
	return nil
}
