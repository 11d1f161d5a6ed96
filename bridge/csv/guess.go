package csv

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// Words in the names of columns, in lower case.
var (
	timeWords    = []string{"t", "time", "jd", "julian", "timestamp", "stamp", "sec", "secs", "second", "seconds", "ms", "us", "ns", "clock", "epoch", "datetime", "date", "times", "zeit", "temps", "nsec", "usec", "msec", "millis", "micros", "nanos", "datenum", "elapsed", "unixtime", "utc", "tow", "itow"}
	counterWords = []string{"seq", "index", "idx", "counter", "count", "frame", "id", "row", "sample", "samples", "step", "n", "nr", "no", "number", "unnamed", "tick", "iteration", "iter", "line", "packet"}
	segmentWords = []string{"segment", "episode", "ep", "demo", "take", "run", "trial", "trajectory", "traj", "experiment", "flight", "lap", "rollout", "session", "repetition", "rep", "sequence", "test"}
	signalWords  = []string{"field", "signal", "variable", "metric", "parameter", "entity", "quantity", "topic", "key"}
	robotWords   = []string{"robot", "vehicle", "agent", "drone", "device", "unit", "uav", "car", "name", "id", "serial", "source", "sender", "publisher", "namespace", "body", "tracker"}
)

func hasWord(name string, list []string) bool {
	return slices.ContainsFunc(words(name), func(w string) bool { return slices.Contains(list, w) })
}

// isTime reports whether a column is called as a time is.
func isTime(name string) bool { return hasWord(name, timeWords) }

// changes returns in how many rows a column differs from the row before.
func (c *Column) changes() int { return max(0, c.new-1) }

// moments are the number, sum and sum of squares of values.
type moments struct{ n, sum, squares float64 }

func (m *moments) add(v float64) { m.n, m.sum, m.squares = m.n+1, m.sum+v, m.squares+v*v }

func (m *moments) mean() float64 { return m.sum / m.n }

// spread is the standard deviation over the mean.
func (m *moments) spread() float64 {
	return math.Sqrt(math.Max(m.squares/m.n-m.mean()*m.mean(), 0)) / m.mean()
}

// Steps reports whether a column rests for many rows, some longer than others, and then jumps through its range, as a command does:
// what moves by itself does not jump, and a slow sensor that is held rests for the same time each time, unless its name says that it is none.
func (c *Column) Steps(even bool) bool {
	return c.Others == 0 && len(c.named) > 4 && c.jumps.n >= 10 && c.rests.mean() >= 10 && (even || c.rests.spread() > 0.2) && c.jumps.mean() > 0.15*(c.High-c.Low)
}

// Moves reports whether a column differs in most rows from the row before.
func (c *Column) Moves() bool { return 2*c.changes() > c.Numbers }

// findSegments finds the columns that number segments, and the one that names robots whose
// rows take turns.
func (o *Outline) findSegments() {
	o.Segments, o.Group = nil, -1
	for i := range o.Columns {
		c := &o.Columns[i]
		cells, different := c.Numbers+c.Others, len(c.named)
		if cells < o.Rows || different < 2 || c.Numbers > 0 && !c.whole || c.dates+c.clock > 0 {
			continue
		}
		parts := c.changes() + 1
		switch {
		case hasWord(c.Column, segmentWords) && !hasWord(c.Column, []string{"mode", "modes", "flags"}) && segmentRows*parts <= cells:
			o.Segments = append(o.Segments, i)
		case o.Group < 0 && hasWord(c.Column, slices.Concat(robotWords, segmentWords)) && different < mostNames && 2*different*segmentRows <= cells && parts > 4*different && (c.Others > 0 || !hasWord(c.Column, []string{"id", "unit"}) || different <= 8):
			o.Group = i
		case hasWord(c.Column, robotWords) && c.Others > 0 && different < mostNames && segmentRows*parts <= cells:
			o.Segments = append(o.Segments, i)
		}
	}
}

