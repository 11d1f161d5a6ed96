package importer

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/dgm-robotics/dgm/bridge/csv"
	"github.com/dgm-robotics/dgm/bridge/frames"
	"github.com/dgm-robotics/dgm/bridge/kinematics"
	"github.com/dgm-robotics/dgm/bridge/mapfile"
	"github.com/dgm-robotics/dgm/bridge/telemetry"
	"github.com/dgm-robotics/dgm/estimator/channel"
)

// Map describes how a recording becomes a flight log: the content of map.toml. Its channels are read from fields
// of topics, or, if time.column is set, from columns of a text table.
type Map struct {
	Like      string     `toml:"like"`    // (optional) a preset whose states, phases and conditions this map has, where it says nothing else
	Vehicle   string     `toml:"vehicle"` // one token, as in the subjects of its messages
	Frames    string     `toml:"frames"`  // (optional) ned-frd or enu-flu: the axes of the log's vectors and attitudes; else those recorded
	Where     Where      `toml:"where"`   // of topics: (optional) the sender, where a topic has several and a source does not name one
	Time      Time       `toml:"time"`
	Phases    []Phase    `toml:"phase"` // of topics
	Channels  []Channel  `toml:"channel"`
	Valid     []Validity `toml:"valid"`    // of topics: (optional)
	Resets    []Reset    `toml:"reset"`    // of topics: (optional)
	Clocks    []Setting  `toml:"clock"`    // of topics: (optional)
	Refusals  []Refusal  `toml:"refuse"`   // of topics: (optional)
	Primaries []Primary  `toml:"primary"`  // of topics: (optional)
	Agree     []string   `toml:"agree"`    // of topics: (optional) settings of the robot that inputs depend on: recordings in which they differ are a warning
	Attitudes []Attitude `toml:"attitude"` // of a table: (optional) quaternions, three channels each, after the others

	Kinematics         string          `toml:"kinematics"`          // (optional) quadrotor: states are those of a rigid body
	KinematicsOptional bool            `toml:"kinematics_optional"` // (optional) what the data contradict is left out; else it is an error
	Body               kinematics.Body `toml:"body"`                // (optional) which; defaults to the usual names

	Topics []string `toml:"-"` // (optional) which are read of several of one type, where a source names the type

	file    string   // its name, for errors
	joined  bool     // it describes tables whose columns are read as topics
	lenient bool     // channels that are not in a log are left out
	vehicle string   // (optional) the number of the one that is read, of a log of several
	said    remarks  // about what was expanded
	numbers []string // fields of messages whose numbers distinguish senders, by the recordings
}

// Time describes where rows and segments begin.
type Time struct {
	csv.Time        // of a table; max_gap, from and to of topics as well
	Base     string `toml:"base"`     // of topics: (optional) the topic whose timestamps are the rows'; defaults to the slowest that holds a state
	Instance *int   `toml:"instance"` // (optional) of base; defaults to the lowest
}

// Setting gives the known offset of a sender's clock, which is then not estimated.
type Setting struct {
	Name         string  `toml:"name"`         // as an import reports it
	Offset       float64 `toml:"offset_s"`     // s: recorder's time = stamp + offset
	Synchronised *bool   `toml:"synchronised"` // (optional) of two clocks of this name the one that counts since 1970, or the other
}

