package blackbox

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// header is what the lines before the frames of a log say.
type header struct {
	frames    map[byte]*frame // by kind: I, P, S, G, H
	lines     map[string]string
	constants constants
	whole     int64 // iterations of the control loop from one I frame to the next
	part, of  int64 // of so many iterations so many are logged
	scales    map[string]scale
}

// scale takes the numbers of a log to units.
type scale struct {
	factor, offset float64 // value = factor·number + offset
	unit           string
}

func newHeader() *header {
	return &header{frames: map[byte]*frame{}, lines: map[string]string{}, whole: 32, part: 1, of: 1}
}

// set takes one line, without "H ".
func (h *header) set(line string) error {
	name, value, ok := strings.Cut(line, ":")
	if !ok {
		return nil // a note
	}
	if of, ok := strings.CutPrefix(name, "Field "); ok {
		kind, property, _ := strings.Cut(of, " ")
		if len(kind) != 1 || !strings.Contains("IPSGH", kind) {
			return nil // of a kind that frames do not have
		}
		f := h.frames[kind[0]]
		if f == nil {
			f = &frame{}
			h.frames[kind[0]] = f
		}
		if err := f.set(property, value); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		return nil
	}
	if len(h.lines) < maxLines {
		h.lines[name] = strings.TrimSpace(value)
	}
	return nil
}

// number returns that of a line, or another where there is none.
func (h *header) number(name string, missing float64) float64 {
	if v, err := strconv.ParseFloat(h.lines[name], 64); err == nil && !math.IsInf(v, 0) && !math.IsNaN(v) {
		return v
	}
	return missing
}

// done takes what all lines say together, or returns what is wrong with them.
func (h *header) done() error {
	main, part := h.frames['I'], h.frames['P']
	if main == nil || len(main.names) == 0 {
		return fmt.Errorf("no fields of frames I")
	}
	if v := h.lines["Data version"]; v != "2" {
		return fmt.Errorf("version %q of the data is not known, only 2 is: blackbox_decode writes a table of it, then dgm-bridge topics TABLE.csv --suggest", v)
	}
	if part != nil {
		part.names, part.signed = main.names, main.signed
	}
	for kind, f := range h.frames {
		if kind != 'P' && slices.ContainsFunc(f.predictors, func(p predictor) bool { return p == fromPrevious || p == fromLine || p == fromMean || p == counting }) {
			return fmt.Errorf("frames %c count from those before, which only frames P do", kind)
		}
		if err := f.check(kind); err != nil {
			return err
		}
	}
	h.intervals()
	low, high := h.outputs()
	h.constants = constants{leastThrottle: int64(h.number("minthrottle", 1150)), referenceVoltage: int64(h.number("vbatref", 4095)), leastMotor: int64(low)}
	h.scales = h.units(low, high)
	return nil
}

// ratio is "1/8".
var ratio = regexp.MustCompile(`^(\d+)/(\d+)$`)

// intervals sets which iterations of the control loop are logged.
func (h *header) intervals() {
	if v := h.number("I interval", 32); v >= 1 && v < 1e9 {
		h.whole = int64(v)
	}
	if m := ratio.FindStringSubmatch(h.lines["P interval"]); m != nil {
		h.part, _ = strconv.ParseInt(m[1], 10, 32)
		h.of, _ = strconv.ParseInt(m[2], 10, 32)
	} else if v := h.number("P interval", 1); v >= 1 && v < 1e9 {
		h.of = int64(v)
	}
	if h.part < 1 || h.of < 1 {
		h.part, h.of = 1, 1
	}
}

// logged reports whether an iteration is.
func (h *header) logged(iteration int64) bool {
	return (iteration%h.whole+h.part-1)%h.of < h.part
}

// skipped returns how many iterations after one are not logged before the next that is.
func (h *header) skipped(iteration int64) (n int64) {
	for n < h.of && !h.logged(iteration+1+n) {
		n++
	}
	return n
}

