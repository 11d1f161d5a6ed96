package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/dgm-robotics/dgm/estimator/model/artificial"
	"github.com/dgm-robotics/dgm/estimator/node"
	"github.com/dgm-robotics/dgm/estimator/wire"
)

// Times of the scenario, and the width at which intervals have returned.
const (
	hostileSettle = 8 * time.Second
	hostileFor    = 8 * time.Second
	hostileReturn = 10 * time.Second
	hostileWidth  = 1.25
)

// hostileSensor: with adaptation on, a sender reports a rate of the wrong sign twice a second and no input, for a while. Predictions stay
// finite and on time, nothing that is learned leaves its bounds, and the intervals return when the truth does.
func hostileSensor(s *rig) {
	s.model = artificial.Adaptable(1, 0.02)
	s.serve()
	n := s.estimate(s.url(), node.Config{Adapt: wire.AdaptOn})
	s.startPlanner(s.url())
	s.startRobot(s.url(), chaosRate)
	var hostile atomic.Bool
	fly := s.flown(&hostile)
	s.robot.fly.Store(&fly)
	s.settle()
	s.pause(hostileSettle)
	factor := func() float64 {
		sum, status := 0.0, s.statusOf(n)
		s.require(len(status.Factor) > 0, "the status has no factor")
		for _, f := range status.Factor {
			sum += math.Log(f)
		}
		return math.Exp(sum / float64(len(status.Factor)))
	}
	before := factor()
	hostile.Store(true)
	s.pause(hostileFor)
	during := factor()
	s.require(during > 2*before, "false samples did not change the factor: %.2f before, %.2f at the end", before, during)
	hostile.Store(false)
	began := time.Now()
	for factor() > hostileWidth*before {
		s.require(time.Since(began) < hostileReturn, "%v after the end the factor is %.2f, before %.2f, at the end %.2f", hostileReturn, factor(), before, during)
		s.pause(50 * time.Millisecond)
	}
	s.recovered = time.Since(began)
	s.figures = fmt.Sprintf("factor %.2f before, %.2f at the end", before, during)
	for _, a := range s.statusOf(n).Amounts {
		s.require(math.Abs(a.Value) < math.MaxFloat32 && a.Std >= 0, "%s is learned as %v ± %v", a.Name, a.Value, a.Std)
	}
}

// flown returns the states of the robot that the model describes, with the noise of its sensors.
func (s *rig) flown(hostile *atomic.Bool) func(x *wire.State, dt float64) {
	rng, truth, t := rand.New(rand.NewPCG(1, 0)), [2]float64{}, 0.0
	return func(x *wire.State, dt float64) {
		u := 0.3 * math.Sin(4*t)
		if int(t)%2 == 0 {
			u = -u
		}
		truth[0], truth[1] = truth[0]+dt*(0.8*u-truth[0]), truth[1]+dt*(0.5*truth[0]-truth[1])
		for k, v := range truth {
			x.X[k] = v + s.model.Sensor[k]*rng.NormFloat64()
		}
		if x.U[0] = u; hostile.Load() {
			if x.U[0] = 0; int(2*t)%2 == 1 {
				x.X[0] = -x.X[0]
			}
		}
		t += dt
	}
}
