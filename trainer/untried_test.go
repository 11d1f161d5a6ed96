package trainer

import (
	"strings"
	"testing"
)

// Whatever time there was, one core and one temper are chosen, and what was likelier and
// not taken says why.
func TestOneCandidateOfEachKindIsChosen(t *testing.T) {
	linear, tanh := Candidate{Core: "linear [8]", Basis: 2}, Candidate{Core: "tanh [32 32]", Basis: 2}
	with := func(c Candidate, temper, score float64, folds bool) Candidate {
		c.Temper, c.Score, c.Folds = temper, score, folds
		return c
	}
	tried := []Candidate{with(linear, 0.1, 1, false), with(linear, 0.01, 1.2, false), with(tanh, 0.1, 1.3, false), with(tanh, 0.01, 1.1, false)}
	folds := []Candidate{with(linear, 0.1, 0.7, true), with(linear, 0.01, 0.6, true)}
	for _, c := range []struct {
		name string
		res  Result
		want []string // chosen, in order; "?" after those that were not tried
	}{
		{"all the time", Result{Candidates: append(tried[:4:4], folds...), Chosen: folds[1]}, []string{"core linear [8], basis 2, temper 0.01", "core linear [8], basis 2, temper 0.01"}},
		{"no time for tempers", Result{Candidates: tried, Chosen: with(linear, 0.01, 0, false), Untried: Untried{Temper: true}}, []string{"core linear [8], basis 2, temper 0.01", "core linear [8], basis 2, temper 0.01?"}},
		{"no time at all", Result{Chosen: with(linear, 0.01, 0, false), Untried: Untried{Core: true, Temper: true}}, []string{"core linear [8], basis 2?", "core linear [8], basis 2, temper 0.01?"}},
		{"all was said", Result{Chosen: with(linear, 0.1, 0, false)}, nil},
	} {
		var got []string
		for _, r := range candidates(&c.res) {
			if r.Chosen {
				name := r.Name
				if r.Untried {
					name += "?"
				}
				got = append(got, name)
			}
			if passed := r.Measure == byFirstFold && strings.HasPrefix(r.Name, "core tanh [32 32], basis 2, temper 0.1"); (r.Why != "") != (passed && r.Score == 1.3) {
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
