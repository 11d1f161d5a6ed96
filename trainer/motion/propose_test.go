package motion

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/motion"
	"github.com/dgm-robotics/dgm/estimator/priordynamics"
)

// Names and units say what a robot may be.
func TestProposals(t *testing.T) {
	const turn = 2 * math.Pi
	list := func(text string) (out []channel.Channel) {
		for _, f := range strings.Fields(text) {
			name, unit, _ := strings.Cut(f, ":")
			c := channel.Channel{Name: name, Unit: unit, Role: channel.State}
			if name == "yaw" || name == "heading" || name == "roll" || name == "pitch" || name == "psi" {
				c.Period = turn
			}
			out = append(out, c)
		}
		return out
	}
	for text, want := range map[string]string{
		"x:m y:m z:m vx:m/s vy:m/s vz:m/s roll:rad pitch:rad yaw:rad p:rad/s q:rad/s r:rad/s":                                     "multirotor, fixed wing",
		"pos_x:m pos_y:m pos_z:m vel_x:m/s vel_y:m/s vel_z:m/s roll:deg pitch:deg yaw:deg gyro_x:deg/s gyro_y:deg/s gyro_z:deg/s": "multirotor, fixed wing",
		"x:m y:m z:m u:m/s v:m/s w:m/s phi:rad theta:rad psi:rad p:rad/s q:rad/s r:rad/s":                                         "multirotor, fixed wing",
		"roll:rad pitch:rad yaw:rad p:rad/s q:rad/s r:rad/s":                                                                      "multirotor",
		"x:m y:m yaw:rad speed:m/s":                     "single track",
		"x:m y:m yaw:rad speed:m/s steering_angle:rad":  "single track",
		"x:m y:m yaw:rad v:m/s w:rad/s":                 "single track, single track with yaw rate, differential drive",
		"heading:rad surge:m/s sway:m/s yaw_rate:rad/s": "surface vessel",
		"yaw:rad vx:m/s vy:m/s r:rad/s":                 "single track, dynamic single track, differential drive, surface vessel",
		"x:m y:m yaw:rad vx:m/s vy:m/s yaw_rate:rad/s roll:rad roll_rate:rad/s pitch:rad pitch_rate:rad/s steering:rad": "multirotor, single track, dynamic single track, sliding single track", // a car that leans
		"z:m vx:m/s vy:m/s vz:m/s roll:rad pitch:rad yaw:rad p:rad/s q:rad/s r:rad/s":                                   "multirotor",
		"temperature:degC level:V": "",
		"yaw:rad speed:km/h":       "", // units of other sizes are not taken for SI
		"theta:rad omega:rad/s":    "", // no derivative declares that they belong together
	} {
		var kinds []string
		states := list(text)
		for _, e := range Propose(states, inputs("a", "b"), &priordynamics.Body{}) {
			if !slices.Contains(kinds, e.Kind) {
				kinds = append(kinds, e.Kind)
			}
			if err := e.Check(len(states), 2); err != nil {
				t.Errorf("%s: %v", text, err)
			}
			for _, r := range e.Roles {
				if unit := states[r.State].Unit; strings.HasPrefix(unit, "deg") && math.Abs(r.Scale-math.Pi/180) > 1e-15 {
					t.Errorf("%s: scale %g of %s", text, r.Scale, unit)
				}
			}
		}
		if got := strings.Join(kinds, ", "); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
	arm := list("q1:rad q2:rad dq1:rad/s dq2:rad/s")
	arm[0].Derivative, arm[1].Derivative = "dq1", "dq2"
	all := Propose(arm, inputs("a", "b"), &priordynamics.Body{})
	if len(all) != 1 || all[0].Kind != "joints" || len(all[0].Parameters) != 16 {
		t.Errorf("an arm is taken for %v", all)
	}
	commands := inputs("a", "b")
	commands[0].Unit, commands[1].Unit = "rad", "deg"
	if all = Propose(arm, commands, &priordynamics.Body{}); len(all) != 1 || all[0].Kind != "coupled servo joints" {
		t.Errorf("an arm with commanded angles is taken for %v", all)
	}
	var many, rates, servos []channel.Channel
	for i := range mostCoupled + 1 {
		many, rates = append(many, channel.Channel{Name: fmt.Sprint("q", i), Unit: "rad", Role: channel.State, Derivative: fmt.Sprint("w", i)}), append(rates, channel.Channel{Name: fmt.Sprint("w", i), Unit: "rad/s", Role: channel.State})
		servos = append(servos, channel.Channel{Name: fmt.Sprint("c", i), Unit: "rad", Role: channel.Input})
		want := "coupled servo joints"
		if i == 0 || i == mostCoupled {
			want = "servo joints"
		}
		if all = Propose(slices.Concat(many, rates), servos, &priordynamics.Body{}); len(all) != 1 || all[0].Kind != want {
			t.Errorf("%d joints with commanded angles are taken for %v, want %s", i+1, all, want)
		}
	}
}

// The thrust of propellers whose speeds are inputs is by their squares.
func TestSpeedsOfPropellersAreSquared(t *testing.T) {
	s := states("m x", "m y", "m z", "v vx", "v vy", "v vz", "a roll", "a pitch", "a yaw", "w p", "w q", "w r")
	for _, c := range []struct {
		units  [2]string
		linear bool
	}{{[2]string{"rad/s", "rad/s"}, false}, {[2]string{"rpm", "rpm"}, false}, {[2]string{"rad/s", "rad"}, true}, {[2]string{"", ""}, true}, {[2]string{"N", "N"}, true}} {
		in := inputs("a", "b")
		in[0].Unit, in[1].Unit = c.units[0], c.units[1]
		linear, squared := false, false
		for _, e := range Propose(s, in, &priordynamics.Body{}) {
			if e.Kind == "multirotor" {
				linear, squared = linear || !e.Squared, squared || e.Squared
			}
		}
		if linear != c.linear || !squared {
			t.Errorf("units %v: inputs act linearly %v, by their squares %v", c.units, linear, squared)
		}
	}
}

// The axes that channels declare are taken.
func TestDeclaredAxes(t *testing.T) {
	s := states("a heading", "v surge", "v sway", "w yaw_rate")
	for k := range s {
		s[k].Frame = "body"
	}
	for _, e := range Propose(s, inputs("a"), &priordynamics.Body{}) {
		if e.World {
			t.Errorf("%s: along the axes of the world", e.Kind)
		}
	}
	body := priordynamics.Body{Position: []int{0, 1, 2}, Velocity: []int{3, 4, 5}, Attitude: []int{6, 7, 8}, Rates: []int{9, 10, 11}, Sign: []float64{1, 1, 1, 1, 1, 1, 1, -1, 1, 1, 1, 1}, Omega: 1}
	for _, e := range Propose(states("m a", "m b", "m c", "v d", "v e", "v f", "a g", "a h", "a i", "w j", "w k", "w l"), nil, &body) {
		if !e.World || e.Roles[7].Name != "pitch" || e.Roles[7].Scale != -1 {
			t.Errorf("%v", e)
		}
	}
}

// Of Fossen's names u is the velocity ahead and v that to the side; v alone is ahead, where it moves what it is the speed of. A vessel may dive.
func TestVelocitiesAheadAndToTheSide(t *testing.T) {
	for text, want := range map[string]string{
		"m x, m y, a psi, v u, v v, w r":                "surface vessel: heading 2, surge 3, sway 4, yaw_rate 5, east 0, north 1",
		"m x, m y, m z, a psi, v u, v v, v w, w r":      "surface vessel: heading 3, surge 4, sway 5, yaw_rate 7, east 0, north 1, depth 2, heave 6",
		"m depth, a psi, v surge, v sway, v heave, w r": "surface vessel: heading 1, surge 2, sway 3, yaw_rate 5, depth 0, heave 4",
		"m x, m y, a yaw, v v, w w":                     "differential drive: heading 2, surge 3, yaw_rate 4, east 0, north 1",
	} {
		kind, _, _ := strings.Cut(want, ":")
		all := Propose(states(strings.Split(text, ", ")...), inputs("a", "b"), &priordynamics.Body{})
		i := slices.IndexFunc(all, func(e motion.Equation) bool { return e.Kind == kind })
		if i < 0 {
			t.Errorf("%s: no %s", text, kind)
			continue
		}
		var roles []string
		for _, r := range all[i].Roles {
			roles = append(roles, fmt.Sprint(r.Name, " ", r.State))
		}
		if got := kind + ": " + strings.Join(roles, ", "); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

// Words of names choose among the robots on a plane; units at the end of a name are no part of it; a compass turns the other way round.
func TestKindsByWords(t *testing.T) {
	state := func(name, unit string) channel.Channel {
		return channel.Channel{Name: name, Unit: unit, Role: channel.State}
	}
	input := func(name, unit string) channel.Channel {
		return channel.Channel{Name: name, Unit: unit, Role: channel.Input}
	}
	plane := []channel.Channel{state("easting_m", "m"), state("northing_m", "m"), state("heading_deg", "deg"), state("vx", "m/s"), state("vy", "m/s"), state("yaw_rate_rads", "rad/s")}
	for _, c := range []struct {
		inputs []channel.Channel
		kinds  []string
	}{
		{[]channel.Channel{input("steering_cmd", "rad"), input("throttle", "")}, []string{"dynamic single track", "single track"}},
		{[]channel.Channel{input("thrust", "N"), input("rudder", "rad")}, []string{"surface vessel"}},
		{[]channel.Channel{input("left_wheel", "V"), input("right_wheel", "V")}, []string{"differential drive", "surface vessel"}},
		{[]channel.Channel{input("steering", ""), input("throttle", "")}, []string{"differential drive", "dynamic single track", "single track", "surface vessel"}},
	} {
		kinds, compass := map[string]bool{}, false
		for _, e := range Propose(plane, c.inputs, &priordynamics.Body{}) {
			kinds[e.Kind] = true
			compass = compass || slices.ContainsFunc(e.Roles, func(r motion.Role) bool { return r.Name == "east" && r.State == 1 })
		}
		if got := slices.Sorted(maps.Keys(kinds)); !slices.Equal(got, c.kinds) || !compass {
			t.Errorf("%s: %v, with a compass: %v", c.inputs[0].Name, got, compass)
		}
	}
}
