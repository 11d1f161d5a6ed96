package datacheck

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dgm-robotics/dgm/estimator/channel"
)

// Columns that change their order during the recording are reported with both names and the
// lesser part, and that is left out; states that only cross are not.
func TestSwappedColumns(t *testing.T) {
	t.Parallel()
	channels := []channel.Channel{
		{Name: "left", Unit: "rad/s", Role: channel.State}, {Name: "right", Unit: "rad/s", Role: channel.State},
		{Name: "force", Unit: "N", Role: channel.State}, {Name: "u", Role: channel.Input},
	}
	for _, c := range []struct {
		name     string
		a, b     int
		from, to []float64 // where they have changed places, s
		lost     [][2]float64
	}{
		{name: "clean"},
		{name: "to the end", a: 0, b: 1, from: []float64{40}, to: []float64{60}, lost: [][2]float64{{40, 60}}},
		{name: "from the beginning", a: 0, b: 1, from: []float64{0}, to: []float64{17}, lost: [][2]float64{{0, 17}}},
		{name: "for a while, twice", a: 0, b: 1, from: []float64{11, 33}, to: []float64{13, 39}, lost: [][2]float64{{11, 13}, {33, 39}}},
		{name: "more than half", a: 0, b: 1, from: []float64{5}, to: []float64{60}, lost: [][2]float64{{0, 5}}},
		{name: "of other units", a: 0, b: 2, from: []float64{40}, to: []float64{60}},
	} {
		rng := rand.New(rand.NewPCG(5, 5))
		stamps := even(60, 100)
		cols := make([][]float64, 4)
		for _, at := range stamps {
			s := at - 100
			// They cross some thirty times.
			v := []float64{2*math.Sin(1.3*s) + 1 + 0.01*rng.NormFloat64(), 1.5*math.Cos(0.9*s+1) - 0.4 + 0.01*rng.NormFloat64(), 3 * math.Sin(0.5*s+2), math.Sin(2 * s)}
			v[2] += 0.01 * rng.NormFloat64()
			for i := range c.from {
				if s >= c.from[i] && s < c.to[i] {
					v[c.a], v[c.b] = v[c.b], v[c.a]
				}
			}
			for k := range cols {
				cols[k] = append(cols[k], v[k])
			}
		}
		result := Check(build(channels, stamps, nil, cols), Options{})
		got := places(find(result, Swapped))
		if len(got) != len(c.lost) {
			t.Errorf("%s:%s", c.name, describe(result))
			continue
		}
		for i, p := range got {
			if p.Severity != Exclude || p.Channel != "left" || math.Abs(p.From-c.lost[i][0]) > 0.011 || math.Abs(p.To-c.lost[i][1]) > 0.021 {
				t.Errorf("%s:%s", c.name, describe(result))
			}
		}
		if len(c.lost) > 0 {
			if left := Ranges(result.Masks[0], BadSpan); len(left) != len(c.lost) {
				t.Errorf("%s: left out is %v", c.name, left)
			}
		}
	}
}

// What two wheels do at once is not reported as columns that changed their order: neither
// that both cross the ends of undeclared angles, nor that they are commanded to turn the
// robot the other way, which is only noted.
func TestWheelsAreNotReportedAsSwapped(t *testing.T) {
	for _, c := range []struct {
		name, unit string
		period     float64
		move       func(s float64) (left, right, u float64)
		noted      int
	}{
		{"angles without a period", "rad", 0, func(s float64) (left, right, u float64) {
			a := math.Remainder(0.3*s+0.05*math.Sin(2*s), 2*math.Pi)
			return a, -a, math.Sin(2 * s)
		}, 0},
		{"angles in degrees", "deg", 0, func(s float64) (left, right, u float64) {
			a := math.Remainder(20*s+3*math.Sin(2*s), 360)
			return a, -a, math.Sin(2 * s)
		}, 0},
		{"turning left, then right", "rad/s", 0, func(s float64) (left, right, u float64) {
			if s >= 25 && s < 50 {
				return 9, 4, -1
			}
			return 4, 9, 1
		}, 1},
	} {
		channels := []channel.Channel{
			{Name: "left", Unit: c.unit, Role: channel.State, Period: c.period},
			{Name: "right", Unit: c.unit, Role: channel.State, Period: c.period}, {Name: "u", Role: channel.Input},
		}
		rng := rand.New(rand.NewPCG(5, 6))
		stamps := even(60, 20)
		cols := make([][]float64, 3)
		for _, at := range stamps {
			left, right, u := c.move(at - 100)
			for k, v := range []float64{left + 0.001*rng.NormFloat64(), right + 0.001*rng.NormFloat64(), u} {
				cols[k] = append(cols[k], v)
			}
		}
		result := Check(build(channels, stamps, nil, cols), Options{})
		got := find(result, Swapped)
		lost := 0
		for _, span := range Ranges(result.Masks[0], BadSpan) { // a few around each jump, which the dynamics do not explain
			lost += span[1] - span[0]
		}
		if len(got) != c.noted || lost > 50 {
			t.Errorf("%s: %d samples are left out:%s", c.name, lost, describe(result))
		}
		for _, p := range got {
			if p.Severity != Note {
				t.Errorf("%s:%s", c.name, describe(result))
			}
		}
	}
}

// Two pressures of which each begins where the other goes on are not swapped, however far both jump at the second sample.
func TestAStartThatJumpsIsNotSwapped(t *testing.T) {
	channels := []channel.Channel{{Name: "a", Unit: "bar", Role: channel.State}, {Name: "b", Unit: "bar", Role: channel.State}, {Name: "u", Role: channel.Input}}
	rng := rand.New(rand.NewPCG(5, 6))
	stamps := even(60, 100)
	cols := make([][]float64, 3)
	for i, at := range stamps {
		a, b := 70+3*math.Sin(at), 45+2*math.Sin(0.7*at)
		if i == 0 {
			a, b = b, a
		}
		for k, v := range []float64{a + 0.1*rng.NormFloat64(), b + 0.1*rng.NormFloat64(), math.Sin(at)} {
			cols[k] = append(cols[k], v)
		}
	}
	if r := Check(build(channels, stamps, nil, cols), Options{}); len(find(r, Swapped)) > 0 {
		t.Error(describe(r))
	}
}
