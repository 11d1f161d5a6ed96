package speed

import (
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/dgm-robotics/dgm/cmd/internal/cli"
	"github.com/dgm-robotics/dgm/estimator/model"
)

// Row is one measurement, as it stands in the JSON document.
type Row struct {
	System     string  `json:"system"`
	Form       string  `json:"form"` // paper: one member of random features; default: what is exported by default
	Features   int     `json:"features"`
	Points     int     `json:"points"`
	Members    int     `json:"members"`
	Unit       string  `json:"unit"` // of the processor
	Plain      float64 `json:"plain_us"`
	Fast       float64 `json:"fast_us"`
	FastP99    float64 `json:"fast_p99_us"`
	Worst      float64 `json:"worst_input"`   // time of the slowest query over the median of all
	MonteCarlo float64 `json:"montecarlo_us"` // 200 samples, one after the other
	Together   float64 `json:"montecarlo_together_us"`
	Allocs     float64 `json:"allocs"` // of the fast one
	Peak       float64 `json:"fma_peak_fraction"`
	Rate       float64 `json:"gflops"` // of the fast one's multiply-adds, each two operations
	Size       int     `json:"file_kb"`
	Load       float64 `json:"load_ms"` // from the bytes of the file to a fast predictor, of the processor's time
}

// Command returns the command "predict".
func Command() *cobra.Command {
	var (
		duration time.Duration
		points   []int
		file     string
		cpu      int
		asJSON   bool
	)
	cmd := &cobra.Command{
		Use:   "predict",
		Short: "Time of one prediction, plain and fast, against integrating samples",
		Long: `predict measures predictions on one core, to which it pins itself: the plain predictor, the fast one, and
the mean and standard deviation of 200 samples of the learned dynamics (two hidden layers of 20), integrated
by an adaptive Runge-Kutta method (relative tolerance 1e-3) with the fast predictor's kernels: one after the
other, as samples of the dynamics' weights have to be; and all together, sixteen in a vector, which is only
possible where samples share the weights.

Times are the least of many, in turns, so that what else runs on the computer weighs little; of what takes
milliseconds, it is the processor's time. The 99th percentile is by the clock and has all of that in it. The peak is that of
multiply-adds that wait for nothing, on the same core in the same turns. The worst input is the slowest of 30,
with numbers from 1e-300 to 1e10, over their median. Loading is the processor's time from
the bytes of a model file to a predictor that is ready, the model's checks of itself included.

Models are artificial, but for their dynamics, which follow the simulated systems: in the paper's form
(one member, core 10-5, D = 3) and in the form that is trained by default (three members, one of which
gives variances, basis 2, difference equation).`,
		Example: `  dgm-bench predict --json
  dgm-bench predict --model flight.dgm --points 20,100`,
		Args: cobra.NoArgs,
	}
	f := cmd.Flags()
	f.DurationVar(&duration, "duration", 2*time.Second, "how long a row is measured")
	f.IntSliceVar(&points, "points", nil, "points of the horizon; a row for each (default: 100, and 20 and 50 for two rows)")
	f.StringVar(&file, "model", "", "measure this model file alone")
	f.IntVar(&cpu, "cpu", -1, "the processor to run on; -1 is the last of those allowed")
	f.BoolVar(&asJSON, "json", false, "one JSON document on standard output and nothing else")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		for _, n := range points {
			if n < 1 || n > 10000 {
				return cli.Usage("--points %d must be within 1 … 10000", n)
			}
		}
		if duration <= 0 {
			return cli.Usage("--duration %v must be positive", duration)
		}
		jobs := standard(points)
		if file != "" {
			m, err := model.ReadFile(file)
			if err != nil {
				return err
			}
			jobs = ofFile(m, points)
		}
		unpin, err := pin(cpu)
		if err != nil {
			return err
		}
		defer unpin()
		var rows []Row
		for i := range jobs {
			if err := cmd.Context().Err(); err != nil {
				return err
			}
			r, err := jobs[i].measure(duration)
			if err != nil {
				return err
			}
			rows = append(rows, r)
		}
		if asJSON {
			return json.NewEncoder(cmd.OutOrStdout()).Encode(struct {
				Predict []Row `json:"predict"`
			}{rows})
		}
		return table(cmd.OutOrStdout(), rows)
	}
	return cmd
}

func table(w io.Writer, rows []Row) error {
	_, err := fmt.Fprintf(w, "%-16s %-7s %4s %6s %7s %-7s %9s %8s %8s %6s %9s %9s %6s %6s %8s %6s %7s\n",
		"system", "form", "F", "points", "members", "unit", "plain/µs", "fast/µs", "p99/µs", "worst", "m.c./µs", "together", "allocs", "peak", "GFLOP/s", "kB", "load/ms")
	for _, r := range rows {
		if err == nil {
			_, err = fmt.Fprintf(w, "%-16s %-7s %4d %6d %7d %-7s %9.0f %8.1f %8.1f %6.2f %9.0f %9.0f %6g %5.0f%% %8.1f %6d %7.1f\n",
				r.System, r.Form, r.Features, r.Points, r.Members, r.Unit, r.Plain, r.Fast, r.FastP99, r.Worst, r.MonteCarlo, r.Together, r.Allocs, 100*r.Peak, r.Rate, r.Size, r.Load)
		}
	}
	return err
}
