package priordynamics

import "testing"

// A larger equation must be clearly better than a smaller one, one with a stronger penalty just better.
func TestStrongerPenaltyIsNoLargerEquation(t *testing.T) {
	small := Candidate{Shape: Shape{Step: 0.05, Degree: 2, Ridge: 1e-5}, Score: 0.2}
	for _, c := range []struct {
		name   string
		of     Candidate
		chosen bool
	}{
		{"a stronger penalty, 1 % better", Candidate{Shape: Shape{Step: 0.05, Degree: 2, Ridge: 1e-3}, Score: 0.198}, true},
		{"a stronger penalty, as good", Candidate{Shape: Shape{Step: 0.05, Degree: 2, Ridge: 1e-3}, Score: 0.2}, false},
		{"a degree more, 1 % better", Candidate{Shape: Shape{Step: 0.05, Degree: 3, Ridge: 1e-5}, Score: 0.198}, false},
		{"a degree more, 5 % better", Candidate{Shape: Shape{Step: 0.05, Degree: 3, Ridge: 1e-5}, Score: 0.19}, true},
		{"shorter steps, 1 % better", Candidate{Shape: Shape{Step: 0.02, Degree: 2, Ridge: 1e-5}, Score: 0.198}, false},
	} {
		if chosen := c.of.Score < c.of.least(&small); chosen != c.chosen {
			t.Errorf("%s: chosen %v", c.name, chosen)
		}
	}
}
