package node

import (
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/node/internal/recording"
	"github.com/dgm-robotics/dgm/estimator/wire"
)

// unmeasured is the pendulum with history whose rate nothing measures.
func unmeasured() *model.Model {
	m := reading()
	m.Channels[0].Derivative = m.Channels[1].Name
	m.Channels[0].Period, m.Channels[1].Estimated = 2*math.Pi, true
	m.Filter = &model.Filter{R: []float64{1e-4, 0}, Chains: []model.FilterChain{{Position: 0, Rate: 1, Q: 100, Settled: 99}}, Start: []float64{10, 100, 1000}, Gap: 0.2}
	return m
}

// swing is an angle at sample i of 100 Hz, wrapped, and its rate.
func swing(i uint64) (angle, rate float64) {
	t := 0.01 * float64(i)
	return math.Remainder(2.5+1.5*math.Sin(3*t), 2*math.Pi), 4.5 * math.Cos(3*t)
}

// A robot that sends positions alone gets predictions that start from what the filter makes of them, in both forms of the
// state; the first ones, and those after a gap, are refused; an outlier is counted and changes nothing.
func TestPositionsAlone(t *testing.T) {
	for _, whole := range []bool{false, true} {
		n, c, nc, predictions := offlineWith(t, Config{RobotClock: true}, unmeasured())
		estimates := listen(t, nc, wire.AllEstimates)
		worst := 0.0
		for i := range uint64(300) {
			c.pass(10 * ms)
			if i == 200 {
				c.pass(1000 * ms)
			}
			angle, rate := swing(i)
			s := wire.State{Seq: i + 1, T: c.unix, X: []float64{angle}, U: []float64{0.3}, Layout: wire.Layout(unmeasured().Measured())}
			if i == 150 {
				s.X[0] += 2
			}
			if whole {
				s.X, s.Layout = append(s.X, math.NaN()), wire.Layout(unmeasured().Channels)
			}
			n.intake.Receive(s.Append(nil), 0)
			n.worker.answer(nc, n.intake.Mailbox.Get())
			var e wire.Estimate
			if err := e.Decode(<-estimates.msgs); err != nil || e.Seq != i+1 || e.Settled != !(i < 7 || i >= 200 && i < 207) {
				t.Fatalf("state %d: %v, %+v", i, err, e)
			}
			if !e.Settled {
				continue
			}
			p := predictions.prediction()
			if p.Seq != i+1 {
				t.Fatalf("prediction of state %d after state %d", p.Seq, i+1)
			}
			if i > 50 && i < 200 && i != 150 {
				worst = max(worst, math.Abs(e.X[1]-rate))
			}
			if outlier := i == 150; (e.Ratio[0] > 1) != outlier || !math.IsNaN(e.Innovation[1]) || !slices.Equal(e.Sensors, []string{"x0"}) {
				t.Errorf("state %d: %+v", i, e)
			}
		}
		if worst > 0.5 {
			t.Errorf("the rate is off by up to %v", worst)
		}
		n.worker.snapshot.request(false)
		c.pass(10 * ms)
		angle, _ := swing(300)
		n.intake.Receive((&wire.State{Seq: 301, T: c.unix, X: []float64{angle}}).Append(nil), 0)
		n.worker.answer(nc, n.intake.Mailbox.Get())
		if s := n.compose(0); s.Rejected != 1 || s.FilterResets != 1 || !(s.NIS > 0 && s.NIS < 1) || counts(s)["unsettled"] != 14 {
			t.Errorf("NIS %v, %d rejected, %d resets, reasons %v", s.NIS, s.Rejected, s.FilterResets, counts(s))
		}
	}
}

