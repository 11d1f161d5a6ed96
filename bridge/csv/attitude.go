package csv

import (
	"fmt"
	"math"
	"strings"

	"github.com/dgm-robotics/dgm/bridge/frames"
	"github.com/dgm-robotics/dgm/estimator/channel"
)

// Attitude says which columns are a quaternion, and which three channels become of
// it: roll, pitch and yaw, continuous within a segment.
type Attitude struct {
	Columns []string     `toml:"columns"` // four
	Order   string       `toml:"order"`   // wxyz or xyzw
	Names   []string     `toml:"names"`   // (optional) defaults to roll, pitch, yaw
	Axes    string       `toml:"axes"`    // (optional) ned-frd or enu-flu, those of the quaternion
	Frames  string       `toml:"frames"`  // (optional) with axes: those of the log; defaults to axes
	Unit    string       `toml:"unit"`    // (optional) of the log: rad or deg; defaults to rad
	Role    channel.Role `toml:"role"`    // (optional) defaults to state
	Noise   float64      `toml:"noise"`   // (optional) known std of the three, in unit
}

// names of the three channels.
func (a *Attitude) names() []string {
	if len(a.Names) == 0 {
		return []string{"roll", "pitch", "yaw"}
	}
	return a.Names
}

// unit is that of the log, and what one of it is of a radian.
func (a *Attitude) unit() (name string, scale float64, ok bool) {
	name = a.Unit
	if name == "" {
		name = "rad"
	}
	scale, _, ok = frames.Unit("rad", name)
	return name, scale, ok
}

// check returns the first thing that cannot be, and how to mend it.
func (a *Attitude) check() (reason, mend string) {
	_, _, unit := a.unit()
	switch {
	case len(a.Columns) != 4:
		return fmt.Sprintf("columns names %d columns, not four", len(a.Columns)), `write them in the order that order says, as in columns = ["qw", "qx", "qy", "qz"]`
	case a.Order != "wxyz" && a.Order != "xyzw":
		return fmt.Sprintf("order %q is not known", a.Order), "write wxyz or xyzw"
	case len(a.names()) != 3:
		return fmt.Sprintf("names has %d names, not three", len(a.Names)), "name roll, pitch and yaw"
	case !known(a.Axes) || !known(a.Frames):
		return "axes and frames are ned-frd or enu-flu", "correct them, or leave them out to keep the axes as recorded"
	case a.Frames != "" && a.Axes == "":
		return "frames stands without axes", "write the axes of the quaternion, too"
	case !unit:
		return fmt.Sprintf("unit %q is not an angle's", a.Unit), "write rad or deg"
	}
	return "", ""
}

func known(axes string) bool { return axes == "" || axes == "ned-frd" || axes == "enu-flu" }

// channels describes the three.
func (a *Attitude) channels() (all []channel.Channel) {
	unit, scale, _ := a.unit()
	role, frame := a.Role, a.Frames
	if role == "" {
		role = channel.State
	}
	if frame == "" {
		frame = a.Axes
	}
	for _, name := range a.names() {
		all = append(all, channel.Channel{Name: name, Unit: unit, Role: role, Period: scale * channel.Angle, Noise: a.Noise, Frame: frame})
	}
	return all
}

// turning reads the attitudes of one quaternion row after row.
type turning struct {
	a       *Attitude
	at      [4]int // columns, in the order w, x, y, z
	dst     [3][]float64
	last    [3]float64 // the angles before
	begun   bool
	missing *Missing // rows without
	crooked *Count   // rows whose quaternion is no attitude
}

// columns are those of w, x, y and z.
func (a *Attitude) columns() []string {
	if a.Order == "xyzw" {
		return []string{a.Columns[3], a.Columns[0], a.Columns[1], a.Columns[2]}
	}
	return a.Columns
}

// attitude fills the three cells of a row.
func (r *rows) attitude(t *turning, cells []string) error {
	if r.row.begins {
		t.begun = false
	}
	var q frames.Quaternion
	for i, name := range t.a.columns() {
		var err error
		if q[i], err = r.number(name, cells[t.at[i]]); err != nil {
			return err
		}
	}
	e := [3]float64{math.NaN(), math.NaN(), math.NaN()}
	unit, ok := q.Unit()
	switch {
	case math.IsNaN(q[0] + q[1] + q[2] + q[3]):
		t.missing.add(r.table.path, r.table.line)
	case !ok:
		t.crooked.add(r.table.path, r.table.line)
	default:
		e = t.angles(unit)
	}
	_, scale, _ := t.a.unit()
	for i := range e {
		t.dst[i][0] = scale * e[i]
	}
	return nil
}

// angles of a unit quaternion, those of roll and yaw nearest to the ones before.
func (t *turning) angles(q frames.Quaternion) [3]float64 {
	if t.a.Axes != "" && t.a.Frames != "" {
		world, body, _ := strings.Cut(t.a.Axes, "-")
		toWorld, toBody, _ := strings.Cut(t.a.Frames, "-")
		q = frames.Attitude(q, frames.Frame(world), frames.Frame(body), frames.Frame(toWorld), frames.Frame(toBody))
	}
	e := q.Euler()
	if t.begun {
		for i := range e {
			e[i] -= channel.Angle * math.Round((e[i]-t.last[i])/channel.Angle)
		}
	}
	t.last, t.begun = e, true
	return e
}
