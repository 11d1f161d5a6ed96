package evaluate

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/dgm-robotics/dgm/estimator/adapt"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/priordynamics"
	"github.com/dgm-robotics/dgm/trainer/estimation"
	"github.com/dgm-robotics/dgm/trainer/window"
)

// accelerated is a model of the shaft whose difference equation says that u accelerates it.
func accelerated() *model.Model {
	const step = 0.05
	m := handmade(0)
	e := priordynamics.Model{Step: step, Degree: 1, Lift: m.Inputs.Lift, UMean: []float64{0}, UStd: []float64{1}, Bound: slices.Repeat([]float64{1e6}, 4)}
	e.Weights = make([]float64, 2*e.Terms()) // of 1, sin, cos, rate, u
	e.Weights[2*3], e.Weights[2*4], e.Weights[2*4+1] = step, step*step/2, step
	m.Stack = []model.Component{{Kind: model.Equation, Members: []priordynamics.Model{e}}}
	m.Adaptation.Rate = []float64{10, 2}
	return m
}

func TestAdaptationFollowsAWornActuator(t *testing.T) {
	m, opt := accelerated(), Options{Horizons: []float64{0.05, 0.25, horizon}}
	worn := shaft(rand.New(rand.NewPCG(31, 1)), 3000, -10, 0.8, 1)
	a, err := Adapt(context.Background(), m, worn, opt)
	if err != nil {
		t.Fatal(err)
	}
	last := a.Since[len(a.Since)-1]
	if a.RMSE > 0.9 || last.RMSE > 0.7 || last.Coverage95 < 0.9 || last.Before > 0.8 {
		t.Errorf("all %+v, at the end %+v", a.Ratios, last)
	}
	gain := a.Amounts[slices.IndexFunc(a.Amounts, func(a adapt.Amount) bool { return a.Name == "gain u" })]
	if math.Abs(gain.Value+20) > 5 {
		t.Errorf("%+v", gain)
	}
	var text strings.Builder
	if err := a.WriteText(&text); err != nil || !strings.Contains(text.String(), "gain u") {
		t.Errorf("%v\n%s", err, &text)
	}
	plain := run(t, m, worn, opt)
	if len(a.Horizons) != len(plain.Horizons) || !(a.Geo.Model < plain.Geo.Model) {
		t.Errorf("%+v beside %+v", a.Geo, plain.Geo)
	}
	same, err := Adapt(context.Background(), m, shaft(rand.New(rand.NewPCG(31, 2)), 3000, -10, 1, 1), opt)
	if err != nil || same.RMSE > 1.02 || same.Coverage95 < 0.92 {
		t.Errorf("%v: unchanged %+v", err, same.Ratios)
	}
}

// Each flight begins with nothing learned, and what comes after a state changes nothing before
// it.
func TestAdaptationIsCausal(t *testing.T) {
	m, opt := accelerated(), Options{Horizons: []float64{0.1}}
	whole := shaft(rand.New(rand.NewPCG(31, 3)), 2000, -10, 0.8, 1)
	head := []window.Flight{whole[0].Slice(0, 1000)}
	a, err := Adapt(context.Background(), m, append(slices.Clone(head), head...), opt)
	if err != nil {
		t.Fatal(err)
	}
	b, err := Adapt(context.Background(), m, head, opt)
	if err != nil {
		t.Fatal(err)
	}
	c, err := Adapt(context.Background(), m, whole, opt)
	if err != nil {
		t.Fatal(err)
	}
	for i := range b.Since[:len(b.Since)-1] {
		if math.Abs(a.Since[i].RMSE-b.Since[i].RMSE) > 1e-9 || a.Since[i].N != 2*b.Since[i].N {
			t.Errorf("%+v twice is %+v", b.Since[i], a.Since[i])
		}
		if b.Since[i] != c.Since[i] {
			t.Errorf("%+v is %+v before more of the flight", b.Since[i], c.Since[i])
		}
	}
}

// Where windows are further apart than the stride, as many are independent as without adaptation.
func TestAdaptationCountsIndependentWindows(t *testing.T) {
	m, opt := accelerated(), Options{Horizons: []float64{0.1}, Stride: 0.001}
	flights := shaft(rand.New(rand.NewPCG(31, 5)), 500, -10, 1, 1) // at 200 Hz
	a, err := Adapt(context.Background(), m, flights, opt)
	if err != nil {
		t.Fatal(err)
	}
	if want := run(t, m, flights, opt).Horizons[0].Independent; a.Horizons[0].Independent != want {
		t.Errorf("%v independent windows, want %v", a.Horizons[0].Independent, want)
	}
}

