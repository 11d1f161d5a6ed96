package budget

import (
	"testing"
	"testing/synctest"
	"time"
)

// phase is what a training of a recording took: seconds of one core, and the work that is
// reported at its end.
type phase struct {
	seconds float64
	work    func(a *Adaptation) float64
}

func (p phase) times(n int) (out []phase) {
	for range n {
		out = append(out, phase{p.seconds / float64(n), p.work})
	}
	return out
}

// After the first tenth of a training the time left is within a factor of two, on a Crazyflie
// of twelve states, on a pendulum of two and on a double pendulum, by the times that their phases
// took, and on a quadrotor whose posteriors take a third of that.
func TestTheTimeLeftIsWithinAFactorOfTwo(t *testing.T) {
	equation := func(a *Adaptation) float64 { return a.Equation }
	direct := func(a *Adaptation) float64 { return a.Direct }
	nets := func(a *Adaptation) float64 { return a.Nets }
	posterior := func(a *Adaptation) float64 { return a.Posterior }
	for _, robot := range []struct {
		name                                                                                                       string
		chain                                                                                                      bool
		states, folds                                                                                              int
		work                                                                                                       float64 // s, estimated of a fit of the equation
		choose, fit, direct, choice, nets, weights, cores, member, temperatures, calibrate, posterior, table, last float64
	}{
		{"crazyflie", false, 12, 3, 6.4, 3.4, 9.3, 5.2, 28, 15.3, 3.6, 32.3, 7.8, 20.5, 6.8, 3.7, 4, 16.4},
		{"quadrotor", false, 12, 4, 6.4, 3.4, 9.3, 5.2, 28, 15.3, 3.6, 32.3, 7.8, 20.5, 7.8, 1.3, 4, 10},
		{"pendulum", false, 2, 4, 0.5, 0.6, 0.4, 0.4, 32.6, 12.2, 0.6, 7.2, 2.4, 4.9, 1.6, 1.57, 0.3, 12.7},
		{"double pendulum", true, 4, 4, 10.6, 6.4, 10.6, 1.3, 47, 96.7, 1, 14, 2.9, 4, 2.2, 1.1, 5, 91},
	} {
		synctest.Test(t, func(t *testing.T) {
			plan := Plan{
				States: robot.states, Equation: true, Direct: true, Nets: true, Folds: robot.folds, NetSteps: 1, NetMembers: 3, Chain: robot.chain,
				Cores: 3, Bases: 3, Conditions: 4, Members: 3, Steps: 1, Features: 1, Held: true,
			}
			fit := phase{robot.fit, equation}
			all := append([]phase{{robot.choose, func(a *Adaptation) float64 { a.SetEquation(robot.work, 2+robot.folds); return a.Choose }}}, fit.times(1)...)
			for range robot.folds {
				all = append(all, fit)
			}
			all = append(all, phase{robot.direct, direct}, phase{robot.choice, func(a *Adaptation) float64 { return a.NetChoice }}, phase{robot.nets, nets},
				phase{robot.weights, func(a *Adaptation) float64 { return a.Weights }})
			all = append(all, phase{robot.cores, func(a *Adaptation) float64 { return a.Core() + 2*a.Trial/3 }}.times(3)...)
			all = append(all, phase{3 * robot.member, func(a *Adaptation) float64 { return a.Member }}.times(3)...)
			all = append(all, phase{robot.temperatures, func(a *Adaptation) float64 { return a.Trial }}.times(trials)...)
			all = append(all, phase{4 * robot.calibrate, func(a *Adaptation) float64 { return a.Calibrate }}.times(4)...)
			all = append(all, phase{3 * robot.posterior, posterior}.times(3)...)
			all = append(all, phase{robot.table, func(a *Adaptation) float64 {
				a.SetPosterior(time.Duration(3e9*robot.posterior), 3)
				return a.Table
			}}, fit, phase{robot.direct, direct}, phase{robot.last, nets})
			all = append(all, phase{3 * robot.posterior, posterior}.times(3)...)
			total := 0.0
			for _, p := range all {
				total += p.seconds
			}
			began, checked := time.Now(), 0
			a := New(time.Hour, plan, func(p Progress) {
				at := time.Since(began).Seconds()
				if left := total - at; at > 0.1*total && left > 0.01*total {
					checked++
					if ratio := p.Left.Seconds() / left; ratio < 0.5 || ratio > 2 {
						t.Errorf("%s: at %.0f s of %.0f s %v are said to be left", robot.name, at, total, p.Left)
					}
				}
			})
			for i := range all {
				time.Sleep(time.Duration(all[i].seconds * 1e9))
				a.Work("a phase", all[i].work(a))
			}
			if checked < 10 {
				t.Errorf("%s: %d reports", robot.name, checked)
			}
		})
	}
}
