package csv

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// layout is how a table is written.
type layout struct {
	comma   rune     // between cells; ' ' = any number of spaces and tabs
	comment rune     // begins lines that are no rows
	decimal bool     // numbers have a decimal comma
	names   []string // of the columns, where no row of the table holds them; nil = the first row does
	units   []string // of the columns, where a row beside the names holds them; nil = none does
	rows    []string // the first ones, where one of them holds the names
	width   int      // cells of the last row of the beginning
	heads   int      // rows ahead of those of data: of names, units, descriptions; 0 = none
	named   int      // which of these has the names
	joined  []string // these, with what distinguishes them; nil = as they are
	mend    string   // (optional) what may be wrong if a column is not there
}

// mostLines bounds the lines by which the layout is guessed.
const mostLines = 50

// layoutOf guesses the layout from the beginning of a table, whole or cut off: the separator
// by which most wanted columns are found, most cells of rows are numbers, and the first row
// has most cells, in this order. The columns are named by a comment ahead that holds all that
// are wanted, as programs for computation write it. Where the first row holds numbers they are
// named by the last comment ahead that has as many cells, of a time if there is one, else by their numbers, from 1.
func layoutOf(head []byte, wanted []string) layout {
	l := layout{comma: ',', comment: '#', heads: 1}
	comments, rows := l.lines(head)
	if len(rows) == 0 {
		return l
	}
	best := []int{-1}
	whole := strings.ContainsFunc(",;\t|", func(sep rune) bool { return even(rows, sep) })
	for _, sep := range ",;\t| " {
		if whole && len(split(rows[0], sep)) == 1 {
			continue
		}
		score := []int{found(split(rows[0], sep), wanted), numbers(rows[1:], sep), len(split(rows[0], sep))}
		if sep == ' ' {
			score[2] = 0 // texts hold spaces, and names do before their units
			if len(best) > 1 && score[1] < best[1] {
				continue
			}
		}
		for _, c := range comments {
			score[0] = max(score[0], found(split(c, sep), wanted))
		}
		if slices.Compare(score, best) > 0 {
			best, l.comma = score, sep
		}
	}
	l.decimal, l.width = decimalCommas(rows, l.comma), len(split(rows[len(rows)-1], l.comma))
	if first := split(rows[0], l.comma); !numbered(first, rows[1:], l.comma) {
		l.name(first, rows[1:], comments, wanted)
	}
	if l.names == nil {
		l.rows = rows
	}
	if l.mend == "" {
		l.mend = l.remedy(rows, wanted)
	}
	return l
}

// even reports whether a separator gives all rows as many cells, several.
func even(rows []string, sep rune) bool {
	n := len(split(rows[0], sep))
	return n > 1 && !slices.ContainsFunc(rows, func(row string) bool { return len(split(row, sep)) != n })
}

// remedy returns what may be wrong where a wanted column is not in the first row.
func (l *layout) remedy(rows, wanted []string) string {
	for _, row := range rows[1:] {
		if n := found(split(row, l.comma), wanted); n > 0 && n == len(wanted) {
			return "; a line after the first one has the names: delete the lines ahead of it, or begin them with #"
		}
	}
	if len(split(rows[0], l.comma)) == 1 {
		return "; cells are separated by commas, semicolons, tabs, bars (|) or spaces: replace another separator"
	}
	return ""
}

// lines returns the comments ahead of the first row, without what begins them, and the
// first rows, and sets what begins a comment.
func (l *layout) lines(head []byte) (comments, rows []string) {
	for line := range strings.Lines(string(head)) {
		text := strings.TrimSpace(line)
		switch {
		case text == "":
		case strings.ContainsRune("#%", rune(text[0])):
			if len(rows) == 0 {
				l.comment = rune(text[0])
				comments = append(comments, strings.TrimLeft(text, "#% "))
			}
		case len(rows) < mostLines && (len(rows) == 0 || strings.HasSuffix(line, "\n")):
			if strings.ContainsRune(text, '\t') && !strings.ContainsAny(text, ",;") {
				text = strings.Trim(line, " \r\n") // tabs at its ends are empty cells
			}
			rows = append(rows, text)
		}
	}
	return comments, rows
}

