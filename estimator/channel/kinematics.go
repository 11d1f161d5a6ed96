package channel

import (
	"fmt"
	"slices"
	"strings"
)

// Kinematics declares kinematic relations between states, those of a rigid body: the
// velocity is the rate of the position, the body rates give that of the attitude. A
// minus before a name marks a channel of the opposite sign, as the pitch of some
// autopilots. The zero value declares nothing.
type Kinematics struct {
	Relation string   `msg:"law,most=name"`               // "quadrotor"; empty = nothing is declared
	Position []string `msg:"position,omitzero,most=axes"` // (optional) three states along the axes of the world; their derivative is the velocity
	Velocity []string `msg:"velocity,omitzero,most=axes"` // with a position: three states
	Attitude []string `msg:"attitude,omitzero,most=axes"` // (optional) roll, pitch and yaw, three states of one period
	Rates    []string `msg:"rates,omitzero,most=axes"`    // with an attitude: rates about the body's x, y, z, in the unit of the attitude per second
	InBody   bool     `msg:"in_body,omitzero"`            // the velocity is along the axes of the body; needs the attitude
}

// Quadrotor is the relation of a flying rigid body.
const Quadrotor = "quadrotor"

// Signed returns a name without the minus before it, and the sign.
func Signed(name string) (plain string, sign float64) {
	if plain, negative := strings.CutPrefix(name, "-"); negative {
		return plain, -1
	}
	return name, 1
}

// NamedAttitude returns the states that are called roll, pitch and yaw and are angles of one period; nil where not all are there.
func NamedAttitude(states []Channel) (out []int) {
	for _, name := range []string{"roll", "pitch", "yaw"} {
		k := slices.IndexFunc(states, func(c Channel) bool { return strings.EqualFold(c.Name, name) && c.Role == State && c.Period > 0 })
		if k < 0 || len(out) > 0 && states[k].Period != states[out[0]].Period {
			return nil
		}
		out = append(out, k)
	}
	return out
}

// Equal reports whether both declare the same.
func (k *Kinematics) Equal(o *Kinematics) bool {
	return k.Relation == o.Relation && k.InBody == o.InBody && slices.Equal(k.Position, o.Position) && slices.Equal(k.Velocity, o.Velocity) &&
		slices.Equal(k.Attitude, o.Attitude) && slices.Equal(k.Rates, o.Rates)
}

// String returns the declaration in one line, empty where nothing is declared.
func (k *Kinematics) String() string {
	if k.Relation == "" {
		return ""
	}
	var parts []string
	if len(k.Position) > 0 {
		axes := "the world"
		if k.InBody {
			axes = "the body"
		}
		parts = append(parts, fmt.Sprintf("%s by %s in axes of %s", strings.Join(k.Position, ", "), strings.Join(k.Velocity, ", "), axes))
	}
	if len(k.Attitude) > 0 {
		parts = append(parts, fmt.Sprintf("%s by %s", strings.Join(k.Attitude, ", "), strings.Join(k.Rates, ", ")))
	}
	return k.Relation + ": " + strings.Join(parts, "; ")
}

// Check returns the first contradiction with a list of channels, or nil.
func (k *Kinematics) Check(all []Channel) error {
	if k.Relation == "" {
		return nil
	}
	if k.Relation != Quadrotor {
		return fmt.Errorf("relation %q is unknown; known is %q", k.Relation, Quadrotor)
	}
	seen := map[string]bool{}
	period := 0.0
	for _, g := range []struct {
		field, partner string
		names, other   []string
	}{
		{"position", "velocity", k.Position, k.Velocity},
		{"velocity", "position", k.Velocity, k.Position},
		{"attitude", "rates", k.Attitude, k.Rates},
		{"rates", "attitude", k.Rates, k.Attitude},
	} {
		if len(g.names) != 0 && len(g.names) != 3 {
			return fmt.Errorf("%s names %d states, not three", g.field, len(g.names))
		}
		if len(g.names) > len(g.other) {
			return fmt.Errorf("%s needs %s", g.field, g.partner)
		}
		for _, name := range g.names {
			plain, _ := Signed(name)
			i := Index(all, plain)
			switch {
			case i < 0 || all[i].Role != State:
				return fmt.Errorf("%s: %q is not a state", g.field, plain)
			case seen[plain]:
				return fmt.Errorf("%s: %q is declared twice", g.field, plain)
			case g.field == "attitude" && all[i].Period == 0:
				return fmt.Errorf("attitude: %q has no period, 6.283185307179586 in radians", plain)
			case g.field == "attitude" && period != 0 && all[i].Period != period:
				return fmt.Errorf("attitude: %q has another period than the angle before it", plain)
			}
			if g.field == "attitude" {
				period = all[i].Period
			}
			seen[plain] = true
		}
	}
	switch {
	case len(k.Position) == 0 && len(k.Attitude) == 0:
		return fmt.Errorf("it names neither position and velocity nor attitude and rates")
	case k.InBody && (len(k.Position) == 0 || len(k.Attitude) == 0):
		return fmt.Errorf("a velocity in axes of the body needs position and attitude")
	}
	return nil
}
