package trainer

import "time"

// Progress tells how far a training is.
type Progress struct {
	Phase   string
	Done    float64 // share of the whole, 0…1
	Elapsed time.Duration
	Left    time.Duration // estimate; 0 = not known yet
}

// Work of the phases, in units of training one member's nets, as measured on a robot of
// twelve states; smaller ones take less of all.
const (
	workChoose    = 2.0  // candidates for the difference equation
	workEquations = 1.2  // its fits to the data and to every fold
	workFolds     = 0.1  //
	workCore      = 1.0  // one candidate for the core: its nets, and two tempers
	workNets      = 0.5  // its nets
	workTempers   = 1.0  // some of the tempers
	workTemper    = 0.25 // one of them
	workLaw       = 0.5  // calibration of one readout
	workPosterior = 0.35 // of one member, all readouts; twice: to be judged, and to fly
)

// planned is all work of a training.
func (t *training) planned() float64 {
	units := workFolds + workTempers + workLaw*float64(t.readouts()) + (1+2*workPosterior)*float64(t.cfg.Members)
	if t.cfg.Prior == "equation" {
		units += workChoose + workEquations
	}
	if n := len(t.cores()); n*len(t.bases()) > 1 {
		units += workCore * float64(n)
	}
	units += workTemper * float64(len(t.bases())-1)
	return units
}

// meter turns units of work into progress.
type meter struct {
	report      func(Progress)
	began       time.Time
	units, done float64
	phase       string
}

// work reports that a part of a unit is done.
func (t *meter) work(phase string, units float64) {
	t.done += units
	t.say(phase)
}

// skip corrects the whole: so much work is left out.
func (t *meter) skip(units float64) { t.units -= units }

// remain corrects the whole: that much work is left. It is for trainings that
// leave out what was counted on.
func (t *meter) remain(units float64) { t.units = t.done + units }

func (t *meter) say(phase string) {
	t.phase = phase
	if t.report == nil {
		return
	}
	share := min(t.done/t.units, 0.99)
	p := Progress{Phase: phase, Done: share, Elapsed: time.Since(t.began)}
	if share > 0.02 {
		p.Left = time.Duration(float64(p.Elapsed) * (1 - share) / share)
	}
	t.report(p)
}
