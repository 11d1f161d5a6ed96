package evaluate

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"math"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/dgm-robotics/dgm/estimator"
	"github.com/dgm-robotics/dgm/estimator/history"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/trainer/window"
)

func run(t *testing.T, m *model.Model, f []window.Flight, opt Options) *Table {
	t.Helper()
	table, err := Run(context.Background(), m, f, opt)
	if err != nil {
		t.Fatal(err)
	}
	return table
}

func within(t *testing.T, what string, got, want, share float64) {
	t.Helper()
	if !(math.Abs(got-want) <= share*math.Abs(want)) {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

// An exact model with declared noise has scores that can be computed.
func TestScoresOfAnExactModel(t *testing.T) {
	m := handmade(0)
	m.Baseline = still()
	flights := shaft(rand.New(rand.NewPCG(1, 1)), 40000, 5, 0, 1)
	table := run(t, m, flights, Options{Horizons: []float64{0.1, 0.5}, Stride: 0.005})
	if table.Windows != 39900 {
		t.Errorf("%d windows", table.Windows)
	}
	for _, h := range table.Horizons {
		c := h.Channels[0]
		sd := math.Sqrt2 * angleNoise
		// The measured rate is a little wrong, too.
		want := math.Hypot(sd, rateNoise*h.T)
		within(t, "rmse", c.RMSE, want, 0.02)
		within(t, "velocity", c.Velocity, want, 0.02)
		within(t, "hold", c.Hold, 5*h.T, 0.02)
		within(t, "linear", c.Linear, math.Hypot(h.T, sd), 0.03)
		within(t, "std", c.Std, sd, 1e-6)
		within(t, "loglik", c.LogLik, -0.5-math.Log(sd)-0.5*math.Log(2*math.Pi), 0.02)
		within(t, "crps", c.CRPS, sd/math.SqrtPi, 0.02)
		within(t, "coverage50", c.Coverage50, 0.5, 0.03)
		within(t, "coverage90", c.Coverage90, 0.9, 0.02)
		within(t, "coverage95", c.Coverage95, 0.95, 0.01)
		if !(c.Coverage95Low < 0.95 && 0.95 < c.Coverage95High && c.Coverage95High-c.Coverage95Low < 0.02) {
			t.Errorf("coverage %v in [%v, %v]", c.Coverage95, c.Coverage95Low, c.Coverage95High)
		}
		if !(h.Coverage95Low <= h.Coverage95 && h.Coverage95 <= h.Coverage95High) {
			t.Errorf("mean coverage %v in [%v, %v]", h.Coverage95, h.Coverage95Low, h.Coverage95High)
		}
		for _, r := range h.Reliability {
			if math.Abs(r.Nominal-r.Observed) > 0.02 {
				t.Errorf("reliability %+v", r)
			}
		}
	}
	if table.Geo.Model > table.Geo.Linear || table.Geo.Linear > 1 {
		t.Errorf("geo %+v", table.Geo)
	}
}

func TestTruthScoresTheState(t *testing.T) {
	flights := shaft(rand.New(rand.NewPCG(2, 2)), 2000, 5, 0, 0)
	opt := Options{Horizons: []float64{0.5}}
	measured := run(t, handmade(0), flights, opt).Horizons[0].Channels[0]
	opt.Truth = true
	state := run(t, handmade(0), flights, opt).Horizons[0].Channels[0]
	within(t, "std of the state", state.Std, angleNoise, 1e-6)
	within(t, "std of a measurement", measured.Std, math.Sqrt2*angleNoise, 1e-6)
}

// A channel that is measured at every fifth sample is scored where it was measured; where no
// window ends next to its samples the table names it.
func TestSlowChannelIsScoredWhereMeasured(t *testing.T) {
	flights := shaft(rand.New(rand.NewPCG(5, 5)), 4000, 5, 0, 1)
	opt := Options{Horizons: []float64{0.1, 0.31, 0.5}, Stride: 0.005}
	for i := range flights[0].N() {
		if i%5 != 0 {
			flights[0].X[2*i] = math.NaN()
		}
	}
	table := run(t, handmade(0), flights, opt)
	for i, want := range [][]string{nil, {"angle"}, nil} {
		if got := table.Horizons[i].Interpolated; !slices.Equal(got, want) {
			t.Errorf("after %g s %v are interpolated, want %v", table.Horizons[i].T, got, want)
		}
	}
}

func TestResultDoesNotDependOnWorkers(t *testing.T) {
	m := handmade(0)
	flights := shaft(rand.New(rand.NewPCG(3, 3)), 5000, 5, 0, 1)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	one := run(t, m, flights, Options{Stride: 0.005})
	runtime.GOMAXPROCS(3)
	if three := run(t, m, flights, Options{Stride: 0.005}); !reflect.DeepEqual(one, three) {
		t.Error("the table depends on the number of workers")
	}
}

func TestReadoutsHaveTheirInput(t *testing.T) {
	flights := shaft(rand.New(rand.NewPCG(4, 4)), 3000, 0, 1, 0)
	opt := Options{Horizons: []float64{horizon}}
	plan := run(t, handmade(1), flights, opt)
	opt.Readout = estimator.Hold
	hold := run(t, handmade(1), flights, opt)
	if plan.Inputs != "plan" || hold.Inputs != "hold" {
		t.Errorf("inputs %q and %q", plan.Inputs, hold.Inputs)
	}
	if e := plan.Horizons[0].Channels[1].RMSE; e > 1e-6 {
		t.Errorf("the plan is known and the rate is wrong by %v", e)
	}
	if e := hold.Horizons[0].Channels[1].RMSE; e < 0.1 {
		t.Errorf("the input steps are not in the prediction and the rate is wrong by %v only", e)
	}
}

// Windows too close to the beginning of their flight have less history than the model
// reads, and are counted.
func TestWindowsWithoutHistoryAreCounted(t *testing.T) {
	m := handmade(0)
	m.History = history.Spec{Edges: []float64{0.05, 0.1}}
	flights := append(shaft(rand.New(rand.NewPCG(1, 1)), 400, 5, 0, 1), shaft(rand.New(rand.NewPCG(2, 1)), 300, 5, 0, 1)...)
	table := run(t, m, flights, Options{Horizons: []float64{0.1}, Stride: 0.02})
	if table.NoHistory != 10 || table.Windows != 165 {
		t.Errorf("%d of %d windows", table.NoHistory, table.Windows)
	}
	var b bytes.Buffer
	if err := table.WriteText(&b); err != nil || !strings.Contains(b.String(), "10 of the windows") {
		t.Errorf("%v in %s", err, b.String())
	}
}

func TestErrorsOfRun(t *testing.T) {
	flights := shaft(rand.New(rand.NewPCG(5, 5)), 200, 5, 0, 1)
	ctx := context.Background()
	for name, c := range map[string]struct {
		opt  Options
		want string
		edit func(m *model.Model)
	}{
		"too far":  {opt: Options{Horizons: []float64{0.1, 2}}, want: "horizon 2 s is beyond the model's"},
		"negative": {opt: Options{Horizons: []float64{-1}}, want: "not positive"},
		"no width": {opt: Options{Truth: true}, want: `channel "rate" after`, edit: func(m *model.Model) {
			m.Sensor[1] = 1 // more than all noise there is, and the posterior has none
			for i := range m.Members[0].Posterior[0].InverseFactor[1] {
				m.Members[0].Posterior[0].InverseFactor[1][i] = 0
			}
		}},
	} {
		m := handmade(0)
		if c.edit != nil {
			c.edit(m)
		}
		if _, err := Run(ctx, m, flights, c.opt); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v", name, err)
		}
	}
	if _, err := Run(ctx, handmade(0), shaft(rand.New(rand.NewPCG(5, 5)), 50, 5, 0, 1), Options{}); err == nil || !strings.Contains(err.Error(), "longest gap-free section") {
		t.Errorf("short log: error %v", err)
	}
	m := handmade(0)
	m.Scale[0] = 1e308
	m.Sensor[0] = 0
	if _, err := Run(ctx, m, flights, Options{}); !errors.Is(err, errNotFinite) {
		t.Errorf("overflow: error %v", err)
	}
	stopped, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := Run(stopped, handmade(0), flights, Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: error %v", err)
	}
}

// An unstable linear model leaves the table finite.
func TestLinearOverflowStaysFinite(t *testing.T) {
	m := handmade(0)
	m.Baseline = still()
	m.Baseline.A[8] = 1e200
	table := run(t, m, shaft(rand.New(rand.NewPCG(6, 6)), 500, 5, 0, 1), Options{})
	if l := table.Horizons[len(table.Horizons)-1].Channels[1].Linear; !(l >= 1e11) || math.IsInf(l, 0) {
		t.Errorf("linear %v", l)
	}
	if _, err := json.Marshal(table); err != nil {
		t.Error(err)
	}
}

func TestJSONKeepsItsNames(t *testing.T) {
	table := run(t, handmade(0), shaft(rand.New(rand.NewPCG(7, 7)), 1000, 5, 0, 1), Options{})
	table.Model, table.Log = "a.dgm", "b.msgpack"
	raw, err := json.Marshal(table)
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Model, Log, Inputs *string
		Windows            *int
		Horizons           []struct {
			T        *float64
			Channels []map[string]any
		}
	}
	if err := json.Unmarshal(raw, &doc); err != nil {
		t.Fatal(err)
	}
	if doc.Model == nil || doc.Log == nil || doc.Inputs == nil || doc.Windows == nil || doc.Horizons[0].T == nil {
		t.Fatalf("a name is missing in %s", raw)
	}
	for _, name := range []string{"name", "unit", "rmse", "hold", "velocity", "linear", "coverage50", "coverage90", "coverage95",
		"coverage95_low", "coverage95_high", "crps", "loglik", "std", "ood"} {
		if doc.Horizons[0].Channels[0][name] == nil {
			t.Errorf("%s is missing", name)
		}
	}
}

