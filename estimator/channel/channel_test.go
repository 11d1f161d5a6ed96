package channel_test

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/dgm-robotics/dgm/estimator/channel"
)

var states = []channel.Channel{
	{Name: "heading", Unit: "deg", Role: channel.State, Period: 360, Derivative: "rate"},
	{Name: "rate", Unit: "deg/s", Role: channel.State},
	{Name: "north", Unit: "m", Role: channel.State, Invariant: true},
}

func TestLiftReadsStructure(t *testing.T) {
	l := channel.NewLift(states)
	if l.Dim() != 3 {
		t.Fatalf("%d coordinates; expected sine, cosine and the rate", l.Dim())
	}
	got := make([]float64, 3)
	l.Apply(got, []float64{90, 7, 1e6})
	for i, want := range []float64{1, 0, 7} {
		if math.Abs(got[i]-want) > 1e-15 {
			t.Errorf("coordinate %d is %v, expected %v", i, got[i], want)
		}
	}
	// A turn changes nothing, nor does the place.
	turned := make([]float64, 3)
	l.Apply(turned, []float64{90 - 720, 7, -5})
	for i := range got {
		if math.Abs(got[i]-turned[i]) > 1e-12 {
			t.Errorf("coordinate %d is %v after two turns, was %v", i, turned[i], got[i])
		}
	}
}

func TestLiftSlopeIsTheDerivative(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	l := channel.NewLift(states)
	l.AddFriction(1, 10)
	for i := range l.Mean {
		l.Mean[i], l.Std[i] = rng.NormFloat64(), 0.5+rng.Float64()
	}
	x := []float64{37, -2, 4}
	slope, a, b := make([]float64, 4), make([]float64, 4), make([]float64, 4)
	l.Derivative(slope, x)
	for k := range x {
		const h = 1e-3 // degrees
		y := append([]float64(nil), x...)
		y[k] = x[k] + h
		l.Apply(a, y)
		y[k] = x[k] - h
		l.Apply(b, y)
		for i := range a {
			want := 0.0
			if l.Of[i] == k {
				want = slope[i]
			}
			if got := (a[i] - b[i]) / (2 * h); math.Abs(got-want) > 1e-9 {
				t.Errorf("coordinate %d along state %d: slope %v, difference %v", i, k, want, got)
			}
		}
	}
}

func TestStandardise(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	l := channel.NewLift(states)
	const n = 500
	x := make([]float64, 0, 3*n)
	for range n {
		x = append(x, 360*rng.Float64(), 5+3*rng.NormFloat64(), 0)
	}
	l.Mean[0] = 99 // of an earlier standardisation; must not matter
	l.Standardise(x, 3)
	sum, sq, row := make([]float64, 3), make([]float64, 3), make([]float64, 3)
	for i := range n {
		l.Apply(row, x[3*i:3*i+3])
		for j, v := range row {
			sum[j] += v
			sq[j] += v * v
		}
	}
	for j := range sum {
		if math.Abs(sum[j])/n > 1e-12 || math.Abs(sq[j]/n-1) > 1e-12 {
			t.Errorf("coordinate %d has mean %v and variance %v", j, sum[j]/n, sq[j]/n)
		}
	}
	still := channel.Identity(1)
	still.Standardise([]float64{1e9 + 0.1, 1e9 + 0.1, 1e9 + 0.1}, 1)
	if still.Std[0] != 1 {
		t.Errorf("a state that stands still has std %v", still.Std[0])
	}
}

