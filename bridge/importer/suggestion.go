package importer

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/dgm-robotics/dgm/bridge/frames"
	"github.com/dgm-robotics/dgm/estimator/channel"
)

// suggestion is the channels of a map.
type suggestion struct {
	text    strings.Builder
	periods []string // of the channels whose values wrap: "yaw: 360 deg"
	states  int      // of a table, so far
	angled  bool     // it has roll, pitch and yaw
}

// angles is the comment ahead of a map about the periods in it.
func (s *suggestion) angles() string {
	found := "No values jump by a turn: no period is written"
	if len(s.periods) > 0 {
		found = "Values that jump by a turn and its period: " + strings.Join(s.periods, ", ")
	}
	return "# " + found + ". An angle that does not wrap here\n# needs period = 6.283185307179586 where its unit is rad, period = 360 where it is deg.\n"
}

// channel adds a channel, with hash before each line, and with the period of one whose
// values wrap.
func (s *suggestion) channel(hash, remark, name, where, unit string, role channel.Role, turns frames.Turns) {
	period := 0.0
	if role == channel.State {
		period, unit = turns.Period(unit)
	}
	text := fmt.Sprintf("[[channel]]%s\nname = %q\n%s\n", remark, name, where)
	if unit != "" {
		text += fmt.Sprintf("unit = %q\n", unit)
	}
	text += fmt.Sprintf("role = %q\n", role)
	if period > 0 {
		text += fmt.Sprintf("period = %v # its values jump by this\n", period)
		s.periods = append(s.periods, fmt.Sprintf("%s %v %s", name, period, unit))
	}
	for line := range strings.Lines(text) {
		s.text.WriteString(hash + line)
	}
}

// containsAny reports whether a name, in lower case, contains one of the words.
func containsAny(name string, words ...string) bool {
	name = strings.ToLower(name)
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(name, w) })
}

// drives reports whether a column is called as what drives a robot is, or is a torque or a force
// by its unit. A measured voltage or current is a state by its name alone.
func drives(name, unit string) bool {
	if channel.SameUnit(unit, "N m") || channel.SameUnit(unit, "N") {
		return true
	}
	if containsAny(name, "cmd", "command", "input", "torque", "motor", "pwm", "thrust", "throttle", "setpoint", "actuator", "ctrl", "control", "force", "target", "brake", "desired", "reference", "demand", "pedal") {
		return true
	}
	words := strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return !unicode.IsLetter(r) })
	return slices.ContainsFunc(words, func(w string) bool {
		return w == "tau" || w == "duty" || w == "servo" || w == "rudder" || w == "aileron" || w == "elevator" || w == "steer" || w == "steering" || w == "gear" || w == "ref" || w == "sp" || w == "des" || w == "goal" || w == "action" || w == "esc" || w == "rotor" ||
			w == "u" && !channel.SameUnit(unit, "m/s") // a velocity of the body is called so, too
	})
}
