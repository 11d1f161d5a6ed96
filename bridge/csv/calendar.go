package csv

import (
	"errors"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/dgm-robotics/dgm/bridge/timebase"
)

// Units of times that are written as people write them.
const (
	isoUnit   = "iso"   // date and time
	clockUnit = "clock" // time of day
)

var (
	errNotDate  = errors.New("is no date and time, such as 2026-03-05T12:30:00.25Z")
	errDayMonth = errors.New("may have the day or the month first")
	errNotClock = errors.New("is no time of day, such as 12:30:00.25 or 123000.25")
)

// mostDays is how many days a duration has at most: times are in ns.
const mostDays = 100_000

// layouts of dates with times, without the zone. A date of six digits is that of NMEA, with the day first.
var layouts = []string{"2006-01-02T15:04:05", "2006/01/02T15:04:05", "02.01.2006T15:04:05", "01/02/2006T3:04:05 PM", "02/01/2006T3:04:05 PM", "02/01/2006T15:04:05", "01/02/2006T15:04:05", "02-01-2006T15:04:05", "01-02-2006T15:04:05", "02-Jan-2006T15:04:05", "20060102T150405", "20060102150405", "020106T150405", "2006-01-02T15:04", "20060102T15:04"}

// slashed matches dates that end with the year, and times of 24 hours: with 12 hours the month is first, if nothing shows the other.
var slashed = regexp.MustCompile(`^\d\d([/-])\d\d[/-]\d{4}T[^M]*$`)

// parseDate reads a date and a time, with a zone or in UTC, into ns since 1970. The second 60 of a minute, which is a leap second, is
// the first one of the next.
func parseDate(s string, order dateOrder) (int64, error) {
	t, err := parsePadded(s, order)
	if other := padded(s); errors.Is(err, errNotDate) && other != s {
		t, err = parsePadded(other, order)
	}
	if errors.Is(err, errNotDate) && leap(s) {
		t, err = parseDate(strings.Replace(s, ":59:60", ":59:59", 1), order)
		t += 1e9
	}
	return t, err
}

// leap reports whether a time is within a leap second.
func leap(s string) bool { return strings.Contains(s, ":59:60") }

// shortDate matches dates and times whose numbers may have one digit, as spreadsheets write them, in brackets or with underscores, as in
// the lines and the names of logs.
var shortDate = regexp.MustCompile(`^\[?(\d{1,4})([./-]?)(\d{1,2})([./-]?)(\d{1,4})[ T_-]+(\d{1,2})([:-]?)(\d{1,2})([:-]?)(\d{1,2})?([.,]\d+)?( ?[AP]M)?( ?[+-]\d\d:?\d\d|Z)?\]?$`)

// padded returns a date and a time with two digits for each number and the usual signs; s as it is where it is none.
func padded(s string) string {
	m := shortDate.FindStringSubmatch(strings.TrimSpace(s))
	if m == nil || m[2] != m[4] || m[7] != m[9] && m[9] != "" {
		return s
	}
	two := func(s string) string { return strings.Repeat("0", max(0, 2-len(s))) + s }
	between := ":"
	if m[7] == "" {
		between = ""
	}
	out := two(m[1]) + m[2] + two(m[3]) + m[4] + two(m[5]) + "T" + two(m[6]) + between + two(m[8])
	if m[10] != "" {
		out += between + two(m[10]) + m[11]
	}
	if m[12] != "" {
		out += " " + strings.TrimSpace(m[12])
	}
	return out + strings.TrimSpace(m[13])
}

// atLeap reports whether a time, ns since 1970, is within a second behind the end of June or December, where leap seconds are.
func atLeap(t int64) bool {
	at := time.Unix(0, t).UTC()
	return at.Year() > 1972 && at.Day() == 1 && at.Hour()+at.Minute() == 0 && at.Second() < 2 && (at.Month() == time.January || at.Month() == time.July)
}

