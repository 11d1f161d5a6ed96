package window

import "github.com/dgm-robotics/dgm/estimator/channel"

// Task is what is predicted of flights: their states, over a horizon, from a state and
// the inputs.
type Task struct {
	States  []channel.Channel // K
	Inputs  int               // P
	Horizon float64           // H, s
}
