// Package fault parses the faults of a simulated robot, of its sensors and of the robot
// itself, in one notation: KIND=VALUE:VALUE…, with @name or @name,name for the channels
// that the fault affects.
package fault

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dgm-robotics/dgm/estimator/channel"
)

// Kind is a kind of fault.
type Kind int

// The kinds; those of sensors come first, in the order in which they are applied.
const (
	Delay Kind = iota
	Bias
	Spike
	Freeze
	Jitter
	ClockJump
	Dropout
	Wind
	Payload
	Wear
	Late
)

// Fault is one fault.
type Fault struct {
	Kind     Kind
	Values   []float64 // of the notation in its order, durations in s; optional ones have their defaults
	Channels []int     // (optional) which states or inputs; nil = all
}

// The channels that a fault may name.
type named int

const (
	noChannel named = iota
	anyState
	someState // it must name one
	anyInput
)

// notation is the notation of one kind.
type notation struct {
	name   string
	values []value
	of     named
	syntax string
}

// value is one value of a notation.
type value struct {
	parse    func(text string) (float64, error)
	optional bool
	standard float64 // where it is optional and missing
}

var (
	aDuration     = value{parse: positive}
	orDuration    = value{parse: positive, optional: true}
	theOnset      = []value{orDuration, orDuration} // when it begins, and the length of its rise
	aProbability  = value{parse: within("probability", 1)}
	spikeSize     = value{parse: number, optional: true, standard: 20}
	windTime      = value{parse: aboveZero, optional: true, standard: 1}
	windDeviation = value{parse: within("standard deviation", 1e9)}
	payloadMass   = value{parse: within("mass", 100)}
	wearLoss      = value{parse: within("loss", 1)}
)

var notations = [...]notation{
	Delay:     {"delay", []value{aDuration}, anyState, "delay=20ms"},
	Bias:      {"bias", []value{{parse: number}, orDuration}, someState, "bias=0.05@theta or bias=0.05:10s@theta (from 10 s on)"},
	Spike:     {"spike", []value{aProbability, spikeSize}, anyState, "spike=0.001 or spike=0.001:20 (20 standard deviations)"},
	Freeze:    {"freeze", []value{aDuration, aDuration}, anyState, "freeze=12s:0.5s (at 12 s for 0.5 s)"},
	Jitter:    {"jitter", []value{aDuration}, noChannel, "jitter=2ms"},
	ClockJump: {"clock-jump", []value{aDuration, {parse: duration}}, noChannel, "clock-jump=10s:0.3s (at 10 s by 0.3 s)"},
	Dropout:   {"dropout", []value{aProbability, orDuration}, anyState, "dropout=0.01 or dropout=0.01:50ms (in bursts of 50 ms)"},
	Wind:      {"wind", slices.Concat([]value{windDeviation, windTime}, theOnset), noChannel, "wind=0.5 or wind=0.5:2s (gusts of 0.5 standard deviation that last 2 s)"},
	Payload:   {"payload", slices.Concat([]value{payloadMass}, theOnset), noChannel, "payload=0.3 (0.3 of its own mass in addition)"},
	Wear:      {"worn", slices.Concat([]value{wearLoss}, theOnset), anyInput, "worn=0.2 or worn=0.2@F1 (actuators lose a fifth of their effect)"},
	Late:      {"late", slices.Concat([]value{aDuration, orDuration}, theOnset), anyInput, "late=60ms or late=60ms:20ms@F1 (commands act after a dead time, then with a lag of 20 ms)"},
}

// Syntax returns one line for every kind, its notation.
func Syntax() []string {
	var out []string
	for _, n := range notations {
		out = append(out, n.syntax)
	}
	return append(out, "  these four with an onset: wind=0.5:2s:20s, payload=0.3:20s, worn=0.2:20s:60s@F1, late=30ms:0s:20s (at 20 s, over 60 s)")
}

// Parse reads a fault of a robot with these states and inputs.
func Parse(text string, states, inputs []channel.Channel) (Fault, error) {
	name, rest, _ := strings.Cut(text, "=")
	kind := slices.IndexFunc(notations[:], func(n notation) bool { return n.name == name })
	if kind < 0 {
		var names []string
		for _, n := range notations {
			names = append(names, n.name)
		}
		return Fault{}, fmt.Errorf("%q is unknown; known are %s", name, strings.Join(names, ", "))
	}
	n := &notations[kind]
	f := Fault{Kind: Kind(kind)}
	rest, names, some := strings.Cut(rest, "@")
	err := f.parseValues(rest, n.values)
	if err == nil {
		err = f.parseNames(names, some, n.of, states, inputs)
	}
	if err != nil {
		return f, fmt.Errorf("%s: %w; write %s", text, err, n.syntax)
	}
	return f, nil
}

func (f *Fault) parseValues(text string, values []value) error {
	parts := strings.Split(text, ":")
	if len(parts) > len(values) {
		return fmt.Errorf("%q is one value too many", parts[len(values)])
	}
	for i, v := range values {
		switch {
		case i < len(parts):
			x, err := v.parse(parts[i])
			if err != nil {
				return err
			}
			f.Values = append(f.Values, x)
		case v.optional:
			f.Values = append(f.Values, v.standard)
		default:
			return fmt.Errorf("%d values are too few", len(parts))
		}
	}
	return nil
}

func (f *Fault) parseNames(names string, some bool, of named, states, inputs []channel.Channel) error {
	what, channels := "state", states
	if of == anyInput {
		what, channels = "input", inputs
	}
	switch {
	case of == noChannel && some:
		return fmt.Errorf("it affects the whole robot, not single channels")
	case of == someState && !some:
		return fmt.Errorf("name the state it is for")
	case !some:
		return nil
	}
	for name := range strings.SplitSeq(names, ",") {
		i := channel.Index(channels, name)
		if i < 0 {
			return fmt.Errorf("%s %q is unknown, known are %s", what, name, strings.Join(channel.Names(channels), ", "))
		}
		f.Channels = append(f.Channels, i)
	}
	return nil
}

func number(s string) (float64, error) {
	v, err := strconv.ParseFloat(s, 64)
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
		return 0, fmt.Errorf("%q is not a number", s)
	}
	return v, nil
}

// within returns the parser of a number from 0 to most.
func within(what string, most float64) func(string) (float64, error) {
	return func(s string) (float64, error) {
		v, err := number(s)
		if err == nil && (v < 0 || v > most) {
			err = fmt.Errorf("the %s %s is not between 0 and %g", what, s, most)
		}
		return v, err
	}
}

func duration(s string) (float64, error) {
	d, err := time.ParseDuration(s)
	if err != nil {
		return 0, fmt.Errorf("%q is not a duration", s)
	}
	return d.Seconds(), nil
}

func positive(s string) (float64, error) {
	v, err := duration(s)
	if err == nil && v < 0 {
		err = fmt.Errorf("the duration %s is negative", s)
	}
	return v, err
}

func aboveZero(s string) (float64, error) {
	v, err := duration(s)
	if err == nil && v <= 0 {
		err = fmt.Errorf("the duration %s is not above zero", s)
	}
	return v, err
}