// timeOf returns the column that looks like the time, or −1: by its name, by its unit and by
// its steps. A counter of rows or messages is none.
func (o *Outline) timeOf() int {
	best, score := -1, 0
	for i := range o.Columns {
		c := &o.Columns[i]
		n := o.timeScore(i, c)
		c.Clock = n > 3 || c.timeUnit() != "" && c.Others == 0 || hasWord(c.Name, []string{"nsec", "nsecs", "nanosec", "nanosecs", "nanoseconds", "week", "weeks"})
		if n > score {
			best, score = i, n
		}
	}
	return best
}

// timeScore returns how much a column looks like a time; 0 = not at all.
func (o *Outline) timeScore(i int, c *Column) (n int) {
	if slices.Contains(o.Segments, i) || i == o.Group {
		return 0
	}
	stands := 2*c.new < c.Numbers+c.Others && o.Group < 0
	for score, cells := range map[int]int{12: c.dates, 9: c.clock} {
		switch {
		case cells == 0 || 10*cells < 9*(c.Others+c.Numbers):
		case stands: // a finer clock may be there
			return score - 5
		default:
			return score
		}
	}
	if c.Others+c.Infinite > 0 || c.Numbers == 0 || len(c.steps) == 0 && c.Numbers > 1 {
		return 0
	}
	unit := c.timeUnit() != ""
	name, counter := hasWord(c.Name, timeWords) || strings.EqualFold(c.Name, "ticks"), hasWord(c.Name, counterWords) // ticks of wheels are none
	if c.unnamed {                                                                                                   // the index of a frame: its times, or the numbers of its rows
		counter = c.whole
	}
	switch {
	case unit:
		n += 6
	case c.otherUnit() != "" && !name: // as a position in mm that rises
		return 0
	case c.otherUnit() != "":
		n += 4 // another time may be there
	case name:
		n += 5
	}
	switch { // times rise; those of several parts or robots begin anew
	case c.falls == 0:
		n += 3
	case !unit && !name || 20*c.falls > c.Numbers && o.Group < 0:
		return 0
	}
	n += o.fineness(i, c, stands)
	switch {
	case counter && !unit && !name:
		return 0
	case !unit && !name && c.whole && 10*c.ones >= 9*(c.Numbers-1): // it counts
		return 0
	case !unit && !name && n < 3:
		return 0
	}
	return n
}

// fineness returns how much more a column looks like the time than one that is as good by its name: with the rest of it in another
// column, or as a stamp of the sensor beside the recorder's time, and not if it stands for some rows.
func (o *Outline) fineness(i int, c *Column, stands bool) int {
	switch rest, _ := o.fractionOf(i); {
	case rest >= 0:
		return 2
	case stands:
		return -3
	case hasWord(c.Name, []string{"stamp"}) && c.Numbers == o.Rows && c.falls == 0, c.Name == "t": // T is a temperature beside t
		return 1
	}
	return 0
}

// tidy returns the column that names the signal of each row and the one with its value, in a table of one value a row, as databases
// of time series export it; nil in others.
func (o *Outline) tidy() (signal, value *Column) {
	for i := range o.Columns {
		c := &o.Columns[i]
		switch {
		case i == o.Time, c.whole && c.Others == 0 && 20*c.new < c.Numbers: // it numbers parts
		case c.Others == o.Rows && len(c.named) > 1 && len(c.named) < mostNames && signal == nil && (10*c.changes() > 9*o.Rows || hasWord(c.Name, signalWords)):
			signal = c
		case c.Numbers > 0 && value != nil:
			return nil, nil
		case c.Numbers > 0:
			value = c
		}
	}
	if signal == nil || value == nil {
		return nil, nil
	}
	times, named := &o.Columns[o.Time], hasWord(signal.Name, signalWords)
	if 2*times.new > o.Rows && !named || o.Group >= 0 && !named && !hasWord(value.Name, []string{"value", "val"}) {
		return nil, nil
	}
	return signal, value
}

