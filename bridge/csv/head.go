package csv

import (
	"bytes"
	"cmp"
	"regexp"
	"slices"
	"strings"

	"github.com/dgm-robotics/dgm/bridge/frames"
)

// What rows ahead of the data are.
const (
	mostHeads    = 6  // rows
	longUnit     = 12 // bytes: what is longer is no unit
	longNames    = 60 // bytes: what is longer is no name
	mostlyUnits  = 0.5
	numericShare = 0.5 // of the cells of the first row of data, less twice those that are no numbers
)

// fewestRows is how many rows of one width, behind lines that are none of it, are a table.
const fewestRows = 10

// preamble returns how many lines are ahead of a table, and the beginning with these lines empty: titles, the settings of a
// recorder, what a program says as it starts. The table is the rows of one width, mostly of numbers, to the end of the
// beginning, with the names of their columns. Without lines of another width ahead of it, there is none.
func preamble(head []byte) (ahead int, rest []byte) {
	var rows []string
	var at []int // lines
	n := 0
	for line := range strings.Lines(string(head)) {
		n++
		if text := strings.TrimRight(line, "\r\n"); strings.TrimSpace(text) != "" && !strings.ContainsRune("#%", rune(text[0])) && (len(rows) == 0 || strings.HasSuffix(line, "\n")) {
			rows, at = append(rows, text), append(at, n)
		}
	}
	for _, sep := range ",;\t| " {
		first := beginsAt(rows, sep)
		if first <= 0 {
			continue
		}
		rest = head
		for range at[first] - 1 {
			rest = rest[bytes.IndexByte(rest, '\n')+1:]
		}
		return at[first] - 1, rest
	}
	return 0, head
}

// beginsAt returns the row that names the columns of the rows to the end, by a separator; 0 or less = there is none behind the first.
func beginsAt(rows []string, sep rune) int {
	width := func(i int) int { return len(split(rows[i], sep)) }
	last := len(rows) - 1
	if last < fewestRows || width(last) < 2 {
		return 0
	}
	first := last
	for first > 0 && width(first-1) == width(last) {
		first--
	}
	data := first
	if first > 0 && !named(split(rows[first], sep)) { // there may be names without values, as of comments
		if first--; len(trimmed(split(rows[first], sep), width(last))) != width(last) {
			return 0
		}
	} else {
		data++
	}
	values := func(row string) bool {
		cells := split(row, sep)
		return len(cells) > 1 && strings.Join(cells, "") != "" && !slices.ContainsFunc(cells, func(c string) bool { return !number(c) })
	}
	if slices.ContainsFunc(rows[:first], values) { // of another table
		return 0
	}
	if last-data+1 < fewestRows || !named(trimmed(split(rows[first], sep), width(last))) || numbers(rows[data:], sep) <= 0 {
		return 0
	}
	return first
}

// trimmed returns names without those at the end that have no values in rows of a width: empty ones, and the comments of LabVIEW.
func trimmed(names []string, width int) []string {
	for len(names) > width && width > 0 && (names[len(names)-1] == "" || strings.EqualFold(names[len(names)-1], "comment")) {
		names = names[:len(names)-1]
	}
	return names
}

// head finds which rows ahead of the data have the names and the units: programs write the units in a row behind the
// names, or ahead of them, a row of descriptions, and frames of pandas and systems of motion capture names of several levels. A row
// of numbers without a first one, ahead of texts, has those of what the columns are of.
func (l *layout) head() {
	var rows, heads [][]string
	for _, row := range l.rows[:min(len(l.rows), mostHeads+1)] {
		rows = append(rows, split(row, l.comma))
	}
	ahead := 0
	for i, cells := range rows {
		numeric := i > 0 && values(cells)
		if numeric && cells[0] != "" && i+1 < len(rows) && texts(rows[i+1]) { // settings of a recorder and their values
			heads, ahead = nil, i+1
			continue
		}
		if numeric && (cells[0] != "" || !slices.ContainsFunc(rows[i:], texts)) {
			l.choose(heads)
			l.heads, l.named = l.heads+ahead, l.named+ahead
			return
		}
		if len(heads) > 0 && (len(cells) != len(heads[0]) || !numeric && !texts(cells) && !slices.ContainsFunc(rows[i:], texts)) { // ahead of names there may be numbers of bodies
			return
		}
		heads = append(heads, cells)
	}
}