func TestTextAndPictureAreComplete(t *testing.T) {
	m := handmade(0)
	flights := shaft(rand.New(rand.NewPCG(8, 8)), 2000, 5, 0, 1)
	table := run(t, m, flights, Options{})
	var text bytes.Buffer
	if err := table.WriteText(&text); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"angle", "rad/s", "velocity", "0.5 s", "in 95%", "windows, at least 0.02 s apart", "RMSE over that of holding"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("%q is missing in\n%s", want, text.String())
		}
	}
	trace, err := Follow(m, flights, Options{}, horizon, 200)
	if err != nil {
		t.Fatal(err)
	}
	if len(trace.T) != 200 || math.Abs(trace.Truth[0][100]-trace.Mean[0][100]) > 6*trace.Std[0][100] || trace.T[0] != horizon {
		t.Errorf("trace of %d points, from %v", len(trace.T), trace.T[0])
	}
	var svg bytes.Buffer
	if err := WriteSVG(&svg, table, trace); err != nil {
		t.Fatal(err)
	}
	decoder := xml.NewDecoder(&svg)
	words := ""
	for {
		token, err := decoder.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if s, ok := token.(xml.CharData); ok {
			words += string(s)
		}
	}
	for _, want := range []string{"angle", "rate", "measured", "95 %", "50 %", "hold", "linear", "RMSE, rad/s", "time in the segment, s", "0.5 s ahead"} {
		if !strings.Contains(words, want) {
			t.Errorf("%q is missing in the picture", want)
		}
	}
}

