package report

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/dgm-robotics/dgm/trainer/evaluate"
)

// table returns a table of one channel at two horizons, of many independent windows.
func table(model, ridge, coverage float64) *evaluate.Table {
	t := &evaluate.Table{Geo: evaluate.Geo{Model: model, Velocity: 0.9, Linear: 0.8, Ridge: ridge}}
	for _, h := range []float64{0.1, 0.5} {
		t.Horizons = append(t.Horizons, evaluate.Horizon{
			T: h, Independent: 1000, Coverage95: coverage, Coverage95Low: coverage - 0.02, Coverage95High: coverage + 0.02,
			Channels: []evaluate.Channel{{Name: "x", Coverage50: 0.5, Coverage95: coverage, Errors: evaluate.Errors{RMSE: model, Hold: 1, Velocity: 0.9, Linear: 0.8, Ridge: ridge}}},
		})
	}
	return t
}

func edited(t *evaluate.Table, edit func(t *evaluate.Table)) *evaluate.Table {
	edit(t)
	return t
}

// withFlights sets how data were held out, and how many whole flights calibrated.
func withFlights(whole *bool, n int) *evaluate.Table {
	return edited(table(0.2, 0.4, 0.95), func(t *evaluate.Table) { t.WholeFlights, t.CalibrationFlights = whole, &n })
}

// centre is a good table but for the coverage of its 50 % intervals at the last horizon.
func centre(coverage float64) *evaluate.Table {
	return edited(table(0.2, 0.4, 0.95), func(t *evaluate.Table) { t.Horizons[1].Channels[0].Coverage50 = coverage })
}

// noisyTable has errors of which nine tenths of the squares are the noise of the sensor: that of the ridge regression without it is
// given, the model's is 0.1.
func noisyTable(ridge float64) *evaluate.Table {
	return edited(table(0.316, 0.32, 0.95), func(t *evaluate.Table) {
		t.GeoState = &evaluate.Geo{Model: 0.1, Velocity: 0.9, Linear: 0.8, Ridge: ridge}
		for i := range t.Horizons {
			t.Horizons[i].Channels[0].Noise = 0.3
		}
	})
}

