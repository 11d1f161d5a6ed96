package motion

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/motion"
	"github.com/dgm-robotics/dgm/estimator/priordynamics"
)

// The names of the axes, which a plane and space share, and of the velocity along the third.
var (
	first  = []string{"x", "px", "posx", "positionx", "east", "easting", "posex"}
	second = []string{"y", "py", "posy", "positiony", "north", "northing", "posey"}
	third  = []string{"z", "pz", "posz", "positionz", "altitude", "height", "alt"}
	upward = []string{"vz", "velz", "velocityz", "zdot", "dz", "zrate", "zvel", "w"}
)

// words are the names that a role is known by, in lower case and without marks between words.
var words = map[string][]string{
	"x": first, "y": second, "z": third, "depth": slices.Concat([]string{"depth"}, third),
	"vx": {"vx", "velx", "velocityx", "xdot", "dx", "xrate", "xvel", "u"}, "vy": {"vy", "vely", "velocityy", "ydot", "dy", "yrate", "yvel", "v"}, "vz": upward, "heave": slices.Concat([]string{"heave", "depthrate"}, upward),
	"roll": {"roll", "phi"}, "pitch": {"pitch", "theta"}, "yaw": {"yaw", "psi", "heading"},
	"p": {"p", "wx", "omegax", "rollrate", "rolldot", "gyrox", "angularvelocityx", "dphi", "phidot"}, "q": {"q", "wy", "omegay", "pitchrate", "pitchdot", "gyroy", "angularvelocityy", "thetadot"},
	"r": {"r", "wz", "omegaz", "yawrate", "yawdot", "gyroz", "angularvelocityz", "psidot"},

	"east": first, "north": second,
	"heading":  {"yaw", "psi", "heading", "theta", "orientation", "phi", "hdg", "compass"},
	"surge":    {"speed", "velocity", "u", "surge", "vx", "vlon", "vlong", "vl", "forwardspeed", "linearvelocity", "linearspeed", "velx", "velocityx", "bodyvx", "vbx", "longitudinalvelocity", "xrate", "vel", "spd", "sog", "groundspeed", "linearx", "twistlinearx", "v"}, // v is the velocity to the side, where there is one ahead
	"sway":     {"sway", "vy", "vlat", "v", "vt", "lateralvelocity", "vely", "velocityy", "bodyvy", "vby", "yrate", "sideslipvelocity", "lineary", "twistlineary"},
	"yaw_rate": {"r", "yawrate", "wz", "w", "omega", "omegaz", "angularvelocity", "turnrate", "psidot", "yawdot", "headingrate", "gyroz", "thetadot", "thetarate", "rateofturn", "rot", "dyaw", "dpsi", "yawspeed", "angularz", "twistangularz", "angvelz"},
	"steering": {"steer", "steering", "delta", "steeringangle", "steerangle", "wheelangle", "sa", "deltaf", "frontsteer"},
}

// marks separate the words of a name.
const marks = "_-. /[]()"

// unitWords are what the last word of a name is where it repeats the unit: easting_m, heading_deg.
var unitWords = []string{"m", "deg", "rad", "mps", "ms", "rads", "radps", "degs", "dps", "rps"}

// split returns the words of a name, in lower case.
func split(name string) []string {
	return strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return strings.ContainsRune(marks, r) })
}

// plain returns a name in lower case, without marks and without a unit at its end.
func plain(name string) string {
	words := split(name)
	if n := len(words); n > 1 && slices.Contains(unitWords, words[n-1]) {
		words = words[:n-1]
	}
	return strings.Join(words, "")
}

// called reports whether a word of a channel's name begins with one of the beginnings.
func called(c *channel.Channel, beginnings ...string) bool {
	return slices.ContainsFunc(split(c.Name), func(word string) bool {
		return slices.ContainsFunc(beginnings, func(b string) bool { return strings.HasPrefix(word, b) })
	})
}

// planar returns the kinds of robots on a plane that the names allow: what steers by an angle is no boat, what has a rudder is no car, and what has
// a left and a right wheel drives by their difference. Without such names it may be any.
func planar(states, inputs []channel.Channel) []string {
	steers, floats, left, right := false, false, false, false
	for _, c := range slices.Concat(states, inputs) {
		steers = steers || isAngle(&c) && called(&c, "steer")
		floats = floats || called(&c, "rudder", "thruster", "surge", "sway", "heave")
	}
	for _, c := range inputs {
		left, right = left || called(&c, "left"), right || called(&c, "right")
	}
	cars := []string{"single track", "dynamic single track", "sliding single track"}
	sway := func(r motion.Role) bool { return r.Name == "sway" }
	if !slices.ContainsFunc(named(motion.Equation{Kind: "dynamic single track"}, states).Roles, sway) { // else a dynamic one has more of what is measured
		cars = append(cars, "single track with yaw rate")
	}
	switch {
	case floats:
		return []string{"surface vessel"}
	case steers:
		return cars
	case left && right:
		return []string{"differential drive", "surface vessel"} // a boat may have two thrusters
	}
	return append(cars, "differential drive", "surface vessel")
}

