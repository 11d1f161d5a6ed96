package channel

import (
	"maps"
	"slices"
	"strconv"
	"strings"
)

// SameUnit reports whether two texts are the same unit: "N m", "N·m" and "Nm" are.
func SameUnit(a, b string) bool { return CanonicalUnit(a) == CanonicalUnit(b) }

// CanonicalUnit returns the one spelling of a unit: symbols of the SI in alphabetical order
// with a dot between them, superscripts for powers, and one stroke before what divides:
// "N·m", "m/s²", "J/(K·kg)". A text that is no such product remains as it is, without
// spaces around it; so does "N/m·s", of which it is not known what divides.
func CanonicalUnit(text string) string {
	text = strings.TrimSpace(text)
	powers := map[symbol]int{}
	parts := strings.Split(spelling.Replace(text), "/")
	for i, part := range parts {
		sign := min(i, 1)
		inner, grouped := strings.CutPrefix(strings.Trim(part, "· "), "(")
		if grouped {
			inner = strings.TrimSuffix(inner, ")")
		}
		factors := strings.FieldsFunc(inner, func(r rune) bool { return r == '·' || r == ' ' })
		if i > 0 && (len(factors) == 0 || len(factors) > 1 && !grouped) {
			return text
		}
		for _, f := range factors {
			if !addFactor(powers, f, 1-2*sign) {
				return text
			}
		}
	}
	return product(powers)
}

// spelling replaces signs by those that CanonicalUnit splits at.
var spelling = strings.NewReplacer("**", "^", "*", "·", "⋅", "·", "∙", "·", "×", "·", ".", "·", "\u00a0", " ", "⁻", "-",
	"¹", "1", "²", "2", "³", "3", "⁴", "4", "µ", "μ", "\u2126", "Ω", "°C", "degC", "°", "deg", "%", "percent")

// symbol is that of a unit, with its prefix.
type symbol struct{ text, base string }

// symbols are the symbols of units by their names.
var symbols = func() map[string]symbol {
	m := map[string]symbol{}
	for _, s := range strings.Fields("m s g A K V W J N Hz Pa T C F Ω H") {
		m[s] = symbol{s, s}
		for _, prefix := range strings.Fields("k M h d c m μ n") {
			m[prefix+s] = symbol{prefix + s, s}
		}
	}
	for _, s := range strings.Fields("rad min h deg degC percent bar rpm px tick gauss") {
		m[s] = symbol{s, s}
	}
	m["degC"] = symbol{"°C", "°C"}
	for name, s := range map[string]string{
		"radian": "rad", "radians": "rad", "degree": "deg", "degrees": "deg", "sec": "s", "second": "s", "seconds": "s",
		"meter": "m", "meters": "m", "metre": "m", "metres": "m", "volt": "V", "volts": "V", "amp": "A", "amps": "A", "ampere": "A",
		"newton": "N", "newtons": "N", "kelvin": "K", "celsius": "degC", "ohm": "Ω", "us": "μs", "um": "μm",
	} {
		m[name] = m[s]
	}
	return m
}()

// together are products that are written without a sign between their symbols.
var together = map[string][]string{
	"Nm": {"N", "m"}, "mNm": {"mN", "m"}, "kNm": {"kN", "m"}, "Nmm": {"N", "mm"}, "Ncm": {"N", "cm"}, "Nms": {"N", "m", "s"}, "Ns": {"N", "s"},
	"As": {"A", "s"}, "Ah": {"A", "h"}, "mAh": {"mA", "h"}, "Wh": {"W", "h"}, "kWh": {"kW", "h"}, "Ws": {"W", "s"}, "Vs": {"V", "s"}, "Js": {"J", "s"},
}

// addFactor adds a symbol with its exponent: "s2", "s^-2", or a product without signs.
func addFactor(powers map[symbol]int, factor string, sign int) bool {
	if factor == "1" {
		return true
	}
	exponent := 1
	if i := strings.IndexAny(factor, "^-0123456789"); i > 0 {
		n, err := strconv.Atoi(strings.TrimPrefix(factor[i:], "^"))
		if err != nil || n < -9 || n > 9 {
			return false
		}
		factor, exponent = factor[:i], n
	} else if parts := together[factor]; parts != nil {
		for _, s := range parts {
			powers[symbols[s]] += sign
		}
		return true
	}
	s, known := symbols[factor]
	powers[s] += sign * exponent
	return known
}

// product writes symbols with their powers; of none it is empty.
func product(powers map[symbol]int) string {
	var over, under []string
	order := func(a, b symbol) int { return strings.Compare(a.base+a.text, b.base+b.text) }
	for _, s := range slices.SortedFunc(maps.Keys(powers), order) {
		switch n := powers[s]; {
		case n > 0:
			over = append(over, s.text+superscript(n))
		case n < 0:
			under = append(under, s.text+superscript(-n))
		}
	}
	text := strings.Join(over, "·")
	if len(under) == 0 {
		return text
	}
	if text == "" {
		text = "1"
	}
	if len(under) > 1 {
		return text + "/(" + strings.Join(under, "·") + ")"
	}
	return text + "/" + under[0]
}

func superscript(n int) string {
	if n == 1 {
		return ""
	}
	return string([]rune("⁰¹²³⁴⁵⁶⁷⁸⁹")[min(n, 9)])
}
