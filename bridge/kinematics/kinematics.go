// Package kinematics reads what a map declares of a robot as a rigid body, and
// compares it with the data before it goes into a log: an autopilot's pitch may point the
// other way than the textbook's, a rate may be in degrees. The slope of a channel's rate of
// change on what its relation gives (package derivative) is 1 where the relation holds.
package kinematics

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/dgm-robotics/dgm/bridge/derivative"
	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/priordynamics"
)

// Body is the table [body] of a map: which states are those of a rigid body. A
// minus before a name means that the state has the opposite sign.
type Body struct {
	Position []string `toml:"position"` // (optional) along the world's x, y, z; defaults to x, y, z
	Velocity []string `toml:"velocity"` // (optional) defaults to vx, vy, vz; to u, v, w in axes of the body
	Attitude []string `toml:"attitude"` // (optional) defaults to roll, pitch, yaw
	Rates    []string `toml:"rates"`    // (optional) about the body's x, y, z; defaults to p, q, r
	Axes     string   `toml:"axes"`     // (optional) of the velocity: world or body; defaults to world
}

func (b *Body) empty() bool {
	return len(b.Position)+len(b.Velocity)+len(b.Attitude)+len(b.Rates) == 0 && b.Axes == ""
}

// Declare returns the declaration of kinematics = relation and a table [body] for states.
// Pairs that the table does not name have their usual names where they are there.
func Declare(relation string, b *Body, states []channel.Channel) (k channel.Kinematics, err error) {
	switch {
	case relation == "" && b.empty():
		return k, nil
	case relation == "":
		return k, fmt.Errorf("there is a table [body] without kinematics = %q", channel.Quadrotor)
	case b.Axes != "" && b.Axes != "world" && b.Axes != "body":
		return k, fmt.Errorf("axes %q of the velocity are neither world nor body", b.Axes)
	}
	k = channel.Kinematics{Relation: relation, InBody: b.Axes == "body"}
	velocity := []string{"vx", "vy", "vz"}
	if k.InBody {
		velocity = []string{"u", "v", "w"}
	}
	k.Position, k.Velocity = pair(b.Position, b.Velocity, []string{"x", "y", "z"}, velocity, states)
	k.Attitude, k.Rates = pair(b.Attitude, b.Rates, []string{"roll", "pitch", "yaw"}, []string{"p", "q", "r"}, states)
	return k, k.Check(states)
}

// pair completes what is named of two groups by the usual names. Where neither is
// named, both are left out unless all six are there.
func pair(a, b, usualA, usualB []string, states []channel.Channel) (outA, outB []string) {
	named := len(a)+len(b) > 0
	if len(a) == 0 {
		a = usualA
	}
	if len(b) == 0 {
		b = usualB
	}
	for _, name := range slices.Concat(a, b) {
		if plain, _ := channel.Signed(name); !named && channel.Index(states, plain) < 0 {
			return nil, nil
		}
	}
	return a, b
}

// Remaining returns what is left of a declaration where only these states are: a
// pair of which a state is missing falls, and a velocity in axes of the body
// without its attitude. Nothing left is no relation.
func Remaining(k channel.Kinematics, states []channel.Channel) channel.Kinematics {
	gone := func(name string) bool {
		plain, _ := channel.Signed(name)
		return channel.Index(states, plain) < 0
	}
	if slices.ContainsFunc(slices.Concat(k.Attitude, k.Rates), gone) {
		k.Attitude, k.Rates = nil, nil
	}
	if k.InBody && k.Attitude == nil || slices.ContainsFunc(slices.Concat(k.Position, k.Velocity), gone) {
		k.Position, k.Velocity, k.InBody = nil, nil, false
	}
	if k.Position == nil && k.Attitude == nil {
		return channel.Kinematics{}
	}
	return k
}

const (
	slopeMin, slopeMax = 0.75, 1.33 // estimators' velocities lag behind and lean to zero by some percent
	correlationMin     = 0.5        // below it a channel shows nothing about its kinematic relation
)

// Contradiction reports that a channel does not move by its kinematic relation.
type Contradiction struct {
	Channel            string
	Slope, Correlation float64 // of its rate of change on that of the relation
	Reason, Remedy     string
}

// Checker compares samples with a declaration, in memory that does not depend on
// their number.
type Checker struct {
	declared channel.Kinematics
	body     priordynamics.Body
	moved    []int // states that the relations move
	rate     []float64
	row      []float64 // of each: the state, and the rate by its relation
	detector *derivative.Detector
	names    []string // of moved
	thrust   *thrust  // nil: velocity and attitude are not both declared
}

// New returns a Checker of what is declared of states; what is must have passed
// its Check.
func New(k channel.Kinematics, states []channel.Channel) *Checker {
	body, err := priordynamics.NewBody(&k, states)
	if err != nil {
		panic("kinematics: New with a declaration that does not pass its Check")
	}
	c := &Checker{declared: k, body: body, rate: make([]float64, len(states)), thrust: newThrust(body)}
	var pairs []channel.Channel
	for i, s := range states {
		if body.Determines(i) {
			c.moved, c.names = append(c.moved, i), append(c.names, s.Name)
			relation := s.Name + " by its relation" // no other pair is a candidate
			pairs = append(pairs, channel.Channel{Name: s.Name, Period: s.Period, Derivative: relation}, channel.Channel{Name: relation, Derivative: relation})
		}
	}
	c.row = make([]float64, len(pairs))
	c.detector = derivative.New(pairs)
	return c
}

