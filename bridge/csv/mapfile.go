package csv

import (
	"fmt"
	"math"
	"strings"

	"github.com/dgm-robotics/dgm/bridge/kinematics"
	"github.com/dgm-robotics/dgm/bridge/mapfile"
	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/wire"
)

// Map says how tables become a log: the content of map.toml.
type Map struct {
	Vehicle    string          `toml:"vehicle"` // one token, as in the subjects of its messages
	Time       Time            `toml:"time"`
	Channels   []Channel       `toml:"channel"`
	Attitudes  []Attitude      `toml:"attitude"`   // (optional) quaternions: three channels each, after the others
	Kinematics string          `toml:"kinematics"` // (optional) quadrotor: states are those of a rigid body
	Body       kinematics.Body `toml:"body"`       // (optional) which; defaults to the usual names

	file string // its name, for errors
}

// Time says how time is written and where segments begin.
type Time struct {
	Column        string           `toml:"column"`
	Unit          string           `toml:"unit"`           // s, ms, us or ns
	SegmentColumn Names            `toml:"segment_column"` // (optional) a new value starts a segment; several columns: a new value in any
	MaxGap        mapfile.Duration `toml:"max_gap"`        // (optional) a longer gap starts a segment; 0 = none does
	From          mapfile.Duration `toml:"from"`           // (optional) cut, from the file's first sample
	To            mapfile.Duration `toml:"to"`             // (optional) cut, from the file's first sample; 0 = to the end
	OnBackwards   Policy           `toml:"on_backwards"`   // (optional) error, segment or keep; defaults to error
	OnDuplicate   Policy           `toml:"on_duplicate"`   // (optional) drop, error or keep; defaults to drop
	AnyRate       bool             `toml:"any_rate"`       // (optional) believe the unit even where the sampling rate is odd
}

// Channel says which column a channel is read from, and what it is.
type Channel struct {
	Name       string       `toml:"name"`
	Column     string       `toml:"column"`
	Unit       string       `toml:"unit"`       // (optional) of the value in the log
	Role       channel.Role `toml:"role"`       // state, input or aux
	Derivative string       `toml:"derivative"` // (optional) a state channel, or "none"; else detected
	Period     float64      `toml:"period"`     // (optional) in its unit
	Invariant  bool         `toml:"invariant"`  // (optional)
	Noise      float64      `toml:"noise"`      // (optional) known std of the sensor, in its unit
	Times      string       `toml:"times"`      // (optional) a second column, as a factor: a motor's command times the battery's voltage
	Scale      *float64     `toml:"scale"`      // (optional) value = scale·column·times + offset; defaults to 1
	Offset     float64      `toml:"offset"`     // (optional) in the unit of the log
	Frame      string       `toml:"frame"`      // (optional) free text
}

// Policy is what is done with a time that is out of order.
type Policy string

// The policies.
const (
	Fail    Policy = "error"   // stop with an error
	Segment Policy = "segment" // begin a new segment
	Drop    Policy = "drop"    // leave the row out
	Keep    Policy = "keep"    // write it as it is
)

// noDerivative as derivative says that there is none, and none is looked for.
const noDerivative = "none"

// Names is one name or a list of names.
type Names []string

// UnmarshalTOML reads a string or an array of strings.
func (n *Names) UnmarshalTOML(v any) error {
	switch v := v.(type) {
	case string:
		*n = Names{v}
		return nil
	case []any:
		for _, e := range v {
			s, ok := e.(string)
			if !ok {
				return fmt.Errorf("%v is not the name of a column", e)
			}
			*n = append(*n, s)
		}
		return nil
	}
	return fmt.Errorf("%v is not the name of a column", v)
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
	return m, m.check()
}

// powers of ten of a unit in nanoseconds.
var unitPower = map[string]int{"s": 9, "ms": 6, "us": 3, "ns": 0}

