package node

import (
	"slices"
	"testing"
)

// The score of the consistency check and what is known of the intervals are on the
// status, and the factor is in each prediction.
func TestTheConsistencyCheckIsOnTheStatus(t *testing.T) {
	n, c, nc, predictions := offline(t, Config{})
	if st := n.compose(0); st.Health != -1 {
		t.Errorf("before any state: %v", st.Health)
	}
	n.status.snapshot.request(false)
	c.arrive(n, 1, 0, 0.1, 0.2)
	n.worker.answer(nc, n.intake.Mailbox.Get())
	if p := predictions.prediction(); !slices.Equal(p.Factor, slices.Repeat([]float64{1}, len(p.Mean))) {
		t.Errorf("factor %v, and nothing has come to learn it from", p.Factor)
	}
	st := n.compose(0)
	if !(st.Health > 0) || len(st.Buckets) == 0 || len(st.Coverage) != 2*len(st.Buckets) || st.Coverage[0] != -1 {
		t.Errorf("status %+v", st)
	}
}
