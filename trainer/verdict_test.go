package trainer

import (
	"strings"
	"testing"

	"github.com/dgm-robotics/dgm/trainer/evaluate"
)

// judgement returns a table of one channel at two horizons.
func judgement(model, linear, coverage float64) *evaluate.Table {
	t := &evaluate.Table{Geo: evaluate.Geo{Model: model, Velocity: 0.9, Linear: linear}}
	for _, h := range []float64{0.1, 0.5} {
		t.Horizons = append(t.Horizons, evaluate.Horizon{
			T: h, Coverage95: coverage, Coverage95Low: coverage - 0.02, Coverage95High: coverage + 0.02,
			Channels: []evaluate.Channel{{Name: "x", RMSE: model, Hold: 1, Velocity: 0.9, Linear: linear}},
		})
	}
	return t
}

func TestVerdict(t *testing.T) {
	for _, c := range []struct {
		name string
		res  Result
		says string
		good bool
	}{
		{"nothing held out", Result{}, "nothing is known", false},
		{"good", Result{Table: judgement(0.2, 0.4, 0.95)}, "beats the best simple predictor", true},
		{"as good as a linear model", Result{Table: judgement(0.399, 0.4, 0.95)}, "is no better than the best simple predictor, the linear model: 0.998", false},
		{"worse", Result{Table: judgement(0.5, 0.4, 0.95)}, "A simple predictor beats the model", false},
		{"stopped", Result{Table: judgement(0.2, 0.4, 0.95), Partial: "by hand"}, "The training ended early", false},
		{"stopped and narrow", Result{Table: judgement(0.2, 0.4, 0.8), Partial: "by hand"}, "As far as it got, it supports no horizon", false},
		{"wide", Result{Table: judgement(0.2, 0.4, 0.995)}, "wider than they need to be", false},
		{"narrow", Result{Table: judgement(0.2, 0.4, 0.8)}, "The data support no horizon", false},
		{"hold", Result{Table: judgement(0.2, 0.4, 0.95), HoldTable: judgement(0.3, 0.4, 0.94)}, "Without a plan, the last input held, it has 1.5 times the error that it has with one, and its intervals held 94 %", true},
		{"hold is false", Result{Table: judgement(0.2, 0.4, 0.95), HoldTable: judgement(0.3, 0.4, 0.7)}, "intervals held 70 %", false},
	} {
		line, good := verdict(&c.res)
		if !strings.Contains(line, c.says) || good != c.good {
			t.Errorf("%s: %v: %s", c.name, good, line)
		}
	}
	for _, x := range []struct {
		rmse float64
		says string
		good bool
	}{{0.415, "", true}, {0.52, "It loses on y (after 0.5 s 1.3 times the error of the linear model).", true}, {1.2, "It loses on y (after 0.5 s 3 times the error of the linear model).", false}} {
		one := judgement(0.2, 0.4, 0.95)
		for i := range one.Horizons {
			y := one.Horizons[i].Channels[0]
			y.Name, y.RMSE = "y", x.rmse*one.Horizons[i].T/0.5
			one.Horizons[i].Channels = append(one.Horizons[i].Channels, y, evaluate.Channel{Name: "still"})
		}
		line, good := verdict(&Result{Table: one})
		if good != x.good || !strings.Contains(line, x.says) || strings.Contains(line, "loses") != (x.says != "") {
			t.Errorf("%v: %v: %s", x.rmse, good, line)
		}
	}
	fair := judgement(0.2, 0.4, 0.95)
	fair.Calibrated = &evaluate.BaselineComparison{LogLik: 1, LinearLogLik: 1.2, CRPS: 0.9}
	if line, good := verdict(&Result{Table: fair}); good || !strings.Contains(line, "linear model with calibrated intervals") {
		t.Errorf("%v: %s", good, line)
	}
}