func TestModelsThatCannotAdapt(t *testing.T) {
	if _, err := Adapt(context.Background(), handmade(0), shaft(rand.New(rand.NewPCG(31, 4)), 500, 5, 0, 1), Options{}); !errors.Is(err, adapt.ErrNone) {
		t.Errorf("%v", err)
	}
}

func TestRecovered(t *testing.T) {
	since := func(from, crps float64) Since { return Since{From: from, Ratios: Ratios{CRPS: crps}} }
	for name, c := range map[string]struct {
		since []Since
		want  float64
	}{
		"from 2 s on as from 10 s on": {[]Since{since(0, 1), since(1, 0.6), since(2, 0.35), since(10, 0.3), since(20, 0.3)}, 2},
		"a short flight":              {[]Since{since(0, 1), since(1, 0.5)}, 1},
		"nothing was scored":          {nil, math.NaN()},
	} {
		if got := (&Adapted{Since: c.since}).Recovered(); got != c.want && !(math.IsNaN(got) && math.IsNaN(c.want)) {
			t.Errorf("%s: %v s, expected %v", name, got, c.want)
		}
	}
}

// Programs read these names.
func TestNamesOfRatios(t *testing.T) {
	b, err := json.Marshal(&Adapted{Geo: Geo{Model: 0.5}, Ratios: Ratios{RMSE: 0.7, Width: 0.8, CRPS: 0.6}})
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal(b, &got); err != nil {
		t.Fatal(err)
	}
	_, horizons := got["horizons"]
	if geo, _ := got["geo"].(map[string]any); geo["model"] != 0.5 || got["rmse_ratio"] != 0.7 || got["width_ratio"] != 0.8 || got["crps_ratio"] != 0.6 || !horizons {
		t.Errorf("%s", b)
	}
}

// filtered is accelerated with a filter whose estimate of the rate has settled below a variance.
func filtered(settled float64) (*model.Model, Options) {
	m, opt := accelerated(), Options{Horizons: []float64{0.05, 0.25, horizon}}
	m.Filter = &model.Filter{
		R: []float64{angleNoise * angleNoise, rateNoise * rateNoise}, Chains: []model.FilterChain{{Position: 0, Rate: 1, Q: 1e-7, Settled: settled}},
		Start: []float64{1, 1}, Gap: 1, Equation: *model.EquationOf(m.Stack),
	}
	return m, opt
}

// A filter that moves the robot as adaptation has learned it settles at other samples than that without: windows whose start it does
// not know are not scored.
func TestAdaptationBeforeTheFilterHasSettled(t *testing.T) {
	m, opt := filtered(1e-5)
	m.Channels = slices.Clone(m.Channels)
	m.Channels[1].Estimated, m.Filter.R[1] = true, 0
	known := shaft(rand.New(rand.NewPCG(31, 1)), 600, -10, 1, 1) // at the first sample, too
	a, err := Adapt(context.Background(), m, known, opt)
	if err != nil {
		t.Fatal(err)
	}
	if len(a.Since) == 0 || a.Since[0].From == 0 { // it settles within the second second
		t.Errorf("scored are %+v", a.Since)
	}
}

// Flights that end before the filter has settled, as short blocks that are held out may, are no reason to refuse a model.
func TestAdaptationWithoutASettledFilter(t *testing.T) {
	m, opt := filtered(1e-12)
	m.Channels = slices.Clone(m.Channels)
	m.Channels[1].Estimated, m.Filter.R[1] = true, 0
	if _, err := Adapt(context.Background(), m, shaft(rand.New(rand.NewPCG(31, 1)), 600, -10, 1, 1), opt); !errors.Is(err, ErrUnsettled) {
		t.Errorf("%v", err)
	}
}

// The filter of a model moves the robot as adaptation has learned it: with the equation of the model its estimates would stay behind
// those of a worn robot.
func TestTheFilterFollowsAWornActuator(t *testing.T) {
	m, opt := filtered(1)
	worn, _, err := estimation.As(m, shaft(rand.New(rand.NewPCG(31, 1)), 3000, -10, 0.8, 3))
	if err != nil {
		t.Fatal(err)
	}
	a, err := Adapt(context.Background(), m, worn, opt)
	if err != nil {
		t.Fatal(err)
	}
	last := a.Since[len(a.Since)-1]
	if last.RMSE > 0.29 || last.Coverage95 < 0.93 { // with the equation as it was 0.36
		t.Errorf("all %+v, at the end %+v", a.Ratios, last)
	}
}