// check returns the first thing that cannot be, named by key.
func (m *Map) check() error {
	bad := func(field, reason, mend string) error {
		return &mapfile.Error{File: m.file, Field: field, Reason: reason, Mend: mend}
	}
	t := &m.Time
	t.OnBackwards, t.OnDuplicate = policy(t.OnBackwards, Fail), policy(t.OnDuplicate, Drop)
	_, unitKnown := unitPower[t.Unit]
	switch {
	case m.Vehicle == "":
		return bad("vehicle", "is missing", `name the robot, as in vehicle = "pendulum"`)
	case wire.CheckVehicle(m.Vehicle) != nil:
		return bad("vehicle", quote(m.Vehicle)+" cannot be part of a subject", "use letters of ASCII, digits, - and _, 64 at most, as in pend1")
	case t.Column == "":
		return bad("time.column", "is missing", "name the column that holds the time")
	case !unitKnown:
		return bad("time.unit", quote(t.Unit)+" is not a unit of time here", "write s, ms, us or ns")
	case t.To != 0 && t.To <= t.From:
		return bad("time.to", "is not after time.from", "both count from the file's first sample")
	case t.OnBackwards != Fail && t.OnBackwards != Segment && t.OnBackwards != Keep:
		return bad("time.on_backwards", quote(string(t.OnBackwards))+" is not known", "write error, segment or keep")
	case t.OnDuplicate != Fail && t.OnDuplicate != Drop && t.OnDuplicate != Keep:
		return bad("time.on_duplicate", quote(string(t.OnDuplicate))+" is not known", "write error, drop or keep")
	case len(m.Channels)+len(m.Attitudes) == 0:
		return bad("channel", "there is none", "describe each channel under [[channel]]")
	}
	for i, c := range m.Channels {
		field := fmt.Sprintf("channel %d (%q)", i+1, c.Name)
		switch {
		case c.Name == "":
			return bad(field, "name is missing", "name every channel")
		case c.Column == "":
			return bad(field, "column is missing", "name the column that it is read from")
		case c.Role == "":
			return bad(field, "role is missing", "write state, input or aux")
		case c.Scale != nil && (*c.Scale == 0 || !finite(*c.Scale)):
			return bad(field, fmt.Sprintf("scale %v would make every value the same", *c.Scale), "value = scale * column + offset")
		case !finite(c.Offset):
			return bad(field, fmt.Sprintf("offset %v is not finite", c.Offset), "value = scale * column + offset")
		}
	}
	for i := range m.Attitudes {
		a := &m.Attitudes[i]
		if reason, mend := a.check(); reason != "" {
			return bad(fmt.Sprintf("attitude %d", i+1), reason, mend)
		}
	}
	all := m.channels()
	if err := channel.Check(all); err != nil {
		return bad("channel", err.Error(), "state channels here: "+strings.Join(channel.Names(channel.Select(all, channel.State)), ", "))
	}
	if _, err := m.kinematics(); err != nil {
		return bad("kinematics", err.Error(), "correct it, or the names under [body]; state channels here: "+strings.Join(channel.Names(channel.Select(all, channel.State)), ", "))
	}
	return nil
}

func policy(p, otherwise Policy) Policy {
	if p == "" {
		return otherwise
	}
	return p
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// channels describes the channels as the log's header does, with the derivatives
// that the map declares.
func (m *Map) channels() []channel.Channel {
	var all []channel.Channel
	for _, c := range m.Channels {
		d := c.Derivative
		if d == noDerivative {
			d = ""
		}
		all = append(all, channel.Channel{Name: c.Name, Unit: c.Unit, Role: c.Role, Derivative: d,
			Period: c.Period, Invariant: c.Invariant, Noise: c.Noise, Frame: c.Frame})
	}
	for i := range m.Attitudes {
		all = append(all, m.Attitudes[i].channels()...)
	}
	return all
}

// kinematics returns what the map declares of its states.
func (m *Map) kinematics() (channel.Kinematics, error) {
	return kinematics.Declare(m.Kinematics, &m.Body, channel.Select(m.channels(), channel.State))
}
