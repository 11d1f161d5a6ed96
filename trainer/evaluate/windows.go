package evaluate

import (
	"fmt"
	"sync"

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
