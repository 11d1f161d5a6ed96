package report

import (
	"slices"
	"strings"
	"testing"

	"github.com/dgm-robotics/dgm/trainer/datacheck"
	"github.com/dgm-robotics/dgm/trainer/evaluate"
)

// What to do next follows from what is measured of logs and settings, the likeliest cause first; a good model needs none of it.
func TestAdviceNamesTheCause(t *testing.T) {
	bad := table(0.5, 0.4, 0.95)
	constant := datacheck.Problem{Kind: datacheck.Constant, Channel: "u0", Text: "u0 is constant."}
	for _, c := range []struct {
		name  string
		table *evaluate.Table
		facts Facts
		next  string // begins with
	}{
		{"nothing known", bad, Facts{}, moreData},
		{"another robot, or another manoeuvre", edited(table(0.5, 0.4, 0.95), func(t *evaluate.Table) {
			for i := range t.Horizons {
				t.Horizons[i].Channels[0].OOD = 0.9
			}
		}), Facts{NoInputs: true}, unlike},
		{"another manoeuvre in part", edited(table(0.5, 0.4, 0.95), func(t *evaluate.Table) {
			for i := range t.Horizons {
				t.Horizons[i].Channels[0].OOD = 0.3
			}
		}), Facts{Quick: true}, unlike},
		{"held-out flights that differ", edited(table(0.5, 0.4, 0.95), func(t *evaluate.Table) {
			whole := true
			t.WholeFlights, t.Horizons[0].Channels[0].OOD, t.Horizons[1].Channels[0].OOD = &whole, 0.3, 0.3
		}), Facts{Quick: true}, "Train with the default preset."},
		{"no inputs", bad, Facts{NoInputs: true, Quick: true}, "Name the commands as inputs"},
		{"a constant input", bad, Facts{Found: []datacheck.Problem{constant, constant}, Quick: true}, "Record flights in which u0 varies"},
		{"a controller", bad, Facts{Feedback: []string{"u0", "u1"}}, "Record flights with other commands, or add small random steps to u0, u1."},
		{"one trajectory", bad, Facts{Repeated: 4}, "Record other trajectories"},
		{"a state at rest", edited(table(0.5, 0.4, 0.95), func(t *evaluate.Table) { t.Horizons[1].Channels[0].Noise = 0.6 }), Facts{}, "Record flights in which x moves more."},
		{"noise", edited(noisyTable(0.11), func(t *evaluate.Table) { t.Horizons[0].Channels[0].Noise = 0.316 }), Facts{Quick: true}, "More flights will not help"},
		{"quick", bad, Facts{Quick: true}, "Train with the default preset."},
		{"another turn", edited(table(0.5, 0.4, 0.95), func(t *evaluate.Table) { t.Angles = []string{"x"} }), Facts{Quick: true}, "Train with the default preset."},
		{"good", table(0.2, 0.4, 0.95), Facts{NoInputs: true, Quick: true, Repeated: 3}, "Evaluate it with dgm-eval on the next flight"},
	} {
		if v := Judge(c.table, nil, c.facts); !strings.HasPrefix(v.Next, c.next) {
			t.Errorf("%s: %q, want %q", c.name, v.Next, c.next)
		}
	}
}

// Limits stand before the scores, whatever these are.
func TestVerdictNamesLimits(t *testing.T) {
	for _, scores := range []*evaluate.Table{nil, table(0.2, 0.4, 0.95)} {
		v := Judge(scores, nil, Facts{Quick: true, NoInputs: true})
		if !slices.Equal(v.Limits, []string{"quick preset", "no inputs"}) || !strings.HasPrefix(v.Line(), v.Level.Label()+" (quick preset, no inputs): ") {
			t.Errorf("%+v: %s", v, v.Line())
		}
	}
}