// parsePadded reads dates and times whose numbers have two digits.
func parsePadded(s string, order dateOrder) (int64, error) {
	s = pointed(strings.Replace(strings.TrimSpace(s), " ", "T", 1))
	if len(s) == len("20060102150405000") && strings.Trim(s, "0123456789") == "" {
		s = s[:14] + "." + s[14:]
	}
	if zone, ok := strings.CutSuffix(s, " UTC"); ok {
		s = zone + "Z"
	}
	s = strings.Replace(s, " GMT", "", 1) // ahead of an offset, or in place of it
	if order == anyOrder && slashed.MatchString(s) && s[:2] <= "12" && s[3:5] <= "12" && s[:2] != s[3:5] {
		return 0, errDayMonth
	}
	for _, l := range layouts {
		if !beginsAs(s, l) || l[:2] == "01" && order == dayFirst || (l[:5] == "02/01" || l[:5] == "02-01") && order == monthFirst {
			continue
		}
		for _, zone := range []string{"", "Z07:00", "Z0700", "Z07"} {
			if t, err := time.Parse(l+zone, strings.Replace(s, "T ", "T", 1)); err == nil {
				if y := t.Year(); y < 1700 || y > 2200 {
					return 0, errTooLarge
				}
				return t.UnixNano(), nil
			}
		}
	}
	return 0, errNotDate
}

// beginsAs reports whether a text has a digit or a letter where the date of a layout has one, and the same sign elsewhere. Most cells of a
// table are numbers: an error of time.Parse for each layout takes longer than the rest of reading them.
func beginsAs(text, layout string) bool {
	date := strings.IndexByte(layout, 'T') + 1
	if date == 0 {
		date = len("20060102")
	}
	if len(text) < date {
		return false
	}
	for i := range date {
		digit := '0' <= text[i] && text[i] <= '9'
		letter := 'A' <= text[i]&^0x20 && text[i]&^0x20 <= 'Z'
		switch {
		case layout[i] >= '0' && layout[i] <= '9':
			if !digit {
				return false
			}
		case layout[i] == 'J' || layout[i] == 'a' || layout[i] == 'n': // of a month
			if !letter {
				return false
			}
		case text[i] != layout[i]:
			return false
		}
	}
	return true
}

// pointed writes a time of day with a point ahead of the parts of a second: 12:30:00,25 and 12:30:00:250 have other signs.
func pointed(s string) string {
	if at := strings.LastIndexByte(s, ':'); strings.Count(s, ":") == 3 && len(s)-at > 3 {
		return s[:at] + "." + s[at+1:]
	}
	return strings.Replace(s, ",", ".", 1)
}

// clockDigits is how many digits a time of day without colons has, as in NMEA: 123000.25. A table of numbers lacks zeros ahead.
const clockDigits = 6

// parseClock reads a time of day into ns, or a duration as Python writes it: "1 day, 0:00:02.5",
// "-1 days +23:59:59.98", or MATLAB: "12.5 sec".
func parseClock(s string) (int64, error) {
	s = strings.TrimSpace(s)
	if number, word, ok := measured(s); ok { // as MATLAB writes a duration: "12.5 sec"
		if unit := spelled(word); unit != "" && unit != "d" && scales[unit].origin == 0 {
			return parseTime(number, scales[unit])
		}
	}
	if rest, ok := strings.CutPrefix(s, "-"); ok && strings.Contains(rest, ":") && !strings.ContainsAny(rest, " -") { // ahead of an event
		t, err := parseClock(rest)
		return -t, err
	}
	text, rest, ok := strings.Cut(s, " day")
	if !ok {
		return timeOfDay(s)
	}
	days, err := strconv.ParseInt(text, 10, 32)
	if err != nil || days < -mostDays || days > mostDays {
		return 0, errNotClock
	}
	t, err := timeOfDay(strings.TrimPrefix(strings.TrimLeft(strings.TrimPrefix(rest, "s"), ", "), "+"))
	if err != nil || t >= day {
		return 0, errNotClock
	}
	return days*day + t, nil
}

