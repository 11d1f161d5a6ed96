package disturb

import (
	"math"
	"slices"
)

// Lateness is how long after a command an actuator acts: a dead time, then a first-order lag. Logs and plans hold the command.
type Lateness struct {
	Dead, Lag float64 // s
	Inputs    []int   // (optional) which; defaults to all
	Onset
}

// Actuators are late ones in motion.
type Actuators struct {
	late []Lateness
	sent []command
	at   []float64 // P, where each is
}

type command struct {
	t float64 // s
	u []float64
}

// NewActuators returns actuators that have reached the commands u (P).
func NewActuators(late []Lateness, u []float64) *Actuators {
	return &Actuators{late: late, sent: []command{{math.Inf(-1), slices.Clone(u)}}, at: slices.Clone(u)}
}

// Mean takes the commands u (P) that are held over a step of dt from t on, s, and writes what acts, its mean over the step, to acting (P).
func (a *Actuators) Mean(acting, u []float64, t, dt float64) {
	if last := a.sent[len(a.sent)-1]; !slices.Equal(last.u, u) {
		a.sent = append(a.sent, command{t, slices.Clone(u)})
	}
	oldest := t
	for i := range acting {
		acting[i] = u[i]
		dead, lag := 0.0, 0.0
		for j := range a.late {
			if l := &a.late[j]; l.Inputs == nil || slices.Contains(l.Inputs, i) {
				share := l.Share(t)
				dead, lag = dead+share*l.Dead, lag+share*l.Lag
			}
		}
		oldest = math.Min(oldest, t-dead)
		acting[i] = a.mean(i, t, dt, dead, lag)
	}
	for len(a.sent) > 1 && a.sent[1].t <= oldest { // what nothing can follow any more
		a.sent = a.sent[1:]
	}
}

// mean moves actuator i over a step, and returns the mean of where it was.
func (a *Actuators) mean(i int, t, dt, dead, lag float64) float64 {
	now, end, sum := t, t+dt, 0.0
	for j := range a.sent {
		until := end
		if j+1 < len(a.sent) {
			until = math.Min(end, a.sent[j+1].t+dead)
		}
		h := until - now
		if h <= 0 {
			continue
		}
		to := a.sent[j].u[i]
		if lag <= 0 {
			sum, a.at[i] = sum+to*h, to
		} else {
			rest := -math.Expm1(-h / lag)
			sum += to*h + (a.at[i]-to)*lag*rest
			a.at[i] += (to - a.at[i]) * rest
		}
		now = until
	}
	return sum / dt
}
