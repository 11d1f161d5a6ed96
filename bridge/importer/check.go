package importer

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dgm-robotics/dgm/bridge/kinematics"
	"github.com/dgm-robotics/dgm/bridge/mapfile"
	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/wire"
)

// noDerivative as derivative says that there is none, and none is looked for.
const noDerivative = "none"

// Check returns the first thing in a map that cannot be, named by key, as a
// *mapfile.Error.
func (m *Map) Check() error {
	bad := func(field, reason, mend string) error {
		return &mapfile.Error{File: m.file, Field: field, Reason: reason, Mend: mend}
	}
	switch {
	case m.Vehicle == "":
		return bad("vehicle", "is missing", `name the robot, as in vehicle = "quad1"`)
	case wire.CheckVehicle(m.Vehicle) != nil:
		return bad("vehicle", fmt.Sprintf("%q cannot be part of a subject", m.Vehicle), "use letters of ASCII, digits, - and _, 64 at most, as in quad1")
	case m.Frames != "" && m.Frames != "ned-frd" && m.Frames != "enu-flu":
		return bad("frames", fmt.Sprintf("%q is not known", m.Frames), "write ned-frd or enu-flu, or leave it out to keep the axes as recorded")
	case m.Time.To != 0 && m.Time.To <= m.Time.From:
		return bad("time.to", "is not after time.from", "both count from the file's first message")
	case len(m.Channels) == 0:
		return bad("channel", "there is none", "describe each channel under [[channel]]")
	}
	for i := range m.Channels {
		c := &m.Channels[i]
		field := fmt.Sprintf("channel %d (%q)", i+1, strings.Join(c.names(), ", "))
		if reason, mend := c.check(); reason != "" {
			return bad(field, reason, mend)
		}
		for k := range c.Or {
			if reason, mend := c.Or[k].check(c); reason != "" {
				return bad(fmt.Sprintf("%s or %d", field, k+1), reason, mend)
			}
		}
	}
	for i := range m.Phases {
		if reason, mend := m.Phases[i].check(); reason != "" {
			return bad(fmt.Sprintf("phase %d", i+1), reason, mend)
		}
	}
	if err := channel.Check(m.header(nil)); err != nil {
		return bad("channel", err.Error(), "state channels here: "+strings.Join(channel.Names(channel.Select(m.header(nil), channel.State)), ", "))
	}
	if m.eachless() {
		if _, err := m.declared(m.header(nil)); err != nil {
			return err
		}
	}
	return nil
}

// eachless says whether all channels have their names in the map.
func (m *Map) eachless() bool {
	return !slices.ContainsFunc(m.Channels, func(c Channel) bool { return c.Each != "" })
}

// declared returns the kinematics that the map declares of channels.
func (m *Map) declared(all []channel.Channel) (channel.Kinematics, error) {
	states := channel.Select(all, channel.State)
	k, err := kinematics.Declare(m.Kinematics, &m.Body, states)
	if err != nil {
		return k, &mapfile.Error{File: m.file, Field: "kinematics", Reason: err.Error(),
			Mend: "correct it, or the names under [body]; state channels here: " + strings.Join(channel.Names(states), ", ")}
	}
	return k, nil
}

// names of the channels that c describes.
func (c *Channel) names() []string {
	if c.Name != "" {
		return []string{c.Name}
	}
	return c.Names
}

// attitude says whether a source gives roll, pitch and yaw.
func (s *Source) attitude() bool { return len(s.Quaternion) > 0 || len(s.Euler) > 0 }

func (c *Channel) check() (reason, mend string) {
	n := len(c.names())
	switch {
	case c.Name != "" && len(c.Names) > 0:
		return "has name and names", "write one of them"
	case n == 0:
		return "name is missing", "name every channel"
	case c.Role == "":
		return "role is missing", "write state, input or aux"
	case c.Derivative != "" && n > 1:
		return "derivative is for one name", "write derivatives, one for each name"
	case len(c.Derivatives) > 0 && len(c.Derivatives) != n:
		return fmt.Sprintf("%d derivatives for %d names", len(c.Derivatives), n), `write one for each, "none" where there is none`
	case c.Between != "" && c.Between != "linear" && c.Between != "hold" && c.Between != "exact":
		return fmt.Sprintf("between %q is not known", c.Between), "write linear, hold or exact"
	}
	if c.Each != "" && (c.Field == "" || len(c.Or) > 0 || !strings.Contains(c.Name, "{}") || !strings.Contains(c.Field, "{}")) {
		return "each needs name and field with {} in them, and has no or", `write name = "{}" and field = "position[{}]"`
	}
	for _, name := range c.Names {
		if name == "" {
			return "one of its names is empty", "name every channel"
		}
	}
	return c.Source.check(c)
}

