package csv

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// mostGroups bounds the robots in the rows of one table.
const mostGroups = 256

// Groups returns the different values of a column, in the order of their appearance.
func Groups(path, column string, open Opener) (all []string, err error) {
	t, err := openTable(path, []string{column}, open)
	if err != nil {
		return nil, err
	}
	defer t.Close()
	at := t.index(column)
	for {
		cells, err := t.next()
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return nil, err
		}
		if v := strings.TrimSpace(cells[at]); !slices.Contains(all, v) {
			if all = append(all, strings.Clone(v)); len(all) > mostGroups {
				return nil, t.fail(t.line, "time.group_column", fmt.Sprintf("column %s has more than %d different values", quote(column), mostGroups), "name the column of the robots, or write segment_column for one that numbers parts")
			}
		}
	}
}
