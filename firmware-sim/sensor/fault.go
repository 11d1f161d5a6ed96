package sensor

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/firmware-sim/seed"
)

// Kind is a kind of fault, by the name that command lines use.
type Kind string

// The kinds, in the order in which they are applied.
const (
	Delay     Kind = "delay"
	Bias      Kind = "bias"
	Spike     Kind = "spike"
	Freeze    Kind = "freeze"
	Jitter    Kind = "jitter"
	ClockJump Kind = "clock-jump"
	Dropout   Kind = "dropout"
)

var order = []Kind{Delay, Bias, Spike, Freeze, Jitter, ClockJump, Dropout}

func (k Kind) rank() int { return slices.Index(order, k) }

// Fault is one fault; its kind determines which fields it uses.
type Fault struct {
	Kind     Kind
	P        float64 // probability a sample: spike, dropout
	Size     float64 // bias in the channel's unit; spike in standard deviations of the sensor
	At       float64 // s of log time: freeze, bias, clock-jump
	For      float64 // s: delay, jitter, the length of a freeze or dropout, the clock's jump
	Channels []int   // (optional) which states; defaults to all, for a dropout to the whole sample
}

// syntax is the notation of each kind.
var syntax = map[Kind]string{
	Delay:     "delay=20ms",
	Bias:      "bias=0.05@theta or bias=0.05:10s@theta (from 10 s on)",
	Spike:     "spike=0.001 or spike=0.001:20 (20 standard deviations)",
	Freeze:    "freeze=12s:0.5s (at 12 s for 0.5 s)",
	Jitter:    "jitter=2ms",
	ClockJump: "clock-jump=10s:0.3s (at 10 s by 0.3 s)",
	Dropout:   "dropout=0.01 or dropout=0.01:50ms (in bursts of 50 ms)",
}

// Syntax returns one line for every kind, its notation.
func Syntax() []string {
	var out []string
	for _, k := range order {
		out = append(out, syntax[k])
	}
	return out
}

// Kinds returns the names of all kinds.
func Kinds() []string {
	var out []string
	for _, k := range order {
		out = append(out, string(k))
	}
	return out
}

// Parse reads KIND=A or KIND=A:B, with @name or @name,name for the states that the
// fault affects.
func Parse(text string, states []channel.Channel) (Fault, error) {
	name, rest, _ := strings.Cut(text, "=")
	f := Fault{Kind: Kind(name)}
	if f.Kind.rank() < 0 {
		return f, fmt.Errorf("fault %q is unknown; known are %s", name, strings.Join(Kinds(), ", "))
	}
	rest, names, some := strings.Cut(rest, "@")
	fail := func(why string, args ...any) (Fault, error) {
		return f, fmt.Errorf("fault %s: %s; write %s", text, fmt.Sprintf(why, args...), syntax[f.Kind])
	}
	if some {
		for n := range strings.SplitSeq(names, ",") {
			i := channel.Index(states, n)
			if i < 0 {
				return fail("state %q is unknown, known are %s", n, strings.Join(channel.Names(states), ", "))
			}
			f.Channels = append(f.Channels, i)
		}
	}
	first, second, two := strings.Cut(rest, ":")
	if err := f.values(first, second, two); err != nil {
		return fail("%v", err)
	}
	switch {
	case f.Kind == Bias && !some:
		return fail("name the state it is for")
	case (f.Kind == Jitter || f.Kind == ClockJump) && some:
		return fail("it affects the time stamp, not single states")
	}
	return f, nil
}

// values parses the values of a fault.
func (f *Fault) values(first, second string, two bool) (err error) {
	switch f.Kind {
	case Delay, Jitter:
		if two {
			return fmt.Errorf("one duration, not two")
		}
		f.For, err = positive(first)
	case Freeze:
		if f.At, err = positive(first); err == nil {
			f.For, err = positive(second)
		}
	case ClockJump:
		if f.At, err = positive(first); err == nil {
			f.For, err = duration(second)
		}
	case Bias:
		if f.Size, err = number(first); err == nil && two {
			f.At, err = positive(second)
		}
	case Spike:
		f.Size = 20
		if f.P, err = probability(first); err == nil && two {
			f.Size, err = number(second)
		}
	case Dropout:
		if f.P, err = probability(first); err == nil && two {
			f.For, err = positive(second)
		}
	}
	return err
}

func number(s string) (float64, error) {
	v, err := strconv.ParseFloat(s, 64)
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
		return 0, fmt.Errorf("%q is not a number", s)
	}
	return v, nil
}

func probability(s string) (float64, error) {
	v, err := number(s)
	if err == nil && (v < 0 || v > 1) {
		err = fmt.Errorf("the probability %s is not between 0 and 1", s)
	}
	return v, err
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

// stage returns the working form of a fault, the n-th of the sensor.
func (f Fault) stage(c Config, spike []float64, segment, n int) stage {
	channels, whole := f.Channels, f.Channels == nil
	if whole {
		channels = make([]int, c.K)
		for i := range channels {
			channels[i] = i
		}
	}
	switch f.Kind {
	case Delay:
		return &delayed{by: nanos(f.For), channels: channels}
	case Bias:
		return &biased{size: f.Size, from: nanos(f.At), channels: channels}
	case Spike:
		return &spiked{p: f.P, size: f.Size, unit: spike, channels: channels, src: seed.New(c.Seed, seed.Spike, segment, n)}
	case Freeze:
		return &frozen{from: nanos(f.At), to: nanos(f.At) + nanos(f.For), channels: channels, last: make([]float64, len(channels))}
	case Jitter:
		return &jittered{std: f.For * 1e9, src: seed.New(c.Seed, seed.Jitter, segment, n)}
	case ClockJump:
		return &jumped{from: nanos(f.At), by: nanos(f.For)}
	case Dropout:
		return &dropped{p: f.P, burst: nanos(f.For), whole: whole, channels: channels, src: seed.New(c.Seed, seed.Dropout, segment, n)}
	}
	panic("sensor: unknown kind of fault")
}

func nanos(seconds float64) int64 { return int64(math.Round(seconds * 1e9)) }