// decimalCommas reports whether the numbers of rows have a decimal comma. Where commas
// separate cells as well, one such number may be chance.
func decimalCommas(rows []string, comma rune) bool {
	points, commas := 0, 0
	for _, row := range rows {
		for _, cell := range split(row, comma) {
			if _, err := strconv.ParseFloat(cell, 64); err == nil && strings.Contains(cell, ".") {
				points++
			} else if commaNumber(bareNumber(cell)) {
				commas++
			}
		}
	}
	return points == 0 && (commas > 1 || commas > 0 && comma != ',')
}

// numbered reports whether the names of the columns are their numbers from 0, behind an empty
// cell of an index or not, as pandas writes a table without names. A row of data is
// written as those that follow.
func numbered(cells, rows []string, sep rune) bool {
	if len(cells) > 1 && cells[0] == "" {
		cells = cells[1:]
	}
	for i, c := range cells {
		if c != strconv.Itoa(i) {
			return false
		}
	}
	points := 0
	for _, row := range rows {
		if strings.Contains(split(row, sep)[0], ".") {
			points++
		}
	}
	return len(cells) > 2 || len(cells) == 2 && 2*points > len(rows)
}

// numbersRows reports whether each row of data begins with its number, for which there is no name among n, as R writes tables.
func (l *layout) numbersRows(n int) bool {
	data := l.rows[min(l.heads, len(l.rows)):]
	before := 0
	for i, row := range data {
		cells := split(row, l.comma)
		number, err := strconv.Atoi(strings.Trim(cells[0], `"`))
		if err != nil || len(cells) != n+1 || cells[n] == "" || i > 0 && number != before+1 {
			return false
		}
		before = number
	}
	return len(data) > 1
}

// name sets the names of the columns, of which cells is the first row, where that does not
// hold them.
func (l *layout) name(cells, rows, comments, wanted []string) {
	for _, c := range comments {
		if names := split(c, l.comma); len(wanted) > 0 && found(names, wanted) == len(wanted) && found(cells, wanted) < len(wanted) {
			l.names = names
			return
		}
	}
	if slices.ContainsFunc(cells, func(c string) bool { return !number(c) }) && !l.continued(cells, rows) {
		if k := len(comments) - 1; k >= 0 && l.fits(split(comments[k], l.comma), cells) {
			l.names = split(comments[k], l.comma)
		}
		return
	}
	for _, c := range slices.Backward(comments) {
		if described.MatchString(c) { // of the table as a whole: what is ahead of it names no columns
			break
		}
		for _, sep := range string(l.comma) + ",;\t| " {
			if names := split(c, sep); len(names) == len(cells) && (l.names == nil || slices.ContainsFunc(names, isTime) && !slices.ContainsFunc(l.names, isTime)) {
				l.names = names // the last ones, or those with a time
			}
		}
	}
	if l.names != nil {
		return
	}
	for i := range cells {
		l.names = append(l.names, strconv.Itoa(i+1))
	}
	l.mend = "; its first line has numbers: name the columns in it, or use their numbers, as in column = \"1\""
}

// continued reports whether the first row is one of data: some of its cells are numbers, and its texts are in the row behind it, too, but
// for dates and times.
func (l *layout) continued(cells, rows []string) bool {
	if len(rows) == 0 || !slices.ContainsFunc(cells, func(c string) bool { return c != "" && number(c) }) {
		return false
	}
	next := split(rows[0], l.comma)
	for i, c := range cells {
		if !number(c) && (i >= len(next) || next[i] != c && !(value(c) && value(next[i]))) {
			return false
		}
	}
	return true
}

// described matches a comment that says something of a table, as the rows and columns of those of Octave.
var described = regexp.MustCompile(`^[a-z]+: [^ ,;\t]+$`)

// fits reports whether names, of a comment ahead, are those of the columns, though some of
// the cells of the first row are texts, as ROS writes %time,field.header.frame_id.
func (l *layout) fits(names, cells []string) bool {
	return len(names) == len(cells) && len(cells) > 1 && !slices.ContainsFunc(names, number) && 2*len(slices.DeleteFunc(slices.Clone(cells), func(c string) bool { return !number(c) })) >= len(cells)
}

// point returns a cell without spaces around it, its number with a decimal point.
func (l *layout) point(cell string) string {
	cell = strings.TrimSpace(cell)
	if strings.HasPrefix(cell, minus) {
		cell = "-" + cell[len(minus):]
	}
	if l.decimal && commaNumber(bareNumber(cell)) {
		cell = strings.Replace(cell, ",", ".", 1)
	}
	return exponent(cell)
}