func TestTheBestBaseline(t *testing.T) {
	for _, c := range []struct {
		geo   Geo
		name  string
		ratio float64
	}{
		{Geo{0.1, 0.5, 0.2, 0.4}, LinearName, 0.5}, {Geo{0.3, 0.1, 0.2, 0.2}, VelocityName, 3}, {Geo{2, 3, 4, 5}, HoldName, 2},
		{Geo{0.1, 0.5, 0.3, 0.2}, RidgeName, 0.5}, {Geo{0.1, 0.5, 0.2, 0}, LinearName, 0.5},
	} {
		if name, ratio := c.geo.Best(); name != c.name || math.Abs(ratio-c.ratio) > 1e-9 {
			t.Errorf("%+v: %s, %v", c.geo, name, ratio)
		}
	}
}

// The comparison with the prior dynamics finds what a network adds, and nothing where it
// adds nothing.
func TestNetworksBesidePriorDynamics(t *testing.T) {
	// The network reads the input, the prior dynamics (constant velocity) do not.
	driven := shaft(rand.New(rand.NewPCG(21, 1)), 3000, 0, 1, 1)
	n := run(t, handmade(1), driven, Options{Horizons: []float64{0.1, horizon}}).Networks
	if n == nil || n.BelowNoise() || n.GainLow <= 0 || n.RMSERatio >= 0.9 || n.LogLik <= n.PriorLogLik || !(n.GainLow <= n.LogLik-n.PriorLogLik && n.LogLik-n.PriorLogLik <= n.GainHigh) {
		t.Errorf("a network that adds: %+v", n)
	}
	// An input that does nothing: the network adds an error.
	free := shaft(rand.New(rand.NewPCG(21, 2)), 3000, 5, 0, 1)
	if n := run(t, handmade(1), free, Options{}).Networks; n.BelowNoise() || n.GainHigh >= 0 || n.RMSERatio <= 1.1 {
		t.Errorf("a network that spoils: %+v", n)
	}
	// A network of weight zero, and one whose weight the model sets to zero.
	if n := run(t, handmade(0), free, Options{}).Networks; !n.BelowNoise() || math.Abs(n.RMSERatio-1) > 1e-9 || math.Abs(n.LogLik-n.PriorLogLik) > 1e-9 {
		t.Errorf("a network that adds nothing: %+v", n)
	}
	m := handmade(1)
	m.NetworkWeight = [][]float64{{0, 0}, {0, 0}}
	table := run(t, m, free, Options{})
	if n := table.Networks; !n.BelowNoise() || len(n.PriorRMSE) != len(table.Horizons) || math.Abs(n.PriorRMSE[0][0]/table.Horizons[0].Channels[0].RMSE-1) > 1e-9 {
		t.Errorf("network weight 0: %+v", n)
	}
}

