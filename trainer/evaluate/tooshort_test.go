package evaluate

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/dgm-robotics/dgm/trainer/window"
)

// sampled is a minute of the shaft at 200 Hz of which the states are measured at one sample out
// of some: rows without a state hold the input alone, or are not there.
func sampled(every int, rows bool) []window.Flight {
	f := shaft(rand.New(rand.NewPCG(7, 7)), 12000, 5, 0, 1)[0]
	var s window.Series
	for i, t := range f.T {
		x := slices.Clone(f.State(i))
		if i%every != 0 {
			if !rows {
				continue
			}
			x[0], x[1] = math.NaN(), math.NaN()
		}
		s.T = append(s.T, int64(math.Round(t*1e9)))
		s.X, s.U = append(s.X, x...), append(s.U, f.Input(i)...)
	}
	return window.Prepare(0, s, coaster[:2], 1, window.Options{})
}

// Horizons that are shorter than the interval between samples are not scored, whether the log has
// other samples between those or not, and the table says so.
func TestHorizonsShorterThanASampleAreNotScored(t *testing.T) {
	for _, c := range []struct {
		name     string
		every    int // samples at 200 Hz
		rows     bool
		horizons []float64
		scored   []float64
		text     string
	}{
		{"200 Hz", 1, false, nil, []float64{0.05, 0.1, 0.2, 0.5}, ""},
		{"20 Hz is just enough", 10, false, nil, []float64{0.05, 0.1, 0.2, 0.5}, ""},
		{"25 Hz, whose samples are 40 ms apart", 8, false, nil, []float64{0.04, 0.12, 0.2, 0.5}, ""},
		{"6 Hz", 33, false, nil, []float64{0.165, 0.5}, "Not scored: 0.05 s and 0.1 s are shorter than the 0.165 s between samples."},
		{"states at 6 Hz, inputs at 200 Hz", 33, true, nil, []float64{0.165, 0.5}, "Not scored: 0.05 s and 0.1 s are shorter than the 0.165 s between samples."},
		{"horizons that were asked for", 33, false, []float64{0.1, 0.33}, []float64{0.33}, "Not scored: 0.1 s is shorter than the 0.165 s between samples."},
		{"a horizon of one sample", 33, false, []float64{0.165}, []float64{0.165}, ""},
	} {
		table := run(t, handmade(0), sampled(c.every, c.rows), Options{Horizons: c.horizons})
		var scored []float64
		for _, h := range table.Horizons {
			scored = append(scored, h.T)
		}
		if !slices.Equal(scored, c.scored) {
			t.Errorf("%s: scored %v, want %v", c.name, scored, c.scored)
		}
		text := ""
		if table.TooShort != nil {
			text = table.TooShort.String()
		}
		if text != c.text {
			t.Errorf("%s: %q, want %q", c.name, text, c.text)
		}
	}
}

// Where nothing is left to score the error has the interval and a remedy that works.
func TestNoHorizonIsAsLongAsASample(t *testing.T) {
	flights := sampled(33, false)
	_, err := Run(context.Background(), handmade(0), flights, Options{Horizons: []float64{0.05, 0.1}})
	if err == nil || !strings.Contains(err.Error(), "0.05 s and 0.1 s are shorter than the 0.165 s between samples; choose horizons of 0.165 s or more (--horizons)") {
		t.Errorf("short horizons: error %v", err)
	}
	run(t, handmade(0), flights, Options{Horizons: []float64{0.165}})
	m := handmade(0)
	m.Horizon = 0.1
	if _, err := Run(context.Background(), m, flights, Options{}); err == nil || !strings.Contains(err.Error(), "the model predicts up to 0.1 s, and needs a log that is sampled faster") {
		t.Errorf("short model: error %v", err)
	}
	if Scorable(flights, 0.1) || !Scorable(flights, 0.165) || !Scorable(nil, 0.1) {
		t.Error("a horizon can be scored if it is as long as a sample")
	}
}
