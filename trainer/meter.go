package trainer

import "time"

// Progress tells how far a training is.
type Progress struct {
	Phase   string
	Done    float64 // share of the whole, 0…1
	Elapsed time.Duration
	Left    time.Duration // estimate; 0 = not known yet
}

// meter turns units of work (one fit = 1) into progress.
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
