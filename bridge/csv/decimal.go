package csv

import (
	"errors"
	"math"
	"strconv"
	"strings"
)

var (
	errNotNumber = errors.New("is not a number")
	errTooLarge  = errors.New("is beyond 292 years, the range of times in nanoseconds")
)

// parseTime reads a decimal number, with or without an exponent, times
// 10^power nanoseconds, exact to the nanosecond: half of one is rounded away
// from zero. No float64 is involved.
func parseTime(s string, power int) (int64, error) {
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
	// places of the digits precede the decimal point of the nanoseconds.
	places := len(whole) + exponent + power
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
