package importer

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"

	"github.com/dgm-robotics/dgm/bridge/csv"
	"github.com/dgm-robotics/dgm/bridge/frames"
	"github.com/dgm-robotics/dgm/bridge/mapfile"
	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/wire"
)

// Check returns the first fault in a map, named by key, as a *mapfile.Error. It converts the attitudes of a
// table to channels, and its columns to fields.
func (m *Map) Check() error {
	if err := m.checkTop(); err != nil {
		return err
	}
	if m.IsTable() {
		if err := m.resolve(); err != nil {
			return err
		}
	}
	if err := m.checkChannels(); err != nil {
		return err
	}
	if err := m.checkConditions(); err != nil {
		return err
	}
	return m.checkHeader()
}

// checkChannels checks each channel and the sources that it may be read from instead.
func (m *Map) checkChannels() error {
	for i := range m.Channels {
		c := &m.Channels[i]
		field := fmt.Sprintf("channel %d (%q)", i+1, c.label())
		if reason, remedy := c.check(); reason != "" {
			return m.wrong(field, reason, remedy)
		}
		for k := range c.Or {
			if reason, remedy := c.Or[k].check(c); reason != "" {
				return m.wrong(fmt.Sprintf("%s or %d", field, k+1), reason, remedy)
			}
		}
	}
	return nil
}

// checkConditions checks what a map of topics says beside its channels: when rows and values
// count, which vehicles it refuses, which topics are primary, and how far clocks are off.
func (m *Map) checkConditions() error {
	var names []string
	for i := range m.Channels {
		names = append(names, m.Channels[i].names()...)
	}
	return cmp.Or(
		checkEach(m, "phase", m.Phases, (*Phase).check),
		checkEach(m, "valid", m.Valid, func(v *Validity) (reason, remedy string) { return v.check(names) }),
		checkEach(m, "reset", m.Resets, (*Reset).check),
		checkEach(m, "refuse", m.Refusals, (*Refusal).check),
		checkEach(m, "primary", m.Primaries, (*Primary).check),
		checkEach(m, "clock", m.Clocks, (*Setting).check),
	)
}

// checkEach returns the first entry under a key that is wrong, as the error of the key and the
// number of the entry.
func checkEach[T any](m *Map, key string, entries []T, check func(*T) (reason, remedy string)) error {
	for i := range entries {
		if reason, remedy := check(&entries[i]); reason != "" {
			return m.wrong(fmt.Sprintf("%s %d", key, i+1), reason, remedy)
		}
	}
	return nil
}

// checkHeader checks that the channels fit together in the header of a log, and that the
// states that the kinematics need are there.
func (m *Map) checkHeader() error {
	if err := channel.Check(m.header(nil)); err != nil {
		remedy := "give what is measured of the robot role = \"state\""
		if states := channel.Names(channel.Select(m.header(nil), channel.State)); len(states) > 0 {
			remedy = "state channels here: " + strings.Join(states, ", ")
		}
		return m.wrong("channel", err.Error(), remedy)
	}
	// The names of each are known when the log is.
	if slices.ContainsFunc(m.Channels, func(c Channel) bool { return c.Each != "" }) {
		return nil
	}
	_, err := m.declared(m.header(nil))
	return err
}

// wrong makes the error of a key.
func (m *Map) wrong(field, reason, remedy string) error {
	return &mapfile.Error{File: m.file, Field: field, Reason: reason, Remedy: remedy}
}

