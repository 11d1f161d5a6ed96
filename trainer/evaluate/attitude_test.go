package evaluate

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/feature"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/numeric/mlp"
	"github.com/dgm-robotics/dgm/estimator/priordynamics"
	"github.com/dgm-robotics/dgm/trainer/window"
)

func TestAngleOfKnownRotations(t *testing.T) {
	const d, right = 0.3, math.Pi / 2
	for _, c := range []struct {
		name string
		a, b [3]float64
		want float64
	}{
		{"none", [3]float64{1, 0.5, -2}, [3]float64{1, 0.5, -2}, 0},
		{"yaw turns about the vertical at any tilt", [3]float64{1, 1.2, 2}, [3]float64{1, 1.2, 2 + d}, d},
		{"roll turns about the nose at any heading", [3]float64{1, 1.2, 2}, [3]float64{1 - d, 1.2, 2}, d},
		{"pitch of a level one", [3]float64{0, 0.2, 2}, [3]float64{0, 0.2 + d, 2}, d},
		{"a whole turn is none", [3]float64{1, 0.5, -2}, [3]float64{1 + 2*math.Pi, 0.5, -2 - 4*math.Pi}, 0},
		{"half a turn", [3]float64{0, 0, 0}, [3]float64{math.Pi, 0, 0}, math.Pi},
		{"the shorter way", [3]float64{0, 0, 3}, [3]float64{0, 0, -3}, 2*math.Pi - 6},
		{"other angles of one attitude", [3]float64{0.4, 0.7, 1.1}, [3]float64{0.4 + math.Pi, math.Pi - 0.7, 1.1 + math.Pi}, 0},
		{"nose up, roll and yaw undo each other", [3]float64{0.2, right, 0.1}, [3]float64{1.2, right, 1.1}, 0},
		{"nose down, they add", [3]float64{0.2, -right, 0.1}, [3]float64{0.2 + d, -right, 0.1 + d}, 2 * d},
		{"tiny", [3]float64{0.4, 0.7, 1.1}, [3]float64{0.4, 0.7, 1.1 + 1e-9}, 1e-9},
	} {
		for _, got := range []float64{rotationAngle(c.a, c.b), rotationAngle(c.b, c.a)} {
			if math.Abs(got-c.want) > 1e-14+1e-7*c.want {
				t.Errorf("%s: %v, expected %v", c.name, got, c.want)
			}
		}
	}
	// Within 0.01 rad of straight up, an error of 1 rad in roll and in yaw is one of 0.01.
	if got := rotationAngle([3]float64{0.2, right - 0.01, 0.1}, [3]float64{1.2, right - 0.01, 1.1}); got > 0.011 {
		t.Errorf("near straight up: %v", got)
	}
	if !math.IsNaN(rotationAngle([3]float64{0, math.NaN(), 0}, [3]float64{})) {
		t.Error("an angle that was not measured has an error")
	}
}

// The same by matrices: the trace of Aᵀ B is 1 + 2 cos.
func TestRotationAngleIsThatOfTheMatrices(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 3))
	matrix := func(a [3]float64) (m [3][3]float64) {
		sf, cf := math.Sincos(a[0])
		st, ct := math.Sincos(a[1])
		sp, cp := math.Sincos(a[2])
		return [3][3]float64{
			{ct * cp, sf*st*cp - cf*sp, cf*st*cp + sf*sp},
			{ct * sp, sf*st*sp + cf*cp, cf*st*sp - sf*cp},
			{-st, sf * ct, cf * ct},
		}
	}
	for range 1000 {
		var a, b [3]float64
		for i := range a {
			a[i], b[i] = 3*rng.NormFloat64(), 3*rng.NormFloat64()
		}
		A, B, trace := matrix(a), matrix(b), 0.0
		for i := range 3 {
			for j := range 3 {
				trace += A[i][j] * B[i][j]
			}
		}
		if want := (trace - 1) / 2; math.Abs(math.Cos(rotationAngle(a, b))-want) > 1e-12 {
			t.Fatalf("%v to %v: %v, by matrices %v", a, b, rotationAngle(a, b), math.Acos(want))
		}
	}
}

