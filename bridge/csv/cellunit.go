package csv

import (
	"regexp"
	"strings"
)

// measure is a number with a unit behind it, as spreadsheets and terminals show it.
var measure = regexp.MustCompile(`^[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?(\s*[%°].*|\s+[\pL/].*)$`)

// withoutUnit returns the remedy for a cell such as "0.1 rad", and "" for every other cell.
// The import does not drop the unit, since cells of one column may have several (V and mV).
func withoutUnit(cell string) string {
	parts := measure.FindStringSubmatch(cell)
	if parts == nil {
		return ""
	}
	return "cells may not contain units: convert the column to one unit, write only numbers in it, and give the unit in the map; " +
		quote(strings.TrimSpace(parts[1])) + " is behind the number"
}
