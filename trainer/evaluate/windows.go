package evaluate

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"

	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/trainer/window"
)

// chunk bounds the windows whose outcomes are in memory at once.
const chunk = 1024

// cut returns the windows of the flights, at least one.
func cut(flights []window.Flight, H, stride float64) ([]window.Window, error) {
	windows := window.Cut(flights, H, stride)
	if len(windows) == 0 {
		return nil, tooShort(H, flights)
	}
	return windows, nil
}

// newComparers returns one for each processor.
func newComparers(m *model.Model, flights []window.Flight, windows []window.Window, opt Options) ([]*comparer, error) {
	all, interpolated := make([]*comparer, runtime.GOMAXPROCS(0)), window.Interpolated(flights, windows, opt.Horizons)
	for i := range all {
		c, err := newComparer(m, flights, opt)
		if err != nil {
			return nil, err
		}
		all[i], c.Interpolated = c, interpolated
	}
	return all, nil
}

// predict predicts the windows, each comparer its share, and passes the outcomes to use in their
// order.
func predict(ctx context.Context, comparers []*comparer, flights []window.Flight, windows []window.Window, use func(*outcome) error) error {
	outcomes := comparers[0].newOutcomes(min(chunk, len(windows)))
	for part := range slices.Chunk(windows, chunk) {
		if err := ctx.Err(); err != nil {
			return err
		}
		var wait sync.WaitGroup
		for j, c := range comparers {
			wait.Go(func() {
				for i := j; i < len(part); i += len(comparers) {
					c.compare(&outcomes[i], &flights[part[i].Flight], part[i].Start)
				}
			})
		}
		wait.Wait()
		for i, w := range part {
			if err := use(&outcomes[i]); err != nil {
				return at(&flights[w.Flight], w.Start, err)
			}
		}
	}
	return nil
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
