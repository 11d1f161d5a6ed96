package main

import (
	"context"
	"fmt"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/dgm-robotics/dgm/cmd/dgm-demo/judge"
	"github.com/dgm-robotics/dgm/cmd/dgm-demo/view"
	"github.com/dgm-robotics/dgm/cmd/internal/cli"
)

// fly lets the robot fly while the estimator predicts and a planner listens. It
// returns, as an error, what was not as it must be.
func fly(ctx context.Context, o options, sc *scene, s *server.Server, out *output, screen *screen) (err error) {
	est, err := startEstimator(s, sc, out.path(modelName))
	if err != nil {
		return err
	}
	defer func() { err = first(err, est.stop()) }()
	p, err := listen(s, sc, est.times)
	if err != nil {
		return err
	}
	defer p.close()
	if err := p.awaitEstimator(ctx); err != nil {
		return err
	}
	duration := sc.flight
	if o.keep {
		duration = 0
		fmt.Fprint(screen, howToSubscribe(s.ClientURL(), sc))
	}
	fmt.Fprintln(screen)
	sim, err := takeOff(ctx, s, sc, o.seed, duration)
	if err != nil {
		return err
	}
	defer func() { err = first(err, sim.land()) }()
	return watch(ctx, sc, p, sim, screen, o.keep)
}

// watch shows the flight and judges it once it has lasted. With keep it goes on
// until the context ends.
func watch(ctx context.Context, sc *scene, p *planner, sim *simulator, screen *screen, keep bool) error {
	every := time.NewTicker(50 * time.Millisecond)
	defer every.Stop()
	pictures := newShow(sc, p, keep)
	v := view.New(screen, screen.tty, screen.size)
	defer func() { _ = v.Close() }() // only the cursor's sake, and there may be nobody left to see it
	judged, judgement := false, error(nil)
	for {
		select {
		case now := <-every.C:
			if v.Due(now) {
				if err := v.Show(now, pictures.frame()); err != nil {
					return err
				}
			}
			if r := p.result(false); keep && !judged && r.Flight >= sc.flight {
				_ = v.Close()
				describe(screen, &r)
				judged = true
				if err := verdict(&r, sc, p); err != nil {
					fmt.Fprintf(screen, "Not as it must be: %v.\n", err)
					judgement = fmt.Errorf("the first %.0f s were not as they must be; why is told there", sc.flight.Seconds())
				}
				fmt.Fprintln(screen, "It flies on; Ctrl-C ends it.")
			}
		case <-sim.done:
			if sim.err != nil {
				return sim.err
			}
			if !keep && ctx.Err() != nil {
				return context.Cause(ctx)
			}
			p.settle()
			_ = v.Close()
			r := p.result(true)
			describe(screen, &r)
			switch {
			case judged: // and then stopped by hand, as it should be
				return judgement
			case ctx.Err() != nil:
				return context.Cause(ctx)
			}
			return verdict(&r, sc, p)
		}
	}
}

// verdict returns what was not as it must be on a flight.
func verdict(r *judge.Result, sc *scene, p *planner) error {
	err := r.Check(sc.limits)
	if err != nil && r.Overdue > 0 && r.LateShare() > sc.limits.Late {
		err = fmt.Errorf("%w (%s came late: this computer is too busy with something else, try again when it is not)", err, cli.Count(r.Overdue, "state"))
	}
	if reasons := p.reasons(); err != nil && r.Missing > 0 && reasons != "" {
		err = fmt.Errorf("%w (of states that it did not answer the estimator says: %s)", err, reasons)
	}
	return err
}

// first returns the first error that is one.
func first(a, b error) error {
	if a != nil {
		return a
	}
	return b
}
