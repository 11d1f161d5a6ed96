package datacheck

import (
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/flightlog"
)

// encoderStep is the step of the encoders of stickingJoints, rad.
const encoderStep = 3.8e-4

// stickingJoints simulates two joints that are driven by torques, the second one with a
// large static friction: it rests while the first one moves. Positions
// are those of encoders, velocities their differences, as motor drivers compute them.
func stickingJoints(seed uint64) *flightlog.Log {
	r := rand.New(rand.NewPCG(seed, 5))
	channels := []channel.Channel{
		{Name: "q1", Unit: "rad", Role: channel.State, Derivative: "w1", Period: channel.Angle},
		{Name: "q2", Unit: "rad", Role: channel.State, Derivative: "w2", Period: channel.Angle},
		{Name: "w1", Unit: "rad/s", Role: channel.State},
		{Name: "w2", Unit: "rad/s", Role: channel.State},
		{Name: "tau1", Unit: "Nm", Role: channel.Input},
		{Name: "tau2", Unit: "Nm", Role: channel.Input},
	}
	const h, sticks, slides = 5e-4, 1.5, 1.2
	var stamps []float64
	cols := make([][]float64, len(channels))
	next, last := 0.0, [2]float64{}
	var q, v [2]float64
	for s := 0.0; s < 12; s += h {
		tau := [2]float64{2*math.Sin(3.1*s) + math.Sin(7.7*s), 2*math.Sin(1.3*s) + 1.2*math.Sin(4.3*s+1)}
		for k, static := range [2]float64{0, sticks} {
			force := tau[k] - 6*math.Sin(q[k]) - 0.1*v[k]
			friction := slides * static / sticks
			switch {
			case v[k] == 0 && math.Abs(force) <= static:
				continue
			case v[k] == 0:
				v[k] = h * math.Copysign(math.Abs(force)-friction, force)
			default:
				a := v[k] + h*(force-math.Copysign(friction, v[k]))
				if static > 0 && a*v[k] < 0 {
					a = 0
				}
				v[k] = a
			}
			q[k] += h * v[k]
		}
		if s < next {
			continue
		}
		next += 2e-3
		now := 100 + s + 1e-5*r.Float64()
		var measured, rate [2]float64
		for k := range q {
			measured[k] = encoderStep * math.Round((q[k]+0.05*encoderStep*r.NormFloat64())/encoderStep)
			if n := len(stamps); n > 0 {
				rate[k] = (measured[k] - last[k]) / (now - stamps[n-1])
			}
		}
		last = measured
		stamps = append(stamps, now)
		for k, x := range []float64{measured[0], measured[1], rate[0], rate[1], tau[0], tau[1]} {
			cols[k] = append(cols[k], x)
		}
	}
	return build(channels, stamps, nil, cols)
}

func TestJointHeldByFrictionIsNotFrozen(t *testing.T) {
	t.Parallel()
	for seed := range uint64(3) {
		l := stickingJoints(seed)
		velocity := columnOf(l, 0, "w2")
		longest, run := 0, 0
		for i := range velocity.n {
			if run++; velocity.get(i) != 0 {
				run = 0
			}
			longest = max(longest, run)
		}
		if longest < 50 {
			t.Fatalf("seed %d: the joint rests for %d samples at most, which shows nothing", seed, longest)
		}
		if r := Check(l, Options{Horizon: 0.2}); len(leftOut(r, 0)) > 0 {
			t.Errorf("seed %d:%s", seed, describe(r))
		}
		if r := Check(positionsOnly(l), Options{Horizon: 0.2}); len(leftOut(r, 0)) > 0 {
			t.Errorf("seed %d, positions only:%s", seed, describe(r))
		}
	}
}

func TestJointHeldByFrictionIsNotFrozenOnRealRobot(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"sysid-143906", "sysid-144115", "acrobot-swingup-01", "acrobot-swingup-02", "acrobot-swingup-03", "acrobot-perturbed-01"} {
		if r := Check(acrobot(t, name), Options{Horizon: 0.2}); len(find(r, Frozen)) > 0 {
			t.Errorf("%s:%s", name, describe(r))
		}
	}
}

