package importer

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/dgm-robotics/dgm/bridge/frames"
	"github.com/dgm-robotics/dgm/bridge/telemetry"
	"github.com/dgm-robotics/dgm/estimator/channel"
)

// suggestion is the channels of a map.
type suggestion struct {
	text      strings.Builder
	periods   []string // of the channels whose values wrap: "yaw: 360 deg"
	turning   bool     // a period is by name and unit
	states    int      // of a table, so far
	inputs    int      // of a table, so far
	steered   bool     // it has a command of the steering
	commanded bool     // something is called as a command is: what is measured of a motor is no input then
	steps     bool     // no column of a table is called as an input, and some move on: columns that jump and rest are inputs
	thermal   bool     // temperatures are all that moves in a table
	names     []string // of the channels so far
	frames    string   // the line of a map that turns y up into z up
}

// angles is the comment ahead of a map about the periods in it.
func (s *suggestion) angles() string {
	found := "No values jump by a turn: no period is written"
	if s.turning {
		found = "No values jump by a turn: periods are by names and units"
	}
	if len(s.periods) > 0 {
		found = "Values that jump by a turn and its period: " + strings.Join(s.periods, ", ")
	}
	return "# " + found + ". An angle that does not wrap here\n# needs period = 6.283185307179586 where its unit is rad, period = 360 where it is deg.\n"
}

// unique returns a name that no channel has so far: with what its topic is called ahead, else
// with a number.
func (s *suggestion) unique(name, topic string) string {
	out := name
	if slices.Contains(s.names, out) && topic != "" {
		name = plainName.Replace(strings.Trim(topic, "/") + "_" + name)
		out = name
	}
	for n := 2; slices.Contains(s.names, out); n++ {
		out = fmt.Sprintf("%s_%d", name, n)
	}
	s.names = append(s.names, out)
	return out
}

// named matches the name of an element in a path, as in position[name=elbow].
var named = regexp.MustCompile(`\[\w+=([^\]]*)\]`)

// plainName makes the name of a channel from that of a field.
var plainName = strings.NewReplacer("#", "_", "[", "_", "]", "", ".", "_", "/", "_", " ", "_")

// channel adds a channel, with hash before each line, and with the period of one whose
// values wrap.
func (s *suggestion) channel(hash, remark, name, where, unit string, role channel.Role, turns frames.Turns) {
	period := 0.0
	why := jumps
	if role == channel.State {
		if period, unit = turns.Period(unit); period == 0 {
			period, why = turn(name, unit), "by its name and unit"
			s.turning = s.turning || period > 0
		}
	}
	text := fmt.Sprintf("[[channel]]%s\nname = %q\n%s\n", remark, name, where)
	if unit != "" {
		text += fmt.Sprintf("unit = %q\n", unit)
	}
	text += fmt.Sprintf("role = %q\n", role)
	if period > 0 {
		text += fmt.Sprintf("period = %v # %s\n", period, why)
		if why == jumps {
			s.periods = append(s.periods, fmt.Sprintf("%s %v %s", name, period, unit))
		}
	}
	for line := range strings.Lines(text) {
		s.text.WriteString(hash + line)
	}
}

const jumps = "its values jump by this"

// turn returns the period of an angle that is called as one of attitude, in a unit of angles; 0 = it is not known to be one.
func turn(name, unit string) float64 {
	words := strings.FieldsFunc(strings.ToLower(frames.Bare(name)), func(r rune) bool { return !unicode.IsLetter(r) })
	if len(words) == 0 || !slices.Contains([]string{"roll", "pitch", "yaw", "heading", "psi"}, words[len(words)-1]) {
		return 0
	}
	return channel.Turn(unit)
}

// containsAny reports whether a name, in lower case, contains one of the words.
func containsAny(name string, words ...string) bool {
	name = strings.ToLower(name)
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(name, w) })
}

// Names of inputs that are numbered, as those of motors, and of the two sides of a robot.
var (
	numbered = regexp.MustCompile(`^(m|u|mot|thr|thruster|rpm|rotor|prop|propeller|channel|ch|rcin|rcout|rc|servo|esc|tau)[_ ]?[0-9]+(_n)?$`)
	sided    = regexp.MustCompile(`^(left|right|port|starboard|stbd)$`)
)

