package csv

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/big"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/dgm-robotics/dgm/bridge/mapfile"
)

// Time describes the time of a table and its segments: keys of [time] in a map.
type Time struct {
	Column        string           `toml:"column"`
	Unit          string           `toml:"unit"`           // s, ms, us, ns, min, h, d; datenum, julian: days since the years 0 and −4712; ticks, filetime: 100 ns since the year 1 and since 1601; iso: date and time as in 2026-03-05T12:30:00.25+01:00; clock: time of day
	Step          mapfile.Duration `toml:"step"`           // (optional) in place of column and unit: the time from each row to the next
	Fraction      string           `toml:"fraction"`       // (optional) a second column that is added: the stamps of ROS
	FractionUnit  string           `toml:"fraction_unit"`  // (optional) ms, us or ns; defaults to ns
	Date          string           `toml:"date"`           // (optional) with unit iso: the column of the date, where column has the time of day
	DayFirst      *bool            `toml:"day_first"`      // (optional) with unit iso: whether dates that end with the year have the day first, or the month
	SegmentColumn Names            `toml:"segment_column"` // (optional) a new value begins a segment; several columns: a new value in any
	GroupColumn   string           `toml:"group_column"`   // (optional) of a table with rows of several robots: each value of it is read by itself
	MaxGap        mapfile.Duration `toml:"max_gap"`        // (optional) a longer gap begins a segment; defaults to none in a table, to five steps of the base in a log of topics
	From          mapfile.Duration `toml:"from"`           // (optional) cut, from the file's first sample
	To            mapfile.Duration `toml:"to"`             // (optional) cut, from the file's first sample; 0 = to the end
	OnBackwards   Policy           `toml:"on_backwards"`   // (optional) error, segment or keep; defaults to error
	OnDuplicate   Policy           `toml:"on_duplicate"`   // (optional) spread, drop, error or keep; defaults to spread
	AnyRate       bool             `toml:"any_rate"`       // (optional) accept the unit even where the sampling rate is implausible
	Join          *bool            `toml:"join"`           // (optional) columns are joined as topics are; defaults to whether no row has them all
	KeepHeld      bool             `toml:"keep_held"`      // (optional) samples of a state that only repeat the one before count as measured
}

// Policy is what is done with a time that is out of order.
type Policy string

// The policies.
const (
	Fail    Policy = "error"   // stop with an error
	Segment Policy = "segment" // begin a new segment
	Drop    Policy = "drop"    // leave the row out
	Spread  Policy = "spread"  // spread rows evenly where times are coarser than they are, else leave the row out
	Keep    Policy = "keep"    // write it as it is
)

// Names is one name or a list of names.
type Names []string

// UnmarshalTOML reads a string or an array of strings.
func (n *Names) UnmarshalTOML(v any) error {
	list, ok := v.([]any)
	if !ok {
		list = []any{v}
	}
	for _, e := range list {
		s, ok := e.(string)
		if !ok {
			return fmt.Errorf("%v is not the name of a column", e)
		}
		*n = append(*n, s)
	}
	return nil
}

// scale is what a unit is in nanoseconds: factor times ten to a power.
type scale struct {
	power  int
	factor int64
	origin float64 // 1970, in the unit, where it counts from another year
}

// ns returns a scale as a number.
func (s scale) ns() float64 { return float64(s.factor) * math.Pow10(s.power) }

var scales = map[string]scale{"s": {power: 9, factor: 1}, "ms": {power: 6, factor: 1}, "us": {power: 3, factor: 1}, "ns": {factor: 1}, "min": {power: 10, factor: 6}, "h": {power: 11, factor: 36}, "d": {power: 11, factor: 864}, datenum: {power: 11, factor: 864, origin: 719529}, isoUnit: {factor: 1}, clockUnit: {factor: 1},
	"ticks": {power: 2, factor: 1, origin: 621_355_968_000_000_000}, "filetime": {power: 2, factor: 1, origin: 116_444_736_000_000_000}, julian: {power: 11, factor: 864, origin: 2440587.5}}

// sinceOthers are the numbers of the years 1980 to 2100 in units of 100 ns that count from other years: 1 (.NET) and 1601 (Windows).
var sinceOthers = map[string]struct{ low, high float64 }{"ticks": {6.245e17, 6.625e17}, "filetime": {1.196e17, 1.575e17}}