func (s *Source) check(c *Channel) (reason, mend string) {
	n := len(c.names())
	kinds := 0
	for _, there := range []bool{s.Field != "", len(s.Fields) > 0, len(s.Quaternion) > 0, len(s.Euler) > 0} {
		if there {
			kinds++
		}
	}
	world, body, ok := axes(s.Axes)
	switch {
	case s.Topic == "" && s.Type == "":
		return "topic is missing", "name the topic that it is read from, or the type of its messages"
	case s.Topic != "" && s.Type != "":
		return "has topic and type", "write one of them"
	case kinds == 0:
		return "field is missing", "name the field, or fields, quaternion or euler"
	case kinds > 1:
		return "has more than one of field, fields, quaternion and euler", "write one of them"
	case s.Field != "" && n != 1:
		return fmt.Sprintf("one field for %d names", n), "write fields, one for each name"
	case len(s.Fields) > 0 && len(s.Fields) != n:
		return fmt.Sprintf("%d fields for %d names", len(s.Fields), n), "write one for each name, in their order"
	case s.attitude() && n != 3:
		return fmt.Sprintf("an attitude has three names, not %d", n), `write names = ["roll", "pitch", "yaw"]`
	case len(s.Quaternion) > 0 && len(s.Quaternion) != 4:
		return fmt.Sprintf("a quaternion has four fields, not %d", len(s.Quaternion)), "write them in the order w, x, y, z"
	case strings.HasPrefix(strings.Join(s.Quaternion, ","), "-") || strings.Contains(strings.Join(s.Quaternion, ","), ",-"):
		return "a field of a quaternion has a minus", "remove it, and say which axes it has"
	case len(s.Euler) > 0 && len(s.Euler) != 3:
		return fmt.Sprintf("euler has three fields, not %d", len(s.Euler)), "write them in the order roll, pitch, yaw"
	case !ok:
		return fmt.Sprintf("axes %q are not known", s.Axes), "write ned, enu, frd or flu, of an attitude ned-frd or enu-flu"
	case s.Axes != "" && s.attitude() && (world == "" || body == ""):
		return fmt.Sprintf("axes %q of an attitude name one frame", s.Axes), "write ned-frd or enu-flu"
	case s.Axes != "" && !s.attitude() && (n != 3 || world != "" && body != ""):
		return fmt.Sprintf("axes %q do not fit: a vector has three names and one frame", s.Axes), "write ned, enu, frd or flu for three fields x, y, z"
	case s.Times != "" && s.attitude():
		return "times is not for an attitude", "remove it"
	case s.Scale != nil && (*s.Scale == 0 || !finite(*s.Scale)), !finite(s.Offset):
		return "scale and offset would make every value the same, or none", "value = scale * field + offset"
	}
	return "", ""
}

func (p *Phase) check() (reason, mend string) {
	kinds := 0
	for _, there := range []bool{len(p.Equals) > 0, p.Above != nil, len(p.Begins) > 0 || len(p.Ends) > 0} {
		if there {
			kinds++
		}
	}
	switch {
	case p.Topic == "" || p.Field == "":
		return "topic or field is missing", "name both"
	case kinds != 1:
		return "needs one of equals, above, and begins with ends", "say when the robot is in the phase"
	case (len(p.Begins) > 0) != (len(p.Ends) > 0):
		return "begins and ends belong together", "write both"
	}
	return "", ""
}

// header describes the channels as the log's header does, with the derivatives
// that the map declares. of, if not nil, is the source that was found for each
// channel of the map, nil where it is left out.
func (m *Map) header(of []*Source) []channel.Channel {
	var all []channel.Channel
	for i := range m.Channels {
		c, s := &m.Channels[i], &m.Channels[i].Source
		if of != nil {
			if s = of[i]; s == nil {
				continue
			}
		}
		for k, name := range c.names() {
			ch := channel.Channel{Name: name, Unit: c.Unit, Role: c.Role, Derivative: c.derivative(k),
				Period: c.Period, Invariant: c.Invariant, Noise: c.Noise, Frame: m.axesOf(s)}
			if s.attitude() {
				ch.Period, ch.Unit = channel.Angle, "rad"
			}
			if ch.Derivative == noDerivative {
				ch.Derivative = ""
			}
			all = append(all, ch)
		}
	}
	return all
}

// derivative returns what the map declares for name k: a channel, "none" or "".
func (c *Channel) derivative(k int) string {
	if len(c.Derivatives) > 0 {
		return c.Derivatives[k]
	}
	return c.Derivative
}

// axesOf names the axes that a source's values have in the log.
func (m *Map) axesOf(s *Source) string {
	world, body, _ := axes(s.Axes)
	if m.Frames == "" || s.Axes == "" {
		return s.Axes
	}
	toWorld, toBody, _ := axes(m.Frames)
	var out []string
	if world != "" {
		out = append(out, string(toWorld))
	}
	if body != "" {
		out = append(out, string(toBody))
	}
	return strings.Join(out, "-")
}