// findRates finds how fast other columns of times run. One that is called a time and lasts as long is another time however often it
// falls, as the times of messages that overtake each other do.
func (o *Outline) findRates() {
	for i := range o.Columns {
		c, t := &o.Columns[i], &o.Columns[o.Time]
		if i == o.Time || i == o.Fraction || c.Others+c.Infinite > 0 || c.Numbers != t.Numbers || t.High <= t.Low || c.High <= c.Low {
			continue
		}
		rate := (c.High - c.Low) / (t.High - t.Low)
		rate *= math.Pow(1000, -math.Round(math.Log10(rate)/3))
		alike := math.Abs(rate-1) <= 0.02
		switch {
		case c.Clock && !alike && c.falls+t.falls == 0:
			c.Runs = rate
		case c.falls > 0 && alike && hasWord(c.Name, timeWords):
			c.Clock = true
		}
	}
}

// findFraction finds the column with the rest of the time.
func (o *Outline) findFraction() {
	if o.Fraction, o.FractionUnit = o.fractionOf(o.Time); o.Fraction >= 0 {
		o.Unit, o.Named = "s", true
	}
}

// fractionOf returns the column with the rest of a time in whole seconds, and its unit: the stamps of
// ROS, or of struct timeval; −1 = none has it.
func (o *Outline) fractionOf(i int) (rest int, unit string) {
	clock := &o.Columns[i]
	if !clock.whole || clock.Others > 0 {
		return -1, ""
	}
	if i+1 < len(o.Columns) && clock.Column == strconv.Itoa(i+1) && clock.falls == 0 { // without names: it begins anew with each second
		if c := &o.Columns[i+1]; c.whole && c.Low >= 0 && c.High < 1e9 && c.High > 1e8 && c.falls > 1 && c.falls == clock.changes() {
			return i + 1, "ns"
		}
	}
	for _, end := range spellings["s"] {
		stem, ok := strings.CutSuffix(strings.ToLower(clock.Name), end)
		if !ok || stem != "" && !strings.ContainsAny(stem[len(stem)-1:], "._/ ") && !(len(clock.Name) == len(stem)+len(end) && unicode.IsUpper(rune(clock.Name[len(stem)]))) { // as in stamp_sec and TimeSec
			continue
		}
		for k := range o.Columns {
			c := &o.Columns[k]
			rest, ok := strings.CutPrefix(strings.ToLower(c.Name), stem)
			unit := spelled(rest)
			if ok && unit != "" && c.whole && c.Low >= 0 && scales[unit].power < 9 && c.High*scales[unit].ns() < 1e9 {
				return k, unit
			}
		}
	}
	return -1, ""
}

// findUnit finds the unit of the time: by the name of its column, by its texts, by its size
// where it counts from 1970, else by its steps.
func (o *Outline) findUnit() {
	c := &o.Columns[o.Time]
	switch {
	case o.Fraction >= 0:
		return
	case c.dates > 0:
		o.Unit, o.Named, o.Shown = isoUnit, true, true
		o.dayFirst(c)
		return
	case c.clock > 0:
		o.Unit, o.Named, o.Shown = clockUnit, true, true
		if o.Date = slices.IndexFunc(o.Columns, func(d Column) bool {
			_, err := parseDate(d.text+"T000000", dayFirst)
			return d.days > 0 && d.days == d.Others && d.Numbers == 0 || d.Others == 0 && err == nil && hasWord(d.Name, []string{"date"})
		}); o.Date >= 0 {
			o.Unit = isoUnit
			o.dayFirst(&o.Columns[o.Date])
		}
		return
	}
	if o.Unit = cmp.Or(c.timeUnit(), c.namedUnit()); o.Unit != "" {
		o.Named, o.Shown = true, c.inCells != ""
		return
	}
	for unit, span := range sinceOthers {
		if c.whole && c.Low > span.low && c.High < span.high {
			o.Unit, o.Named, o.Shown = unit, true, true
			return
		}
	}
	for i, unit := range short { // since 1970, in this century
		if s := c.Low * math.Pow(1000, -float64(i)); s > 9e8 && s < 5e9 {
			o.Unit = unit
			return
		}
	}
	if o.Unit = unitOf(c); o.Group >= 0 { // whose clocks may differ
		o.Unit = cmp.Or(unitBy((c.High-c.Low)*float64(len(o.Columns[o.Group].named))/float64(c.Numbers), c.Low), o.Unit)
	}
}