func TestCheckNamesChannelAndField(t *testing.T) {
	state := func(edit func(c *channel.Channel)) []channel.Channel {
		c := channel.Channel{Name: "a", Role: channel.State}
		edit(&c)
		return []channel.Channel{c, {Name: "b", Role: channel.State}, {Name: "u", Role: channel.Input}}
	}
	for _, c := range []struct {
		all  []channel.Channel
		says string
	}{
		{nil, "no channel has the role state"},
		{[]channel.Channel{{Name: "u", Role: channel.Input}}, "no channel has the role state"},
		{state(func(c *channel.Channel) { c.Name = "" }), "channel 0: name is empty"},
		{state(func(c *channel.Channel) { c.Name = "a\nb" }), `channel "a\nb": name has a character`},
		{state(func(c *channel.Channel) { c.Name = "\x1b[31ma" }), `channel "\x1b[31ma": name has a character`},
		{state(func(c *channel.Channel) { c.Name = "a\u202eb" }), `channel "a\u202eb": name has a character`}, // writes backwards
		{state(func(c *channel.Channel) { c.Unit = "m\x00" }), `channel "a": unit "m\x00" has a character`},
		{state(func(c *channel.Channel) { c.Unit = "\xb0/s" }), `channel "a": unit "\xb0/s" has a character`}, // not UTF-8
		{state(func(c *channel.Channel) { c.Frame = "ned\a" }), `channel "a": frame "ned\a" has a character`},
		{state(func(c *channel.Channel) { c.Name = "b" }), `channel "b": name appears twice`},
		{state(func(c *channel.Channel) { c.Role = "sensor" }), `channel "a": role "sensor"`},
		{state(func(c *channel.Channel) { c.Period = -1 }), `channel "a": period -1`},
		{state(func(c *channel.Channel) { c.Period = math.NaN() }), `channel "a": period NaN`},
		{state(func(c *channel.Channel) { c.Noise = math.Inf(1) }), `channel "a": noise +Inf`},
		{state(func(c *channel.Channel) { c.Noise = 1e200 }), `channel "a": noise 1e+200 must be positive and finite, and so must its square`}, // a variance is taken of it
		{state(func(c *channel.Channel) { c.Derivative = "a" }), `channel "a": names itself`},
		{state(func(c *channel.Channel) { c.Derivative = "u" }), `channel "a": derivative "u" is not a state`},
		{state(func(c *channel.Channel) { c.Role, c.Derivative = channel.Input, "b" }), `channel "a": derivative is for states`},
	} {
		if err := channel.Check(c.all); err == nil || !strings.HasPrefix(err.Error(), c.says) {
			t.Errorf("expected %q, got %v", c.says, err)
		}
	}
	if err := channel.Check(states); err != nil {
		t.Error(err)
	}
	for _, unit := range []string{"°/s", "N·m", "kg\u00a0m²", "m/s^2", "µT", "秒", "<&>"} {
		if err := channel.Check(state(func(c *channel.Channel) { c.Name, c.Unit = "Δθ ["+unit+"]", unit })); err != nil {
			t.Error(err)
		}
	}
}

func TestSameLayoutNamesTheFirstDifference(t *testing.T) {
	edit := func(f func(c []channel.Channel) []channel.Channel) []channel.Channel {
		return f(append([]channel.Channel(nil), states...))
	}
	for _, c := range []struct {
		got  []channel.Channel
		says string
	}{
		{edit(func(c []channel.Channel) []channel.Channel { return c[:2] }), `channel 2: "north" is missing`},
		{edit(func(c []channel.Channel) []channel.Channel { return append(c, channel.Channel{Name: "up"}) }), `channel 3: "up" is not expected`},
		{edit(func(c []channel.Channel) []channel.Channel { c[0], c[1] = c[1], c[0]; return c }), `channel 0: expected "heading", found "rate"`},
		{edit(func(c []channel.Channel) []channel.Channel { c[1].Role = channel.Input; return c }), `channel "rate": expected role state, found input`},
		{edit(func(c []channel.Channel) []channel.Channel { c[1].Unit = "rad/s"; return c }), `channel "rate": expected unit "deg/s", found "rad/s"`},
	} {
		if err := channel.SameLayout(states, c.got); err == nil || err.Error() != c.says {
			t.Errorf("expected %q, got %v", c.says, err)
		}
	}
	if err := channel.SameLayout(states, edit(func(c []channel.Channel) []channel.Channel { c[0].Noise = 3; return c })); err != nil {
		t.Errorf("what is no layout makes a difference: %v", err)
	}
}