// gyro is a model of three angles and a speed that predicts that all stay as they are.
func gyro(names [3]string, period float64) *model.Model {
	var states []channel.Channel
	for _, name := range names {
		states = append(states, channel.Channel{Name: name, Unit: "rad", Role: channel.State, Period: period})
	}
	states = append(states, channel.Channel{Name: "speed", Role: channel.State})
	K := len(states)
	m := &model.Model{
		ID: "00", Vehicle: "gyro", Channels: states, K: K, Horizon: horizon, Points: 10, Displacement: true,
		Inputs: feature.Inputs{Horizon: horizon, TimeMean: horizon / 2, TimeStd: horizon / math.Sqrt(12), Lift: channel.NewLift(states)},
		Scale:  []float64{1, 1, 1, 1}, NoiseKnots: []float64{0}, Sensor: make([]float64, K),
	}
	I := m.Inputs.Dim()
	e := model.Member{Map: feature.NewMap(I, K, 1, 0, []int{1}, []mlp.Activation{mlp.Linear}, feature.Basis{Terms: 1}, true)}
	p := model.Posterior{LogSigma: []float64{-3, -3, -3, -3}}
	for range K {
		p.Weights = append(p.Weights, make([]float64, I))
		p.InverseFactor = append(p.InverseFactor, make([]float64, I*(I+1)/2))
	}
	e.Posterior = []model.Posterior{p}
	m.Members = []model.Member{e}
	m.Dynamics.Net = mlp.New([]int{m.Inputs.Lift.Dim(), 2 * K}, []mlp.Activation{mlp.Linear})
	return m
}

// spun is a flight whose nose points up by 60° or a given tilt and which turns about the
// vertical at 2 rad/s.
func spun(m *model.Model, tilt, unit float64) []window.Flight {
	var s window.Series
	for i := range 1000 {
		s.T = append(s.T, int64(i)*5_000_000)
		yaw := math.Remainder(2*0.005*float64(i), 2*math.Pi)
		s.X = append(s.X, 0.3*unit, tilt*unit, yaw*unit, 1+0.001*float64(i))
	}
	return window.Prepare(0, s, m.Channels[:m.K], 0, window.Options{})
}

func TestAttitudeIsScoredAsAnAngle(t *testing.T) {
	usual := [3]string{"roll", "pitch", "yaw"}
	declared := channel.Kinematics{Relation: channel.Quadrotor, Attitude: []string{"a", "-b", "c"}, Rates: []string{"p", "q", "r"}}
	for _, c := range []struct {
		name       string
		m          *model.Model
		kinematics channel.Kinematics
		unit       float64
		known      bool
	}{
		{name: "by the usual names", m: gyro(usual, channel.Angle), unit: 1, known: true},
		{name: "in degrees", m: gyro(usual, 360), unit: 180 / math.Pi, known: true},
		{name: "other names", m: gyro([3]string{"a", "b", "c"}, channel.Angle), unit: 1},
		{name: "of no period", m: gyro(usual, 0), unit: 1},
		{name: "usual names, and something else is declared", m: gyro(usual, channel.Angle), kinematics: declared, unit: 1},
	} {
		if c.unit != 1 {
			for k := range c.m.Scale {
				c.m.Scale[k] *= c.unit
			}
		}
		table := run(t, c.m, spun(c.m, 1.05, c.unit), Options{Horizons: []float64{0.1, 0.5}, Kinematics: c.kinematics})
		if known := slices.Equal(table.Attitude, usual[:]); known != c.known {
			t.Errorf("%s: attitude %v", c.name, table.Attitude)
		}
		for _, h := range table.Horizons {
			if (h.Attitude != nil) != c.known {
				t.Fatalf("%s: attitude %+v", c.name, h.Attitude)
			}
			if c.known {
				within(t, c.name, h.Attitude.RMSE, 2*h.T, 1e-9)
				within(t, c.name+", hold", h.Attitude.Hold, 2*h.T, 1e-9)
			}
		}
	}
	// A declaration in the model has precedence over names.
	m := gyro([3]string{"a", "b", "c"}, channel.Angle)
	m.Stack = []model.Component{{Members: make([]priordynamics.Model, 1)}}
	m.Stack[0].Members[0].Body = priordynamics.Body{Attitude: []int{2, 1, 0}, Sign: []float64{1, 1, 1, 1, 1, 1, -1, 1, 1, 1, 1, 1}, Omega: 1}
	if b := attitudeOf(m, &channel.Kinematics{}); b == nil || b.Euler([]float64{0.1, 0.2, 0.3, 9}) != [3]float64{-0.3, 0.2, 0.1} {
		t.Errorf("attitude of the model: %+v", b)
	}
}