// exponent returns a number with E before its exponent, where Fortran has written D.
func exponent(cell string) string {
	i := strings.IndexAny(cell, "dD")
	if i <= 0 || i+2 >= len(cell) || cell[i+1] != '+' && cell[i+1] != '-' {
		return cell
	}
	out := cell[:i] + "e" + cell[i+1:]
	if _, err := strconv.ParseFloat(out, 64); err != nil {
		return cell
	}
	return out
}

// ambiguous reports whether a number has a decimal point where the others have a decimal
// comma: it may be a point, or separate thousands.
func (l *layout) ambiguous(cell string) bool {
	_, err := strconv.ParseFloat(strings.TrimSpace(cell), 64)
	return l.decimal && err == nil && strings.Contains(cell, ".")
}

func split(line string, sep rune) []string {
	if sep == ' ' {
		return strings.FieldsFunc(line, unicode.IsSpace)
	}
	quoted := false
	var cells []string
	for from, i := 0, 0; i <= len(line); i++ {
		switch {
		case i == len(line) || rune(line[i]) == sep && !quoted:
			cells = append(cells, line[from:i])
			from = i + 1
		case line[i] == '"':
			quoted = !quoted
		}
	}
	for i := range cells {
		cells[i] = strings.Trim(cells[i], " \"")
	}
	return cells
}

// found counts the wanted columns among names.
func found(names, wanted []string) (n int) {
	for _, w := range wanted {
		if slices.Contains(names, w) {
			n++
		}
	}
	return n
}

// numbers counts the cells of rows that are numbers, less twice the others.
func numbers(rows []string, sep rune) (n int) {
	for _, row := range rows {
		for _, cell := range split(row, sep) {
			if number(cell) {
				n++
			} else {
				n -= 2
			}
		}
	}
	return n
}

// number reports whether a cell is a number, or where one is missing.
func number(cell string) bool {
	_, err := strconv.ParseFloat(exponent(cell), 64)
	_, truth := boolean(cell)
	return err == nil || truth || missing(cell) || commaNumber(cell)
}

// value reports whether a cell is a number, or missing, or a date or a time of day.
func value(cell string) bool {
	if number(cell) {
		return true
	}
	_, clock := parseClock(cell)
	return clock == nil || isDate(cell)
}

// named reports whether cells may be the names of columns: several, and none of them a number.
func named(cells []string) bool {
	return len(cells) > 1 && !slices.ContainsFunc(cells, func(c string) bool { return c != "" && number(c) })
}

// commaNumber reports whether a cell is a number with a decimal comma.
func commaNumber(cell string) bool {
	if strings.Count(cell, ",") != 1 || strings.Contains(cell, ".") {
		return false
	}
	_, err := strconv.ParseFloat(strings.Replace(cell, ",", ".", 1), 64)
	return err == nil
}

// bareNumber returns what is ahead of a unit in a cell.
func bareNumber(cell string) string {
	return strings.TrimRightFunc(cell, func(r rune) bool { return r < '0' || r > '9' })
}

// minus is how text for print begins negative numbers.
const minus = "\u2212"

// missing reports whether a cell means that nothing was measured: "--" is of masked arrays, "#N/A" and "#DIV/0!"
// of spreadsheets, "-nan(ind)" and "1.#QNAN" of Windows.
func missing(cell string) bool {
	if len(cell) > 9 {
		return false
	}
	switch strings.ToLower(cell) {
	case "", "nan", "-nan", "na", "n/a", "null", "none", "nat", "-", "--", "--.--", "?", "missing", "<na>", "nan(ind)", "-nan(ind)", "1.#ind", "-1.#ind", "1.#qnan", "-1.#qnan",
		"#n/a", "#div/0!", "#value!", "#num!", "#ref!", "#name?", "#null!":
		return true
	}
	return false
}

// truth returns a truth value as 1 or 0, also by words that may as well be names of columns.
func truth(cell string) (v float64, ok bool) {
	switch cell {
	case "on", "On", "ON", "yes", "Yes", "YES":
		return 1, true
	case "off", "Off", "OFF", "no", "No", "NO":
		return 0, true
	}
	return boolean(cell)
}

// boolean returns a truth value as 1 or 0.
func boolean(cell string) (v float64, ok bool) {
	switch cell {
	case "true", "True", "TRUE":
		return 1, true
	case "false", "False", "FALSE":
		return 0, true
	}
	return 0, false
}