// timeOfDay reads a time of day into ns, or hours beyond 24, minutes and seconds since a start.
func timeOfDay(s string) (int64, error) {
	commas := strings.ContainsRune(s, ',')
	s = pointed(s)
	whole, _, _ := strings.Cut(s, ".")
	switch {
	case commas && strings.Count(s, ":") == 0 && len(whole) < clockDigits: // separators of thousands
		return 0, errNotClock
	case strings.Count(s, ":") == 1 && strings.Contains(s, "."): // minutes and seconds
		s = "0:" + s
	case whole != "" && strings.Trim(whole, "0123456789") == "":
		s = strings.Repeat("0", max(0, clockDigits-len(whole))) + s
	}
	days := int64(0)
	if parts := strings.SplitN(s, ":", 3); len(parts) == 3 { // as in 9:5:7.25
		if h, err := strconv.ParseInt(parts[0], 10, 32); err == nil && h >= 24 && h < 24*mostDays {
			days, parts[0] = h/24, strconv.FormatInt(h%24, 10)
		}
		for i, p := range parts {
			if head, _, _ := strings.Cut(p, "."); len(head) == 1 {
				parts[i] = "0" + p
			}
		}
		s = strings.Join(parts, ":")
	}
	for _, l := range []string{"15:04:05", "15:04", "3:04:05 PM", "150405"} {
		if t, err := time.Parse(l, s); err == nil {
			return days*day + t.Sub(time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC)).Nanoseconds(), nil
		}
	}
	if leap(s) {
		t, err := timeOfDay(strings.Replace(s, ":59:60", ":59:59", 1))
		return days*day + t + 1e9, err
	}
	return 0, errNotClock
}

// wraps continues a counter of 32, 24 or 16 bits over its end, and the time within a day or a week.
type wraps struct {
	last, ahead, step int64 // ns
	begun             bool
	date              string // beside the time of day
	leaps             bool   // the time before was within a leap second
}

// afterLeap returns a time behind leap seconds in the table, which go on: it is a second later for each than UTC, which counts it twice.
// ended reports whether one has ended ahead of it.
func (w *wraps) afterLeap(t int64, within bool) (at int64, ended bool) {
	ended = w.leaps && !within
	if w.leaps = within; ended {
		w.ahead += 1e9
	}
	return t + w.ahead, ended
}

// dated returns the time of a date and a time of day. Where the clock passes midnight, and the date stays, as that of the start of a
// recording, the next day begins.
func (w *wraps) dated(date string, t int64) int64 {
	switch {
	case date != w.date:
		w.date, w.ahead = strings.Clone(date), 0
	case t+w.ahead < w.last-day/2:
		w.ahead += day
	}
	w.last = t + w.ahead
	return w.last
}

// mostWrapped is, in ns, how long after the last time before its end a counter is found wrapped.
const mostWrapped = 10e9

// clock returns a time of day, which goes on over midnight.
func (w *wraps) clock(t int64) int64 {
	if t < w.last-day/2 {
		w.ahead += day
	}
	w.last = t
	return t + w.ahead
}

// add returns the time of a counter in a unit (ns), which may have been one of µs before the
// table was written.
func (w *wraps) add(t, unit int64) int64 {
	rounds := [...]int64{day, 7 * day, unit << 32, 1000 << 32, unit << 24, unit << 16}
	among := rounds[:]
	if unit >= 1e9 { // no counter is so coarse
		among = rounds[:2]
	}
	if w.begun && t+w.ahead < w.last {
		for i, round := range among {
			most := int64(mostWrapped)
			if i > 3 { // of a short one, where it goes on at its step: a recording may begin anew
				most = timebase.Pausing * w.step
			}
			if gap := t + w.ahead + round - w.last; t+w.ahead < w.last-round/2 && gap >= 0 && gap < most {
				w.ahead += round
				break
			}
		}
	}
	t += w.ahead
	w.step, w.last, w.begun = t-w.last, t, true
	return t
}

const day = int64(24 * 3600 * 1e9)

// within returns what a time that falls by so many ns seems to count within; "" = nothing.
func within(fall, step int64) string {
	for name, round := range map[string]int64{"minute": 60e9, "hour": 3600e9, "half day": 12 * 3600e9} {
		if gap := round - fall; gap >= 0 && gap <= timebase.Pausing*max(step, 1e6) {
			return name
		}
	}
	return ""
}
