package channel

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// SameUnit reports whether two texts are the same unit: "N m", "N·m" and "Nm" are.
func SameUnit(a, b string) bool { return CanonicalUnit(a) == CanonicalUnit(b) }

// CanonicalUnit returns the one spelling of a unit: symbols of the SI in alphabetical order
// with a dot between them, superscripts for powers, and one stroke before what divides:
// "N·m", "m/s²", "J/(K·kg)". Units that begin with an angle are known in capitals, too.
// A text that is no such product remains as it is, without spaces around it; so does
// "N/m·s", of which it is not known what divides.
func CanonicalUnit(text string) string {
	text = strings.TrimSpace(text)
	powers, known := factors(text)
	if lower := strings.ToLower(text); !known && radians[symbols[firstWord(lower)].text] > 0 {
		powers, known = factors(lower)
	}
	if !known {
		return text
	}
	return product(powers)
}

// radians are the units of angles.
var radians = map[string]float64{"rad": 1, "mrad": 1e-3, "deg": math.Pi / 180, "cdeg": math.Pi / 18000, "turn": Angle}

// Radians returns how many a unit of angles has; 0 = it is none.
func Radians(unit string) float64 { return radians[CanonicalUnit(unit)] }

// Turn returns what a whole turn is in a unit of angles; 0 = it is none.
func Turn(unit string) float64 {
	if r := Radians(unit); r > 0 {
		return Angle / r
	}
	return 0
}

// CheckUnit returns an error for a text that begins as a unit of angles does and is none: "rads" may be an angle or its rate.
func CheckUnit(text string) error {
	word := firstWord(strings.TrimSpace(text))
	_, exact := symbols[word]
	_, known := symbols[strings.ToLower(word)]
	for name, s := range symbols {
		if radians[s.text] > 0 && strings.HasPrefix(strings.ToLower(word), name) && !exact && !known {
			return fmt.Errorf("unit %q is not known; angles are in %s, and their rates in rad/s, deg/s and so on", text, strings.Join(slices.Sorted(maps.Keys(radians)), ", "))
		}
	}
	return nil
}

// firstWord returns the letters that a text begins with.
func firstWord(text string) string {
	text = spelling.Replace(text)
	if i := strings.IndexFunc(text, func(r rune) bool { return !unicode.IsLetter(r) }); i >= 0 {
		return text[:i]
	}
	return text
}

// factors returns the symbols of a product with their powers; known is false where a text is none.
func factors(text string) (powers map[symbol]int, known bool) {
	powers = map[symbol]int{}
	parts := strings.Split(spelling.Replace(text), "/")
	for i, part := range parts {
		sign := min(i, 1)
		inner, grouped := strings.CutPrefix(strings.Trim(part, "· "), "(")
		if grouped {
			inner = strings.TrimSuffix(inner, ")")
		}
		factors := strings.FieldsFunc(inner, func(r rune) bool { return r == '·' || r == ' ' })
		if i > 0 && (len(factors) == 0 || len(factors) > 1 && !grouped) {
			return nil, false
		}
		for _, f := range factors {
			if !addFactor(powers, f, 1-2*sign) {
				return nil, false
			}
		}
	}
	return powers, true
}

// spelling replaces signs by those that CanonicalUnit splits at.
var spelling = strings.NewReplacer("**", "^", "*", "·", "⋅", "·", "∙", "·", "×", "·", ".", "·", "\u00a0", " ", "⁻", "-",
	"¹", "1", "²", "2", "³", "3", "⁴", "4", "µ", "μ", "\u2126", "Ω", "°C", "degC", "°F", "degF", "°", "deg", "%", "percent")

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
	for _, s := range strings.Fields("rad mrad min h deg cdeg turn degC degF percent bar rpm px tick gauss") {
		m[s] = symbol{s, s}
	}
	m["degC"], m["degF"] = symbol{"°C", "°C"}, symbol{"°F", "°F"}
	for name, s := range map[string]string{
		"radian": "rad", "radians": "rad", "degree": "deg", "degrees": "deg", "turns": "turn", "sec": "s", "second": "s", "seconds": "s",
		"meter": "m", "meters": "m", "metre": "m", "metres": "m", "volt": "V", "volts": "V", "amp": "A", "amps": "A", "ampere": "A",
		"newton": "N", "newtons": "N", "kelvin": "K", "celsius": "degC", "degc": "degC", "degf": "degF", "ohm": "Ω", "us": "μs", "um": "μm",
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
