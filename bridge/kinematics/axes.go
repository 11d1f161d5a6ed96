package kinematics

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/dgm-robotics/dgm/bridge/frames"
	"github.com/dgm-robotics/dgm/estimator/channel"
)

// Search compares samples with a declaration whose states are in other axes than it says: a recorder that mixes
// those of autopilots (ned, frd) with those of ROS (enu, flu), or writes a quaternion in another order.
type Search struct {
	states []channel.Channel
	tried  []guess
	x      []float64
	least  []string // states whose relations must hold
	most   int      // relations that hold as the states are declared
}

// guess is one or two changes under which the relations may hold.
type guess struct {
	changes []change
	of      channel.Kinematics
	checker *Checker
}

// change is one that may have been made of a group of states.
type change struct {
	group       int                                         // groupPosition to groupRates
	world, body bool                                        // of turned axes: which are turned
	along       bool                                        // the velocity is along the axes of the body where those of the world are declared, or the other way round
	sign        int                                         // the state whose sign is turned, from 1; 0 = none
	back        bool                                        // the velocity is that of a body that looks backwards
	turn        func(q frames.Quaternion) frames.Quaternion // (optional) of an attitude
	what        string                                      // of it: what the states are
	remedy      string                                      // of it
}

const (
	groupPosition = iota
	groupVelocity
	groupAttitude
	groupRates
)

const surely = 0.9 // correlation from which on a relation holds

// Usual returns a Checker of what the usual names of states say (of rates also wx, omega_x, gyro_x and gx), though nothing is declared. Angles without
// a period and a unit are taken for radians.
func Usual(states []channel.Channel) *Checker {
	states = angles(states)
	var b Body
	if all := []string{"roll", "pitch", "yaw"}; among(all, states) {
		b.Rates = called([][]string{{"wx", "wy", "wz"}, {"omega_x", "omega_y", "omega_z"}, {"gyro_x", "gyro_y", "gyro_z"}, {"gx", "gy", "gz"}}, states)
	}
	if all := []string{"vx", "vy", "vz"}; among(all, states) {
		b.Position = called([][]string{{"px", "py", "pz"}, {"pos_x", "pos_y", "pos_z"}}, states)
	}
	k, err := Declare(channel.Quadrotor, &b, states)
	if err != nil {
		k = channel.Kinematics{}
	}
	return New(k, states)
}

// among reports whether all names are those of states.
func among(names []string, states []channel.Channel) bool {
	return !slices.ContainsFunc(names, func(n string) bool { return channel.Index(states, n) < 0 })
}

// called returns the first names that are all those of states; nil = none are.
func called(of [][]string, states []channel.Channel) []string {
	i := slices.IndexFunc(of, func(names []string) bool { return among(names, states) })
	if i < 0 {
		return nil
	}
	return of[i]
}

// angles returns states with a period of those that are called roll, pitch and yaw.
func angles(states []channel.Channel) []channel.Channel {
	out := slices.Clone(states)
	for i := range out {
		if c := &out[i]; c.Period == 0 && slices.Contains([]string{"roll", "pitch", "yaw"}, c.Name) {
			c.Period = cmp.Or(channel.Turn(c.Unit), channel.Angle)
		}
	}
	return out
}

// Search returns a Search for what is left of the declaration, of these states, where samples do not show that its relations hold
// for states that move; else nil. Of a robot on a plane some stay as they are.
func (c *Checker) Search(states []channel.Channel, moves func(name string) bool) *Search {
	k := Remaining(c.declared, states)
	wrong, _ := c.Result(k)
	if k.Relation == "" || wrong == nil && !slices.ContainsFunc(c.unsure(k), moves) {
		return nil
	}
	states = angles(states)
	s := &Search{states: states, x: make([]float64, len(states)), most: len(c.holding(k))}
	if wrong != nil {
		s.least = []string{wrong.Channel}
	} else {
		s.most++ // that they are not seen to hold may be noise
	}
	all := changesOf(k)
	try := func(changes ...change) {
		g := guess{changes: changes, of: k}
		for _, c := range changes {
			g.of.InBody = g.of.InBody != c.along
		}
		g.checker = New(g.of, states)
		s.tried = append(s.tried, g)
	}
	for i, a := range all {
		try(a)
		for _, b := range all[i+1:] {
			if a.group != b.group {
				try(a, b)
			}
		}
	}
	return s
}