// steers reports whether a column is called as the angle of steered wheels, which is a state where a command of it is in the table.
func steers(name string) bool { return containsAny(name, "steer") && !commands(name) }

// Words in the names of commands, of what is measured, and of what drives a robot.
var (
	commanded = []string{"sp", "set", "des", "ref"}
	observed  = []string{"meas", "measured", "measurement", "actual", "act", "feedback", "fb", "fbk", "encoder", "observed"}
	speeds    = []string{"speed", "vel", "velocity"}
	rates     = []string{"v", "w", "rate", "gyro", "omega", "acc", "accel", "mag", "force", "torque"}
	sensed    = []string{"rpm", "current", "ma", "voltage", "encoder", "position", "pos", "velocity", "vel", "speed", "temperature"}
	placed    = []string{"q", "dq", "ddq", "angle", "pos", "position"} // of what a motor turns
	driving   = []string{"tau", "duty", "servo", "rudder", "aileron", "elevator", "steer", "steering", "gear", "goal", "action", "esc", "rotor", "joy", "axes", "stick", "lever", "heater", "valve", "vent", "τ"}
)

// twice matches the name of a second derivative: theta_ddot, ddq[0], qdd_1, d2x, yaw_dot_dot.
var twice = regexp.MustCompile(`ddot|dot_?dot|2dot|_dd([0-9_\[]|$)|(^|[._])(dd_?|d2_?)(q|x|y|z|th|theta|phi|psi|alpha|beta|roll|pitch|yaw|joint)([0-9_\[]|$)|(^|[._])(q|x|y|z|th|theta|phi|psi)_?dd([0-9_\[]|$)`)

// accelerates reports whether a field or a column is an acceleration by its name or its unit: it follows from states and inputs.
func accelerates(name, unit string) bool {
	name = strings.ToLower(frames.Bare(name))
	return containsAny(name, "acc") || twice.MatchString(name) || slices.ContainsFunc([]string{"m/s^2", "rad/s^2", "deg/s^2"}, func(u string) bool { return channel.SameUnit(unit, u) }) ||
		slices.ContainsFunc([]string{"_ax", "_ay", "_az"}, func(end string) bool { return strings.HasSuffix(name, end) })
}

// capitals matches where a word begins with a capital letter, as in RudderAngle.
var capitals = regexp.MustCompile(`(\p{Ll})(\p{Lu})`)

// isOf returns whether a word of a name is one of a list.
func isOf(name string) func(list []string) bool {
	words := strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return !unicode.IsLetter(r) })
	words = append(words, strings.FieldsFunc(strings.ToLower(capitals.ReplaceAllString(name, "$1 $2")), func(r rune) bool { return !unicode.IsLetter(r) })...)
	return func(list []string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return slices.Contains(list, w) })
	}
}

// commands reports whether a name is that of a command.
func commands(name string) bool {
	return isOf(name)(commanded) || containsAny(name, "cmd", "command", "setpoint", "target", "desired", "reference", "demand")
}

// drives reports whether a field or a column drives the robot, which its name, that of its topic or its unit says. Beside
// commands the speeds and currents of motors are measured ones.
func (s *suggestion) drives(topic, name, unit string) bool {
	if isOf(name)(observed) && !commands(name) { // in a report of a controller
		return false
	}
	if containsAny(name, "motor") && isOf(name[strings.LastIndexByte(name, '.')+1:])(placed) && !commands(topic) && !commands(name) {
		return false
	}
	if s.commanded && !commands(topic) && !commands(name) && isOf(name[strings.LastIndexByte(name, '.')+1:])(sensed) {
		return false
	}
	return topic != "" && drives(topic, "") || drives(name, unit)
}

