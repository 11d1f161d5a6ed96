package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	"github.com/dgm-robotics/dgm/estimator/wire"
)

// check returns an error for an address that others than this computer could
// reach.
func (m *metrics) check() error {
	if m.Listen == "" {
		return nil
	}
	host, _, err := net.SplitHostPort(m.Listen)
	if err != nil {
		return fmt.Errorf("metrics.listen: %w", err)
	}
	if ip := net.ParseIP(host); ip == nil || !ip.IsLoopback() {
		return fmt.Errorf("metrics.listen is %q, and must be an address of the loopback, like 127.0.0.1:9464", m.Listen)
	}
	return nil
}

// listen serves the numbers of the statuses at addr until end is called, or does
// nothing where no address is given.
func (m *metrics) listen(all []*served) (addr string, end func(), err error) {
	if m.Listen == "" {
		return "", func() {}, nil
	}
	l, err := net.Listen("tcp", m.Listen)
	if err != nil {
		return "", nil, fmt.Errorf("metrics: %w", err)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /metrics", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; version=0.0.4")
		writeMetrics(w, all)
	})
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 5 * time.Second, WriteTimeout: 10 * time.Second}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = server.Serve(l) // until it is closed
	}()
	return l.Addr().String(), func() { _ = server.Close(); <-done }, nil
}

// writeMetrics writes the last status of every vehicle in the text format of
// Prometheus.
func writeMetrics(w io.Writer, all []*served) {
	statuses := make([]wire.Status, 0, len(all))
	for _, v := range all {
		var s wire.Status
		if s.Decode(v.node.StatusMessage()) == nil { // none before the first
			statuses = append(statuses, s)
		}
	}
	number := func(name, kind, help string, value func(s *wire.Status) float64) {
		fmt.Fprintf(w, "# HELP dgm_%s %s\n# TYPE dgm_%s %s\n", name, help, name, kind)
		for i := range statuses {
			fmt.Fprintf(w, "dgm_%s{vehicle=%q} %g\n", name, statuses[i].Vehicle, value(&statuses[i]))
		}
	}
	number("states_total", "counter", "States received.", func(s *wire.Status) float64 { return float64(s.Received) })
	number("predictions_total", "counter", "Predictions sent.", func(s *wire.Status) float64 { return float64(s.Published) })
	number("late_total", "counter", "Predictions sent after their deadline.", func(s *wire.Status) float64 { return float64(s.Late) })
	number("shortened_total", "counter", "Predictions of a shorter horizon than configured.", func(s *wire.Status) float64 { return float64(s.Shortened) })
	number("no_history_total", "counter", "Predictions without all the history that the model reads.", func(s *wire.Status) float64 { return float64(s.NoHistory) })
	number("ticks_total", "counter", "Ticks that were due.", func(s *wire.Status) float64 { return float64(s.Ticks) })
	number("input_age_seconds", "gauge", "Time since the last state was accepted; -1 before the first.", func(s *wire.Status) float64 { return s.InputAge })
	number("latency_p99_seconds", "gauge", "From a state or tick to its prediction, since the last status.", func(s *wire.Status) float64 { return s.LatencyP99 })
	number("miscalibrated", "gauge", "Channels and buckets with too low coverage.", func(s *wire.Status) float64 { return float64(s.Miscalibrated) })
	number("swaps_total", "counter", "Model swaps while running.", func(s *wire.Status) float64 { return float64(s.Swaps) })
	number("plans_unused_total", "counter", "Predictions made without the plan of their state, which had no plan_dt.", func(s *wire.Status) float64 { return float64(s.PlansUnused) })
	number("adapted_total", "counter", "Predictions corrected by what was learned in flight.", func(s *wire.Status) float64 { return float64(s.Adapted) })
	number("adapt_share", "gauge", "Weight of the learned amounts in predictions (with watch: the weight they would have), 0 to 1.", func(s *wire.Status) float64 { return s.AdaptShare })
	number("filter_nis", "gauge", "Mean of the normalised innovations squared: 1 in a consistent filter, 0 without a filter.", func(s *wire.Status) float64 { return s.NIS })
	number("filter_whiteness", "gauge", "Correlation of the innovations of successive measurements of a channel: 0 in a consistent filter.", func(s *wire.Status) float64 { return s.Whiteness })
	number("filter_rejected_total", "counter", "Outliers: measurements that the filter did not use.", func(s *wire.Status) float64 { return float64(s.Rejected) })
	number("filter_resets_total", "counter", "Times that the filter began again.", func(s *wire.Status) float64 { return float64(s.FilterResets) })
	number("pace_level", "gauge", "Number of halvings of the horizon for predictions to keep up with the states: 0 = the whole horizon.", func(s *wire.Status) float64 { return float64(s.PaceLevel) })
	number("pace_every", "gauge", "One of this number of states is answered for predictions to keep up.", func(s *wire.Status) float64 { return float64(s.PaceEvery) })
	number("pace_cost_seconds", "gauge", "Present time of a prediction of the whole horizon.", func(s *wire.Status) float64 { return s.PaceCost })
	number("pace_own_seconds", "gauge", "What the model itself needs of that.", func(s *wire.Status) float64 { return s.PaceOwn })
	number("pace_echo_seconds", "gauge", "Delay by the computer before work on an answer begins.", func(s *wire.Status) float64 { return s.PaceEcho })
	number("pace_time_seconds", "gauge", "Time available for a prediction; 0 = not known.", func(s *wire.Status) float64 { return s.PaceTime })
	number("memory_bytes", "gauge", "Memory of the process.", func(s *wire.Status) float64 { return float64(s.Memory) })
	writeQuantiles(w, statuses)
	for _, v := range []struct {
		name, help string
		of         func(s *wire.Status) []float64
	}{
		{"coverage", "Running share of measurements inside 95 % intervals, by channel and by the end of the bucket of the horizon, s.", func(s *wire.Status) []float64 { return s.Coverage }},
		{"factor", "Factor on the intervals with which they would cover 95 %.", func(s *wire.Status) []float64 { return s.Factor }},
	} {
		fmt.Fprintf(w, "# HELP dgm_%s %s\n# TYPE dgm_%s gauge\n", v.name, v.help, v.name)
		for i := range statuses {
			s := &statuses[i]
			for j, x := range v.of(s) {
				if K := len(s.Channels); x >= 0 && K > 0 && j/K < len(s.Buckets) {
					fmt.Fprintf(w, "dgm_%s{vehicle=%q,channel=%q,until=\"%g\"} %g\n", v.name, s.Vehicle, s.Channels[j%K], s.Buckets[j/K], x)
				}
			}
		}
	}
	writeAmounts(w, statuses)
	fmt.Fprintf(w, "# HELP dgm_refused_total States that gave no prediction.\n# TYPE dgm_refused_total counter\n")
	for i := range statuses {
		for _, r := range statuses[i].Reasons {
			fmt.Fprintf(w, "dgm_refused_total{vehicle=%q,reason=%q} %d\n", statuses[i].Vehicle, r.Reason, r.Count)
		}
	}
}