// checkTop checks what is not part of a channel.
func (m *Map) checkTop() error {
	key, reason, remedy := "", "", ""
	if m.IsTable() {
		key, reason, remedy = m.Time.Check()
	}
	switch {
	case m.Vehicle == "":
		return m.wrong("vehicle", "is missing", `name the robot, as in vehicle = "quad1"`)
	case wire.CheckVehicle(m.Vehicle) != nil:
		return m.wrong("vehicle", fmt.Sprintf("%q cannot be part of a subject", m.Vehicle), "use letters of ASCII, digits, - and _, 64 at most, as in quad1")
	case m.Frames != "" && m.Frames != "ned-frd" && m.Frames != "enu-flu":
		return m.wrong("frames", fmt.Sprintf("%q is not known", m.Frames), "write ned-frd or enu-flu, or leave it out to keep the axes as recorded")
	case key != "":
		return m.wrong("time."+key, reason, remedy)
	case m.IsTable() && (m.Time.Base != "" || m.Time.Instance != nil || len(m.Phases)+len(m.Valid)+len(m.Resets)+len(m.Clocks)+len(m.Refusals)+len(m.Primaries) > 0):
		return m.wrong("time.column", "is of a table, and base, instance, [[phase]], [[valid]], [[reset]], [[clock]], [[refuse]] and [[primary]] are of topics", "remove them")
	case m.Time.To != 0 && m.Time.To <= m.Time.From:
		return m.wrong("time.to", "is not after time.from", "both count from the file's first sample")
	case len(m.Channels)+len(m.Attitudes) == 0:
		return m.wrong("channel", "there is none", "describe each channel under [[channel]]")
	}
	return nil
}

// resolve makes channels of a table's attitudes, and fields of its columns.
func (m *Map) resolve() error {
	for i := range m.Attitudes {
		if reason, remedy := m.Attitudes[i].check(); reason != "" {
			return m.wrong(fmt.Sprintf("attitude %d", i+1), reason, remedy)
		}
	}
	for i := range m.Channels {
		for _, s := range m.Channels[i].sources() {
			if s.Topic != "" && s.Topic != csv.Topic || s.Type != "" || s.Column != "" && s.Field != "" && s.Field != s.Column {
				return m.wrong(fmt.Sprintf("channel %d (%q)", i+1, m.Channels[i].label()), "names a topic or a field beside a column", "write column, and neither topic, type nor field")
			}
			s.Topic = csv.Topic
			if s.Column != "" {
				s.Field = s.Column
			}
		}
	}
	for i := range m.Attitudes {
		m.Channels = append(m.Channels, m.Attitudes[i].channel())
	}
	m.Attitudes = nil
	return nil
}

func (a *Attitude) check() (reason, remedy string) {
	_, _, angle := frames.Unit("rad", a.Unit)
	known := func(axes string) bool { return axes == "" || axes == "ned-frd" || axes == "enu-flu" }
	up := a.Axes == "eus-fur"
	switch {
	case a.Order == matrixOrder && len(a.Columns) != 9:
		return fmt.Sprintf("columns names %d columns of a matrix, not nine", len(a.Columns)), `write them row by row, as in columns = ["R11", "R12", "R13", "R21", …]`
	case a.Order != matrixOrder && len(a.Columns) != 4:
		return fmt.Sprintf("columns names %d columns, not four", len(a.Columns)), `write them in the order that order names, as in columns = ["qw", "qx", "qy", "qz"]`
	case a.Order != "wxyz" && a.Order != "xyzw" && a.Order != matrixOrder:
		return fmt.Sprintf("order %q is not known", a.Order), "write wxyz or xyzw, or matrix"
	case len(a.Names) != 0 && len(a.Names) != 3:
		return fmt.Sprintf("names has %d names, not three", len(a.Names)), "name roll, pitch and yaw"
	case !known(a.Axes) && !up || !known(a.Frames):
		return "axes and frames are ned-frd or enu-flu, axes also eus-fur", "correct them, or leave them out to keep the axes as recorded"
	case a.Frames != "" && a.Axes == "":
		return "frames is given without axes", "write the axes of the quaternion, too"
	case a.Unit != "" && !angle:
		return fmt.Sprintf("unit %q is not an angle's", a.Unit), "write rad or deg"
	}
	return "", ""
}

