package frames

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/dgm-robotics/dgm/estimator/channel"
)

// unit is a unit in terms of the first one of its quantity.
type unit struct {
	of     string // what it measures
	factor float64
	offset float64
}

// units are those that logs use, by their names in lower case without spaces.
// One unit has several spellings. A name that means different things in
// different logs is not here. Angles and their rates are those of channel.Turn.
var units = map[string]unit{
	"degheading": {"angle", math.Pi / 180, 0}, "dege7": {"angle", math.Pi / 180e7, 0},

	"rpm": {"rate", 2 * math.Pi / 60, 0},

	"m": {"length", 1, 0}, "dm": {"length", 0.1, 0}, "cm": {"length", 1e-2, 0}, "mm": {"length", 1e-3, 0}, "km": {"length", 1e3, 0},
	"ft": {"length", 0.3048, 0}, "in": {"length", 0.0254, 0},

	"m/s": {"speed", 1, 0}, "cm/s": {"speed", 1e-2, 0}, "mm/s": {"speed", 1e-3, 0}, "dm/s": {"speed", 0.1, 0}, "km/h": {"speed", 1 / 3.6, 0},
	"ft/s": {"speed", 0.3048, 0}, "mph": {"speed", 0.44704, 0}, "kn": {"speed", 1852.0 / 3600, 0},

	// 1 g as by ISO 80000-3.
	"m/s^2": {"acceleration", 1, 0}, "m/s/s": {"acceleration", 1, 0}, "m/s²": {"acceleration", 1, 0},
	"cm/s^2": {"acceleration", 1e-2, 0}, "cm/s/s": {"acceleration", 1e-2, 0},
	"g": {"acceleration", 9.80665, 0}, "mg": {"acceleration", 9.80665e-3, 0},

	"v": {"voltage", 1, 0}, "mv": {"voltage", 1e-3, 0}, "cv": {"voltage", 1e-2, 0},
	"a": {"current", 1, 0}, "ma": {"current", 1e-3, 0}, "ca": {"current", 1e-2, 0},

	"s": {"time", 1, 0}, "ms": {"time", 1e-3, 0}, "us": {"time", 1e-6, 0}, "µs": {"time", 1e-6, 0}, "ns": {"time", 1e-9, 0},

	"1": {"share", 1, 0}, "%": {"share", 1e-2, 0}, "permille": {"share", 1e-3, 0},

	"pa": {"pressure", 1, 0}, "hpa": {"pressure", 100, 0}, "mbar": {"pressure", 100, 0}, "kpa": {"pressure", 1e3, 0},

	"k": {"temperature", 1, 0}, "degc": {"temperature", 1, 273.15}, "°c": {"temperature", 1, 273.15}, "cdegc": {"temperature", 1e-2, 273.15},
}

// Unit returns what turns a value in unit from into unit to:
//
//	value_to = scale · value_from + offset
//
// ok is false where the units do not measure the same thing or are not known,
// unless they are spelt alike.
func Unit(from, to string) (scale, offset float64, ok bool) {
	if plain(from) == plain(to) {
		return 1, 0, true
	}
	a, okA := lookUp(from)
	b, okB := lookUp(to)
	if !okA || !okB || a.of != b.of {
		return 1, 0, false
	}
	return a.factor / b.factor, (a.offset - b.offset) / b.factor, true
}

// IsUnit reports whether a text is a unit that is known here, or one of forces and torques.
func IsUnit(name string) bool {
	_, ok := lookUp(name)
	return ok || slices.Contains([]string{"n", "nm", "n.m", "n*m", "-", "hz", "rad/s^2", "rad/s²", "deg/s^2", "w", "ohm", "n/m"}, plain(name))
}

