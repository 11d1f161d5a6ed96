package paper

import "github.com/dgm-robotics/dgm/estimator/numeric/mlp"

// Settings are the choices of one fit.
type Settings struct {
	Core     []int          // widths of the smoother's core; the activation of the last layer is CoreEnd
	Act      mlp.Activation // of the core
	CoreEnd  mlp.Activation // (optional) of the core's last layer; defaults to linear
	DynAct   mlp.Activation // of the dynamics
	Dynamics []int          // widths of the dynamics' hidden layers
	D        int            // smoother features a channel
	F        int            // random features a channel, even
	Exact    bool           // the exact kernel instead of random features

	Steps      int     // of the optimiser
	Rate, Last float64 // learning rate: highest, last
	WarmUp     int     // steps
	FineTune   int     // (optional) last steps, at rate Last, after all others at Rate; defaults to 0: a cosine from Rate to Last
	Clip       float64 // longest gradient; 0 = any
	Sigma      float64 // noise at the start, standardised
	Lambda     float64 // weight of the matching term, times N/Ns
	From, To   float64 // shares of the steps between which matching and decay of the dynamics rise
	Decay      float64 // weight decay
	Support    int     // points at which derivatives are matched, a trajectory; 0 = the observations

	// Anchor is the standard deviation, standardised, with which every start is
	// counted as an observation at time 0: x0 is known exactly. 0 leaves it out.
	Anchor float64
}

// DefaultSettings returns the settings of the default recipe.
func DefaultSettings() Settings {
	return Settings{
		Core: []int{20, 20, 10}, Act: mlp.Sigmoid, DynAct: mlp.Sigmoid, Dynamics: []int{20, 20},
		D: 3, F: 100,
		Steps: 1500, Rate: 0.05, Last: 0.0005, WarmUp: 30, Clip: 0, Sigma: 0.13,
		Lambda: 1, From: 0.2, To: 0.5, Decay: 0.3, Support: 0, Anchor: 0.03,
	}
}
