package telemetry

import (
	"fmt"
	"strconv"
	"strings"
)

// SplitIndex splits one part of a path, such as "q[2]", into its name and what follows
// the bracket.
func SplitIndex(part string) (name string, index Index) {
	name, tail, ok := strings.Cut(part, "[")
	return name, Index{tail, ok}
}

// Index is the index of a part of a path, as it is written.
type Index struct {
	tail  string // behind the bracket
	given bool
}

// Of returns the index of an element among count of the field with a name; 0 of a field
// that is no array, which has the count 0. The length of an array with the count −1 is
// not known.
func (x Index) Of(name string, count int) (int, error) {
	switch {
	case count > 0 && !x.given:
		return 0, fmt.Errorf("%s is an array of %d: write %s[0]", name, count, name)
	case count < 0 && !x.given:
		return 0, fmt.Errorf("%s is an array: write %s[0]", name, name)
	case count == 0 && x.given:
		return 0, fmt.Errorf("%s is not an array", name)
	case !x.given:
		return 0, nil
	}
	n, err := strconv.ParseUint(strings.TrimSuffix(x.tail, "]"), 10, 24)
	switch {
	case err == nil && strings.HasSuffix(x.tail, "]") && (count < 0 || int(n) < count):
		return int(n), nil
	case count > 0:
		return 0, fmt.Errorf("%s has %d elements, [0] to [%d]", name, count, count-1)
	}
	return 0, fmt.Errorf("%q is not a name with an index, such as %s[3]", name+"["+x.tail, name)
}