// Source names the fields of a log from which values are read.
type Source struct {
	Topic      string   `toml:"topic"`
	Type       string   `toml:"type"`       // in place of topic: the one whose messages are of this type, such as nav_msgs/msg/Odometry
	Instance   *int     `toml:"instance"`   // (optional) defaults to the lowest whose fields are not one value throughout
	Where      Where    `toml:"where"`      // (optional) texts in the messages, such as child_frame_id = "base_link": of several senders only the one that has them
	Column     string   `toml:"column"`     // of a table, in place of topic and field
	File       string   `toml:"file"`       // (optional) of a table: part of the name of the file that has the column, where each topic has one of its own
	Field      string   `toml:"field"`      // of a channel with one name; a minus before a field turns its sign, but not in a quaternion
	Fields     []string `toml:"fields"`     // of a channel with several names, in their order
	Quaternion []string `toml:"quaternion"` // fields w, x, y, z: the channels are roll, pitch, yaw
	Matrix     []string `toml:"matrix"`     // fields of a rotation matrix from body to world, row by row: the channels are roll, pitch, yaw
	Euler      []string `toml:"euler"`      // fields roll, pitch, yaw: the channels are these
	Axes       string   `toml:"axes"`       // (optional) those of the fields: ned, enu, frd, flu, with y up eus, fur; of an attitude ned-frd, enu-flu or eus-fur
	From       string   `toml:"from"`       // (optional) unit of the fields, where it is another than unit; defaults to that in the log
	Times      string   `toml:"times"`      // (optional) a field of the same topic, as a factor
	Scale      *float64 `toml:"scale"`      // (optional) value = scale·field·times + offset, after units; defaults to 1
	Offset     float64  `toml:"offset"`     // (optional)

	Unit    string   `toml:"unit"`    // (optional) of the values in the log; under or where it is another one than that of the channel
	Outputs *Outputs `toml:"outputs"` // (optional) which outputs of the robot drive the motors
	When    Settings `toml:"when"`    // (optional) settings of the robot and their values under which the source counts; where a log has none of them it does

	id     *topicID // the topic, where it is known already
	prefer Where    // the map's
	wired  []wiring // where fields are those of other outputs in parts of the files
}

// Where selects a sender by texts in its messages: their values by their paths.
type Where map[string]string

// String returns it as it is written in a map.
func (w Where) String() string {
	var all []string
	for _, path := range slices.Sorted(maps.Keys(w)) {
		all = append(all, fmt.Sprintf("%q = %q", path, w[path]))
	}
	return "{ " + strings.Join(all, ", ") + " }"
}

// selects reports whether the messages of a topic have the texts.
func (w Where) selects(t *telemetry.Topic) bool {
	for path, value := range w {
		if !slices.Contains(t.Sender, telemetry.Text{Path: path, Value: value}) {
			return false
		}
	}
	return true
}

// Channel describes one channel, or several that belong together.
type Channel struct {
	Name  string   `toml:"name"`
	Names []string `toml:"names"` // several: one for each of fields
	Source
	Or []Source `toml:"or"` // (optional) where else to look, in this order

	Role        channel.Role     `toml:"role"`        // state, input or aux
	Derivative  string           `toml:"derivative"`  // (optional) a state channel, or "none"; else detected
	Derivatives []string         `toml:"derivatives"` // (optional) of several names, in their order
	Period      float64          `toml:"period"`      // (optional) in its unit; attitudes have it by themselves
	Invariant   bool             `toml:"invariant"`   // (optional)
	Noise       float64          `toml:"noise"`       // (optional) known std of the sensor, in its unit
	Frame       string           `toml:"frame"`       // (optional) free text; defaults to the axes in the log
	Between     string           `toml:"between"`     // (optional) linear, hold or exact; defaults to hold for inputs, else linear
	MaxAge      mapfile.Duration `toml:"max_age"`     // (optional) over which it is interpolated or held; defaults to five steps of its topic, one second at least where held
	Optional    bool             `toml:"optional"`    // (optional) left out where no source is in the log
	Varies      bool             `toml:"varies"`      // (optional) left out where it has one value throughout
	Each        string           `toml:"each"`        // (optional) an array of texts, as the names of joints: a channel for each, with the text for {} in name and derivative and its number for {} in field

	of *Attitude // whose angles they are
}

