package nets

import (
	"fmt"

	"github.com/dgm-robotics/dgm/trainer/rows"
	"github.com/dgm-robotics/dgm/trainer/window"
)

// Data is what a net trains on, and what a posterior is conditioned on.
type Data struct {
	Frame   *rows.Frame
	Flights []window.Flight
	Windows []window.Window
	Samples int // distinct samples of the flights
}

// NewData cuts the flights into windows of the frame's horizon, about stride seconds
// apart.
func NewData(frame *rows.Frame, flights []window.Flight, stride float64) Data {
	return Data{Frame: frame, Flights: flights, Windows: window.Cut(flights, frame.Inputs.Horizon, stride), Samples: window.Samples(flights)}
}

func (d Data) String() string {
	return fmt.Sprintf("%d windows of %g s in %d flights of %d samples", len(d.Windows), d.Frame.Inputs.Horizon, len(d.Flights), d.Samples)
}

// rows returns the number of rows that all windows hold together.
func (d *Data) rows() int {
	n := 0
	for _, w := range d.Windows {
		from, to := d.Flights[w.Flight].Samples(w.Start, d.Frame.Inputs.Horizon)
		n += to - from
	}
	return n
}
