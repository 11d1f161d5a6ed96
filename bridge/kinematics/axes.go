package kinematics

import (
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
	group  int                                         // groupPosition to groupRates
	what   string                                      // what the states are; of turned axes "from|to"
	remedy string                                      // of other changes than turned axes
	sign   int                                         // the state whose sign is turned, from 1; 0 = none
	vector func(v [3]float64) [3]float64               // of states along axes
	turn   func(q frames.Quaternion) frames.Quaternion // of an attitude
}

// along reports whether the velocity is along the axes of the body where those of the world are declared, or the other way round.
func (c *change) along() bool { return c.vector == nil && c.turn == nil }

const (
	groupPosition = iota
	groupVelocity
	groupAttitude
	groupRates
)

const (
	surely      = 0.9 // correlation from which on a relation holds
	mostChanges = 2
)

// Search returns a Search for what is left of the declaration, of these states, where samples do not show that its relations hold;
// else nil.
func (c *Checker) Search(states []channel.Channel) *Search {
	k := Remaining(c.declared, states)
	wrong, remarks := c.Result(k)
	if k.Relation == "" || wrong == nil && len(remarks) == 0 {
		return nil
	}
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
			g.of.InBody = g.of.InBody != c.along()
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
	world := func(v [3]float64) [3]float64 { return frames.Vector(v, frames.NED, frames.ENU) }
	body := func(v [3]float64) [3]float64 { return frames.Vector(v, frames.FRD, frames.FLU) }
	if len(k.Position) > 0 {
		all = append(all, change{group: groupPosition, what: "ned|enu", vector: world})
		if k.InBody {
			all = append(all, change{group: groupVelocity, what: "frd|flu", vector: body})
		} else {
			all = append(all, change{group: groupVelocity, what: "ned|enu", vector: world})
		}
		if len(k.Attitude) > 0 {
			all = append(all, change{group: groupVelocity})
		}
	}
	if len(k.Attitude) == 0 {
		return all
	}
	for i := range k.Attitude {
		all = append(all, change{group: groupAttitude, sign: i + 1, vector: func(v [3]float64) [3]float64 { v[i] = -v[i]; return v }})
	}
	turned := func(world, body frames.Frame) func(frames.Quaternion) frames.Quaternion {
		return func(q frames.Quaternion) frames.Quaternion {
			return frames.Attitude(q, frames.NED, frames.FRD, world, body)
		}
	}
	return append(all, change{group: groupAttitude, what: "ned-frd|enu-flu", turn: turned(frames.ENU, frames.FLU)},
		change{group: groupAttitude, what: "ned-frd|enu-frd", turn: turned(frames.ENU, frames.FRD)},
		change{group: groupAttitude, what: "ned-frd|ned-flu", turn: turned(frames.NED, frames.FLU)},
		change{group: groupAttitude, what: "the inverse, which turns the world into the body", remedy: "have the recorder write the attitude of the body in the world", turn: frames.Quaternion.Conj},
		change{group: groupAttitude, what: "of a quaternion in the order x, y, z, w, which is read as w, x, y, z", remedy: `name its columns in the other order, or write order = "xyzw"`,
			turn: func(q frames.Quaternion) frames.Quaternion { return frames.Quaternion{q[3], q[0], q[1], q[2]} }},
		change{group: groupAttitude, what: "of a quaternion in the order w, x, y, z, which is read as x, y, z, w", remedy: `name its fields in the other order, or write order = "wxyz"`,
			turn: func(q frames.Quaternion) frames.Quaternion { return frames.Quaternion{q[1], q[2], q[3], q[0]} }},
		change{group: groupRates, what: "frd|flu", vector: body})
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
	b := &g.checker.body
	if c.along() {
		return
	}
	at, sign, scale := [][]int{b.Position, b.Velocity, b.Attitude, b.Rates}[c.group], b.Sign[3*c.group:], 1.0
	if c.group == groupAttitude {
		scale = b.Omega
	}
	var v [3]float64
	for i, k := range at {
		v[i] = sign[i] * scale * x[k]
	}
	if c.turn != nil {
		v = c.turn(frames.FromEuler(v)).Euler()
	} else {
		v = c.vector(v)
	}
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
			if declared || !c.along() {
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
	if c.along() {
		axes := map[bool]string{false: "world", true: "body"}[g.of.InBody]
		return fmt.Sprintf("%s are along the axes of the %s", of, axes), fmt.Sprintf("write axes = %q under [body]", axes)
	}
	if c.sign > 0 {
		name := names[c.sign-1]
		return name + " has the other sign", fmt.Sprintf("under [body] write attitude = %s", turned(names, strings.TrimPrefix(name, "-")))
	}
	first, second, pair := strings.Cut(c.what, "|")
	if !pair {
		return of + " are " + c.what, c.remedy
	}
	plain, _ := channel.Signed(names[0])
	written := s.states[channel.Index(s.states, plain)].Frame
	all := "enu-flu"
	if strings.Contains(written, "ned") || strings.Contains(written, "frd") {
		all = "ned-frd"
	}
	if axes := turnedAxes(written, first, second); axes != "" {
		return fmt.Sprintf("%s are in axes %s, not %s", of, axes, written), fmt.Sprintf("write axes = %q for %s, and frames = %q at the top, in a copy of the map (--print-map)", axes, of, all)
	}
	return fmt.Sprintf("%s are turned against the axes of the other states, as %s is against %s", of, first, second),
		fmt.Sprintf("write the axes of each state in the map, as axes = %q or %q, and frames = %q at the top", first, second, all)
}

// turnedAxes returns written axes turned as a first are to a second; "" = they are not known.
func turnedAxes(written, first, second string) string {
	other := map[string]string{"ned": "enu", "enu": "ned", "frd": "flu", "flu": "frd"}
	from, to, out := strings.Split(first, "-"), strings.Split(second, "-"), strings.Split(written, "-")
	if len(from) != len(out) {
		return ""
	}
	for i := range out {
		if out[i] = other[out[i]]; out[i] == "" {
			return ""
		}
		if from[i] == to[i] { // not turned
			out[i] = other[out[i]]
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