// Attitude describes four columns of a table with a quaternion, or nine with a rotation matrix, and the three channels made of it: roll,
// pitch and yaw, continuous within a segment.
type Attitude struct {
	Columns []string     `toml:"columns"` // four, or nine
	Order   string       `toml:"order"`   // wxyz or xyzw; matrix: row by row, from body to world
	Names   []string     `toml:"names"`   // (optional) defaults to roll, pitch, yaw
	Axes    string       `toml:"axes"`    // (optional) ned-frd, enu-flu or eus-fur, those of the quaternion
	Frames  string       `toml:"frames"`  // (optional) with axes: those of the log; defaults to axes
	Unit    string       `toml:"unit"`    // (optional) of the log: rad or deg; defaults to rad
	Role    channel.Role `toml:"role"`    // (optional) defaults to state
	Noise   float64      `toml:"noise"`   // (optional) known std of the three, in unit
}

// Phase describes the part of a log to keep.
type Phase struct {
	Topic    string    `toml:"topic"`
	Instance *int      `toml:"instance"` // (optional)
	Field    string    `toml:"field"`
	Equals   []float64 `toml:"equals"` // in the phase while the field is one of these
	Above    *float64  `toml:"above"`  // in the phase while the field is above
	Mask     uint32    `toml:"mask"`   // (optional) only these bits of the field are compared
	Begins   []float64 `toml:"begins"` // for events: values that begin it …
	Ends     []float64 `toml:"ends"`   // … and that end it
}

// IsTable reports whether a map describes a table of text, and not topics.
func (m *Map) IsTable() bool {
	return !m.joined && (m.Time.Column != "" || m.Time.Unit != "" || m.Time.Step != 0 || len(m.Attitudes) > 0 ||
		slices.ContainsFunc(m.Channels, func(c Channel) bool { return c.Column != "" || c.of != nil }))
}

// noDerivative as derivative means that there is none, and none is looked for.
const noDerivative = "none"

// names of the channels that c describes.
func (c *Channel) names() []string {
	if c.Name != "" {
		return []string{c.Name}
	}
	return c.Names
}

// label names the channels in messages.
func (c *Channel) label() string { return strings.Join(c.names(), ", ") }

// derivative returns what the map declares for name k: a channel, "none" or "".
func (c *Channel) derivative(k int) string {
	if len(c.Derivatives) > 0 {
		return c.Derivatives[k]
	}
	return c.Derivative
}

// sources returns the source of c and its alternatives.
func (c *Channel) sources() []*Source {
	all := []*Source{&c.Source}
	for i := range c.Or {
		all = append(all, &c.Or[i])
	}
	return all
}

// channel returns the three angles of a quaternion as channels read from a table.
func (a *Attitude) channel() Channel {
	c := Channel{Names: a.Names, Role: cmp.Or(a.Role, channel.State), Noise: a.Noise, Frame: cmp.Or(a.Frames, a.Axes), of: a}
	if len(c.Names) == 0 {
		c.Names = []string{"roll", "pitch", "yaw"}
	}
	q := a.Columns
	if a.Order == "xyzw" {
		q = []string{q[3], q[0], q[1], q[2]}
	}
	c.Source = Source{Topic: csv.Topic, Axes: a.Axes, Unit: cmp.Or(a.Unit, "rad")}
	if a.Order == matrixOrder {
		c.Matrix = q
	} else {
		c.Quaternion = q
	}
	return c
}

// angle returns what one radian is in the unit of an attitude.
func (c *Channel) angle() float64 {
	if c.of == nil {
		return 1
	}
	scale, _, _ := frames.Unit("rad", c.Unit)
	return scale
}

// attitude reports whether a source holds roll, pitch and yaw.
func (s *Source) attitude() bool { return s.rotates() || len(s.Euler) > 0 }

// rotates reports whether a source holds an attitude by a quaternion or a matrix, whose angles depend on all of its values.
func (s *Source) rotates() bool { return len(s.Quaternion) > 0 || len(s.Matrix) > 0 }

// matrixOrder as order of an attitude means a rotation matrix.
const matrixOrder = "matrix"

