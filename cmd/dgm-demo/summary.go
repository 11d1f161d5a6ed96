package main

import (
	"fmt"
	"io"
	"time"

	"github.com/dgm-robotics/dgm/cmd/dgm-demo/judge"
	"github.com/dgm-robotics/dgm/cmd/internal/cli"
	"github.com/dgm-robotics/dgm/estimator/wire"
	"github.com/dgm-robotics/dgm/trainer/report"
)

func describe(w io.Writer, r *judge.Result) {
	fmt.Fprintf(w, "\nFlew %.1f s: %s, %s, %d missing, %d not finite, %d overdue (after the next state).\n", r.Flight.Seconds(),
		cli.Count(r.States, "state"), cli.Count(r.Answered, "prediction"), r.Missing, r.NotFinite, r.Overdue)
	if b := r.Busy; b.Seconds > 0 {
		fmt.Fprintf(w, "This computer was busy with other work in %d of %s: an echo of the states took up to %s, %s arrived after the next one was due.\n",
			b.Seconds, cli.Count(b.Seconds+r.Free.Seconds, "second"), milliseconds(r.EchoMax), cli.Count(r.OverdueStates, "state"))
		fmt.Fprintf(w, "Overdue while it was busy: %d of %d; while it was idle: %d of %d (%.2f %%).\n", b.Overdue, b.States, r.Free.Overdue, r.Free.States, 100*r.Free.OverdueShare())
	}
	if r.Free.Seconds < fewestFree {
		fmt.Fprintf(w, "It was idle for %s: timing can only be judged on an otherwise idle machine.\n", cli.Count(r.Free.Seconds, "second"))
	}
	if r.Shortened > 0 {
		fmt.Fprintf(w, "%s had a shortened horizon: a newer state had arrived.\n", cli.Count(r.Shortened, "prediction"))
	}
	if r.Outside > 0 {
		fmt.Fprintf(w, "%s were flagged OOD.\n", cli.Count(r.Outside, "prediction"))
	}
	if r.NoHistory > 0 {
		fmt.Fprintf(w, "%s at the beginning or after a gap did not have enough history.\n", cli.Count(r.NoHistory, "prediction"))
	}
	fmt.Fprintf(w, "From measurement to prediction: p50 %s, p99 %s, at most %s; the echo: p99 %s, at most %s.\n",
		milliseconds(r.P50), milliseconds(r.P99), milliseconds(r.Max), milliseconds(r.EchoP99), milliseconds(r.EchoMax))
	fmt.Fprintf(w, "95 %% intervals covered %.1f %% of the measurements, over all channels and horizons", 100*r.Coverage())
	for i, n := range roundTimes(r.Horizon) {
		fmt.Fprintf(w, "%s%g s %.1f %%", []string{": ", ", "}[min(i, 1)], r.Horizon[n], 100*r.CoverageAt(n))
	}
	fmt.Fprintln(w, ".")
}

// fewestFree is how many free seconds a statement about overdue predictions needs.
const fewestFree = 5

func milliseconds(d time.Duration) string {
	return fmt.Sprintf("%.2f ms", float64(d)/float64(time.Millisecond))
}

// conclusion writes the verdict on the model, the report to open and the next command.
func conclusion(w io.Writer, v *report.Verdict, page string) {
	fmt.Fprintf(w, `
Verdict on the model: %s
Report, to open in a browser: %s
Next, with a log of your own: go run ./cmd/dgm-bridge topics FILE
`, v.Line(), page)
}

// howToSubscribe returns how other programs receive the predictions, and plan.
func howToSubscribe(url, model string, sc *scene) string {
	return fmt.Sprintf(`
The NATS server listens on %[1]s. In another terminal:
  go run ./examples/planner-go %[1]s
  go run ./examples/whatif-go %[4]s %[1]s
  go run ./examples/mpc-go %[4]s %[1]s
  go run ./cmd/dgm-estimator status --nats %[1]s
  python3 examples/planner-python/planner.py %[1]s    # after pip install nats-py msgpack
  python3 examples/mppi-python/mppi.py %[5]s          # after pip install ./python
States are on %[2]s, predictions on %[3]s.
`, url, wire.StateSubject(sc.vehicle), wire.PredictSubject(sc.vehicle), sc.vehicle, model)
}
