package csv

import (
	"errors"
	"math"
	"math/big"
	"strconv"
	"testing"

	"pgregory.net/rapid"
)

func TestParseTime(t *testing.T) {
	for _, c := range []struct {
		s     string
		power int
		want  int64
		err   error
	}{
		{"1772682400.399326324", 9, 1772682400399326324, nil},
		{"2.000570297241210938e-03", 9, 2000570, nil},
		{"0.0000000005", 9, 1, nil},
		{"0.0000000004999", 9, 0, nil},
		{"-0.0000000005", 9, -1, nil},
		{"-1.5", 6, -1500000, nil},
		{"+7", 0, 7, nil},
		{"7.", 3, 7000, nil},
		{".5", 3, 500, nil},
		{"0.9", 0, 1, nil},
		{"9223372036854775807", 0, math.MaxInt64, nil},
		{"9223372036854775807.5", 0, 0, errTooLarge},
		{"9223372036854775808", 0, 0, errTooLarge},
		{"1e30", 0, 0, errTooLarge},
		{"1e99999999999", 9, 0, errTooLarge},
		{"0e99999999999", 9, 0, nil},
		{"1e-99999999999", 9, 0, nil},
		{"000000000000000000000000000001", 9, 1e9, nil},
		{"", 9, 0, errNotNumber},
		{"-", 9, 0, errNotNumber},
		{".", 9, 0, errNotNumber},
		{"1e", 9, 0, errNotNumber},
		{"1.2.3", 9, 0, errNotNumber},
		{"0x10", 9, 0, errNotNumber},
		{"inf", 9, 0, errNotNumber},
		{"12:30", 9, 0, errNotNumber},
	} {
		got, err := parseTime(c.s, scale{power: c.power, factor: 1})
		if got != c.want || !errors.Is(err, c.err) {
			t.Errorf("%q, 10^%d: %d, %v; want %d, %v", c.s, c.power, got, err, c.want, c.err)
		}
	}
}

// Against exact rational arithmetic.
func TestParseTimeIsExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.StringMatching(`[-+]?[0-9]{1,12}(\.[0-9]{0,25})?([eE][-+]?[0-9]{1,2})?`).Draw(t, "s")
		unit := scales[rapid.SampledFrom(units).Draw(t, "unit")]
		exact, ok := new(big.Rat).SetString(s)
		if !ok {
			t.Fatalf("%q is no number to math/big", s)
		}
		exact.Sub(exact, new(big.Rat).SetFloat64(unit.origin))
		exact.Mul(exact, new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(unit.power)), nil)))
		exact.Mul(exact, new(big.Rat).SetInt64(unit.factor))
		// Half away from zero: floor(|v| + 1/2), with the sign.
		half := new(big.Rat).Add(new(big.Rat).Abs(exact), big.NewRat(1, 2))
		want := new(big.Int).Quo(half.Num(), half.Denom())
		if exact.Sign() < 0 {
			want.Neg(want)
		}
		got, err := parseTime(s, unit)
		if !want.IsInt64() {
			if !errors.Is(err, errTooLarge) {
				t.Fatalf("%q: %d, %v", s, got, err)
			}
			return
		}
		if want.Int64() == math.MinInt64 { // one beyond what is read
			return
		}
		if err != nil || strconv.FormatInt(got, 10) != want.String() {
			t.Fatalf("%q, %v: %d, %v; want %s", s, unit, got, err, want)
		}
	})
}