// units in the order in which a wrong one is looked for. Those from long on are only read where a
// name or a map says them: steps of any are those of a robot in a shorter unit.
var (
	units = []string{"s", "ms", "us", "ns", "min", "h", "d", datenum, julian}
	short = units[:long]
)

const long = 4

// datenum is days since the year 0, as MATLAB counts them, julian since −4712, as astronomers do.
const datenum, julian = "datenum", "julian"

// plausible reports whether a robot may be sampled with such a step, ns.
func plausible(step float64) bool { return step > 50_000 && step < 1_000_000_000 }

// unitBy returns the first unit in which a robot could have been sampled with a step, at a time: days where that counts
// them as spreadsheets do, from 1900, or MATLAB from the year 0. "" = there is none.
func unitBy(step, at float64) string {
	fits := func(unit string) bool { return plausible(step * scales[unit].ns()) }
	if i := slices.IndexFunc(short, fits); i >= 0 {
		return short[i]
	}
	switch {
	case at > 7e5 && at < 8e5 && fits(datenum):
		return datenum
	case at > 0.001 && at < 1 && fits("d"): // of one day, as spreadsheets have times of day
		return "d"
	case at > 2.4e6 && at < 2.5e6 && fits(julian):
		return julian
	case at > 2e4 && at < 8e4 && fits("d"):
		return "d"
	}
	if i := slices.IndexFunc(units, fits); i >= 0 {
		return units[i]
	}
	return ""
}

// Check sets the policies that are left open and returns the first key that is
// wrong, with the reason and the remedy; "" where there is none.
func (t *Time) Check() (key, reason, remedy string) {
	t.OnBackwards, t.OnDuplicate = cmp.Or(t.OnBackwards, Fail), cmp.Or(t.OnDuplicate, Spread)
	if t.Step != 0 {
		if t.Step < 0 || t.Column != "" || t.Unit != "" && t.Unit != "ns" || t.Fraction != "" || t.Date != "" {
			return "step", "is below 0, or comes with a column of times", "write only step if the table has no times, else column and unit"
		}
		t.Unit = "ns"
	}
	_, unitKnown := scales[t.Unit]
	switch {
	case t.Column == "" && t.Step == 0:
		return "column", "is missing", "name the column of the time, or write step = \"10ms\", the time between rows"
	case !unitKnown:
		return "unit", quote(t.Unit) + " is not a unit of time here", "write s, ms, us, ns, min, h, d, datenum, julian, ticks, filetime, iso or clock"
	case t.FractionUnit != "" && (t.Fraction == "" || t.FractionUnit == "s" || !slices.Contains(short, t.FractionUnit)):
		return "fraction_unit", quote(t.FractionUnit) + " is no unit of a fraction, or there is none", "write ms, us or ns beside fraction"
	case t.Fraction != "" && (t.Unit == isoUnit || t.Unit == clockUnit), (t.Date != "" || t.DayFirst != nil) && t.Unit != isoUnit:
		return "unit", quote(t.Unit) + " does not go with fraction, date or day_first", "fraction is added to a number, date goes before the time of unit iso, whose dates day_first is of"
	case t.OnBackwards != Fail && t.OnBackwards != Segment && t.OnBackwards != Keep:
		return "on_backwards", quote(string(t.OnBackwards)) + " is not known", "write error, segment or keep"
	case t.OnDuplicate != Fail && t.OnDuplicate != Drop && t.OnDuplicate != Keep && t.OnDuplicate != Spread:
		return "on_duplicate", quote(string(t.OnDuplicate)) + " is not known", "write spread, error, drop or keep"
	}
	return "", "", ""
}

// quote returns a cell for a message, shortened.
func quote(cell string) string {
	const most = 40
	if len(cell) > most {
		return fmt.Sprintf("%q…", cell[:most])
	}
	return fmt.Sprintf("%q", cell)
}