// isAngle reports whether a channel has the unit of an angle.
func isAngle(c *channel.Channel) bool {
	return channel.Radians(c.Unit) > 0
}

// dimension of a role: "m", "m/s", "rad" or "rad/s".
func dimension(role string) string {
	base, _, _ := strings.Cut(role, " ")
	switch base {
	case "x", "y", "z", "east", "north", "depth":
		return "m"
	case "vx", "vy", "vz", "surge", "sway", "heave":
		return "m/s"
	case "roll", "pitch", "yaw", "heading", "steering", "angle":
		return "rad"
	}
	return "rad/s"
}

// scale returns that of a unit in which a dimension is measured; an empty unit is taken for SI; 0 = it is not measured so.
func scale(dimension, unit string) float64 {
	switch angle, rate := strings.CutSuffix(unit, "/s"); {
	case unit == "", unit == dimension, dimension == "rad/s" && unit == "1/s":
		return 1
	case dimension == "rad" && !rate, dimension == "rad/s" && rate:
		return channel.Radians(angle)
	}
	return 0
}

// Propose returns the equations that fit the names and units of the states, with no parameters yet: those of rigid bodies where
// the kinematics are declared or named, of robots on a plane, and of joints. An attitude that is only named, without a height, may be that of a car
// that leans.
func Propose(states, inputs []channel.Channel, body *priordynamics.Body) (all []motion.Equation) {
	if e, ok := rigid(states, body); ok {
		for _, kind := range []string{"multirotor", "fixed wing"} {
			e.Kind = kind
			all = append(all, variants(e, states, inputs, body.Empty())...)
		}
		if !body.Empty() || find("z", states, nil) >= 0 || find("vz", states, nil) >= 0 {
			return valid(all, states, inputs)
		}
	}
	for _, kind := range planar(states, inputs) {
		e := named(motion.Equation{Kind: kind}, states)
		all = append(all, variants(e, states, inputs, true)...)
		if c, ok := compass(e, states); ok {
			all = append(all, variants(c, states, inputs, true)...)
		}
	}
	if all = valid(all, states, inputs); len(all) > 0 {
		return all
	}
	return valid(variants(chained(states, inputs), states, inputs, false), states, inputs)
}

// Determined returns the states whose rates follow from other states by the equations that are proposed.
func Determined(states, inputs []channel.Channel, body *priordynamics.Body) map[int]bool {
	return measuredIn(Propose(states, inputs, body), "m", "rad")
}

// Places returns the states that say where a vehicle is: the positions that proposed equations have and do not read.
func Places(states, inputs []channel.Channel, body *priordynamics.Body) map[int]bool {
	return measuredIn(Propose(states, inputs, body), "m")
}

// measuredIn returns the states of which the role in an equation has one of the dimensions.
func measuredIn(all []motion.Equation, dimensions ...string) map[int]bool {
	out := map[int]bool{}
	for _, e := range all {
		for _, r := range e.Roles {
			if slices.Contains(dimensions, dimension(r.Name)) {
				out[r.State] = true
			}
		}
	}
	return out
}

// compass returns an equation on a plane with a heading that turns clockwise from north, as a compass has it: then north is what the first axis is
// with a heading that turns to the left from the first axis. ok is false where the name of the heading is none of a compass.
func compass(e motion.Equation, states []channel.Channel) (out motion.Equation, ok bool) {
	out = e
	out.Roles = slices.Clone(e.Roles)
	for i, r := range out.Roles {
		switch r.Name {
		case "heading":
			ok = called(&states[r.State], "heading", "hdg", "compass")
		case "east":
			out.Roles[i].Name = "north"
		case "north":
			out.Roles[i].Name = "east"
		}
	}
	return out, ok
}

// valid returns those equations that have the roles that they need, with their parameters declared.
func valid(all []motion.Equation, states, inputs []channel.Channel) (out []motion.Equation) {
	for _, e := range all {
		if e.Declare(len(states), inputs) == nil && len(e.Parameters) <= motion.MostParameters {
			out = append(out, e)
		}
	}
	return out
}

// variants returns an equation with its inputs and, where the propeller's speed may be one, their squares, and in both kinds of
// axes where these are not known. Propellers whose speeds are known thrust by the squares: speeds that vary little do not show it.
func variants(e motion.Equation, states, inputs []channel.Channel, axes bool) (out []motion.Equation) {
	frames := []bool{e.World}
	if axes && slices.ContainsFunc(e.Roles, func(r motion.Role) bool { return r.Name == "vx" || r.Name == "sway" }) {
		frames = framesOf(e, states)
	}
	for _, world := range frames {
		for _, squared := range []bool{false, true} {
			if squared && (len(inputs) == 0 || strings.HasSuffix(e.Kind, "joints") || strings.Contains(e.Kind, "track")) || !squared && e.Kind == "multirotor" && spin(inputs) {
				continue
			}
			c := e
			c.World, c.Squared = world, squared
			out = append(out, c)
		}
	}
	return out
}

