package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/dgm-robotics/dgm/cmd/dgm-demo/judge"
	"github.com/dgm-robotics/dgm/cmd/internal/cli"
	"github.com/dgm-robotics/dgm/estimator/wire"
)

// run goes through the stages. What was written is told however it ends.
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
	defer func() {
		out.list(screen)
		if err == nil {
			fmt.Fprintf(screen, "Done in %.0f s.\n", time.Since(began).Seconds())
		}
	}()
	if err := recordFlights(ctx, sc, o.seed, out, screen); err != nil {
		return err
	}
	if err := learn(ctx, sc, out, screen); err != nil {
		return err
	}
	return fly(ctx, o, sc, s, out, screen)
}

// howToSubscribe tells others where the predictions are.
func howToSubscribe(url string, sc *scene) string {
	return fmt.Sprintf(`
The NATS server listens on %[1]s. In another terminal:
  go run ./examples/planner-go %[1]s
  python3 examples/planner-python/planner.py %[1]s
States are on %[2]s, predictions on %[3]s.
`, url, wire.StateSubject(sc.vehicle), wire.PredictSubject(sc.vehicle))
}

// describe sums a flight up.
func describe(w io.Writer, r *judge.Result) {
	fmt.Fprintf(w, "\nFlew %.1f s: %s, %s, %d missing, %d not finite, %d after the next state (%.2f %%).\n", r.Flight.Seconds(),
		cli.Count(r.States, "state"), cli.Count(r.Answered, "prediction"), r.Missing, r.NotFinite, r.Late, 100*r.LateShare())
	if r.Overdue > 0 {
		fmt.Fprintf(w, "%s came after the next one was due: this computer was busy with something else.\n", cli.Count(r.Overdue, "state"))
	}
	if r.Shortened > 0 {
		fmt.Fprintf(w, "%s told only the beginning of the horizon: a newer state had come.\n", cli.Count(r.Shortened, "prediction"))
	}
	if r.Outside > 0 {
		fmt.Fprintf(w, "%s carried the flag that says: out of distribution.\n", cli.Count(r.Outside, "prediction"))
	}
	fmt.Fprintf(w, "From measurement to prediction: p50 %s, p99 %s, at most %s.\n", milliseconds(r.P50), milliseconds(r.P99), milliseconds(r.Max))
	fmt.Fprintf(w, "Intervals of 95 %% held %.1f %% of what was then measured, over all channels and times ahead", 100*r.Coverage())
	for i, n := range roundTimes(r.Horizon) {
		fmt.Fprintf(w, "%s%g s %.1f %%", []string{": ", ", "}[min(i, 1)], r.Horizon[n], 100*r.CoverageAt(n))
	}
	fmt.Fprintln(w, ".")
}

func milliseconds(d time.Duration) string {
	return fmt.Sprintf("%.2f ms", float64(d)/float64(time.Millisecond))
}