// changesOf returns what may have been made of the states of a declaration.
func changesOf(k channel.Kinematics) (all []change) {
	if len(k.Position) > 0 {
		all = append(all, change{group: groupPosition, world: true}, change{group: groupVelocity, world: !k.InBody, body: k.InBody})
		if len(k.Attitude) > 0 {
			all = append(all, change{group: groupVelocity, along: true})
		}
		if k.InBody {
			all = append(all, change{group: groupVelocity, back: true})
		}
	}
	if len(k.Attitude) == 0 {
		return all
	}
	for i := range k.Attitude {
		all = append(all, change{group: groupAttitude, sign: i + 1})
	}
	return append(all, change{group: groupAttitude, world: true, body: true}, change{group: groupAttitude, world: true}, change{group: groupAttitude, body: true},
		change{group: groupRates, body: true},
		change{group: groupAttitude, what: "are the inverse, which turns the world into the body", remedy: "let the recorder write the attitude of the body in the world", turn: frames.Quaternion.Conj},
		change{group: groupAttitude, what: "come from a quaternion in the order x, y, z, w, read as w, x, y, z", remedy: `name its columns in the other order, or write order = "xyzw"`,
			turn: func(q frames.Quaternion) frames.Quaternion { return frames.Quaternion{q[3], q[0], q[1], q[2]} }},
		change{group: groupAttitude, what: "come from a quaternion in the order w, x, y, z, read as x, y, z, w", remedy: `name its fields in the other order, or write order = "wxyz"`,
			turn: func(q frames.Quaternion) frames.Quaternion { return frames.Quaternion{q[1], q[2], q[3], q[0]} }})
}

// of returns the values of its group as the change would have them, rad of an attitude.
func (c *change) of(v [3]float64) [3]float64 {
	world, body := frames.NED, frames.FRD
	if c.world {
		world = frames.ENU
	}
	if c.body {
		body = frames.FLU
	}
	switch {
	case c.sign > 0:
		v[c.sign-1] = -v[c.sign-1]
		return v
	case c.back:
		return [3]float64{-v[0], -v[1], v[2]}
	case c.turn != nil:
		return c.turn(frames.FromEuler(v)).Euler()
	case c.group == groupAttitude:
		return frames.Attitude(frames.FromEuler(v), frames.NED, frames.FRD, world, body).Euler()
	case c.world:
		return frames.Vector(v, frames.NED, world)
	}
	return frames.Vector(v, frames.FRD, body)
}

// Break begins a new segment: the next sample does not continue the last one.
func (s *Search) Break() {
	for i := range s.tried {
		s.tried[i].checker.Break()
	}
}

// Add adds the next sample: time t (ns), states x (K), NaN = not measured.
func (s *Search) Add(t int64, x []float64) {
	for i := range s.tried {
		g := &s.tried[i]
		copy(s.x, x)
		for _, c := range g.changes {
			g.apply(&c, s.x)
		}
		g.checker.Add(t, s.x)
	}
}

// apply changes the states of a sample.
func (g *guess) apply(c *change, x []float64) {
	if c.along {
		return
	}
	b := &g.checker.body
	at, sign, scale := [][]int{b.Position, b.Velocity, b.Attitude, b.Rates}[c.group], b.Sign[3*c.group:], 1.0
	if c.group == groupAttitude {
		scale = b.Omega
	}
	v := c.of([3]float64{sign[0] * scale * x[at[0]], sign[1] * scale * x[at[1]], sign[2] * scale * x[at[2]]})
	for i, k := range at {
		x[k] = v[i] / (sign[i] * scale)
	}
}

