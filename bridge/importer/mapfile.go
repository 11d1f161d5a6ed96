package importer

import (
	"math"
	"strings"

	"github.com/dgm-robotics/dgm/bridge/frames"
	"github.com/dgm-robotics/dgm/bridge/kinematics"
	"github.com/dgm-robotics/dgm/bridge/mapfile"
	"github.com/dgm-robotics/dgm/estimator/channel"
)

// Map says how topics become a log: the content of map.toml.
type Map struct {
	Vehicle  string    `toml:"vehicle"` // one token, as in the subjects of its messages
	Frames   string    `toml:"frames"`  // (optional) ned-frd or enu-flu: the axes of the log's vectors and attitudes; else those recorded
	Time     Time      `toml:"time"`
	Phases   []Phase   `toml:"phase"`
	Channels []Channel `toml:"channel"`

	Kinematics string          `toml:"kinematics"` // (optional) quadrotor: states are those of a rigid body
	Body       kinematics.Body `toml:"body"`       // (optional) which; defaults to the usual names

	file   string // its name, for errors
	preset bool   // nobody wrote it for this log: what the data contradict is left out
}

// Time says where rows and segments begin.
type Time struct {
	Base     string           `toml:"base"`     // (optional) the topic whose stamps are the rows'; defaults to the slowest that holds a state
	Instance *int             `toml:"instance"` // (optional) of base; defaults to the lowest
	MaxGap   mapfile.Duration `toml:"max_gap"`  // (optional) a longer gap in the base begins a segment; defaults to five of its steps
	From     mapfile.Duration `toml:"from"`     // (optional) cut, from the file's first message
	To       mapfile.Duration `toml:"to"`       // (optional) cut, from the file's first message; 0 = to the end
}

// Source says where values stand in a log.
type Source struct {
	Topic      string   `toml:"topic"`
	Type       string   `toml:"type"`       // in place of topic: the one whose messages are of this type, such as nav_msgs/msg/Odometry
	Instance   *int     `toml:"instance"`   // (optional) defaults to the lowest whose fields are not one value throughout
	Field      string   `toml:"field"`      // of a channel with one name; a minus before a field turns its sign, but not in a quaternion
	Fields     []string `toml:"fields"`     // of a channel with several names, in their order
	Quaternion []string `toml:"quaternion"` // fields w, x, y, z: the channels are roll, pitch, yaw
	Euler      []string `toml:"euler"`      // fields roll, pitch, yaw: the channels are these
	Axes       string   `toml:"axes"`       // (optional) those of the fields: ned, enu, frd, flu; of an attitude ned-frd or enu-flu
	From       string   `toml:"from"`       // (optional) unit of the fields, where it is another than unit; defaults to what the log says
	Times      string   `toml:"times"`      // (optional) a field of the same topic, as a factor
	Scale      *float64 `toml:"scale"`      // (optional) value = scale·field·times + offset, after units; defaults to 1
	Offset     float64  `toml:"offset"`     // (optional)
}

// Channel says what one channel is, or several that belong together.
type Channel struct {
	Name  string   `toml:"name"`
	Names []string `toml:"names"` // several: one for each of fields
	Source
	Or []Source `toml:"or"` // (optional) where else to look, in this order

	Unit        string           `toml:"unit"`        // (optional) of the values in the log
	Role        channel.Role     `toml:"role"`        // state, input or aux
	Derivative  string           `toml:"derivative"`  // (optional) a state channel, or "none"; else detected
	Derivatives []string         `toml:"derivatives"` // (optional) of several names, in their order
	Period      float64          `toml:"period"`      // (optional) in its unit; attitudes have it by themselves
	Invariant   bool             `toml:"invariant"`   // (optional)
	Noise       float64          `toml:"noise"`       // (optional) known std of the sensor, in its unit
	Between     string           `toml:"between"`     // (optional) linear, hold or exact; defaults to hold for inputs, else linear
	MaxAge      mapfile.Duration `toml:"max_age"`     // (optional) over which it is interpolated or held; defaults to five steps of its topic, one second at least where held
	Optional    bool             `toml:"optional"`    // (optional) left out where no source is in the log
	Varies      bool             `toml:"varies"`      // (optional) left out where it has one value throughout
	Each        string           `toml:"each"`        // (optional) an array of texts, as the names of joints: a channel for each, with the text for {} in name and derivative and its number for {} in field
}

// Phase says when the robot is in the part of a log that is wanted.
type Phase struct {
	Topic    string    `toml:"topic"`
	Instance *int      `toml:"instance"` // (optional)
	Field    string    `toml:"field"`
	Equals   []float64 `toml:"equals"` // in the phase while the field is one of these
	Above    *float64  `toml:"above"`  // in the phase while the field is above
	Mask     uint32    `toml:"mask"`   // (optional) only these bits of the field are looked at
	Begins   []float64 `toml:"begins"` // for events: values that begin it …
	Ends     []float64 `toml:"ends"`   // … and that end it
}

// ReadMap reads a map.toml. Errors are *mapfile.Error, or of package os.
func ReadMap(path string) (*Map, error) {
	data, err := mapfile.Read(path)
	if err != nil {
		return nil, err
	}
	return ParseMap(path, data)
}

// ParseMap is ReadMap of data; name is what errors call it.
func ParseMap(name string, data []byte) (*Map, error) {
	m := &Map{file: name}
	if err := mapfile.Parse(name, data, m); err != nil {
		return nil, err
	}
	return m, m.Check()
}

// finite says whether v is a number.
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
