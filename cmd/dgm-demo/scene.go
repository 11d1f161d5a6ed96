package main

import (
	"time"

	"github.com/dgm-robotics/dgm/cmd/dgm-demo/judge"
	"github.com/dgm-robotics/dgm/firmware-sim/plant"
	"github.com/dgm-robotics/dgm/firmware-sim/robot"
	"github.com/dgm-robotics/dgm/trainer"
)

// scene configures the robot, the recording of it, and the training.
type scene struct {
	robot    robot.Config
	flown    robot.Config // live: the same, with what changes
	vehicle  string
	segments int           // of the recording
	length   time.Duration // of each
	training trainer.Config
	show     string        // channel in the picture
	flight   time.Duration // live
	limits   judge.Limits
}

// rate is how often the robots are measured, Hz.
const rate = 100

func sceneOf(system string) (*scene, bool) {
	sc := &scene{
		vehicle:  system,
		segments: 6, length: 20 * time.Second,
		training: trainer.Quick(),
		flight:   32 * time.Second,
		limits:   judge.Limits{Flight: 30 * time.Second, Overdue: 0.02, Low: 0.88, High: 0.995},
	}
	c := &sc.training
	switch system {
	case "pendulum":
		sc.robot = robot.Typical(plant.Pendulum())
		c.Horizon, c.Points = trainer.Duration(time.Second), 20
		sc.show = "theta"
	case "quadrotor":
		// Twelve channels cost six times two and more: a shorter horizon of fewer
		// points, one member, fewer windows; many starts instead, so that it meets
		// in flight what it has seen.
		sc.robot = robot.Typical(plant.QuadrotorFlown())
		sc.segments, sc.length = 16, 8*time.Second
		c.Horizon, c.Points, c.Stride = trainer.Duration(500*time.Millisecond), 10, trainer.Duration(100*time.Millisecond)
		c.Members, c.Features, c.Core = 1, 30, "linear"
		c.Training.Steps, c.Training.Batch = 120, 30
		sc.show = "phi"
	default:
		return nil, false
	}
	// The robot plans as far as the model looks, finer than the model reads it.
	sc.robot.Rate = rate
	sc.robot.PlanHorizon, sc.robot.PlanRows = c.Horizon.Seconds(), 4*c.Knots
	sc.flown = sc.robot
	return sc, true
}

// horizon is how far the model looks ahead.
func (sc *scene) horizon() time.Duration { return time.Duration(sc.training.Horizon) }

// period is the time between two states.
func (sc *scene) period() time.Duration { return time.Duration(float64(time.Second) / sc.robot.Rate) }