// writeAmounts writes by which amounts each robot differs from that of the training data.
func writeAmounts(w io.Writer, statuses []wire.Status) {
	fmt.Fprintf(w, "# HELP dgm_amount Amount by which the robot differs from the training data, and its standard deviation.\n# TYPE dgm_amount gauge\n")
	for i := range statuses {
		for _, a := range statuses[i].Amounts {
			fmt.Fprintf(w, "dgm_amount{vehicle=%q,name=%q,unit=%q,of=\"value\"} %g\n", statuses[i].Vehicle, a.Name, a.Unit, a.Value)
			fmt.Fprintf(w, "dgm_amount{vehicle=%q,name=%q,unit=%q,of=\"std\"} %g\n", statuses[i].Vehicle, a.Name, a.Unit, a.Std)
		}
	}
}

func writeQuantiles(w io.Writer, statuses []wire.Status) {
	fmt.Fprintf(w, "# HELP dgm_latency_seconds From a state or tick to its prediction, and the parts of it, since the last status; quantile 1 is the largest.\n# TYPE dgm_latency_seconds gauge\n")
	for i := range statuses {
		s := &statuses[i]
		all := append([]wire.Phase{{Name: "all", P50: s.LatencyP50, P99: s.LatencyP99, Max: s.LatencyMax}}, s.Phases...)
		for _, p := range all {
			for _, q := range [...]struct{ quantile, value float64 }{{0.5, p.P50}, {0.99, p.P99}, {1, p.Max}} {
				fmt.Fprintf(w, "dgm_latency_seconds{vehicle=%q,phase=%q,quantile=\"%g\"} %g\n", s.Vehicle, p.Name, q.quantile, q.value)
			}
		}
	}
}