// outputs returns the numbers of a motor that stands and of one at most.
func (h *header) outputs() (low, high float64) {
	low, high = h.number("minthrottle", 1000), h.number("maxthrottle", 2000)
	if a, b, ok := strings.Cut(h.lines["motorOutput"], ","); ok {
		l, err := strconv.ParseFloat(a, 64)
		m, err2 := strconv.ParseFloat(b, 64)
		if err == nil && err2 == nil && m > l {
			low, high = l, m
		}
	}
	if !(high > low) {
		return 1000, 2000
	}
	return low, high
}

// gravity is 1 g, m/s².
const gravity = 9.80665

// units returns the scales of fields, by their names without an index.
func (h *header) units(low, high float64) map[string]scale {
	out := map[string]scale{}
	set := func(factor float64, unit string, names ...string) {
		for _, n := range names {
			out[n] = scale{factor: factor, unit: unit}
		}
	}
	fine := 1.0
	if h.number("blackbox_high_resolution", 0) > 0 {
		fine = 0.1
	}
	rate := 1.0
	if bits, err := strconv.ParseUint(strings.TrimPrefix(h.lines["gyro_scale"], "0x"), 16, 32); err == nil {
		if v := float64(math.Float32frombits(uint32(bits))); v > 0 && v < 1e3 {
			if rate = v; v < 1e-4 {
				rate = v * 1e6 * 180 / math.Pi // rad/µs
			}
		}
	}
	set(rate*fine, "deg/s", "gyroADC", "gyroUnfilt", "gyroRaw")
	set(fine, "deg/s", "setpoint")
	if g := h.number("acc_1G", 0); g > 0 {
		set(gravity/g, "m/s²", "accSmooth")
	}
	set(fine, "", "rcCommand")
	set(1.0/0x7fff, "", "imuQuaternion")
	set(0.01, "m", "baroAlt", "BaroAlt", "navPos", "navTgtPos")
	set(0.01, "m/s", "navVel", "navTgtVel", "GPS_speed")
	set(0.1, "deg", "attitude", "GPS_ground_course")
	set(1e-7, "deg", "GPS_coord", "GPS_home")
	out["motor"] = scale{factor: 1 / (high - low), offset: -low / (high - low)}
	out["servo"] = scale{factor: 1 / 500.0, offset: -3} // of pulses from 1,000 to 2,000 µs: −1 to 1
	if v, _, _ := strings.Cut(strings.TrimPrefix(h.lines["Firmware revision"], "Betaflight "), "."); h.lines["Firmware type"] == "Betaflight" || strings.HasPrefix(h.lines["Firmware revision"], "Betaflight") {
		if major, err := strconv.Atoi(v); err == nil && major >= 4 {
			set(0.01, "V", "vbatLatest")
			set(0.01, "A", "amperageLatest")
			set(0.1, "m", "GPS_altitude")
		}
	}
	if poles := h.number("motor_poles", 0); poles > 0 {
		set(100*2/poles*2*math.Pi/60, "rad/s", "eRPM")
	}
	return out
}

// turned are the parts of the attitude whose signs a simulated firmware (SITL) has from another frame: its quaternion is that of
// forward, right and down.
var turned = []string{"imuQuaternion[1]", "imuQuaternion[2]"}

// scaleOf returns the scale of a field. The throttle among setpoints has another than they have.
func (h *header) scaleOf(name string) scale {
	if slices.Contains(turned, name) && strings.HasSuffix(h.lines["Firmware revision"], " SITL") {
		return scale{factor: -h.scales["imuQuaternion"].factor}
	}
	base, _, _ := strings.Cut(name, "[")
	if s, ok := h.scales[base]; ok && name != "setpoint[3]" {
		return s
	}
	if name == "setpoint[3]" {
		return scale{factor: 0.001}
	}
	return scale{factor: 1}
}
