package view

// Frame is the content of the picture at one time.
type Frame struct {
	Title   string  // the robot and what it does
	Elapsed float64 // s since the start
	Total   float64 // s it will run; 0 = until stopped

	Note string // (optional) a line below

	Channel, Unit string
	Bands         []Band   // drawn one over the other, on one time axis
	Measured      []Sample // the measurements, on the same axis

	Coverage  []Coverage // of the 95 % interval, by horizon
	Pooled    Coverage   // over all horizons and channels
	P50, P99  float64    // s, state out to prediction in
	Rate      float64    // predictions per second
	Predicted int        // predictions so far
	Missing   int        // states without one
	Overdue   int        // that arrived after the next state
}

// Band is a prediction of the channel.
type Band struct {
	T            []float64 // s from now; before now is negative
	Mean, Lo, Hi []float64
}

// Sample is a measured value.
type Sample struct{ T, Value float64 }

// Coverage counts how many measurements fell into the interval.
type Coverage struct {
	Horizon       float64 // s
	Inside, Total int
}

// Share returns the share inside, 0 to 1.
func (c Coverage) Share() float64 {
	if c.Total == 0 {
		return 0
	}
	return float64(c.Inside) / float64(c.Total)
}