// values reports whether most cells of a row are numbers or times, and some are numbers.
func values(cells []string) bool {
	n := 0
	for _, c := range cells {
		if n++; !value(c) {
			n -= 3
		}
	}
	return n >= int(numericShare*float64(len(cells))) && slices.ContainsFunc(cells, number)
}

// choose chooses the names and the units among several rows ahead of the data.
func (l *layout) choose(heads [][]string) {
	if len(heads) < 2 {
		return
	}
	index := func(cells []string) bool { return cells[0] == "" || strings.Join(cells, "") == cells[0] } // all of the index, or nothing
	stacked := !slices.ContainsFunc(heads, func(cells []string) bool { return !index(cells) })
	named := func(cells []string) bool { return !areUnits(cells) && different(cells) && texts(cells) }
	if l.named = slices.IndexFunc(heads, named); l.named < 0 || stacked {
		for l.named = len(heads) - 1; l.named > 0 && (areUnits(heads[l.named]) || !texts(heads[l.named][1:])); l.named-- {
		}
	}
	units := -1
	for i, cells := range heads {
		if i != l.named && areUnits(cells) && units < 0 {
			units = i
		}
	}
	if units < 0 && len(heads) == 2 && l.named == 0 && !areTypes(heads[1]) {
		if slices.ContainsFunc(heads[1], func(c string) bool { return len(c) > longUnit }) {
			return
		}
		units = 1 // that are not known
	}
	l.heads = len(heads)
	if units >= 0 {
		l.units = heads[units]
	}
	l.levels(heads, units, stacked)
}

// levels makes names of a row of them, of which several are alike, with those of the other rows that distinguish them, and with all
// where they are stacked. What is above a column counts up to the next that has something there, as in merged cells.
func (l *layout) levels(heads [][]string, units int, stacked bool) {
	base := heads[l.named]
	l.joined = slices.Clone(base)
	distinct := func(names []string) int { return len(slices.Compact(slices.Sorted(slices.Values(names)))) }
	ahead := make([]string, len(base))
	for i, level := range heads {
		if i == units || i == l.named {
			continue
		}
		above, names, over := slices.Clone(ahead), slices.Clone(base), ""
		for k := range names {
			if over = cmp.Or(level[k], over); stacked {
				over = level[k]
			}
			if stacked || !isTime(base[k]) {
				above[k] = strings.TrimSpace(above[k] + " " + over)
				names[k] = strings.TrimSpace(above[k] + " " + base[k])
			}
		}
		if stacked || distinct(names) > distinct(l.joined) {
			ahead, l.joined = above, names
		}
	}
	for k := range l.joined { // what is named ahead alone, as the time over the axes of markers
		for i := range heads {
			if i != units {
				l.joined[k] = cmp.Or(l.joined[k], heads[i][k])
			}
		}
	}
}

// texts reports whether cells are texts ahead of data: some, and none of them is a number or a date.
func texts(cells []string) bool {
	some := false
	for _, c := range cells {
		if c != "" && value(c) || len(c) > longNames {
			return false
		}
		some = some || c != ""
	}
	return some
}

// areUnits reports whether cells are units: most of those that are not empty.
func areUnits(cells []string) bool {
	n, of := 0, 0
	for _, c := range cells {
		if c = plainUnit(c); c == "" || number(c) || of == 0 && strings.HasPrefix(strings.ToLower(c), "unit") {
			continue
		}
		of++
		if spelled(c) != "" || frames.IsUnit(c) {
			n++
		} else if of == 1 { // it says what the others are: names, types
			return false
		}
	}
	return n > 0 && float64(n) >= mostlyUnits*float64(of)
}

// areTypes reports whether cells are the types of columns, as frames of data name them.
func areTypes(cells []string) bool {
	return !slices.ContainsFunc(cells, func(c string) bool { return !typeName.MatchString(c) })
}

// typeName matches the types of columns.
var typeName = regexp.MustCompile(`^(?i:u?int|float|double|bool|boolean|str|string|object|number|numeric|real|datetime|timestamp)\d*$`)

// different reports whether cells may be the names of columns: none is empty but the first, of an index, and no two are alike.
func different(cells []string) bool {
	seen := map[string]bool{}
	for i, c := range cells {
		if c == "" && i > 0 && i < len(cells)-1 || seen[c] {
			return false
		}
		seen[c] = true
	}
	return true
}
