package dynamicsnet

import "github.com/dgm-robotics/dgm/estimator/numeric/mlp"

// Stage sizes a part of the training.
type Stage struct {
	Steps   int     // of the optimiser; 0 leaves the part out
	Batch   int     // windows for each of them
	Windows int     // at most, spread evenly
	Rate    float64 // highest learning rate
}

// Settings drive a training.
type Settings struct {
	Hidden     []int // widths of the hidden layers
	Activation mlp.Activation
	Match      Stage   // on single steps
	Shoot      Stage   // on roll-outs
	Decay      float64 // by how much the first part that is not left out shrinks log |weight|
	Clip       float64 // longest gradient
}

// Default returns the settings for so many states.
func Default(states int) Settings {
	width := 64
	if states > 6 {
		width = 32 // more roll-outs on board cost too much
	}
	return Settings{
		Hidden: []int{width, width}, Activation: mlp.Tanh, Decay: 0.3, Clip: 5,
		Match: Stage{Steps: 6000, Batch: 128, Windows: 100000, Rate: 3e-3},
		Shoot: Stage{Steps: 1500, Batch: 64, Windows: 20000, Rate: 3e-3},
	}
}

// chained returns settings of nets that learn what a chain of links leaves: smaller, and on
// more roll-outs, as single steps show little of it beside their noise.
func (s Settings) chained() Settings {
	s.Hidden = []int{32, 32}
	s.Shoot.Steps *= 3
	return s
}

// brief returns settings for the comparison of candidates.
func (s Settings) brief() Settings {
	s.Match.Steps /= 2
	s.Shoot.Steps /= 3
	return s
}
