package motion

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/program"
)

// MostParameters bounds the parameters of an equation.
const MostParameters = 512

// Equation is an equation of motion. The zero value is none.
type Equation struct {
	Kind       string      // one of Kinds
	Roles      []Role      // in the order of Names; those of missing states are absent
	World      bool        // velocities are along the axes of the world, not of the body
	Squared    bool        // inputs act by u|u|, as the speeds of propellers
	Bound      []float64   // K+P: |x| and |u| are clamped to it, but for a body's kinematics, which keeps a roll-out finite far outside of the data
	Parameters []Parameter // θ
}

// Parameter is a number of θ with its interval of 95 %.
type Parameter struct {
	Name  string  `json:"name"`
	Unit  string  `json:"unit"`
	Value float64 `json:"value"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}

// String returns the parameter for people.
func (p Parameter) String() string {
	interval := ""
	if p.Low < p.High {
		interval = fmt.Sprintf(" (%.3g to %.3g)", p.Low, p.High)
	}
	return strings.TrimSpace(fmt.Sprintf("%s %.3g%s %s", p.Name, p.Value, interval, p.Unit))
}

// kind is a kind of robot.
type kind struct {
	name     string
	required []string // roles; "#" stands for a number from 1 on
	optional []string
	mass     bool             // forces, apart from gravity, accelerate it by its mass alone
	rates    func(b *builder) // appends f
}

var kinds = []*kind{&multirotor, &fixedWing, &singleTrack, &followingTrack, &dynamicSingleTrack, &slidingSingleTrack, &unicycle, &vessel, &joints, &servoJoints, &coupledServoJoints}

// Kinds returns the names of the kinds.
func Kinds() (names []string) {
	for _, k := range kinds {
		names = append(names, k.name)
	}
	return names
}

func kindOf(name string) *kind {
	for _, k := range kinds {
		if k.name == name {
			return k
		}
	}
	return nil
}

// Roles returns the names of the roles of a kind, those that it needs first.
func Roles(name string) (required, optional []string) {
	k := kindOf(name)
	return k.required, k.optional
}

// Empty reports whether there is no equation.
func (e *Equation) Empty() bool { return e.Kind == "" }

// String returns kind and states in one line.
func (e *Equation) String() string {
	axes := "the body"
	if e.World {
		axes = "the world"
	}
	text := e.Kind
	if e.has("vx") || e.has("surge") {
		text += ", velocities in axes of " + axes
	}
	if e.Squared {
		text += ", inputs act by their squares"
	}
	return text
}

// Declare sets the parameters of the equation of a kind, with names and units and a value of 0 each, for so many states
// and the inputs.
func (e *Equation) Declare(K int, inputs []channel.Channel) error {
	e.Parameters = nil
	e.Bound = slices.Repeat([]float64{math.MaxFloat32}, K+len(inputs))
	if err := e.checkRoles(K); err != nil {
		return err
	}
	e.Parameters = e.declared(K, inputs)
	return nil
}

// Gain is a parameter that multiplies an input.
type Gain struct {
	Parameter, Input int
	Law              string // whose gains are of one kind, such as those of the roll torque
}

// Gains returns the parameters that multiply inputs, for so many states and inputs.
func (e *Equation) Gains(K, P int) []Gain { return e.builder(K, make([]channel.Channel, P)).ofInputs }

// declared returns the parameters that the kind has.
func (e *Equation) declared(K int, inputs []channel.Channel) []Parameter {
	return e.builder(K, inputs).parameters
}

// builder returns what has built the equation without parameters.
func (e *Equation) builder(K int, inputs []channel.Channel) *builder {
	p := &program.Program{}
	b := &builder{Program: p, e: e, x: p.Input("x", K, 1), u: program.None, theta: program.None, mass: program.None, inputs: inputs, declares: true}
	if len(inputs) > 0 {
		b.u = p.Input("u", len(inputs), 1)
	}
	b.exact, b.free = func() program.Reg { return b.x }, program.None
	b.derivative()
	return b
}

// Check returns what contradicts itself for K states and P inputs, or nil.
func (e *Equation) Check(K, P int) error {
	if e.Empty() {
		return nil
	}
	if err := e.checkRoles(K); err != nil {
		return err
	}
	if len(e.Bound) != K+P {
		return fmt.Errorf("%d bounds, expected %d", len(e.Bound), K+P)
	}
	for _, b := range e.Bound {
		if !(b > 0) || math.IsInf(b, 0) {
			return fmt.Errorf("bound %v must be positive", b)
		}
	}
	if want := e.declared(K, make([]channel.Channel, P)); len(e.Parameters) != len(want) || len(want) > MostParameters {
		return fmt.Errorf("%d parameters, expected %d of at most %d", len(e.Parameters), len(want), MostParameters)
	}
	for _, p := range e.Parameters {
		for _, v := range []float64{p.Value, p.Low, p.High} {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return fmt.Errorf("parameter %q: %v", p.Name, v)
			}
		}
		if p.Low > p.Value || p.Value > p.High {
			return fmt.Errorf("parameter %q: %v is outside of its interval %v … %v", p.Name, p.Value, p.Low, p.High)
		}
	}
	return nil
}

// checkRoles checks kind and roles.
func (e *Equation) checkRoles(K int) error {
	k := kindOf(e.Kind)
	if k == nil {
		return fmt.Errorf("kind %q is unknown; known are %s", e.Kind, strings.Join(Kinds(), ", "))
	}
	used, named := map[int]bool{}, map[string]bool{}
	for _, r := range e.Roles {
		base, number, numbered := strings.Cut(r.Name, " ")
		switch {
		case r.State < 0 || r.State >= K || used[r.State]:
			return fmt.Errorf("role %q: state %d of %d is out of range, or has two roles", r.Name, r.State, K)
		case named[r.Name]:
			return fmt.Errorf("role %q is there twice", r.Name)
		case !(math.Abs(r.Scale) > 0) || math.IsInf(r.Scale, 0):
			return fmt.Errorf("role %q: scale %v", r.Name, r.Scale)
		case numbered && (number == "" || !slices.Contains(k.required, base+" #")), !numbered && !slices.Contains(k.required, r.Name) && !slices.Contains(k.optional, r.Name):
			return fmt.Errorf("a %s has no role %q", e.Kind, r.Name)
		}
		used[r.State], named[r.Name] = true, true
	}
	if n := e.numbered("angle"); len(k.required) > 0 && k.required[0] == "angle #" {
		if n == 0 || n != e.numbered("rate") || len(e.Roles) != 2*n {
			return errors.New("angles and rates must be numbered from 1 on, as many of each")
		}
		return nil
	}
	for _, name := range k.required {
		if !named[name] {
			return fmt.Errorf("a %s needs the role %q", e.Kind, name)
		}
	}
	return k.checkTogether(named)
}

// checkTogether checks that of the optional roles that belong together all are named, or none.
func (k *kind) checkTogether(named map[string]bool) error {
	for _, group := range Together {
		n := 0
		for _, name := range group {
			if named[name] {
				n++
			}
		}
		if n != 0 && n != len(group) && slices.Contains(k.optional, group[0]) {
			return fmt.Errorf("%s belong together", strings.Join(group, ", "))
		}
	}
	return nil
}

// Together are roles of which a robot has all or, where they are optional, none.
var Together = [][]string{{"x", "y", "z", "vx", "vy", "vz"}, {"east", "north"}, {"depth", "heave"}}

// HasMass reports whether forces, apart from gravity, accelerate the robot by its mass alone, so that a load changes them and not
// the torques: a rigid body with a velocity.
func (e *Equation) HasMass() bool {
	k := kindOf(e.Kind)
	return k != nil && k.mass && e.has("vx")
}

// Increment appends the increment of a step of h seconds from states x (K×any) under mean inputs u (P; None without
// inputs), K×any. theta (parameters×1) replaces the equation's own; None = these. mass (1×1; None = 0) is by what part of its mass a robot
// that has one is heavier than it was.
func Increment(p *program.Program, e *Equation, x, u, theta, mass program.Reg, h float64) program.Reg {
	K := p.Rows(x)
	bounded := clamped(p, x, e.Bound[:K])
	if u != program.None {
		u = clamped(p, u, e.Bound[K:])
	}
	sum := func(c ...part) program.Reg {
		var parts []program.Part
		for _, s := range c {
			parts = append(parts, program.Part{X: s.of, M: diagonal(K, s.times)})
		}
		return p.Affine(K, nil, parts...)
	}
	var b *builder
	var k [4]program.Reg
	for i, after := range [...]float64{0, h / 2, h / 2, h} {
		from := func(x program.Reg) program.Reg {
			if i == 0 {
				return x
			}
			return sum(part{x, 1}, part{k[i-1], after})
		}
		b = &builder{Program: p, e: e, x: from(bounded), u: u, theta: theta, mass: mass, exact: func() program.Reg { return from(x) }, free: program.None}
		k[i] = b.derivative()
	}
	return b.slowed(sum(part{k[0], h / 6}, part{k[1], h / 3}, part{k[2], h / 3}, part{k[3], h / 6}), bounded, h)
}

type part struct {
	of    program.Reg
	times float64
}

// clamped appends values within bounds.
func clamped(p *program.Program, v program.Reg, bounds []float64) program.Reg {
	low := make([]float64, len(bounds))
	for i, b := range bounds {
		low[i] = -b
	}
	return p.Clamp(v, low, bounds)
}

// derivative appends f, K×any.
func (b *builder) derivative() program.Reg {
	if b.e.Squared && b.u != program.None {
		b.u = b.Times(b.u, b.Function(program.Abs, b.u))
	}
	b.ahead = program.None
	kindOf(b.e.Kind).rates(b)
	return b.Affine(b.Rows(b.x), nil, b.parts...)
}