func (c *Channel) check() (reason, remedy string) {
	n := len(c.names())
	switch {
	case c.Name != "" && len(c.Names) > 0:
		return "has name and names", "write one of them"
	case n == 0, slices.Contains(c.Names, ""):
		return "name is missing", "name every channel"
	case c.Topic == csv.Topic && c.Field == "" && len(c.valuePaths()) == 0:
		return "column is missing", "name the column that it is read from"
	case c.Role == "":
		return "role is missing", "write state, input or aux"
	case c.Derivative != "" && n > 1:
		return "derivative is for one name", "write derivatives, one for each name"
	case len(c.Derivatives) > 0 && len(c.Derivatives) != n:
		return fmt.Sprintf("%d derivatives for %d names", len(c.Derivatives), n), `write one for each, "none" where there is none`
	case channel.CheckUnit(c.Unit) != nil:
		return channel.CheckUnit(c.Unit).Error(), "write one of them"
	case c.Between != "" && c.Between != "linear" && c.Between != "hold" && c.Between != "exact":
		return fmt.Sprintf("between %q is not known", c.Between), "write linear, hold or exact"
	case c.Each != "" && (c.Field == "" || len(c.Or) > 0 || !strings.Contains(c.Name, "{}") || !strings.Contains(c.Field, "{}")):
		return "each needs name and field with {} in them, and has no or", `write name = "{}" and field = "position[{}]"`
	}
	return c.Source.check(c)
}

func (s *Source) check(c *Channel) (reason, remedy string) {
	kinds := given(s.Field != "", len(s.Fields) > 0, len(s.Quaternion) > 0, len(s.Matrix) > 0, len(s.Euler) > 0)
	switch {
	case s.Topic == "" && s.Type == "":
		return "topic is missing", "name the topic that it is read from, or the type of its messages"
	case s.Topic != "" && s.Type != "":
		return "has topic and type", "write one of them"
	case kinds == 0:
		return "field is missing", "name the field, or fields, quaternion, matrix or euler"
	case kinds > 1:
		return "has more than one of field, fields, quaternion, matrix and euler", "write one of them"
	case s.Scale != nil && (*s.Scale == 0 || !finite(*s.Scale)):
		return fmt.Sprintf("scale %v would make every value the same, or none", *s.Scale), "value = scale * field + offset"
	case !finite(s.Offset):
		return fmt.Sprintf("offset %v is not finite", s.Offset), "value = scale * field + offset"
	case s.attitude():
		return s.checkAttitude(len(c.names()))
	}
	return s.checkFields(len(c.names()))
}

// checkAttitude checks a source of roll, pitch and yaw, for n names.
func (s *Source) checkAttitude(n int) (reason, remedy string) {
	world, body, ok := axes(s.Axes)
	switch {
	case n != 3:
		return fmt.Sprintf("an attitude has three names, not %d", n), `write names = ["roll", "pitch", "yaw"]`
	case len(s.Quaternion) > 0 && len(s.Quaternion) != 4:
		return fmt.Sprintf("a quaternion has four fields, not %d", len(s.Quaternion)), "write them in the order w, x, y, z"
	case len(s.Matrix) > 0 && len(s.Matrix) != 9:
		return fmt.Sprintf("a rotation matrix has nine fields, not %d", len(s.Matrix)), "write them row by row"
	case slices.ContainsFunc(slices.Concat(s.Quaternion, s.Matrix), func(f string) bool { return strings.HasPrefix(f, "-") }):
		return "a field of a quaternion or a matrix has a minus", "remove it, and write which axes it has"
	case len(s.Euler) > 0 && len(s.Euler) != 3:
		return fmt.Sprintf("euler has three fields, not %d", len(s.Euler)), "write them in the order roll, pitch, yaw"
	case !ok:
		return fmt.Sprintf("axes %q are not known", s.Axes), "write ned-frd, enu-flu or, where y is up, eus-fur"
	case s.Axes != "" && (world == "" || body == ""):
		return fmt.Sprintf("axes %q of an attitude name one frame", s.Axes), "write ned-frd, enu-flu or, where y is up, eus-fur"
	case s.Times != "":
		return "times is not for an attitude", "remove it"
	}
	return "", ""
}

