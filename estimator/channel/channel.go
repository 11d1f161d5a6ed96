// Package channel describes the vectors of a robot: the channel of each place, its
// unit, and its structure.
//
// Logs, models and the data check share this one description, so that a model
// can refuse a log or a state message of another robot by name.
package channel

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Role is the use of a channel in a model.
type Role string

// The three roles. States are predicted, inputs drive the prediction, aux
// channels are stored in logs and not used otherwise.
const (
	State Role = "state"
	Input Role = "input"
	Aux   Role = "aux"
)

// Channel describes one scalar channel. Its tags are the keys of a log.
type Channel struct {
	Name       string  `msg:"name,optional,most=name"` // unique within a robot
	Unit       string  `msg:"unit,optional,most=name"` // free text, e.g. "rad/s"; empty = none; see CanonicalUnit
	Role       Role    `msg:"role,optional,most=name"`
	Derivative string  `msg:"derivative,omitzero,most=name"` // (optional) the state channel that is this one's time derivative
	Period     float64 `msg:"period,omitzero"`               // (optional) of a periodic channel, in its unit; 0 = not periodic
	Invariant  bool    `msg:"invariant,omitzero"`            // the dynamics do not depend on its value (a position)
	Noise      float64 `msg:"noise,omitzero"`                // (optional) known standard deviation of the sensor, in its unit; 0 = unknown
	Frame      string  `msg:"frame,omitzero,most=name"`      // (optional) free text, e.g. "ned"
	Estimated  bool    // nothing measures this state: a filter estimates it
}

// Angle is the period of an angle in radians.
const Angle = 2 * math.Pi

// Select returns the channels of one role, in their order.
func Select(all []Channel, role Role) []Channel {
	var out []Channel
	for _, c := range all {
		if c.Role == role {
			out = append(out, c)
		}
	}
	return out
}

// Measured returns the channels that are not estimated, in their order.
func Measured(all []Channel) []Channel {
	return slices.DeleteFunc(slices.Clone(all), func(c Channel) bool { return c.Estimated })
}

// Names returns the names in order.
func Names(all []Channel) []string {
	out := make([]string, len(all))
	for i, c := range all {
		out[i] = c.Name
	}
	return out
}

// Index returns the place of the named channel, or -1.
func Index(all []Channel, name string) int {
	return slices.IndexFunc(all, func(c Channel) bool { return c.Name == name })
}

// Check returns the first contradiction in a list of channels, named by channel
// and field, or nil.
func Check(all []Channel) error {
	seen := make(map[string]bool, len(all))
	for i, c := range all {
		switch {
		case c.Name == "":
			return fmt.Errorf("channel %d: name is empty", i)
		case !visible(c.Name):
			return fmt.Errorf("channel %q: name has a character that cannot be shown; use letters, digits and signs", c.Name)
		case !visible(c.Unit):
			return fmt.Errorf("channel %q: unit %q has a character that cannot be shown; use letters, digits and signs", c.Name, c.Unit)
		case !visible(c.Frame):
			return fmt.Errorf("channel %q: frame %q has a character that cannot be shown; use letters, digits and signs", c.Name, c.Frame)
		case seen[c.Name]:
			return fmt.Errorf("channel %q: name appears twice", c.Name)
		case c.Role != State && c.Role != Input && c.Role != Aux:
			return fmt.Errorf("channel %q: role %q is none of state, input, aux", c.Name, c.Role)
		case c.Period < 0 || math.IsNaN(c.Period) || math.IsInf(c.Period, 0):
			return fmt.Errorf("channel %q: period %v must be positive and finite", c.Name, c.Period)
		case c.Noise < 0 || math.IsNaN(c.Noise) || math.IsInf(c.Noise*c.Noise, 0):
			return fmt.Errorf("channel %q: noise %v must be positive and finite, and so must its square", c.Name, c.Noise)
		case c.Estimated && c.Role != State:
			return fmt.Errorf("channel %q: estimated is for states, and its role is %q", c.Name, c.Role)
		}
		seen[c.Name] = true
	}
	states := Select(all, State)
	if len(states) == 0 {
		return fmt.Errorf("no channel has the role state")
	}
	for _, c := range all {
		if c.Derivative == "" {
			continue
		}
		if c.Role != State {
			return fmt.Errorf("channel %q: derivative is for states, and its role is %q", c.Name, c.Role)
		}
		if c.Derivative == c.Name {
			return fmt.Errorf("channel %q: names itself as its derivative", c.Name)
		}
		if Index(states, c.Derivative) < 0 {
			return fmt.Errorf("channel %q: derivative %q is not a state channel", c.Name, c.Derivative)
		}
	}
	return nil
}

// visible reports whether a plot, a page and a terminal can show a text: valid UTF-8
// without control characters and changes of writing direction.
func visible(s string) bool {
	return utf8.ValidString(s) && strings.IndexFunc(s, func(r rune) bool { return !unicode.IsGraphic(r) }) < 0
}

// SameLayout returns nil if both lists hold the same names, roles and units (see SameUnit) in
// the same order, else an error that names the first difference.
func SameLayout(want, got []Channel) error {
	for i := range max(len(want), len(got)) {
		switch {
		case i >= len(got):
			return fmt.Errorf("channel %d: %q is missing", i, want[i].Name)
		case i >= len(want):
			return fmt.Errorf("channel %d: %q is not expected", i, got[i].Name)
		case want[i].Name != got[i].Name:
			return fmt.Errorf("channel %d: expected %q, found %q", i, want[i].Name, got[i].Name)
		case want[i].Role != got[i].Role:
			return fmt.Errorf("channel %q: expected role %s, found %s", want[i].Name, want[i].Role, got[i].Role)
		case !SameUnit(want[i].Unit, got[i].Unit):
			return fmt.Errorf("channel %q: expected unit %q, found %q", want[i].Name, want[i].Unit, got[i].Unit)
		}
	}
	return nil
}

// Signal is the input u over one horizon, time measured from its start.
type Signal interface {
	// Mean writes the mean of u over [a, b], seconds, a < b, to dst (P).
	Mean(dst []float64, a, b float64)
	// At writes u(t) to dst (P); at a step, the value that begins there.
	At(dst []float64, t float64)
}

// Command is a Signal that is held from one step to the next.
type Command interface {
	Signal
	// Next returns the time of the first step after t; +∞ without one.
	Next(t float64) float64
}