// drives reports whether a column is called as what drives a robot is, or is a torque or a force
// by its unit. A measured voltage or current is a state by its name alone, and so is what is said to be measured.
func drives(name, unit string) bool {
	is, plain := isOf(name), strings.ToLower(frames.Bare(name))
	switch {
	case commands(name), channel.SameUnit(unit, "N m"), channel.SameUnit(unit, "N"), slices.Contains([]string{"kn", "mn", "knm", "mnm", "nmm"}, strings.ToLower(strings.NewReplacer(" ", "", "·", "", "*", "", ".", "").Replace(unit))):
		return true
	case is(observed):
		return false
	case containsAny(name, "input", "torque", "motor", "pwm", "thrust", "throttle", "actuator", "ctrl", "control", "force", "effort", "brake", "pedal", "joystick", "yoke", "rc/out", "rcou", "servo_output"), is(driving):
		return true
	case is([]string{"u"}): // a velocity of the body is called so, too
		return !channel.SameUnit(unit, "m/s")
	}
	if is([]string{"port", "starboard", "stbd"}) && channel.SameUnit(unit, "rpm") {
		return true
	}
	return channel.CanonicalUnit(unit) != "m" && channel.CanonicalUnit(unit) != "m/s" && numbered.MatchString(plain) || unit == "" && sided.MatchString(plain)
}

// quaternion returns the fields of the quaternion of which a field is a part, w first; nil = it is no part of one.
func (x *seen) quaternion(path string) (parts []string) {
	end := path[max(0, strings.LastIndexAny(path, ".[")):]
	for _, ends := range [][]string{{".w", ".x", ".y", ".z"}, {"[0]", "[1]", "[2]", "[3]"}} {
		stem := strings.TrimSuffix(path, end)
		if !slices.Contains(ends, end) || !containsAny(stem, "quat", "orientation", "rotation") && !isOf(stem)([]string{"q"}) {
			continue
		}
		parts = nil
		for _, e := range ends {
			if k := slices.IndexFunc(x.fields, func(f telemetry.Field) bool { return f.Path == stem+e }); k >= 0 && x.low[k] > -1.01 && x.high[k] < 1.01 {
				parts = append(parts, stem+e)
			}
		}
		if len(parts) == 4 {
			return parts
		}
	}
	return nil
}

// attitude adds roll, pitch and yaw of a quaternion.
func (s *suggestion) attitude(where string, t *telemetry.Topic, parts []string) {
	var names []string
	for _, name := range []string{"roll", "pitch", "yaw"} {
		names = append(names, s.unique(name, t.String()))
	}
	fmt.Fprintf(&s.text, "\n[[channel]]\nnames = [%q, %q, %q]\n%s\nquaternion = [%q, %q, %q, %q] # w, x, y, z\nrole = \"state\"\nvaries = true\n", names[0], names[1], names[2], where, parts[0], parts[1], parts[2], parts[3])
}

// timeNames are words in the names of fields that may be times.
var timeNames = []string{"t", "time", "stamp", "sec", "secs", "nsec", "nsecs", "nanosec", "clock", "uptime", "tick", "ticks", "millis", "micros", "elapsed"}

// risesAsTime reports whether field k is called as a time may be, and hardly ever falls, as where a sender begins anew, or lasts as long
// as its topic in some unit, as where messages overtake each other.
func (x *seen) risesAsTime(k int) bool {
	path := x.fields[k].Path
	if x.high[k] <= x.low[k] || !isOf(path[strings.LastIndexByte(path, '.')+1:])(timeNames) {
		return false
	}
	rate := 1e9 * (x.high[k] - x.low[k]) / float64(max(1, x.count.Last-x.count.First))
	rate *= math.Pow(1000, -math.Round(math.Log10(rate)/3))
	return 20*x.falls[k] < x.count.N || math.Abs(rate-1) < 0.02
}

// times reports whether a field is called as a time is.
func times(path string) bool {
	return containsAny(path, "timestamp", "time_us", "time_boot", "timeus", "timems", "stamp.", "sampleus")
}

// ownTimes adds comments on the fields of a topic that seem to be times.
func (s *suggestion) ownTimes(x *seen) {
	for k, f := range x.fields {
		if x.risesAsTime(k) && !times(f.Path) {
			fmt.Fprintf(&s.text, "\n# Field %q of topic %q seems to be a time of its own: it is no channel, and rows have the times of its stamps or of its recording.\n", f.Path, x.count.Topic.Name)
		}
	}
}