// positionsOnly returns a log of two joints without their velocities.
func positionsOnly(l *flightlog.Log) *flightlog.Log {
	c := copyLog(l)
	c.Channels = slices.Delete(slices.Clone(c.Channels), 2, 4)
	c.Channels[0].Derivative, c.Channels[1].Derivative = "", ""
	s := &c.Segments[0]
	s.X = nil
	for x := range slices.Chunk(l.Segments[0].X, 4) {
		s.X = append(s.X, x[:2]...)
	}
	return c
}

// acrobot is a recording of the torque-driven double pendulum.
func acrobot(t testing.TB, name string) *flightlog.Log {
	_, col := readCSV(t, "dfki-double-pendulum/"+name+".csv")
	return build([]channel.Channel{
		{Name: "q1", Unit: "rad", Role: channel.State, Derivative: "w1", Period: channel.Angle},
		{Name: "q2", Unit: "rad", Role: channel.State, Derivative: "w2", Period: channel.Angle},
		{Name: "w1", Unit: "rad/s", Role: channel.State},
		{Name: "w2", Unit: "rad/s", Role: channel.State},
		{Name: "tau1", Unit: "Nm", Role: channel.Input},
		{Name: "tau2", Unit: "Nm", Role: channel.Input},
	}, col("time"), nil, [][]float64{
		col("pos_meas1"), col("pos_meas2"), col("vel_meas1"), col("vel_meas2"), col("tau_meas1"), col("tau_meas2"),
	})
}

// A sensor that holds its value while the joint moves is found, although the joint also
// rests by friction.
func TestFrozenSensorOfJointWithFriction(t *testing.T) {
	if os.Getenv("DGM_SLOW") == "" {
		t.Skip("checks a recording with every fault; DGM_SLOW=1 runs it")
	}
	hold := func(c column, i, j int) {
		for k := i + 1; k < j; k++ {
			c.set(k, c.get(i))
		}
	}
	type damage struct {
		name string
		do   func(position, velocity column, stamps []int64, i, j int)
	}
	damages := []damage{
		{"position held", func(position, _ column, _ []int64, i, j int) { hold(position, i, j) }},
		{"velocity held", func(_, velocity column, _ []int64, i, j int) { hold(velocity, i, j) }},
		{"both held", func(position, velocity column, _ []int64, i, j int) { hold(position, i, j); hold(velocity, i, j) }},
		{"velocity of a position that is held", func(position, velocity column, stamps []int64, i, j int) {
			hold(position, i, j)
			for k := i + 1; k <= j; k++ {
				velocity.set(k, (position.get(k)-position.get(k-1))/(float64(stamps[k]-stamps[k-1])/1e9))
			}
		}},
	}
	for seed := range uint64(2) {
		whole := stickingJoints(seed)
		for joint := range 2 {
			for _, seconds := range []float64{0.1, 0.5, 2} {
				position, velocity := columnOf(whole, 0, whole.Channels[joint].Name), columnOf(whole, 0, whole.Channels[2+joint].Name)
				r := rand.New(rand.NewPCG(seed, uint64(joint)))
				m := int(seconds * 500)
				i := 0
				for i == 0 || math.Abs(velocity.get(i)) < 0.5 || math.Abs(velocity.get(i+m)) < 0.5 || math.Abs(position.get(i+m)-position.get(i)) < 0.05 {
					i = 200 + r.IntN(position.n-m-400)
				}
				for _, d := range damages {
					l := copyLog(whole)
					d.do(columnOf(l, 0, whole.Channels[joint].Name), columnOf(l, 0, whole.Channels[2+joint].Name), l.Segments[0].T, i, i+m)
					res := Check(l, Options{Horizon: 0.2})
					covered := 0
					for _, e := range leftOut(res, 0) {
						covered += max(0, min(e[1], i+m)-max(e[0], i))
					}
					if 2*covered < m-1 {
						t.Errorf("seed %d, joint %d, %s for %g s from %d: %d samples left out:%s", seed, joint+1, d.name, seconds, i, covered, describe(res))
					}
				}
			}
		}
	}
}