// unitOf guesses the unit of the time from the median step, by the rows that are in it where a clock is coarser than
// they are: the first in which a robot could have been sampled so.
func unitOf(c *Column) string {
	if len(c.steps) == 0 {
		return "s"
	}
	return cmp.Or(unitBy(c.step(), c.Low), "s")
}

// step returns the median step from row to row, 0 without any.
func (c *Column) step() float64 {
	if len(c.steps) == 0 {
		return 0
	}
	slices.Sort(c.steps)
	return c.steps[len(c.steps)/2] * float64(c.new) / float64(c.Numbers)
}

// slowest is the least rate, Hz, at which a plant that is slow would be sampled.
const slowest = 0.5

// Guess returns how many rows a second a guessed unit of the time makes of the table, and how many it would be if the column counted
// seconds, where that may be, too: rows of a slow plant and of a fast logger have the same steps. 0 = it may not.
func (o *Outline) Guess() (rate, inSeconds float64) {
	step := o.Columns[o.Time].step()
	if o.Named || !(step > 0) || scales[o.Unit].factor == 0 || o.Group >= 0 { // steps are between robots
		return 0, 0
	}
	if rate = 1e9 / (step * scales[o.Unit].ns()); o.Unit != "s" && 1/step >= slowest {
		inSeconds = 1 / step
	}
	return rate, inSeconds
}

// findMinutes says of columns of positions as NMEA writes them that they are no degrees: 4730.5 is 47° 30.5'.
func (o *Outline) findMinutes() {
	for i := range o.Columns {
		c := &o.Columns[i]
		if hasWord(c.Name, []string{"lat", "latitude", "lon", "lng", "long", "longitude"}) && c.Unit == "" && !c.whole && c.sixty < 60 && c.sixty > 0 && max(-c.Low, c.High) > 180 && max(-c.Low, c.High) < 18000 {
			c.Not = "degrees and minutes, it seems, as NMEA writes them, where 4730.5 is 47° 30.5': convert it to degrees"
		}
	}
}

// findBlocks says of columns behind an empty one, and a time of their own, that they are another table, which spreadsheets have beside the
// first: their rows are not of the time of those before.
func (o *Outline) findBlocks() {
	for i := range o.Columns {
		empty := &o.Columns[i]
		if !empty.unnamed || empty.Numbers+empty.Others+empty.Infinite > 0 || i <= o.Time {
			continue
		}
		if k := slices.IndexFunc(o.Columns[i:], func(c Column) bool { return c.Clock }); k >= 0 {
			for j := range o.Columns[i+1:] {
				o.Columns[i+1+j].Not = fmt.Sprintf("of a table beside the first, with times of its own in column %s: write it to a file of its own", quote(o.Columns[i+k].Column))
			}
			return
		}
	}
}

// arrow is between the time and the text of a line in the window of a program that shows what a serial line sends.
const arrow = " -> "

// addTimes is the remedy of a table without times.
const addTimes = "add a column of times, such as the seconds since the start, or write the map by hand, with step = \"10ms\" under [time] for the time between rows (a counter of rows is no time: its rate is not known)"

