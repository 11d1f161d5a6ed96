package summary

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/trainer/report"
	"github.com/dgm-robotics/dgm/trainer/selection"
	"github.com/dgm-robotics/dgm/trainer/window"
)

// Whatever time there was, one core and one temperature are chosen, and what was likelier and
// not taken says why.
func TestOneCandidateOfEachKindIsChosen(t *testing.T) {
	linear, tanh := selection.Candidate{Core: "linear [8]", Basis: 2}, selection.Candidate{Core: "tanh [32 32]", Basis: 2}
	with := func(c selection.Candidate, temper, score float64, folds bool) selection.Candidate {
		c.Temperature, c.Score, c.Folds = temper, score, folds
		return c
	}
	tried := []selection.Candidate{with(linear, 0.1, 1, false), with(linear, 0.01, 1.2, false), with(tanh, 0.1, 1.3, false), with(tanh, 0.01, 1.1, false)}
	folds := []selection.Candidate{with(linear, 0.1, 0.7, true), with(linear, 0.01, 0.6, true)}
	for _, c := range []struct {
		name string
		res  selection.Choice
		want []string // chosen, in order; "?" after those that were not tried
	}{
		{"all the time", selection.Choice{Candidates: append(tried[:4:4], folds...), Chosen: folds[1]}, []string{"core linear [8], basis 2, likelihood temperature 0.01", "core linear [8], basis 2, likelihood temperature 0.01"}},
		{"no time for tempers", selection.Choice{Candidates: tried, Chosen: with(linear, 0.01, 0, false), Untried: selection.Untried{Temperature: true}}, []string{"core linear [8], basis 2, likelihood temperature 0.01", "core linear [8], basis 2, likelihood temperature 0.01?"}},
		{"no time at all", selection.Choice{Chosen: with(linear, 0.01, 0, false), Untried: selection.Untried{Core: true, Temperature: true}}, []string{"core linear [8], basis 2?", "core linear [8], basis 2, likelihood temperature 0.01?"}},
		{"all was said", selection.Choice{Chosen: with(linear, 0.1, 0, false)}, nil},
	} {
		var got []string
		for _, r := range choices(&c.res) {
			if r.Chosen {
				name := r.Name
				if r.Untried {
					name += "?"
				}
				got = append(got, name)
			}
			if passed := r.Measure == byFirstFold && strings.HasPrefix(r.Name, "core tanh [32 32], basis 2, likelihood temperature 0.1"); (r.Why != "") != (passed && r.Score == 1.3) {
				t.Errorf("%s: %+v", c.name, r)
			}
			if r.Untried && r.Score != 0 {
				t.Errorf("%s: untried, with a score: %+v", c.name, r)
			}
		}
		if strings.Join(got, "; ") != strings.Join(c.want, "; ") {
			t.Errorf("%s: chosen %q, want %q", c.name, got, c.want)
		}
	}
}

// A report has every setting that a settings file has, with its table.
func TestSettings(t *testing.T) {
	got := settings("horizon = \"1s\"\nseed = 1\n\n[net]\n  core = [32, 32]\n\n[folds]\n  motion = true\n")
	want := []report.Item{{Name: "horizon", Value: "1s"}, {Name: "seed", Value: "1"}, {Name: "net.core", Value: "[32, 32]"}, {Name: "folds.motion", Value: "true"}}
	if !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// States are listed by the rates at which they were measured.
func TestRates(t *testing.T) {
	s := window.Series{}
	for i := range 501 {
		slow := math.NaN()
		if i%5 == 0 {
			slow = 1
		}
		s.T, s.X = append(s.T, int64(i)*20_000_000), append(s.X, 0, slow, 0)
	}
	states := []channel.Channel{{Name: "x", Role: channel.State}, {Name: "slow", Role: channel.State}, {Name: "y", Role: channel.State}}
	if got := rates(states, window.Prepare(0, s, states, 0, window.Options{})); got != "x, y at 50 Hz; slow at 10 Hz" {
		t.Error(got)
	}
}
