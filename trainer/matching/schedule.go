package matching

import "github.com/dgm-robotics/dgm/trainer/optimise"

// Schedule holds the settings by which parameters descend.
type Schedule struct {
	Steps          int     // of Adam
	Rate, Last     float64 // learning rate: highest, last
	WarmUp         int     // steps
	FineTune       int     // (optional) last steps, at rate Last, after all others at Rate; defaults to 0: a cosine from Rate to Last
	ClipNorm       float64 // (optional) longest gradient; defaults to 0: none is clipped
	Lambda         float64 // weight of the matching term, times N/Ns; 0 leaves it out
	From, To       float64 // shares of the steps between which matching and decay of the dynamics rise
	DecayS, DecayD float64 // weight decay of smoother and dynamics
}

// Published returns the schedule of the paper's appendix: matching and decay of the dynamics
// rise from the first step to the end of the transition phase, and 1000 steps of fine-tuning
// at a rate of 0.01 follow the training phase. The paper chose rate and decay from three each.
func Published(transition, training int, rate, decay float64) Schedule {
	const fineTune = 1000
	steps := transition + training + fineTune
	return Schedule{
		Steps: steps, FineTune: fineTune, Rate: rate, Last: 0.01, Lambda: 1,
		From: 0, To: float64(transition) / float64(steps), DecayS: decay, DecayD: decay,
	}
}

// rate returns the learning rate of each step.
func (s *Schedule) rate() func(step int) float64 {
	if s.FineTune == 0 {
		return optimise.Cosine{From: s.Rate, To: s.Last, WarmUp: s.WarmUp, Steps: s.Steps}.At
	}
	return func(step int) float64 {
		if step < s.Steps-s.FineTune {
			return s.Rate
		}
		return s.Last
	}
}

// rise returns the share of the weights of matching and decay of the dynamics.
func (s *Schedule) rise() optimise.Ramp {
	return optimise.Ramp{From: s.From, To: s.To, Power: 0.8, Steps: s.Steps}
}
