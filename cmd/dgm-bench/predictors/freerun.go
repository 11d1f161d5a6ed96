package predictors

import (
	"fmt"
	"math"
	"slices"

	"github.com/dgm-robotics/dgm/cmd/dgm-bench/study"
	"github.com/dgm-robotics/dgm/estimator"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/trainer/replay"
	"github.com/dgm-robotics/dgm/trainer/window"
)

// freeRun simulates the test record by a predictor and puts the RMSE of each channel (its unit) into a row. The simulation reads
// the first samples, as many as the benchmark of the recording allows, and the recorded inputs. The error is that of all later
// samples at which the channel was measured.
func freeRun(row *study.Row, d *data, p *predictor) error {
	if d.record == nil || p.simulate == nil {
		return nil
	}
	f, from := d.unmeasured(), d.of.initial
	if err := p.simulate(&f, from); err != nil {
		return fmt.Errorf("%s: free run: %w", p.name, err)
	}
	sums, counts := make([]float64, f.K), make([]float64, f.K)
	for i := from; i < f.N(); i++ {
		for k, y := range d.record.Compared(i) {
			if e := f.State(i)[k] - y; !math.IsNaN(y) {
				sums[k], counts[k] = sums[k]+e*e, counts[k]+1
			}
		}
	}
	for k, sum := range sums {
		if sums[k] = math.Sqrt(sum / counts[k]); math.IsNaN(sums[k]) || math.IsInf(sums[k], 0) {
			return fmt.Errorf("%s: free run: channel %q is not finite", p.name, d.task.States[k].Name)
		}
	}
	row.Put("free_run_rmse", study.Short(4, sums...)).Put("free_run_initial", from)
	return nil
}

// unmeasured returns the test record with the measurements of its first samples alone.
func (d *data) unmeasured() window.Flight {
	f := *d.record
	f.X, f.Y, f.Target, f.Exact = slices.Clone(f.X), nil, nil, nil
	for i := range f.X[d.of.initial*f.K:] {
		f.X[d.of.initial*f.K+i] = math.NaN()
	}
	return f
}

// chained writes the states of a flight after its initial samples: means of predictions over hop (s), each from the last
// state of the one before. Their history is of what was predicted, too.
func chained(fast *estimator.Fast, f *window.Flight, initial int, hop float64) error {
	m, q := fast.Model(), &estimator.Query{}
	for start := initial - 1; start < f.N()-1; {
		end := start + 1
		var times []float64
		for ; end < f.N() && f.T[end]-f.T[start] <= hop+1e-9; end++ {
			times = append(times, math.Min(f.T[end]-f.T[start], hop))
		}
		at, err := fast.For(times)
		if err != nil {
			return err
		}
		p, w := at.NewPrediction(), replay.New(m.K, times)
		w.Read(f, start)
		w.Query(q, m, model.Plan, planRows)
		if !at.Predict(p, q) {
			return fmt.Errorf("segment %q, sample %d: a prediction is not finite", f.Name, start)
		}
		copy(f.X[(start+1)*f.K:end*f.K], p.Mean)
		start = end - 1
	}
	return nil
}
