package report

import (
	"strings"
	"testing"

	"github.com/dgm-robotics/dgm/trainer/evaluate"
)

// table returns a table of one channel at two horizons.
func table(model, linear, coverage float64) *evaluate.Table {
	t := &evaluate.Table{Geo: evaluate.Geo{Model: model, Velocity: 0.9, Linear: linear}}
	for _, h := range []float64{0.1, 0.5} {
		t.Horizons = append(t.Horizons, evaluate.Horizon{
			T: h, Coverage95: coverage, Coverage95Low: coverage - 0.02, Coverage95High: coverage + 0.02,
			Channels: []evaluate.Channel{{Name: "x", Errors: evaluate.Errors{RMSE: model, Hold: 1, Velocity: 0.9, Linear: linear}}},
		})
	}
	return t
}

func TestVerdict(t *testing.T) {
	for _, c := range []struct {
		name        string
		table, hold *evaluate.Table
		partial     string
		want        string
		good        bool
	}{
		{"nothing held out", nil, nil, "", "unknown", false},
		{"good", table(0.2, 0.4, 0.95), nil, "", "The model is better than the best baseline, the linear model: 50 % lower RMSE.", true},
		{"as good as a linear model", table(0.399, 0.4, 0.95), nil, "", "is no better than the best baseline, the linear model: same RMSE", false},
		{"worse", table(0.5, 0.4, 0.95), nil, "", "is worse than the best baseline, the linear model: 25 % higher RMSE", false},
		{"stopped", table(0.2, 0.4, 0.95), nil, "by hand", "The training ended early", false},
		{"stopped and narrow", table(0.2, 0.4, 0.8), nil, "by hand", "The unfinished training supports no horizon", false},
		{"wide", table(0.2, 0.4, 0.995), nil, "", "wider than necessary", false},
		{"narrow", table(0.2, 0.4, 0.8), nil, "", "The data support no horizon", false},
		{"hold", table(0.2, 0.4, 0.95), table(0.3, 0.4, 0.94), "", "with the last input held: 50 % higher RMSE than with the plan, and 95 % intervals covered 94 %", true},
		{"hold is the plan", table(0.2, 0.4, 0.95), table(0.2, 0.4, 0.94), "", "with the last input held: same RMSE as with the plan, and", true},
		{"hold is not calibrated", table(0.2, 0.4, 0.95), table(0.3, 0.4, 0.7), "", "intervals covered 70 %", false},
	} {
		line, good := Verdict(c.table, c.hold, c.partial)
		if !strings.Contains(line, c.want) || good != c.good {
			t.Errorf("%s: %v: %s", c.name, good, line)
		}
	}
	for _, x := range []struct {
		rmse float64
		want string
		good bool
	}{{0.415, "", true}, {0.52, "It is worse than the baseline on y (after 0.5 s: 30 % higher RMSE than the linear model).", true}, {1.2, "It is worse than the baseline on y (after 0.5 s: 200 % higher RMSE than the linear model).", false}} {
		one := table(0.2, 0.4, 0.95)
		for i := range one.Horizons {
			y := one.Horizons[i].Channels[0]
			y.Name, y.RMSE = "y", x.rmse*one.Horizons[i].T/0.5
			one.Horizons[i].Channels = append(one.Horizons[i].Channels, y, evaluate.Channel{Name: "still"})
		}
		line, good := Verdict(one, nil, "")
		if good != x.good || !strings.Contains(line, x.want) || strings.Contains(line, "worse") != (x.want != "") {
			t.Errorf("%v: %v: %s", x.rmse, good, line)
		}
	}
	for _, share := range []float64{0.03, 0.17} {
		flagged := table(0.2, 0.4, 0.95)
		for _, h := range flagged.Horizons {
			h.Channels[0].OOD = share
		}
		if line, good := Verdict(flagged, nil, ""); !good || strings.Contains(line, "17 % of the held-out predictions were flagged OOD") != (share >= manyFlagged) || strings.Contains(line, "OOD") != (share >= manyFlagged) {
			t.Errorf("%v flagged: %v: %s", share, good, line)
		}
	}
	calibrated := table(0.2, 0.4, 0.95)
	calibrated.Calibrated = &evaluate.BaselineComparison{LogLik: 1, LinearLogLik: 1.2, CRPS: 0.9}
	if line, good := Verdict(calibrated, nil, ""); good || !strings.Contains(line, "linear model with calibrated intervals") {
		t.Errorf("%v: %s", good, line)
	}
}
