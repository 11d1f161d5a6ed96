package direct

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Of inputs in their range, partly and wholly outside of it.
func TestRangeFactor(t *testing.T) {
	rng := rand.New(rand.NewPCG(91, 1))
	m := model(2, rng)
	m.Range = []float64{0.5, 0} // standardised; that of the second input is not limited
	d := New(m, K, horizon)
	at := func(u []float64, t float64) RangeFactor {
		d.Run(normal(rng, K), plan{[][]float64{{1, 100}, {u[0], -100}, {u[1], 100}}}, 0, nil)
		return d.RangeFactor(t, true)
	}
	for _, c := range []struct{ first, second, t, want float64 }{
		{1 + 2, 1, 1, 1},          // twice the range
		{1 - 3, 1, 1, 0.5},        // three times
		{1 + 3.5, 1 - 3, 1, 0.25}, // the larger of both
		{1, 1 + 5, 1, 0},
		{1, 1 + 5, 0.6, 1}, // nothing after t is read
		{1 + 4.5, 1, 0, 1},
	} {
		if f := at([]float64{c.first, c.second}, c.t); math.Abs(f.Value-c.want) > 1e-12 {
			t.Errorf("inputs %g and %g at %g s: %+v, expected %g", c.first, c.second, c.t, f, c.want)
		}
	}
	d.Run(normal(rng, K), plan{[][]float64{{1 - 3, 0}}}, 1, nil)
	if f := d.RangeFactor(0.3, false); f.Value != 0.5 || f.By[0].Value != 0.5 || f.By[0].From != f.By[0].To || f.By[1].Value != 0 {
		t.Errorf("held: %+v", f)
	}
	m.Range = nil
	if f := d.RangeFactor(0.3, true); f != (RangeFactor{Value: 1}) {
		t.Errorf("without a range: %+v", f)
	}
}

// Its derivatives by time and along the input are those of differences.
func TestRangeFactorDerivatives(t *testing.T) {
	rng := rand.New(rand.NewPCG(92, 1))
	m := model(1, rng)
	m.Range = []float64{0.4, 0.5}
	for name, changes := range map[string][]float64{"range": nil, "change": {0.3, 0.2}, "change from the past": {30, 20, 0.8, 0.6, 3, 3}} {
		m.Change = changes
		t.Run(name, func(t *testing.T) { checkDerivatives(t, New(m, K, horizon), len(changes)/P, rng) })
	}
}

// checkDerivatives compares those of inputs of which some leave the range, with rows of history where there are changes of them.
func checkDerivatives(t *testing.T, d *Map, rows int, rng *rand.Rand) {
	if rows > 1 {
		rows = 4 // of the level
	} else {
		rows = 0
	}
	partly, changed := 0, 0
	for range 200 {
		x, past, u, du := normal(rng, K), normal(rng, rows*(K+P)), plan{}, plan{}
		for range 4 {
			u.values, du.values = append(u.values, normal(rng, P)), append(du.values, normal(rng, P))
		}
		value := func(at, along float64) RangeFactor {
			moved := plan{}
			for i, row := range u.values {
				moved.values = append(moved.values, []float64{row[0] + along*du.values[i][0], row[1] + along*du.values[i][1]})
			}
			d.Run(x, moved, 0, past)
			return d.RangeFactor(at, true)
		}
		const h = 1e-6
		at := 0.1 + 0.9*rng.Float64()
		f, before, after := value(at, 0), value(at-h, 0), value(at+h, 0)
		if !f.Partly() || f.Input != before.Input || f.Input != after.Input || (f.By[1].Value == 0) != (before.By[1].Value == 0) {
			continue
		}
		partly++
		if f.By[1].Value != 0 {
			changed++
		}
		if want := (after.Value - before.Value) / (2 * h); math.Abs(f.Rate-want) > 1e-6*(1+math.Abs(want)) {
			t.Errorf("at %g s: rate %g, differences %g", at, f.Rate, want)
		}
		along := f.Along(du, make([]float64, P))
		if want := (value(at, h).Value - value(at, -h).Value) / (2 * h); math.Abs(along-want) > 1e-6*(1+math.Abs(want)) {
			t.Errorf("at %g s: %g along the input, differences %g", at, along, want)
		}
	}
	if partly < 20 || (changed > 0) != (len(d.m.Change) > 0 && rows == 0) {
		t.Errorf("%d of 200 partly outside, %d by a change", partly, changed)
	}
}

// A step counts by what it is over the largest change of the training data, a ramp of the same height by its parts.
func TestRangeFactorOfSteps(t *testing.T) {
	rng := rand.New(rand.NewPCG(93, 1))
	m := model(1, rng)
	m.UMean, m.UStd = []float64{0, 0}, []float64{1, 1}
	m.Range, m.Change = []float64{10, 10}, []float64{0.5, 0}
	d := New(m, K, horizon)
	for _, c := range []struct{ first, second, t, want float64 }{
		{0, 0.9, horizon, 1},
		{0, 1.5, horizon, 0.5}, // three times the largest change
		{0, -1.5, horizon, 0.5},
		{3, 1, horizon / 2, 0}, // from the start to the first part
		{0, 3, horizon / 2, 1}, // nothing after t is read
		{0, 3, horizon, 0},
	} {
		u := plan{[][]float64{{0, 0}}} // the input at the start
		for i := 1; i < 600; i++ {
			v := c.first
			if i >= 400 {
				v = c.second
			}
			u.values = append(u.values, []float64{v, 9})
		}
		d.Run(normal(rng, K), u, 0, nil)
		if f := d.RangeFactor(c.t, false); math.Abs(f.Value-c.want) > 1e-9 {
			t.Errorf("from %g to %g at %g s: %g, expected %g", c.first, c.second, c.t, f.Value, c.want)
		}
	}
}

// A step that is past counts until it leaves the history, by the largest change of its row.
func TestRangeFactorOfThePast(t *testing.T) {
	rng := rand.New(rand.NewPCG(94, 1))
	m := model(1, rng)
	m.UMean, m.UStd = []float64{0, 0}, []float64{1, 1}
	m.Range, m.Change = []float64{10, 10}, []float64{1, 0, 0.5, 0, 1, 0}
	d := New(m, K, horizon)
	for _, c := range []struct {
		rows [4]float64 // inputs of history, newest first
		want float64
	}{
		{[4]float64{0, 0, 0, 0}, 1},
		{[4]float64{-1, -1, -1, -1}, 1},
		{[4]float64{1.5, 1.5, 1.5, 1.5}, 0.5}, // three times the largest change to the start
		{[4]float64{0, 3.5, 3.5, 3.5}, 0.25},  // of the second row
		{[4]float64{0, 0, 9, 9}, 1},           // of a row of which no change is known
	} {
		var past []float64
		for _, u := range c.rows {
			past = append(append(past, normal(rng, K)...), u, 100)
		}
		d.Run(normal(rng, K), plan{[][]float64{{0, 0}}}, 0, past)
		if f := d.RangeFactor(horizon, false); math.Abs(f.Value-c.want) > 1e-9 {
			t.Errorf("after %v: %g, expected %g", c.rows, f.Value, c.want)
		}
	}
}