// Found returns by which change the relations hold, where one does, or by which ones each, and what to do. Where nothing is declared, a
// velocity may be along the axes of the body.
func (s *Search) Found(declared bool) (reason, remedy string, ok bool) {
	var best []*guess
	most := max(1, s.most)
	for i := range s.tried {
		g := &s.tried[i]
		hold := g.checker.holding(g.of)
		if wrong, _ := g.checker.Result(g.of); wrong != nil || slices.ContainsFunc(s.least, func(name string) bool { return !slices.Contains(hold, name) }) {
			continue
		}
		switch n := len(hold); {
		case n > most || n == most && len(best) > 0 && len(g.changes) < len(best[0].changes):
			best, most = []*guess{g}, n
		case n == most && len(best) > 0 && len(g.changes) == len(best[0].changes) && best[0].changes[0].sign == 0:
			best = append(best, g)
		}
	}
	var reasons, remedies []string
	for _, g := range best {
		var what, mend []string
		for _, c := range g.changes {
			if declared || !c.along {
				reason, remedy := s.describe(g, &c)
				what, mend = append(what, reason), append(mend, remedy)
			}
		}
		if len(what) == 0 {
			return "", "", false
		}
		reasons, remedies = append(reasons, strings.Join(what, ", and ")), append(remedies, strings.Join(mend, ", and "))
	}
	if len(best) > 1 {
		remedies = []string{fmt.Sprintf("write the axes that each state has, as axes = %q or %q, and frames = %q at the top, in a copy of the map (--print-map)", frames.NED+"-"+frames.FRD, frames.ENU+"-"+frames.FLU, frames.ENU+"-"+frames.FLU)}
	}
	return strings.Join(reasons, "; or "), strings.Join(remedies, ""), len(best) > 0
}

// describe says what a change means for the states of a declaration, and what to do.
func (s *Search) describe(g *guess, c *change) (what, remedy string) {
	names := [][]string{g.of.Position, g.of.Velocity, g.of.Attitude, g.of.Rates}[c.group]
	of := strings.Join(names, ", ")
	plain, _ := channel.Signed(names[0])
	written := s.states[channel.Index(s.states, plain)].Frame
	axes, all := c.axes(written), "enu-flu"
	if strings.Contains(written, "ned") || strings.Contains(written, "frd") {
		all = "ned-frd"
	}
	switch {
	case c.along:
		axes := map[bool]string{false: "world", true: "body"}[g.of.InBody]
		return fmt.Sprintf("%s are along the axes of the %s", of, axes), fmt.Sprintf("write axes = %q under [body]", axes)
	case c.sign > 0:
		name := names[c.sign-1]
		return name + " has the other sign", fmt.Sprintf("under [body] write attitude = %s", turned(names, strings.TrimPrefix(name, "-")))
	case c.back:
		return fmt.Sprintf("%s are those of a body that looks backwards, or %s is half a turn off", of, g.of.Attitude[2]), fmt.Sprintf("turn the signs of %s and %s in the map (a minus ahead of their fields, or scale = -1), or correct the attitude", names[0], names[1])
	case c.turn != nil:
		return of + " " + c.what, c.remedy
	case axes != "":
		return fmt.Sprintf("%s are in axes %s, not %s", of, axes, written), fmt.Sprintf("write axes = %q for %s, and frames = %q at the top, in a copy of the map (--print-map)", axes, of, all)
	}
	return fmt.Sprintf("%s are rotated against the axes of the other states, as %s are against %s", of, c.axes("enu-flu"), "enu-flu"), "write the axes of each state in the map, and frames at its top"
}

// axes returns written axes as they are turned; "" = they are not known.
func (c *change) axes(written string) string {
	out := strings.Split(written, "-")
	for i, axes := range out {
		other := map[string]string{"ned": "enu", "enu": "ned", "frd": "flu", "flu": "frd"}[axes]
		if other == "" {
			return ""
		}
		if frames.Frame(axes).World() && c.world || frames.Frame(axes).Body() && c.body {
			out[i] = other
		}
	}
	return strings.Join(out, "-")
}

// holding returns the states whose relations surely hold.
func (c *Checker) holding(k channel.Kinematics) (names []string) {
	for i, name := range c.names {
		slope, corr, ok := c.detector.Slope(2*i, 2*i+1)
		if ok && corr > surely && slope > slopeMin && slope < slopeMax && (has(k.Position, name) || has(k.Attitude, name)) {
			names = append(names, name)
		}
	}
	return names
}
