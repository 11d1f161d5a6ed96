package channel

import (
	"math"
	"testing"
)

func TestUnitsAreComparedAsUnits(t *testing.T) {
	for want, all := range map[string][]string{
		"N·m":   {"N m", "N·m", "Nm", "N*m", "N.m", "N⋅m", " N·m ", "m N", "newton metre"},
		"N·m·s": {"Nms", "N·m·s", "N m s"},
		"mN·m":  {"mNm", "mN m"},
		"m/s²":  {"m/s^2", "m/s2", "m/s²", "m s-2", "m/s/s", "m·s⁻²", "m/s**2", "m/(s s)"},
		"m/s":   {"m/s", "m s^-1", "meters/second"},
		"rad/s": {"rad/s", "radians/sec"},
		"deg":   {"°", "deg", "degrees", "Degrees", "DEG"},
		"mrad":  {"mrad", "mRad"}, "turn": {"turns"},
		"deg/s":    {"°/s", "deg/s", "DEG/S"},
		"1/s":      {"1/s", "s^-1"},
		"ms":       {"ms"},
		"μs":       {"us", "µs", "μs"},
		"m·s":      {"m s", "m·s", "s m"},
		"kg·m²":    {"kg m2", "kg·m²", "m² kg"},
		"J/(K·kg)": {"J/(kg·K)", "J/kg/K"},
		"N·s/m":    {"N·s/m", "N s/m"},
		"percent":  {"%", "percent"},
		"":         {"", "1", " "},
		"°C":       {"°C", "degC"},
		"V":        {"V", "volts"},
		"MN":       {"MN"}, "°F": {"degF"},
		// What is no product of known symbols is compared as text.
		"furlong":  {"furlong", " furlong"},
		"N/m·s":    {"N/m·s"},
		"rev/fort": {"rev/fort"},
		"m/":       {"m/"},
		"m^99":     {"m^99"},
	} {
		for _, text := range all {
			if got := CanonicalUnit(text); got != want {
				t.Errorf("%q is %q, want %q", text, got, want)
			}
			if again := CanonicalUnit(want); again != want {
				t.Errorf("%q becomes %q", want, again)
			}
		}
	}
	for a, b := range map[string]string{"ms": "m s", "m": "mm", "N": "N·m", "rad": "deg", "mrad": "m rad"} {
		if SameUnit(a, b) {
			t.Errorf("%q and %q are the same", a, b)
		}
	}
}

func TestUnitsOfAngles(t *testing.T) {
	for unit, want := range map[string]float64{"rad": Angle, "Radians": Angle, "mrad": 2000 * math.Pi, "°": 360, "DEG": 360, "cdeg": 36000, "turns": 1, "deg/s": 0, "m": 0, "": 0, "rads": 0} {
		if got := Turn(unit); math.Abs(got-want) > 1e-9*want {
			t.Errorf("a turn in %q is %v, want %v", unit, got, want)
		}
	}
	for unit, refused := range map[string]bool{
		"rads": true, "Rads/s": true, "degs": true, "mradians": true, "radps": true, "rad": false, "DEG": false, "rad/count": false, "°/s": false,
		"degC": false, "degc": false, "°F": false, "": false, "furlong": false, "gauss": false,
	} {
		if err := CheckUnit(unit); (err != nil) != refused {
			t.Errorf("%q: %v", unit, err)
		}
	}
}
