package attribution

import (
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/dgm-robotics/dgm/estimator"
	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/trainer/window"
)

// robot moves as a model predicts, step by step, and may change after a time.
type robot struct {
	m      *model.Model
	worn   float64 // share of the input's effect that is lost
	late   float64 // s, of the input
	offset float64 // of the first state's sensor
}

const (
	rate  = 100 // Hz
	after = 10  // s, of the change
)

// fly records so many seconds: the input is a step of random size five times a second.
func (r robot) fly(t *testing.T, seconds float64, seed uint64) window.Flight {
	t.Helper()
	const dt = 1.0 / rate
	p, err := estimator.NewFast(r.m, []float64{dt})
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(seed, 1))
	x, dst := make([]float64, r.m.K), p.NewPrediction()
	s := window.Series{Name: "made"}
	var commands []float64
	u := 0.0
	for i := range int(seconds * rate) {
		if i%(rate/5) == 0 {
			u = r.m.Inputs.InputMean[0] + r.m.Inputs.InputStd[0]*rng.NormFloat64()
		}
		commands = append(commands, u)
		acting, seen := u, 0.0
		if float64(i)*dt >= after {
			acting = (1 - r.worn) * commands[max(0, i-int(r.late*rate+0.5))]
			seen = r.offset
		}
		s.T, s.U = append(s.T, int64(i)*1e9/rate), append(s.U, u)
		for k, v := range x {
			v += math.Sqrt(r.m.Sensor[k]) * rng.NormFloat64()
			if k == 0 {
				v += seen
			}
			s.X = append(s.X, v)
		}
		q := &estimator.Query{X0: x, Plan: []float64{acting}, PlanStep: r.m.Horizon}
		if !p.Predict(dst, q) {
			t.Fatalf("the robot diverges after %d samples", i)
		}
		copy(x, dst.Mean)
	}
	return window.Prepare(0, s, channel.Select(r.m.Channels, channel.State), r.m.P, window.Options{})[0]
}

// Of a robot that moves as its model, the actuator, the input or the sensor that changes is
// named, with its amount, and nothing in flights without a change.
func TestNames(t *testing.T) {
	m, err := model.ReadFile("../../estimator/testdata/pendulum.dgm")
	if err != nil {
		t.Fatal(err)
	}
	n, err := NewNominal(t.Context(), m, []window.Flight{robot{m: m}.fly(t, 90, 1)})
	if err != nil {
		t.Fatal(err)
	}
	offset := 3 * math.Sqrt(m.Sensor[0])
	for i, c := range []struct {
		robot
		kind, name string
		amount     float64
	}{
		{robot{m: m}, "", "", 0},
		{robot{m: m, worn: 0.3}, Gain, "torque", -30},
		{robot{m: m, late: 0.05}, Delay, "torque", 50},
		{robot{m: m, offset: offset}, Offset, "theta", offset},
	} {
		f := c.fly(t, 20, uint64(10+i))
		found, err := n.Watch(t.Context(), m, &f)
		if err != nil {
			t.Fatal(err)
		}
		if c.kind == "" {
			if found != nil {
				t.Errorf("found %+v, and nothing had changed", found)
			}
			continue
		}
		if found == nil {
			t.Errorf("%s was not found", c.kind)
			continue
		}
		got := found
		if got.Kind != c.kind || got.Name != c.name || math.Abs(got.Amount/c.amount-1) > 0.15 {
			t.Errorf("found %+v, expected %s of %s by %.3g", got, c.kind, c.name, c.amount)
		}
		if got.T < after || got.T > after+3 || math.Abs(got.Since-after) > 0.5 {
			t.Errorf("%s was named after %.2f s, since %.2f s; it changed after %d s", c.kind, got.T, got.Since, after)
		}
	}
}

// Short flights do not show how often nothing looks like a fault.
func TestTooShort(t *testing.T) {
	m, err := model.ReadFile("../../estimator/testdata/pendulum.dgm")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := NewNominal(t.Context(), m, []window.Flight{robot{m: m}.fly(t, 15, 1)}); !errors.Is(err, ErrTooShort) {
		t.Errorf("error %v", err)
	}
}

// Where samples are farther apart than the model predicts, nothing would be measured: that is an error.
func TestTooSlow(t *testing.T) {
	m, err := model.ReadFile("../../estimator/testdata/pendulum.dgm")
	if err != nil {
		t.Fatal(err)
	}
	s := window.Series{Name: "slow"}
	for i := range 100 {
		s.T, s.X, s.U = append(s.T, int64(float64(i)*2*m.Horizon*1e9)), append(s.X, math.Sin(float64(i)), math.Cos(float64(i))), append(s.U, 0)
	}
	flights := window.Prepare(0, s, channel.Select(m.Channels, channel.State), m.P, window.Options{})
	if _, err := NewNominal(t.Context(), m, flights); err == nil || errors.Is(err, ErrTooShort) || !strings.Contains(err.Error(), "log more often") {
		t.Errorf("error %v", err)
	}
}