// checkFields checks a source of scalars or of a vector, for n names.
func (s *Source) checkFields(n int) (reason, remedy string) {
	world, body, ok := axes(s.Axes)
	switch {
	case s.Field != "" && n != 1:
		return fmt.Sprintf("one field for %d names", n), "write fields, one for each name"
	case len(s.Fields) > 0 && len(s.Fields) != n:
		return fmt.Sprintf("%d fields for %d names", len(s.Fields), n), "write one for each name, in their order"
	case !ok:
		return fmt.Sprintf("axes %q are not known", s.Axes), "write ned, enu, frd or flu (eus or fur where y is up), of an attitude ned-frd, enu-flu or eus-fur"
	case s.Axes != "" && (n != 3 || world != "" && body != ""):
		return fmt.Sprintf("axes %q do not fit: a vector has three names and one frame", s.Axes), "write ned, enu, frd or flu for three fields x, y, z"
	}
	return "", ""
}

func (p *Phase) check() (reason, remedy string) {
	switch {
	case p.Topic == "" || p.Field == "":
		return "topic or field is missing", "name both"
	case given(len(p.Equals) > 0, p.Above != nil, len(p.Begins) > 0 || len(p.Ends) > 0) != 1:
		return "needs one of equals, above, and begins with ends", "name the values at which the robot is in the phase"
	case (len(p.Begins) > 0) != (len(p.Ends) > 0):
		return "begins and ends belong together", "write both"
	}
	return "", ""
}

func (v *Validity) check(known []string) (reason, remedy string) {
	for _, name := range v.Channels {
		if !slices.Contains(known, name) {
			return fmt.Sprintf("channel %q is not in the map", name), "correct the name; there are: " + strings.Join(known, ", ")
		}
	}
	switch {
	case len(v.Channels) == 0:
		return "channels is missing", "name the channels whose values the field is about"
	case given(len(v.Topic) > 0, v.Type != "") != 1:
		return "needs one of topic and type", "name the topic of the field, or the type of its messages"
	case v.Field == "":
		return "field is missing", "name it"
	case given(len(v.Equals) > 0, v.Above != nil) != 1:
		return "needs one of equals and above", "name the values at which the channels are valid"
	}
	return "", ""
}

func (x *Reset) check() (reason, remedy string) {
	switch {
	case given(x.Topic != "", x.Type != "") != 1:
		return "needs one of topic and type", "name the topic of the fields, or the type of its messages"
	case len(x.Fields) == 0:
		return "fields is missing", "name them"
	}
	return "", ""
}

// given counts the keys that are given.
func given(all ...bool) (n int) {
	for _, there := range all {
		if there {
			n++
		}
	}
	return n
}

func (r *Refusal) check() (reason, remedy string) {
	switch {
	case given(r.Parameter != "", r.Topic != "", r.Begins != "", len(r.Texts) > 0) != 1:
		return "needs one of parameter, topic, begins and texts", "name what shows the kind of vehicle"
	case (r.Topic == "") != (r.Field == ""):
		return "topic and field belong together", "name both"
	case len(r.Texts) == 0 && given(len(r.Values) > 0, len(r.Only) > 0) != 1:
		return "needs one of only and values", `write only = { "2" = "a quadrotor" }, the vehicles that the map describes`
	case r.Begins == "":
		return "", ""
	}
	var err error
	if r.begins, err = regexp.Compile("^(?:" + r.Begins + ")"); err != nil {
		return fmt.Sprintf("begins %q is no regular expression: %v", r.Begins, err), "correct it"
	}
	return "", ""
}

func (p *Primary) check() (reason, remedy string) {
	if len(p.Topics) == 0 || p.Topic == "" || p.Field == "" {
		return "topics, topic or field is missing", "name all of them"
	}
	return "", ""
}

// check returns what is wrong with the name or the offset of a clock.
func (s *Setting) check() (reason, remedy string) {
	if s.Name == "" || math.Abs(s.Offset) > 9e9 || math.IsNaN(s.Offset) {
		return "has no name, or an offset of more than 292 years", `write name = "/odom" and offset_s = 0.25`
	}
	return "", ""
}
