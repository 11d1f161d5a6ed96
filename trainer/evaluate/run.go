package evaluate

import (
	"context"
	"fmt"
	"runtime"
	"sync"

	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/trainer/window"
)

// chunk bounds the windows whose outcomes are in memory at once.
const chunk = 1024

// Run replays the flights and scores every window. Flights that are too short for the
// horizons are a *ShortError. A prediction that cannot be scored is an error that names the
// window. Other errors are contradictions between options and model, found before work
// starts.
//
// The flights' states and inputs must be those of the model, in its order (see
// channel.SameLayout).
func Run(ctx context.Context, m *model.Model, flights []window.Flight, opt Options) (*Table, error) {
	opt, err := opt.withDefaults(m.Horizon)
	if err != nil {
		return nil, err
	}
	workers := opt.Workers
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	comparers := make([]*comparer, workers)
	for i := range comparers {
		if comparers[i], err = newComparer(m, opt); err != nil {
			return nil, err
		}
	}
	last := opt.Horizons[len(opt.Horizons)-1]
	windows, err := cut(flights, last, opt.Stride)
	if err != nil {
		return nil, err
	}
	s := newScorer(m, opt, len(windows))
	outcomes := comparers[0].newOutcomes(min(chunk, len(windows)))
	for from := 0; from < len(windows); from += chunk {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		part := windows[from:min(from+chunk, len(windows))]
		predict(comparers, outcomes, flights, part)
		for i, w := range part {
			if err := s.add(&outcomes[i]); err != nil {
				return nil, at(&flights[w.Flight], w.Start, err)
			}
		}
	}
	return s.table(spacing(flights, windows, opt.Stride))
}

// cut returns the windows of the flights, at least one.
func cut(flights []window.Flight, H, stride float64) ([]window.Window, error) {
	windows := window.Cut(flights, H, stride)
	if len(windows) == 0 {
		return nil, &ShortError{Needed: H, Longest: window.Longest(flights)}
	}
	return windows, nil
}

// predict predicts the windows, each worker its share, into outcomes.
func predict(comparers []*comparer, outcomes []outcome, flights []window.Flight, windows []window.Window) {
	var wait sync.WaitGroup
	for j, c := range comparers {
		wait.Go(func() {
			for i := j; i < len(windows); i += len(comparers) {
				c.compare(&outcomes[i], &flights[windows[i].Flight], windows[i].Start)
			}
		})
	}
	wait.Wait()
}

// spacing returns the mean time between the starts of windows, s.
func spacing(flights []window.Flight, windows []window.Window, stride float64) float64 {
	sum, n := 0.0, 0
	for i := 1; i < len(windows); i++ {
		if a, b := windows[i-1], windows[i]; a.Flight == b.Flight {
			f := &flights[a.Flight]
			sum += f.T[b.Start] - f.T[a.Start]
			n++
		}
	}
	if n == 0 {
		return stride
	}
	return sum / float64(n)
}

// at names the window that an error is about.
func at(f *window.Flight, start int, err error) error {
	return fmt.Errorf("segment %q, window at %d ns: %w", f.Name, f.Origin+int64(f.T[start]*1e9), err)
}
