package main

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/dgm-robotics/dgm/cmd/dgm-demo/view"
)

// fly lets the robot fly while the estimator predicts and a planner receives. It returns
// as an error which limits the flight did not keep.
func fly(ctx context.Context, o options, sc *scene, s *server.Server, out *output, screen *screen) (err error) {
	est, times, err := startEstimator(s, sc, out.path(modelName))
	if err != nil {
		return err
	}
	defer func() { err = cmp.Or(err, est.stop()) }()
	p, err := listen(s, sc, times)
	if err != nil {
		return err
	}
	defer p.close()
	echo, err := startEcho(s, sc.vehicle)
	if err != nil {
		return err
	}
	defer echo.Close()
	if err := p.awaitEstimator(ctx); err != nil {
		return err
	}
	duration, subscribe := sc.flight, ""
	if o.keep {
		duration, subscribe = 0, howToSubscribe(s.ClientURL(), out.path(modelName), sc)
		fmt.Fprint(screen, subscribe)
	}
	fmt.Fprintln(screen)
	robot, err := startRobot(ctx, s, sc, o.seed, duration)
	if err != nil {
		return err
	}
	defer func() { err = cmp.Or(err, robot.stop()) }()
	if err := watch(ctx, sc, p, robot, screen, subscribe); err != nil {
		return err
	}
	return p.showChange(screen, out)
}

// watch shows the flight and judges it at its end. With the text of how to
// subscribe it judges it after the planned time and continues until the context ends.
func watch(ctx context.Context, sc *scene, p *planner, robot *process, screen *screen, subscribe string) error {
	keep := subscribe != ""
	every := time.NewTicker(50 * time.Millisecond)
	defer every.Stop()
	pictures := newShow(sc, p, keep)
	v := view.New(screen, screen.tty, screen.size)
	defer func() { _ = v.Close() }() // restores the cursor; nobody may be left to see it
	judged, judgement := false, error(nil)
	for {
		select {
		case now := <-every.C:
			if v.Due(now) {
				if err := v.Show(now, pictures.frame()); err != nil {
					return err
				}
			}
			if !keep || judged || p.result(false).Flight < sc.flight {
				continue
			}
			_ = v.Close()
			judged, judgement = true, judgeEarly(sc, p, screen, subscribe)
		case <-robot.done:
			switch {
			case robot.err != nil:
				return robot.err
			case !keep && ctx.Err() != nil:
				return context.Cause(ctx)
			}
			p.settle()
			_ = v.Close()
			err := conclude(sc, p, screen, true)
			switch {
			case judged: // and then stopped by hand
				return judgement
			case ctx.Err() != nil:
				return context.Cause(ctx)
			}
			return err
		}
	}
}

// judgeEarly concludes a flight that continues. subscribe is how to subscribe to it, last so
// that it stays on the screen.
func judgeEarly(sc *scene, p *planner, screen *screen, subscribe string) error {
	err := conclude(sc, p, screen, false)
	if err != nil {
		fmt.Fprintf(screen, "Limits not met: %v.\n", err)
		err = fmt.Errorf("the first %.0f s did not meet the limits printed above", sc.flight.Seconds())
	}
	fmt.Fprintln(screen, "The flight continues; Ctrl-C ends it.")
	fmt.Fprint(screen, subscribe)
	return err
}

// conclude writes the summary of the flight and returns which limits it did not keep.
func conclude(sc *scene, p *planner, screen *screen, final bool) error {
	r := p.result(final)
	describe(screen, &r)
	err := r.Check(sc.limits)
	if reasons := p.reasons(); err != nil && r.Missing > 0 && reasons != "" {
		err = fmt.Errorf("%w (the estimator's reasons for states that it did not answer: %s)", err, reasons)
	}
	return err
}
