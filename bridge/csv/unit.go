package csv

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// spellings of the units of times, in lower case.
var spellings = map[string][]string{
	"s":     {"s", "sec", "secs", "second", "seconds"},
	"ms":    {"ms", "msec", "msecs", "milli", "millis", "millisec", "millisecs", "millisecond", "milliseconds"},
	"us":    {"us", "\u00b5s", "\u03bcs", "usec", "usecs", "\u00b5sec", "\u03bcsec", "micro", "micros", "microsec", "microsecs", "microsecond", "microseconds"},
	"ns":    {"ns", "nsec", "nsecs", "nano", "nanos", "nanosec", "nanosecs", "nanosecond", "nanoseconds"},
	"min":   {"min", "mins", "minute", "minutes"},
	"h":     {"h", "hr", "hrs", "hour", "hours"},
	"d":     {"d", "day", "days"},
	datenum: {"datenum"},
	julian:  {"jd", "julian"},
}

// Units of times that are not read, at the end of a name, and words beside a unit that say from
// where times count.
var (
	otherUnits = []string{"week", "weeks", "ticks"}
	aboutTimes = []string{"since", "after", "from", "of", "in", "the", "start", "begin", "beginning", "boot", "launch", "epoch", "unix", "posix", "utc", "gmt", "gps", "tai", "local", "rel", "relative", "abs", "absolute", "elapsed", "monotonic", "ros", "sim", "wall", "host", "system", "device", "sensor", "header", "stamp", "time", "clock"}
)

// words splits a name into its words, in lower case.
func words(name string) []string {
	var spaced strings.Builder
	for i, r := range name {
		if r >= 'A' && r <= 'Z' && i > 0 && name[i-1] >= 'a' && name[i-1] <= 'z' {
			spaced.WriteByte(' ')
		}
		spaced.WriteRune(r)
	}
	return strings.FieldsFunc(strings.ToLower(spaced.String()), func(r rune) bool { return (r < 'a' || r > 'z') && r < 0x80 })
}

// spelled returns the unit of times that a word is; "" = none.
func spelled(word string) string {
	for _, unit := range units {
		if slices.Contains(spellings[unit], word) {
			return unit
		}
	}
	return ""
}

// timeUnit returns the unit of times that stands beside the name of a column, in brackets, in
// the row of units or behind an underscore: [ms], (µs since boot); "" = none does.
func (c *Column) timeUnit() (unit string) {
	for _, w := range strings.Fields(strings.ToLower(c.Unit)) {
		if u := spelled(w); u != "" && unit == "" {
			unit = u
		} else if !slices.Contains(aboutTimes, w) {
			return ""
		}
	}
	return unit
}

// namedUnit returns the unit that the name of a column of times holds as a word: time_msec,
// timestampUs; "" = none. Minutes, hours and days are one only at its end: not in time_of_day.
func (c *Column) namedUnit() string {
	whole := strings.FieldsFunc(strings.ToLower(c.Name), func(r rune) bool { return (r < 'a' || r > 'z') && r < 0x80 })
	parts := words(c.Name)
	for _, w := range append(whole, parts...) {
		if u := spelled(w); slices.Contains(short, u) {
			return u
		}
		for _, begin := range []string{"timestamp", "time"} {
			if rest, ok := strings.CutPrefix(w, begin); ok && len(rest) > 1 && spelled(rest) != "" {
				return spelled(rest)
			}
		}
	}
	if n := len(parts); n > 0 && !c.whole && (n == 1 || parts[n-2] != "of") {
		return spelled(parts[n-1])
	}
	return ""
}

// otherUnit returns what is written beside the name of a column of times, or at the end of it,
// as a unit that is not read; "" = nothing is.
func (c *Column) otherUnit() string {
	if c.timeUnit() != "" {
		return ""
	}
	for _, w := range strings.Fields(strings.ToLower(c.Unit)) {
		if !slices.Contains(aboutTimes, w) {
			return c.Unit
		}
	}
	all := words(c.Name)
	if n := len(all); c.namedUnit() == "" && n > 0 && slices.Contains(otherUnits, all[n-1]) && (n == 1 || all[n-2] != "of") {
		return all[n-1]
	}
	return ""
}

// plainUnit returns a cell of a row of units without brackets.
func plainUnit(cell string) string { return strings.Trim(cell, "[]()- ") }

// measured splits a cell such as "0.1 rad", "51.2°" or "10ms", as spreadsheets and terminals show it, into a number and the unit behind
// it.
func measured(cell string) (number, unit string, ok bool) {
	cell = strings.TrimSpace(cell)
	end := strings.IndexFunc(cell, func(r rune) bool { return (r < '0' || r > '9') && r != '.' && r != '-' && r != '+' })
	if end <= 0 {
		return "", "", false
	}
	if rest := cell[end:]; len(rest) > 1 && rest[0]|0x20 == 'e' && (rest[1] == '-' || rest[1] == '+' || '0' <= rest[1] && rest[1] <= '9') {
		digits := strings.TrimLeft(rest[2:], "0123456789")
		end = len(cell) - len(digits)
	}
	if number, unit = cell[:end], strings.TrimSpace(cell[end:]); len(unit) > longUnit || !unitText.MatchString(unit) || number == "0" && unit[0]|0x20 == 'x' { // as in 0xff
		return "", "", false
	}
	_, err := strconv.ParseFloat(number, 64)
	return number, strings.Replace(unit, "°", "deg", 1), err == nil
}

// unitText matches what may be a unit: no digits of a hexadecimal number, which are among letters.
var unitText = regexp.MustCompile(`^(?:%|°?\pL*|\pL+)(?:[/·* ]\pL+)*(?:\^-?\d|[23²³])?(?:/\pL+(?:\^-?\d|[23²³])?)?$`)