// spin reports whether all inputs are in a unit of a speed of rotation.
func spin(inputs []channel.Channel) bool {
	return len(inputs) > 0 && !slices.ContainsFunc(inputs, func(c channel.Channel) bool {
		angle, rate := strings.CutSuffix(c.Unit, "/s")
		return c.Unit != "rpm" && !(rate && channel.Radians(angle) > 0)
	})
}

// framesOf returns the axes that the velocities of an equation may be in: those that their channels declare, else both.
func framesOf(e motion.Equation, states []channel.Channel) []bool {
	for _, r := range e.Roles {
		if dimension(r.Name) != "m/s" {
			continue
		}
		switch states[r.State].Frame {
		case "world":
			return []bool{true}
		case "body":
			return []bool{false}
		}
	}
	return []bool{false, true}
}

// rigid returns the roles of a rigid body: as declared, or by their names.
func rigid(states []channel.Channel, body *priordynamics.Body) (e motion.Equation, ok bool) {
	if body.Empty() {
		e = named(motion.Equation{Kind: "multirotor"}, states)
		required, _ := motion.Roles("multirotor")
		for _, role := range required {
			ok = slices.ContainsFunc(e.Roles, func(r motion.Role) bool { return r.Name == role })
			if !ok {
				return e, false
			}
		}
		return e, true
	}
	if len(body.Attitude) == 0 {
		return e, false
	}
	add := func(names []string, of []int, sign []float64, unit float64) {
		for i, k := range of {
			e.Roles = append(e.Roles, motion.Role{Name: names[i], State: k, Scale: sign[i] * unit})
		}
	}
	add([]string{"x", "y", "z"}, body.Position, body.Sign[0:], 1)
	add([]string{"vx", "vy", "vz"}, body.Velocity, body.Sign[3:], 1)
	add([]string{"roll", "pitch", "yaw"}, body.Attitude, body.Sign[6:], body.Omega)
	add([]string{"p", "q", "r"}, body.Rates, body.Sign[9:], body.Omega)
	e.World = !body.InBody
	return e, true
}

// named gives the states the roles of a kind by their names.
func named(e motion.Equation, states []channel.Channel) motion.Equation {
	required, optional := motion.Roles(e.Kind)
	used := map[int]bool{}
	for _, role := range slices.Concat(required, optional) {
		if k := find(role, states, used); k >= 0 {
			used[k] = true
			e.Roles = append(e.Roles, motion.Role{Name: role, State: k, Scale: scale(dimension(role), states[k].Unit)})
		}
	}
	for _, group := range motion.Together {
		in := func(r motion.Role) bool { return slices.Contains(group, r.Name) }
		n := 0
		for _, r := range e.Roles {
			if in(r) {
				n++
			}
		}
		if n < len(group) && !slices.Contains(required, group[0]) {
			e.Roles = slices.DeleteFunc(e.Roles, in)
		}
	}
	return e
}

// find returns the state of a role: that of the first of the role's words that names one in a unit of its dimension; −1 = none.
func find(role string, states []channel.Channel, used map[int]bool) int {
	for _, word := range words[role] {
		for k, c := range states {
			if scale(dimension(role), c.Unit) > 0 && !used[k] && plain(c.Name) == word {
				return k
			}
		}
	}
	return -1
}

// mostCoupled is the largest number of joints of an arm whose links move one another.
const mostCoupled = 7

// chained returns joints: every angle with a rate that is a state, in the order of the states. Where each has an input that is an angle,
// servos move them.
func chained(states, inputs []channel.Channel) motion.Equation {
	e := motion.Equation{Kind: "joints"}
	n := 0
	for k, c := range states {
		rate := channel.Index(states, c.Derivative)
		scale := scale("rad", c.Unit)
		if c.Derivative == "" || rate < 0 || scale == 0 && c.Period == 0 {
			continue
		}
		if c.Period > 0 {
			scale = 2 * math.Pi / c.Period
		}
		n++
		e.Roles = append(e.Roles, motion.Role{Name: fmt.Sprintf("angle %d", n), State: k, Scale: scale, Turns: c.Period > 0}, motion.Role{Name: fmt.Sprintf("rate %d", n), State: rate, Scale: scale})
	}
	if n == len(inputs) && !slices.ContainsFunc(inputs, func(c channel.Channel) bool { return !isAngle(&c) }) {
		e.Kind = "servo joints"
		if 1 < n && n <= mostCoupled {
			e.Kind = "coupled servo joints"
		}
	}
	return e
}
