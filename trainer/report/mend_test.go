package report

import (
	"strings"
	"testing"

	"github.com/dgm-robotics/dgm/trainer/datacheck"
	"github.com/dgm-robotics/dgm/trainer/evaluate"
)

// What a bad verdict advises depends on the findings of the data check: more flights that are
// misread like these are no remedy.
func TestAdviceNamesWhatIsMisread(t *testing.T) {
	unit := datacheck.Problem{Kind: datacheck.Unit, Channel: "omega", Misread: true, Text: "theta changes by 57.3 times the integral of omega. Set scale."}
	held := datacheck.Problem{Kind: datacheck.Rate, Channel: "theta", Misread: true, Text: "theta is held. Log NaN. The same in 2 other places: segment 2, segment 3."}
	also := datacheck.Problem{Kind: datacheck.Rate, Channel: "omega", Misread: true, Text: "omega is held. Log NaN."}
	clock := datacheck.Problem{Kind: datacheck.Clock, Misread: true, Text: "The clock steps."}
	spike := datacheck.Problem{Kind: datacheck.Outlier, Channel: "theta", Text: "theta has a spike."}
	no, few := false, 0
	worse, narrow := table(0.5, 0.4, 0.95), table(0.2, 0.4, 0.6)
	blocks := edited(table(0.2, 0.4, 0.95), func(t *evaluate.Table) { t.WholeFlights, t.CalibrationFlights = &no, &few })
	slow := edited(table(0.5, 0.4, 0.95), func(t *evaluate.Table) { t.Slow = []string{"theta"} })
	trained := edited(table(0.2, 0.4, 0.95), func(t *evaluate.Table) { t.Trained = []string{"a.msgpack, segment 1"} })
	evaluated := func(flights int) *evaluate.Table {
		return edited(table(0.2, 0.4, 0.6), func(t *evaluate.Table) { t.WholeFlights, t.CalibrationFlights = nil, &flights })
	}
	behind := edited(table(0.2, 0.4, 0.95), func(t *evaluate.Table) { t.Horizons[1].Channels[0].Ridge = 0.1 })
	const mend = "Mend this first, and import the logs again: "
	for _, c := range []struct {
		name    string
		table   *evaluate.Table
		partial string
		found   []datacheck.Problem
		next    string // begins with
	}{
		{"nothing found", worse, "", nil, moreData},
		{"a spike that is left out", worse, "", []datacheck.Problem{spike}, moreData},
		{"a unit", worse, "", []datacheck.Problem{spike, unit}, mend + unit.Text},
		{"held samples", worse, "", []datacheck.Problem{held, also, held}, mend + "theta is held. Log NaN. The data check found this kind in omega, too."},
		{"three kinds", worse, "", []datacheck.Problem{unit, clock, held, clock}, mend + unit.Text + " The clock steps. The data check found more."},
		{"far behind a baseline", behind, "", []datacheck.Problem{clock}, mend + clock.Text},
		{"intervals too narrow on another log", evaluated(6), "", nil, unlike},
		{"the same, of a model of few flights", evaluated(2), "", nil, "Record five flights or more"},
		{"intervals too narrow", narrow, "", []datacheck.Problem{unit}, mend + unit.Text},
		{"intervals too narrow for lack of time", narrow, "stopped by hand", []datacheck.Problem{unit}, "Train again with a larger budget."},
		{"no whole flight", blocks, "", []datacheck.Problem{unit}, mend + unit.Text},
		{"no whole flight, nothing found", blocks, "", []datacheck.Problem{spike}, "Record six flights"},
		{"slow and in another unit", slow, "", []datacheck.Problem{unit}, mend + unit.Text},
		{"slow", slow, "", nil, "Log theta at 50 Hz or more"},
		{"its own log", trained, "", []datacheck.Problem{unit}, "Evaluate it on a flight that it was not trained on."},
		{"good", table(0.2, 0.4, 0.95), "", []datacheck.Problem{unit}, "Evaluate it with dgm-eval on the next flight"},
	} {
		v := Judge(c.table, nil, Facts{Partial: c.partial, Found: c.found})
		if !strings.HasPrefix(v.Next, c.next) || strings.HasPrefix(c.next, mend) && v.Next != c.next {
			t.Errorf("%s: %q, want %q", c.name, v.Next, c.next)
		}
	}
}

// Horizons that were left out are named once, and do not change the verdict.
func TestVerdictNamesHorizonsThatAreTooShort(t *testing.T) {
	good := edited(table(0.2, 0.4, 0.95), func(t *evaluate.Table) {
		t.TooShort = &evaluate.TooShort{Horizons: []float64{0.05}, Interval: 1.0 / 6}
	})
	const want = "Not scored: 0.05 s is shorter than the 0.167 s between samples."
	if v := Judge(good, nil, Facts{}); v.Level != Use || strings.Count(v.Text(), want) != 1 {
		t.Errorf("%+v", v)
	}
}
