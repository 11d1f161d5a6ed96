package evaluate

import (
	"context"
	"runtime"
	"sync"

	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/trainer/window"
)

// chunk bounds the windows whose outcomes are in memory at once.
const chunk = 1024

// Run replays the flights and scores every window. The errors that the data or
// the model cause are *ShortError and *DivergedError; others are contradictions
// between options and model, found before work starts.
//
// The flights' states and inputs must be those of the model, in its order (see
// channel.SameLayout).
func Run(ctx context.Context, m *model.Model, flights []window.Flight, opt Options) (*Table, error) {
	opt, err := opt.fillIn(m.Horizon)
	if err != nil {
		return nil, err
	}
	workers := opt.Workers
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	replayers := make([]*replayer, workers)
	for i := range replayers {
		if replayers[i], err = newReplayer(m, opt); err != nil {
			return nil, err
		}
	}
	last := opt.Horizons[len(opt.Horizons)-1]
	windows := window.Cut(flights, last, opt.Stride)
	if len(windows) == 0 {
		return nil, &ShortError{Needed: last, Longest: window.Longest(flights)}
	}
	s := newScorer(m, opt, len(windows))
	outcomes := replayers[0].newOutcomes(min(chunk, len(windows)))
	for from := 0; from < len(windows); from += chunk {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		part := windows[from:min(from+chunk, len(windows))]
		replay(replayers, outcomes, flights, part)
		for i, w := range part {
			f := &flights[w.Flight]
			if err := s.add(&outcomes[i]); err != nil {
				return nil, &DivergedError{Flight: f.Name, T: f.Origin + int64(f.T[w.Start]*1e9), Err: err}
			}
		}
	}
	return s.table(spacing(flights, windows, opt.Stride))
}

// replay predicts the windows, each worker its share, into outcomes.
func replay(replayers []*replayer, outcomes []outcome, flights []window.Flight, windows []window.Window) {
	var wait sync.WaitGroup
	for j, r := range replayers {
		wait.Go(func() {
			for i := j; i < len(windows); i += len(replayers) {
				r.window(&outcomes[i], &flights[windows[i].Flight], windows[i].Start)
			}
		})
	}
	wait.Wait()
}