// Break begins a new segment: the next sample does not continue the last one.
func (c *Checker) Break() {
	c.detector.Break()
	if c.thrust != nil {
		c.thrust.detector.Break()
	}
}

// Add adds the next sample: time t (ns), states x (K), NaN = not measured.
func (c *Checker) Add(t int64, x []float64) {
	if len(c.moved) == 0 {
		return
	}
	c.body.Derivative(c.rate, x)
	for i, k := range c.moved {
		c.row[2*i], c.row[2*i+1] = x[k], c.rate[k]
	}
	c.detector.Add(t, c.row)
	if c.thrust != nil {
		c.thrust.add(t, x)
	}
}

// has reports whether a group of states has one with a name, whatever its sign.
func has(group []string, name string) bool {
	return slices.ContainsFunc(group, func(n string) bool {
		plain, _ := channel.Signed(n)
		return plain == name
	})
}

// Result returns the worst contradiction to k, the declaration or what is left of it, or
// nil, and remarks on channels of which the data show nothing.
func (c *Checker) Result(k channel.Kinematics) (worst *Contradiction, remarks []string) {
	if !k.Equal(&c.declared) {
		// Why a pair is not declared is known.
	} else if k.Relation != "" && len(k.Position) == 0 {
		remarks = append(remarks, "kinematics: position and velocity are not declared: name the states under [body]")
	} else if k.Relation != "" && len(k.Attitude) == 0 {
		remarks = append(remarks, "kinematics: attitude and rates are not declared: name the states under [body]")
	}
	var unsure []string
	hidden := c.unsure(k)
	for i, name := range c.names {
		slope, corr, _ := c.detector.Slope(2*i, 2*i+1)
		switch {
		case !has(k.Position, name) && !has(k.Attitude, name):
		case slices.Contains(hidden, name):
			unsure = append(unsure, fmt.Sprintf("%s (correlation %.2f)", name, corr))
		case slope < slopeMin || slope > slopeMax:
			if worst == nil || corr*corr > worst.Correlation*worst.Correlation {
				worst = &Contradiction{Channel: name, Slope: slope, Correlation: corr}
			}
		}
	}
	if len(unsure) > 0 {
		remarks = append(remarks, fmt.Sprintf("kinematics: declared, but not confirmed by the data for %s: too little motion, or too much noise", strings.Join(unsure, ", ")))
	}
	if worst != nil {
		worst.explain(&k)
	}
	return worst, remarks
}

// unsure returns the states of a declaration whose relations samples neither show nor contradict.
func (c *Checker) unsure(k channel.Kinematics) (names []string) {
	for i, name := range c.names {
		if _, corr, ok := c.detector.Slope(2*i, 2*i+1); (has(k.Position, name) || has(k.Attitude, name)) && (!ok || corr < correlationMin && corr > -correlationMin) {
			names = append(names, name)
		}
	}
	return names
}

// explain describes a contradiction to a declaration and its remedy.
func (w *Contradiction) explain(k *channel.Kinematics) {
	w.Reason = fmt.Sprintf("the data contradict it: %s moves at %.4g times the rate that follows from the other states (correlation %.3f)", w.Channel, w.Slope, w.Correlation)
	field, group := "position", k.Position
	if has(k.Attitude, w.Channel) {
		field, group = "attitude", k.Attitude
	}
	switch {
	case w.Slope < 0 && w.Slope > -slopeMax && w.Slope < -slopeMin:
		w.Remedy = fmt.Sprintf("its sign is inverted: under [body] write %s = %s", field, turned(group, w.Channel))
	case field == "attitude" && (w.Slope > 50 && w.Slope < 65 || w.Slope > 0.015 && w.Slope < 0.02):
		w.Remedy = "attitude and rates must be in one unit: rad and rad/s, or deg and deg/s; correct a scale in the map"
	case w.Slope > 0 && w.Slope < slopeMin && w.Slope > slopeMin*w.Correlation*w.Correlation:
		// Noise in what the relation is read from lowers the slope by the squared correlation at most.
		w.Remedy = "its derivative is logged too slowly or is too noisy: log it faster, or remove kinematics; or names or axes under [body] are wrong"
	default:
		w.Remedy = fmt.Sprintf("correct the names, signs or units under [body], write axes = %q if the velocity is along them, or remove kinematics", map[bool]string{false: "body", true: "world"}[k.InBody])
	}
}

// turned writes a group with the sign of one of its names turned.
func turned(group []string, name string) string {
	var names []string
	for _, n := range group {
		plain, sign := channel.Signed(n)
		if plain == name {
			if n = "-" + plain; sign < 0 {
				n = plain
			}
		}
		names = append(names, strconv.Quote(n))
	}
	return "[" + strings.Join(names, ", ") + "]"
}
