// Package live runs a simulated robot in real time and publishes its states as a
// robot does: dgm.state.<vehicle> with the state, the input held and, where the
// robot has one, the plan of inputs.
//
// Samples are due at absolute times, so that the rate does not drift. Samples that
// the sensors lose are not sent and leave a gap in the sequence numbers. While the
// server is unreachable, states are dropped, not queued: an old state is worse than
// none.
package live

import (
	"context"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/dgm-robotics/dgm/estimator/node/realtime"
	"github.com/dgm-robotics/dgm/estimator/wire"
	"github.com/dgm-robotics/dgm/firmware-sim/robot"
)

// Config selects the robot and the subject of its states.
type Config struct {
	Robot    robot.Config
	Vehicle  string        // one token of the subject
	Duration time.Duration // (optional) how long; defaults to until the context ends

	// (optional) Sampled is called after each sample was sent or lost, on the
	// goroutine of Run; its argument is valid until the next sample.
	Sampled func(s *robot.Sample)
}

// Summary counts what happened to the samples.
type Summary struct {
	Sent   int
	Lost   int // by dropouts of the sensors
	Unsent int // the link was down or refused them
	Late   int // not sent, because this process was delayed by more than maxDelay
}

// maxDelay is the longest delay after which a sample is still sent.
const maxDelay = 100 * time.Millisecond

// maxSleep is the longest sleep between two checks of the context.
const maxSleep = 100 * time.Millisecond

// Run runs the robot until the context or the duration ends, which is no error. The
// connection must not queue messages while it is down, as one of node.Link does not.
// It fails if the vehicle's name is no subject token or the state is no longer finite.
func Run(ctx context.Context, nc *nats.Conn, c Config) (sum Summary, err error) {
	if err := wire.CheckVehicle(c.Vehicle); err != nil {
		return sum, err
	}
	r := robot.New(c.Robot)
	subject := wire.StateSubject(c.Vehicle)
	state := wire.State{Layout: wire.Layout(c.Robot.Channels(false))}
	var message []byte

	start := time.Now()
	sleeper := realtime.NewSleeper(int64(time.Since(start)), 0)
	defer sleeper.Close()
	r.Start(0, 0)
	for i := 0; ; i++ {
		due := time.Duration(c.Robot.At(i))
		if c.Duration > 0 && due >= c.Duration {
			return sum, nil
		}
		for ctx.Err() == nil && time.Since(start) < due {
			sleeper.Until(int64(min(due, time.Since(start)+maxSleep)))
		}
		if ctx.Err() != nil {
			return sum, nil
		}
		s, ok := r.Sample()
		if !ok {
			return sum, diverged(&c, due)
		}
		state.Seq = uint64(i)
		switch {
		case s.Lost:
			sum.Lost++
		case time.Since(start)-due > maxDelay:
			sum.Late++
		case !nc.IsConnected():
			sum.Unsent++
		default:
			state.T, state.X, state.U, state.Plan = start.UnixNano()+s.Stamp, s.X, s.U, s.Plan
			if s.Plan != nil {
				state.PlanDt = c.Robot.PlanHorizon / float64(c.Robot.PlanRows)
			}
			message = state.Append(message[:0])
			if nc.Publish(subject, message) == nil {
				sum.Sent++
			} else {
				sum.Unsent++
			}
		}
		if c.Sampled != nil {
			c.Sampled(s)
		}
		if !r.Step() {
			return sum, diverged(&c, due)
		}
	}
}

func diverged(c *Config, at time.Duration) error {
	return fmt.Errorf("%s: the state is no longer finite after %v; change --x0 or shorten --duration",
		c.Robot.Plant.Name, at.Round(time.Millisecond))
}