// nearlyTime returns why a column is no time that is called like one, and what to do; an empty reason without such a column.
func (o *Outline) nearlyTime() (reason, remedy string) {
	const sorts = "sort the rows by it, or write the map by hand, with join = true under [time], which does so"
	for i := range o.Columns {
		c := &o.Columns[i]
		switch {
		case labelled.MatchString(c.other):
			return fmt.Sprintf(": %s of column %s has a name ahead of its number", quote(c.other), quote(c.Column)), "name the columns in a first line, and leave the numbers, as by: sed -E 's/[A-Za-z_]\\w*[=:]//g' IN > OUT"
		case strings.Contains(c.other, arrow):
			return fmt.Sprintf(": %s of column %s is a time and a value in one cell", quote(c.other), quote(c.Column)), "make two of it, as by: sed 's/" + arrow + "/,/' IN > OUT"
		case c.timeUnit() == "" && !hasWord(c.Name, timeWords):
			continue
		case c.Numbers > 10*c.Others && c.Others > 0:
			return fmt.Sprintf(": column %s has %d numbers, and cells that are none, the first %s", quote(c.Column), c.Numbers, quote(c.other)), "correct these lines, or delete them"
		case c.Nearly() != "":
			return fmt.Sprintf(": column %s has numbers as %s, which are not read", quote(c.Column), quote(c.Nearly())), "write them without separators of thousands"
		case strings.Count(c.other, ",") == 1 && strings.Trim(c.other, "+-0123456789,") == "":
			return fmt.Sprintf(": column %s has numbers as %s", quote(c.Column), quote(c.other)), withPoints
		case twoDigits.MatchString(c.other):
			return fmt.Sprintf(": %s of column %s has a year of two digits", quote(c.other), quote(c.Column)), "write years with four digits, as in 2026-03-05"
		case c.days > 0 && c.days == c.Others:
			return fmt.Sprintf(": column %s has dates without a time of day", quote(c.Column)), "name a column of the time of day as a time is; or, where rows are a day apart, write the map by hand, with step = \"24h\" and any_rate = true under [time]"
		case c.Others > 0:
			return fmt.Sprintf(": %s of column %s is no number, no date as 2026-03-05T12:30:00.25 and no time as 12:30:00.25", quote(c.other), quote(c.Column)), addTimes
		case c.Low == c.High:
			return fmt.Sprintf(": column %s is %g throughout", quote(c.Column), c.Low), addTimes
		case hasWord(c.Name, []string{"dt", "delta", "step", "period", "interval"}):
			return fmt.Sprintf(": column %s seems to have the time from row to row", quote(c.Column)), "add a column of its sum, as by pandas' cumsum()"
		case c.falls > 0 && 10*c.falls > 9*(c.Numbers-1):
			return fmt.Sprintf(": column %s falls, the rows are in reverse order", quote(c.Column)), sorts
		case c.falls > 0:
			return fmt.Sprintf(": column %s goes back in %d of %d rows", quote(c.Column), c.falls, c.Numbers), "if it is the time, " + sorts
		}
	}
	return "", addTimes
}

// Nearly returns the first cell of a column of numbers with separators of thousands, which are
// not read; "" of others.
func (c *Column) Nearly() string {
	if thousands.MatchString(c.other) && c.dates+c.clock+c.days == 0 {
		return c.other
	}
	return ""
}

// labelled matches numbers behind a name, as terminals show them.
var labelled = regexp.MustCompile(`^[A-Za-z_]\w*[=:] ?[-+]?\d+(\.\d*)?([ ,;]|$)`)

// thousands matches numbers with separators of thousands.
var thousands = regexp.MustCompile("^[+-]?\\d{1,3}([.,' \u00a0\u202f]\\d{3})+([.,]\\d*)?$")

// twoDigits matches dates of which no number is a year of four digits.
var twoDigits = regexp.MustCompile(`^\d{1,2}([/.-])\d{1,2}[/.-]\d{1,2}[ T]+\d{1,2}:`)
