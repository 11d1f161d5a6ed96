// Package live runs a simulated robot in real time and publishes its states as a
// robot does: dgm.state.<vehicle> with the state, the input held and, where the
// robot has one, the plan of inputs.
//
// Samples are due at absolute times, so that the rate does not drift. What the
// sensors lose is not sent and leaves a gap in the sequence numbers. While the
// server cannot be reached nothing is sent and nothing is kept for later: an
// old state is worse than none.
package live

import (
	"context"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/dgm-robotics/dgm/estimator/wire"
	"github.com/dgm-robotics/dgm/firmware-sim/robot"
)

// Config says which robot to run and where its states go.
type Config struct {
	Robot    robot.Config
	Vehicle  string        // one token of the subject
	Duration time.Duration // (optional) how long; defaults to until the context ends

	// (optional) Sampled is called after each sample was sent or lost, on the
	// goroutine of Run; what it is given changes with the next one.
	Sampled func(s *robot.Sample)
}

// Summary counts what happened to the samples.
type Summary struct {
	Sent   int
	Lost   int // taken by dropouts of the sensors
	Unsent int // the link was down or refused them
	Late   int // not sent, because this process did not get to run for more than lateness
}

// lateness is how far behind its time a sample may be and still be sent.
const lateness = 100 * time.Millisecond

// nap is the longest sleep between two looks at the context.
const nap = 100 * time.Millisecond

// Run runs the robot until the context or the duration ends, which is no error. The
// connection must keep nothing for later while it is down, as one of node.Link does.
// It fails where the vehicle's name cannot be a subject and where the state is no
// longer finite.
func Run(ctx context.Context, nc *nats.Conn, c Config) (sum Summary, err error) {
	if err := wire.CheckVehicle(c.Vehicle); err != nil {
		return sum, err
	}
	r := robot.New(c.Robot)
	subject := wire.StateSubject(c.Vehicle)
	state := wire.State{Layout: wire.Layout(c.Robot.Channels(false))}
	var message []byte

	clk := newClock()
	defer clk.close()
	start := time.Now().UnixNano()
	r.Start(0, 0)
	for i := 0; ; i++ {
		due := time.Duration(c.Robot.At(i))
		if c.Duration > 0 && due >= c.Duration {
			return sum, nil
		}
		for ctx.Err() == nil && clk.now() < due {
			clk.until(min(due, clk.now()+nap))
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
		case clk.now()-due > lateness:
			sum.Late++
		case !nc.IsConnected():
			sum.Unsent++
		default:
			state.T, state.X, state.U, state.Plan = start+s.Stamp, s.X, s.U, s.Plan
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
	return fmt.Errorf("%s: the state is no longer finite after %v; begin elsewhere or shorten --duration",
		c.Robot.Plant.Name, at.Round(time.Millisecond))
}