// What nothing measures is refused where it must be there.
func TestPositionsMustBeThere(t *testing.T) {
	n, c, _, _ := offlineWith(t, Config{RobotClock: true}, unmeasured())
	for name, s := range map[string]wire.State{
		"nan":    {X: []float64{math.NaN(), math.NaN()}},
		"size":   {X: []float64{1, 2, 3}},
		"layout": {X: []float64{1}, Layout: "0123456789abcdef"},
	} {
		c.pass(10 * ms)
		s.Seq, s.T = 1, c.unix
		n.intake.Receive(s.Append(nil), 0)
		if a := n.intake.Mailbox.Get(); a != nil || counts(n.compose(0))[name] != 1 {
			t.Errorf("%s: %v, %v", name, a, counts(n.compose(0)))
		}
	}
}

// A model with a filter refuses a covariance for the same reason as one without. It does not read a good one, nor what it holds of
// states that were not measured.
func TestCovariancesAreChecked(t *testing.T) {
	nan := math.NaN()
	type sent struct {
		x, P0  []float64
		reason string // "" = it is accepted
	}
	whole := []sent{
		{[]float64{0.1, 0.2}, []float64{-1, 0, 0, 1}, "covariance"},
		{[]float64{0.1, 0.2}, []float64{1e20, 0, 0, 1}, "covariance"},
		{[]float64{0.1, 0.2}, []float64{nan, 0, 0, 1}, "nan"},
		{[]float64{0.1, 0.2}, []float64{1, 0}, "size"},
		{[]float64{0.1, 0.2}, []float64{0.1, 0, 0, 0.1}, ""},
	}
	for of, all := range map[*model.Model][]sent{
		reading(): whole,
		unmeasured(): append([]sent{
			{[]float64{0.1}, []float64{-1}, "covariance"},
			{[]float64{0.1}, []float64{1, 2}, "size"},
			{[]float64{0.1}, []float64{0.1}, ""},
			{[]float64{0.1, nan}, []float64{0.1, nan, 7, -1}, ""},
		}, whole...),
	} {
		nc := connect(t, serve(t, 0).ClientURL(), nil)
		statuses := listen(t, nc, wire.StatusSubject("v1"))
		_, stop := run(t, nc, Config{}, of)
		want := map[string]uint64{}
		for i, s := range all {
			state := wire.State{Seq: uint64(i), T: testClock.unix(), X: s.x, P0: s.P0, U: []float64{0.1}}
			if err := nc.Publish(wire.StateSubject("v1"), state.Append(nil)); err != nil {
				t.Fatal(err)
			}
			if want[s.reason]++; s.reason == "" && of.Filter != nil {
				want["unsettled"]++
			}
		}
		delete(want, "")
		statuses.status(fmt.Sprint(want), func(s *wire.Status) bool { return s.Received == uint64(len(all)) && maps.Equal(counts(s), want) })
		stop()
	}
}

// A replay estimates again what was estimated, bit for bit.
func TestReplayOfEstimates(t *testing.T) {
	for _, rate := range []float64{0, 100} {
		path := filepath.Join(t.TempDir(), "out.msgpack")
		n, c, nc, _ := offlineWith(t, Config{Rate: rate, AgeLimit: 200 * time.Millisecond, Record: path}, unmeasured())
		var err error
		if n.worker.recorder, err = recording.New(path, n.models.settings, 0); err != nil {
			t.Fatal(err)
		}
		n.worker.recorder.Model(n.worker.engine.Loaded)
		for i := range uint64(200) {
			c.pass(10 * ms)
			angle, _ := swing(i)
			n.intake.Receive((&wire.State{Seq: i + 1, T: c.unix, X: []float64{angle}, U: []float64{0.1}}).Append(nil), 0)
			switch a := n.intake.Mailbox; {
			case rate > 0:
				n.worker.tick(nc, i+1, c.steady)
			default:
				n.worker.answer(nc, a.Get())
			}
		}
		if err := n.worker.recorder.Close(); err != nil {
			t.Fatal(err)
		}
		sum, err := replayed(t, path, ReplayConfig{})
		if err != nil || sum.States != 200 || sum.Predictions < 190 {
			t.Errorf("rate %v: %+v, %v", rate, sum, err)
		}
	}
}
