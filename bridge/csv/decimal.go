package csv

import (
	"errors"
	"math"
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
	negative := false
	if s != "" && (s[0] == '-' || s[0] == '+') {
		negative = s[0] == '-'
		s = s[1:]
	}
	mantissa, exponent := s, 0
	if i := strings.IndexAny(s, "eE"); i >= 0 {
		var ok bool
		if exponent, ok = parseExponent(s[i+1:]); !ok {
			return 0, errNotNumber
		}
		mantissa = s[:i]
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	if whole == "" && fraction == "" || !digits(whole) || !digits(fraction) {
		return 0, errNotNumber
	}
	// places digits of whole and fraction, read as one number, precede the
	// decimal point of the nanoseconds.
	places := len(whole) + exponent + power
	var v uint64
	seen := false // a digit other than zero
	for i := range len(whole) + len(fraction) {
		if i >= places {
			break
		}
		d := digit(whole, fraction, i)
		seen = seen || d != 0
		if v > (math.MaxInt64-d)/10 {
			return 0, errTooLarge
		}
		v = 10*v + d
	}
	for i := len(whole) + len(fraction); i < places && seen; i++ {
		if v > math.MaxInt64/10 {
			return 0, errTooLarge
		}
		v *= 10
	}
	if places >= 0 && places < len(whole)+len(fraction) && digit(whole, fraction, places) >= 5 {
		if v == math.MaxInt64 {
			return 0, errTooLarge
		}
		v++
	}
	if negative {
		return -int64(v), nil
	}
	return int64(v), nil
}

// digit returns digit i of whole followed by fraction.
func digit(whole, fraction string, i int) uint64 {
	if i < len(whole) {
		return uint64(whole[i] - '0')
	}
	return uint64(fraction[i-len(whole)] - '0')
}

func digits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return true
}

// parseExponent reads a signed integer of a few digits; what is larger is larger
// than any time.
func parseExponent(s string) (int, bool) {
	negative := false
	if s != "" && (s[0] == '-' || s[0] == '+') {
		negative = s[0] == '-'
		s = s[1:]
	}
	if s == "" || !digits(s) {
		return 0, false
	}
	v := 0
	for i := range len(s) {
		v = min(10*v+int(s[i]-'0'), 1000)
	}
	if negative {
		v = -v
	}
	return v, true
}