// Counts counts what the user should know and what is no error.
type Counts struct {
	Duplicates Count // rows whose time is that of the row before
	Compared   int   // of these, rows of which it is known whether they repeat the row before: all but the first of a file
	Repeated   int   // and those that do
	Spread     Count // rows whose time is that of the row before, by a clock that is coarser than the rows
	Backwards  Count // rows before which the time runs backwards
	Gaps       Count // rows before which there is more than max_gap
	Leaps      Count // rows behind a leap second
	LongestGap int64 // ns
	Pauses     Pauses
	Step       int64 // ns, the median between rows, of the slowest file
	units      map[string]unitAt
	Ahead      Count    // lines ahead of the names of the columns, which are no rows
	LeftOut    []string // what of the files is no column, with the reason
	Open       Count    // last rows without a line end, of which the last number may be cut off
}

// Pauses are steps within segments, where no max_gap is given, that are pauses as of topics (timebase.Pausing).
type Pauses struct {
	N              int
	Longest, Usual int64 // ns, the longest step, and the usual one in its file
	At             Count // the row behind the longest
}

// Count is a number of rows and the place of the first.
type Count struct {
	N    int
	File string
	Line int
}

// Add counts a row.
func (c *Count) Add(file string, line int) {
	if c.N == 0 {
		c.File, c.Line = file, line
	}
	c.N++
}

// String returns the place. It names the file without its folder: the text goes into
// the log, which does not depend on where it was made.
func (c Count) String() string {
	file := filepath.Base(c.File)
	if c.N == 1 {
		return fmt.Sprintf("in %s line %d", file, c.Line)
	}
	return fmt.Sprintf("first in %s line %d", file, c.Line)
}

var (
	errNotNumber = errors.New("is not a number")
	errTooLarge  = errors.New("is beyond 292 years, the range of times in nanoseconds")
)

// parseTime reads a decimal number, with or without an exponent, in a unit, exact to the
// nanosecond: half of one is rounded away from zero. No float64 is involved.
func parseTime(s string, unit scale) (int64, error) {
	unsigned := strings.TrimPrefix(strings.TrimPrefix(s, "-"), "+")
	mantissa, exponent := unsigned, 0
	if i := strings.IndexAny(unsigned, "eE"); i >= 0 {
		var err error
		if exponent, err = strconv.Atoi(unsigned[i+1:]); err != nil && !errors.Is(err, strconv.ErrRange) {
			return 0, errNotNumber
		}
		mantissa = unsigned[:i]
		exponent = min(max(exponent, -1000), 1000) // beyond any time
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	digits := whole + fraction
	if digits == "" || strings.Trim(digits, "0123456789") != "" || len(unsigned) < len(s)-1 {
		return 0, errNotNumber
	}
	if unit.origin != 0 {
		return sinceOrigin(mantissa+"e"+strconv.Itoa(exponent), s[0] == '-', unit)
	}
	// places of the digits precede the decimal point of the nanoseconds.
	places := len(whole) + exponent + unit.power
	if unit.factor != 1 {
		n, _ := new(big.Int).SetString(digits, 10) // which are digits
		times := n.Mul(n, big.NewInt(unit.factor)).String()
		times = strings.Repeat("0", max(0, len(digits)-len(times))) + times
		places, digits = places+len(times)-len(digits), times
	}
	up := places >= 0 && places < len(digits) && digits[places] >= '5'
	if places > len(digits) {
		digits += strings.Repeat("0", places-len(digits))
	}
	v, err := strconv.ParseInt("0"+digits[:max(0, places)], 10, 64)
	if err != nil || up && v == math.MaxInt64 {
		return 0, errTooLarge
	}
	if up {
		v++
	}
	if s[0] == '-' {
		v = -v
	}
	return v, nil
}

// sinceOrigin reads a number of a unit that does not count from 1970, into ns since then.
func sinceOrigin(number string, negative bool, unit scale) (int64, error) {
	v, ok := new(big.Rat).SetString(number)
	if !ok {
		return 0, errNotNumber
	}
	if negative {
		v.Neg(v)
	}
	v.Sub(v, new(big.Rat).SetFloat64(unit.origin))
	ns, ok := new(big.Int).SetString(v.Mul(v, new(big.Rat).SetFloat64(unit.ns())).FloatString(0), 10)
	if !ok || !ns.IsInt64() {
		return 0, errTooLarge
	}
	return ns.Int64(), nil
}
