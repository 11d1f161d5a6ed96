package prediction

import "testing"

func TestCostIsRobustToOneOutlier(t *testing.T) {
	var c Cost
	for range 1000 {
		c.add(100)
	}
	c.add(50_000) // a stall
	if e := c.Expected(); e > 150 {
		t.Errorf("after one stall %v is expected", e)
	}
	for range 200 {
		c.add(300)
	}
	if e := c.Expected(); e < 290 || e > 400 {
		t.Errorf("%v is expected of what costs 300", e)
	}
}

// What a tick with a new state costs more than its level is the cost of propagation.
func TestPropagationIsCountedApart(t *testing.T) {
	level := Cost{Mean: 3}
	l := Ladder{Ends: []float64{1, 0.5}, Costs: []Cost{{Mean: 5}, level}}
	l.Spend(1, 9, true)
	if l.Propagation.Mean != 6 || l.Costs[1] != level || l.Costs[0].Mean >= 5 {
		t.Errorf("9 ns, of which 3 for the prediction: %+v", l)
	}
}