func TestNetworksInWords(t *testing.T) {
	for want, n := range map[string]Networks{
		"less than the noise": {RMSERatio: 0.98, LogLik: 1, PriorLogLik: 0.95, GainLow: -0.01, GainHigh: 0.1},
		"negligible":          {RMSERatio: 1.001, LogLik: 3.48, PriorLogLik: 3.4805, GainLow: -0.001, GainHigh: -0.0001},
		"improve":             {RMSERatio: 0.9, LogLik: 1, PriorLogLik: 0.5, GainLow: 0.4, GainHigh: 0.6},
		"worse":               {RMSERatio: 1.2, LogLik: 0.5, PriorLogLik: 1, GainLow: -0.6, GainHigh: -0.4},
	} {
		if got := n.String(); !strings.Contains(got, want) || strings.Contains(got, "-") {
			t.Errorf("%+v: %s", n, got)
		}
	}
}

func TestRelativeRMSE(t *testing.T) {
	for ratio, want := range map[float64]string{1: "same RMSE", 0.996: "same RMSE", 0.341: "66 % lower RMSE", 2.56: "156 % higher RMSE"} {
		if got := RelativeRMSE(ratio); got != want {
			t.Errorf("%v: %q, want %q", ratio, got, want)
		}
	}
}

func TestGrid(t *testing.T) {
	for _, c := range []struct {
		H    float64
		want []float64
	}{
		{1, []float64{0.05, 0.1, 0.2, 0.5, 1}},
		{0.5, []float64{0.05, 0.1, 0.2, 0.5}},
		{10, []float64{0.5, 1, 2, 5, 10}},
		{0.3, []float64{0.02, 0.05, 0.1, 0.2, 0.3}},
	} {
		if got := Grid(c.H); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%v: %v, want %v", c.H, got, c.want)
		}
	}
}

// The noise of a sensor is taken from all errors; what is left of less than a fiftieth of it is not told from none.
func TestGeoStateIsWithoutNoise(t *testing.T) {
	rows := []Horizon{{Channels: []Channel{{Noise: 3, Errors: Errors{RMSE: 5, Hold: 10, Velocity: 5, Linear: 3, Ridge: math.Sqrt(9.01)}}}}}
	g := geoOf(rows, func(c *Channel) Errors { return c.without(c.Noise) })
	hold := math.Sqrt(91)
	for name, c := range map[string][2]float64{"model": {g.Model, 4 / hold}, "velocity": {g.Velocity, 4 / hold}, "linear": {g.Linear, math.Sqrt(0.18) / hold}, "ridge": {g.Ridge, math.Sqrt(0.18) / hold}} {
		if math.Abs(c[0]-c[1]) > 1e-12 {
			t.Errorf("%s: %v, want %v", name, c[0], c[1])
		}
	}
	if share := (&Table{Horizons: rows}).NoiseShare(); math.Abs(share-0.36) > 1e-12 {
		t.Errorf("share %v", share)
	}
}
