package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/dgm-robotics/dgm/trainer/report"
)

// run goes through the stages. However it ends, it lists what was written, and concludes where
// a model was judged.
func run(ctx context.Context, o options, sc *scene, w io.Writer) (err error) {
	began := time.Now()
	out, err := openOutput(o.out)
	if err != nil {
		return err
	}
	s, err := serve(o)
	if err != nil {
		return err
	}
	defer stop(s)
	screen := newScreen(w)
	if o.keep {
		fmt.Fprintf(screen, "A NATS server listens at %s from now on, until Ctrl-C.\n", s.ClientURL())
	}
	var verdict *report.Verdict // nil before there is one
	defer func() {
		out.list(screen)
		if err == nil {
			fmt.Fprintf(screen, "Done in %.0f s.\n", time.Since(began).Seconds())
		}
		if verdict != nil {
			conclusion(screen, verdict, out.path(pageName))
		}
	}()
	if err := recordFlights(ctx, sc, o.seed, out, screen); err != nil {
		return err
	}
	if verdict, err = learn(ctx, sc, out, screen); err != nil {
		return err
	}
	return fly(ctx, o, sc, s, out, screen)
}