// lookUp finds a unit by name, with a number before it or without, as in "0.1 s".
func lookUp(name string) (u unit, ok bool) {
	factor := 1.0
	if number, rest, cut := strings.Cut(strings.TrimSpace(name), " "); cut {
		if v, err := strconv.ParseFloat(number, 64); err == nil && v > 0 && !math.IsInf(v, 0) {
			factor, name = v, rest
		}
	}
	name = plain(name)
	u, ok = units[name]
	if angle, rate := strings.CutSuffix(channel.CanonicalUnit(name), "/s"); channel.Radians(angle) > 0 {
		u, ok = unit{map[bool]string{false: "angle", true: "rate"}[rate], channel.Radians(angle), 0}, true
	}
	u.factor *= factor
	return u, ok
}

func plain(name string) string { return strings.ToLower(strings.ReplaceAll(name, " ", "")) }

// endings are what names of columns and fields end in, in lower case, and the unit of each.
// The longest one counts. What means different things in different logs, as _v, is not here.
var endings = map[string]string{
	"_rad": "rad", "_deg": "deg", "_degrees": "deg", "_cdeg": "cdeg", "_centideg": "cdeg", "_centidegrees": "cdeg", "_cd": "cdeg", "_mrad": "mrad", "_turns": "turn",
	"_rads": "rad/s", "_radps": "rad/s", "_rad_s": "rad/s", "_rad_per_s": "rad/s", "_rad_per_sec": "rad/s", "_mrad_s": "mrad/s", "_mradps": "mrad/s",
	"_dps": "deg/s", "_degs": "deg/s", "_degps": "deg/s", "_deg_s": "deg/s", "_deg_per_s": "deg/s", "_deg_per_sec": "deg/s", "_cdps": "cdeg/s", "_cdeg_s": "cdeg/s", "_rpm": "rpm",
	"_m": "m", "_cm": "cm", "_mm": "mm", "_km": "km", "_ft": "ft", "_feet": "ft", "_inch": "in", "_inches": "in",
	"_mps": "m/s", "_m_s": "m/s", "_m_per_s": "m/s", "_m_per_sec": "m/s", "_cms": "cm/s", "_cmps": "cm/s", "_cm_s": "cm/s", "_mm_s": "mm/s", "_mmps": "mm/s",
	"_kmh": "km/h", "_kph": "km/h", "_kmph": "km/h", "_km_h": "km/h", "_mph": "mph", "_kts": "kn", "_knots": "kn", "_ft_s": "ft/s",
	"_mps2": "m/s^2", "_m_s2": "m/s^2", "_mss": "m/s^2",
	"_radians": "rad", "_degrees_per_second": "deg/s", "_radians_per_second": "rad/s", "_meters": "m", "_metres": "m", "_meters_per_second": "m/s", "_metres_per_second": "m/s",
	"_seconds": "s", "_newtons": "N", "_nm": "N m", "_newton": "N", "_volt": "V", "_volts": "V", "_mv": "mV", "_amp": "A", "_amps": "A", "_ma": "mA", "_pct": "%", "_percent": "%", "_perc": "%",
	"_s": "s", "_ms": "ms", "_us": "us", "_ns": "ns",
}

// NamedUnit returns the unit that a name ends in, as in angle_deg, rate_dps, torque_nm or yawDeg; ""
// if it ends in none.
func NamedUnit(name string) string {
	_, unit := splitName(name)
	return unit
}

// Bare returns a name without the unit that it ends in.
func Bare(name string) string {
	bare, _ := splitName(name)
	return bare
}

// capital is the least length of a unit behind a small letter that begins with a capital: velKmh has one, motorS none.
const capital = 3

// splitName splits a name into what is ahead of the unit that it ends in, and the unit.
func splitName(name string) (bare, unit string) {
	var spaced strings.Builder
	for i, r := range name {
		if unicode.IsUpper(r) && i > 0 && unicode.IsLower(rune(name[i-1])) && len(name)-i >= capital {
			spaced.WriteByte('_')
		}
		spaced.WriteRune(unicode.ToLower(r))
	}
	whole := spaced.String()
	for i := 1; i < len(whole); i++ { // something is ahead of the unit
		if unit := endings[whole[i:]]; unit != "" {
			return whole[:i], unit
		}
	}
	return name, ""
}