func TestVerdict(t *testing.T) {
	yes, no := true, false
	for _, c := range []struct {
		name        string
		table, hold *evaluate.Table
		partial     string
		level       Level
		reason      string
	}{
		{"nothing held out", nil, nil, "", No, "unknown"},
		{"good", table(0.2, 0.4, 0.95), nil, "", Use, "better than the best baseline, the ridge regression: 50 % lower RMSE, and 95 % intervals covered 95 %"},
		{"not clearly better", table(0.376, 0.4, 0.95), nil, "", Care, "not clearly better than the best baseline, the ridge regression: 6 % lower RMSE"},
		{"just better", table(0.36, 0.4, 0.95), nil, "", Use, "10 % lower"},
		{"worse", table(0.5, 0.4, 0.95), nil, "", No, "worse than the best baseline, the ridge regression: 25 % higher RMSE"},
		{"stopped", table(0.2, 0.4, 0.95), nil, "stopped by hand", Care, "The training ended early: stopped by hand."},
		{"stopped and far too narrow", table(0.2, 0.4, 0.6), nil, "stopped by hand", No, "far too narrow"},
		{"mostly noise", noisyTable(0.3), nil, "", Use, "better than the best baseline, the ridge regression: without the noise of the sensors, which is 90 % of its squared error, 67 % lower RMSE"},
		{"mostly noise, and worse beside it", noisyTable(0.08), nil, "", Care, "not clearly better than the best baseline, the ridge regression: without the noise"},
		{"mostly noise, and no better", noisyTable(0.11), nil, "", Care, "not clearly better than the best baseline, the ridge regression: without the noise"},
		{"wide", table(0.2, 0.4, 0.995), nil, "", Care, "wider than necessary after 0.1 s"},
		{"92 % is not too wide", table(0.2, 0.4, 0.92), nil, "", Use, "covered 92 %"},
		{"50 % intervals too narrow", centre(0.25), nil, "", Care, "50 % intervals covered 25 % of the evaluated measurements after 0.5 s, as a mean over channels."},
		{"50 % intervals too wide", centre(0.8), nil, "", Care, "50 % intervals covered 80 %"},
		{"50 % intervals a little narrow", centre(0.4), nil, "", Use, ""},
		{"50 % intervals on few windows", edited(centre(0.25), func(t *evaluate.Table) { t.Horizons[1].Independent = 8 }), nil, "", Use, ""},
		{"83 %", table(0.2, 0.4, 0.83), nil, "", Care, "covered 83 % of the evaluated measurements, by horizon: too narrow"},
		{"worse than holding after 0.1 s", edited(table(0.2, 0.4, 0.95), func(t *evaluate.Table) { t.Horizons[1].Channels[0].Hold = 0.1 }), nil, "", Care, "worse than the best baseline on x"},
		{"hold", table(0.2, 0.4, 0.95), table(0.3, 0.4, 0.94), "", Use, ""},
		{"hold is not calibrated", table(0.2, 0.4, 0.95), table(0.3, 0.4, 0.7), "", Care, "with the last input held: 50 % higher RMSE than with the plan, 25 % lower RMSE than the best baseline, the ridge regression, and 95 % intervals covered 70 %"},
		{"worse than ridge without a plan", table(0.2, 0.4, 0.95), table(0.8, 0.4, 0.95), "", Care, "Use it only with a plan: without one, with the last input held: 300 % higher RMSE than with the plan, 100 % higher RMSE than the best baseline, the ridge regression,"},
		{"as good as ridge without a plan", table(0.2, 0.4, 0.95), table(0.4, 0.4, 0.95), "", Use, ""},
		{"blocks", withFlights(&no, 0), nil, "", Care, "No whole flight was held out"},
		{"three flights", withFlights(&yes, 3), nil, "", Care, "The intervals were calibrated on only 3 whole flights: another flight may not be covered."},
		{"four flights", withFlights(&yes, 4), nil, "", Use, ""},
		{"three flights, on another", withFlights(nil, 3), nil, "", Use, ""},
		{"an angle without a period", edited(table(0.2, 0.4, 0.95), func(t *evaluate.Table) { t.Angles = []string{"theta"} }), nil, "", Care, "without a period: theta"},
		{"held out", withFlights(&yes, 4), nil, "", Use, "covered 95 % of the held-out measurements"},
		{"evaluated", table(0.2, 0.4, 0.95), nil, "", Use, "covered 95 % of the evaluated measurements"},
		{"a part of its own log", edited(table(0.2, 0.4, 0.95), func(t *evaluate.Table) { t.Trained, t.Segments = []string{"a.msgpack, segment 1"}, 2 }), nil, "", Care, "was trained on 1 of the 2 segments of these data"},
		{"its own log, far too narrow", edited(table(0.2, 0.4, 0.6), func(t *evaluate.Table) { t.Trained, t.Segments = []string{"a.msgpack, segment 1"}, 1 }), nil, "", No, "of the measurements, which it was trained on, by horizon: far too narrow"},
		{"its own log", edited(table(0.2, 0.4, 0.95), func(t *evaluate.Table) { t.Trained = []string{"a.msgpack, segment 1"} }), nil, "", Care, "was trained on these data"},
		{"two windows", edited(table(0.2, 0.4, 0.95), func(t *evaluate.Table) { t.Horizons[1].Independent = 2 }), nil, "", Care, "Only about 2 windows"},
		{"a linear model has as good distributions", edited(table(0.2, 0.4, 0.95), func(t *evaluate.Table) {
			t.Calibrated = &evaluate.BaselineComparison{LogLik: 1, LinearLogLik: 1.2, CRPS: 0.9}
		}), nil, "", Care, "linear model with calibrated intervals"},
		{"most flagged", edited(table(0.2, 0.4, 0.95), func(t *evaluate.Table) {
			for i := range t.Horizons {
				t.Horizons[i].Channels[0].OOD = 0.6
			}
		}), nil, "", Care, "60 % of the predictions were flagged OOD"},
	} {
		v := Judge(c.table, c.hold, Facts{Partial: c.partial})
		if v.Level != c.level || !strings.Contains(v.Reason, c.reason) || v.Next == "" || strings.Count(v.Reason, ". ") > 0 {
			t.Errorf("%s: %+v", c.name, v)
		}
		for _, d := range v.Details {
			if d == v.Reason || d == "" {
				t.Errorf("%s: the reason is repeated: %+v", c.name, v)
			}
		}
		label := c.level.Label()
		if c.partial != "" {
			label += " (partial)"
		}
		if !strings.HasPrefix(v.Text(), label+": ") {
			t.Errorf("%s: %s", c.name, v.Text())
		}
	}
}

