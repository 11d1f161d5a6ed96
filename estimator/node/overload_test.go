package node

import (
	"testing"
	"time"

	"github.com/dgm-robotics/dgm/estimator/node/internal/prediction"
)

// Where the whole horizon takes twice as long as the time from one state to the next,
// the beginnings that superseded states get let the answers keep up, of a short horizon
// too, and a deadline that allows less than that is kept to.
func TestPredictionsKeepUpUnderOverload(t *testing.T) {
	const points, each, period = 16, ms / 4, 2 * ms
	for _, c := range []struct {
		horizon  float64
		deadline time.Duration
	}{{horizon: 0.1}, {horizon: 0.2}, {horizon: 0.5}, {0.1, 3 * time.Millisecond}, {0.5, 3 * time.Millisecond}} {
		times := make([]float64, points)
		for i := range times {
			times[i] = c.horizon * float64(i+1) / points
		}
		n, clock, nc, _ := offline(t, Config{Times: times, Deadline: c.deadline})
		l := n.worker.engine.Loaded.Ladder.Costs
		states, answers, worst := 0, 0, int64(0)
		start := clock.steady
		clock.pass(2 * period) // the first ones come together
		for clock.steady < start+1000*ms {
			for now := clock.steady; start+int64(states)*period <= now; states++ {
				late := now - (start + int64(states)*period)
				clock.pass(-late)
				clock.arrive(n, uint64(states), 0, 0.1, 0.2)
				clock.pass(late)
			}
			for i := range l {
				l[i] = prediction.Cost{Mean: float64(points >> i * each)}
			}
			a := n.intake.Mailbox.Get()
			if a == nil {
				clock.pass(each)
				continue
			}
			came := a.At
			n.worker.answer(nc, a)
			level := n.worker.task.Level
			clock.pass(points >> level * each)
			answers++
			worst = max(worst, clock.steady-came)
			if level == 0 && c.deadline > 0 {
				t.Fatalf("horizon %v s: a prediction that takes %v was begun with a deadline of %v", c.horizon, time.Duration(points*each), c.deadline)
			}
		}
		if worst > 4*period || answers < states-4 {
			t.Errorf("horizon %v s, deadline %v: of %d states %d were answered, one after %v", c.horizon, c.deadline, states, answers, time.Duration(worst))
		}
	}
}