// valuePaths are the fields of a source but for the factor.
func (s *Source) valuePaths() []string {
	all := slices.Concat(s.Fields, s.Quaternion, s.Matrix, s.Euler)
	if s.Field != "" {
		all = append(all, s.Field)
	}
	return all
}

// paths are all fields of a source, without signs.
func (s *Source) paths() []string {
	all := s.valuePaths()
	if s.Times != "" {
		all = append(all, s.Times)
	}
	for _, w := range s.wired {
		all = append(all, w.fields...)
	}
	for i := range all {
		all[i], _ = strings.CutPrefix(all[i], "-")
	}
	return all
}

// axesInLog returns the axes that the values of a channel's source have in the log: those
// of the map, or as recorded; "" = not known, or none.
func (m *Map) axesInLog(c *Channel, s *Source) (world, body frames.Frame) {
	world, body, _ = axes(s.Axes)
	to := m.Frames
	if c.of != nil {
		to = cmp.Or(c.of.Frames, to)
	}
	toWorld, toBody, _ := axes(to)
	if to != "" && world != "" {
		world = toWorld
	}
	if to != "" && body != "" {
		body = toBody
	}
	return world, body
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
		world, body := m.axesInLog(c, s)
		frame := cmp.Or(c.Frame, strings.Trim(string(world+"-"+body), "-"))
		for k, name := range c.names() {
			ch := channel.Channel{Name: name, Unit: cmp.Or(s.Unit, c.Unit), Role: c.Role, Derivative: c.derivative(k),
				Period: c.Period, Invariant: c.Invariant, Noise: c.Noise, Frame: frame}
			if s.attitude() {
				ch.Period = c.angle() * channel.Angle
				if c.of == nil {
					ch.Unit = "rad"
				}
			}
			if ch.Derivative == noDerivative {
				ch.Derivative = ""
			}
			all = append(all, ch)
		}
	}
	return all
}

// declared returns the kinematics that the map declares of channels.
func (m *Map) declared(all []channel.Channel) (channel.Kinematics, error) {
	states := channel.Select(all, channel.State)
	k, err := kinematics.Declare(m.Kinematics, &m.Body, states)
	if err != nil {
		return k, &mapfile.Error{File: m.file, Field: "kinematics", Reason: err.Error(),
			Remedy: "correct it, or the names under [body]; state channels here: " + strings.Join(channel.Names(states), ", ")}
	}
	return k, nil
}

// finite reports whether v is a number.
func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// axes splits "ned-frd", "ned" or "" into its frames. ok is false for anything
// else.
func axes(text string) (world, body frames.Frame, ok bool) {
	first, second, pair := strings.Cut(text, "-")
	a, b := frames.Frame(first), frames.Frame(second)
	switch {
	case text == "":
		return "", "", true
	case pair:
		return a, b, a.World() && b.Body()
	case a.World():
		return a, "", true
	case a.Body():
		return "", a, true
	}
	return "", "", false
}

// reads reports whether the phase could be read from a topic.
func (p *Phase) reads(t *telemetry.Topic) bool {
	return p.Topic == t.Name && (p.Instance == nil || *p.Instance == t.Instance) && t.Check(p.Field) == nil
}

// decide returns whether a value of the field means that the robot is in the phase.
// ok is false where it means neither, as an event of another kind.
func (p *Phase) decide(v float64) (in, ok bool) {
	if math.IsNaN(v) {
		return false, false
	}
	if p.Mask != 0 {
		v = float64(uint32(int64(v)) & p.Mask)
	}
	switch {
	case p.Above != nil:
		return v > *p.Above, true
	case len(p.Equals) > 0:
		return slices.Contains(p.Equals, v), true
	case slices.Contains(p.Begins, v):
		return true, true
	case slices.Contains(p.Ends, v):
		return false, true
	}
	return false, false
}

// zeroOrOne returns a phase as a value of a track.
func zeroOrOne(in bool) float64 {
	if in {
		return 1
	}
	return 0
}