// What to record next names the states that were measured too slowly, where more flights like
// these would not help.
func TestVerdictOfSlowLogs(t *testing.T) {
	for _, ratio := range []float64{0.2, 0.5} {
		v := Judge(edited(table(ratio, 0.4, 0.95), func(t *evaluate.Table) { t.Slow = []string{"x", "vx"} }), nil, Facts{})
		if strings.HasPrefix(v.Next, "Log x, vx at 50 Hz or more") != (v.Level == No) {
			t.Errorf("%+v", v)
		}
	}
}

// A channel whose intervals are too narrow is not hidden by the mean over channels; one that
// is far behind a baseline is named.
func TestVerdictOfOneChannel(t *testing.T) {
	many := func(n int, coverage func(channel int) float64) *evaluate.Table {
		out := table(0.2, 0.4, 0.95)
		for i := range out.Horizons {
			h := &out.Horizons[i]
			x, sum := h.Channels[0], 0.0
			h.Channels = nil
			for k := range n {
				x.Name, x.Coverage95 = fmt.Sprint("x", k), coverage(k)
				sum += x.Coverage95
				h.Channels = append(h.Channels, x)
			}
			h.Coverage95 = sum / float64(n)
			h.Coverage95High = h.Coverage95 + 0.03
		}
		return out
	}
	one := func(others, of float64) func(int) float64 {
		return func(k int) float64 {
			if k == 3 {
				return of
			}
			return others
		}
	}
	for _, c := range []struct {
		name   string
		table  *evaluate.Table
		level  Level
		reason string
	}{
		{"alike", many(12, one(0.95, 0.95)), Use, ""},
		{"one of 70 %", many(12, one(0.97, 0.7)), Care, "but only 70 % of x3 after 0.1 s"},
		{"one of 45 %", many(12, one(0.97, 0.45)), No, "but only 45 % of x3 after 0.1 s"},
		{"many a little off", many(12, func(k int) float64 { return []float64{0.85, 0.999, 0.96}[k%3] }), Care, "are too narrow at 8 and too wide at 8 of"},
	} {
		if v := Judge(c.table, nil, Facts{}); v.Level != c.level || !strings.Contains(v.Reason, c.reason) {
			t.Errorf("%s: %+v", c.name, v)
		}
	}
	behind := table(0.2, 0.4, 0.95)
	for i := range behind.Horizons {
		y := behind.Horizons[i].Channels[0]
		y.Name, y.RMSE = "y", 1.2*behind.Horizons[i].T/0.5
		behind.Horizons[i].Channels = append(behind.Horizons[i].Channels, y, evaluate.Channel{Name: "still", Coverage95: 0.95})
	}
	if v := Judge(behind, nil, Facts{}); v.Level != Care || !strings.Contains(v.Reason, "y (after 0.5 s: 200 % higher RMSE than the ridge regression)") {
		t.Errorf("a channel far behind: %+v", v)
	}
}

// A calibrated model is hardly ever said to be badly calibrated by chance on forty windows of
// eight channels; one that covers 80 % mostly is.
func TestFewWindowsDecideLittle(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 40))
	refused := func(coverage float64) (share float64) {
		const draws = 400
		for range draws {
			all := table(0.2, 0.4, 0)
			for i := range all.Horizons {
				h := &all.Horizons[i]
				x := h.Channels[0]
				h.Channels, h.Independent, h.Coverage95High = nil, 40, 1
				for range 8 {
					x.Coverage95 = 0
					for range 40 {
						if rng.Float64() < coverage {
							x.Coverage95 += 1.0 / 40
						}
					}
					h.Coverage95 += x.Coverage95 / 8
					h.Channels = append(h.Channels, x)
				}
			}
			if Judge(all, nil, Facts{}).Level != Use {
				share += 1.0 / draws
			}
		}
		return share
	}
	if s := refused(0.95); s > 0.03 {
		t.Errorf("a calibrated model is refused in %.0f %% of the draws", 100*s)
	}
	if s := refused(0.8); s < 0.9 {
		t.Errorf("a model of 80 %% is refused in %.0f %% of the draws only", 100*s)
	}
}
