package paper

import (
	"context"
	"slices"
	"testing"
)

// Before the first observation neither priors nor parameters are refined, and nothing of
// an earlier system is left in the next.
func TestNothingIsLearnedFromNoObservation(t *testing.T) {
	d := turning(3, 8, 0.05)
	for j := range d.Trajectories {
		tr := &d.Trajectories[j]
		for i := range tr.T {
			tr.T[i] = 3 + tr.T[i]/5
			x := rotated(tr.X0[0], tr.T[i])
			copy(tr.Y[2*i:], x[:])
		}
	}
	fit, err := Train(context.Background(), turning(3, 8, 0.05), small().Settings, 1)
	if err != nil {
		t.Fatal(err)
	}
	f := fit.newFlow(d, linear)
	n := newNewton(f, d)
	if _, ok := n.residuals(true); !ok {
		t.Fatal("cannot be integrated")
	}
	n.system()
	n.observe(1)
	for range 3 {
		n.system()
	}
	P := len(f.Theta)
	for r := range P {
		for c := range r + 1 {
			want := 0.0
			if r == c {
				want = f.Alpha[n.group[r]]
			}
			if got := n.H[r*P+c]; got != want {
				t.Fatalf("without observations H[%d][%d] is %v, want %v", r, c, got, want)
			}
		}
	}
	theta, alpha, sigma := slices.Clone(f.Theta), slices.Clone(f.Alpha), slices.Clone(f.Sigma)
	if !n.extend(context.Background(), 0, 1, halvings) {
		t.Fatal("fails without observations")
	}
	if !slices.Equal(theta, f.Theta) || !slices.Equal(alpha, f.Alpha) || !slices.Equal(sigma, f.Sigma) {
		t.Error("parameters, priors or noise changed without observations")
	}
}

func TestAKnownFieldWithNothingToLearnIsRefused(t *testing.T) {
	d := turning(2, 6, 0.05)
	r := small()
	r.Known = spinning()
	r.Known.Spread = []float64{0, 0}
	if _, err := Learn(context.Background(), d, r, 1); err == nil {
		t.Error("a field without free parameters is accepted")
	}
	f := &Flow{Known: r.Known, Inputs: scale(d)}
	f.bind()
	w := f.tangent(true)
	w.start([]float64{0.1, 0.1})
	if !w.advance(0.1, 3) || len(w.S) != 0 {
		t.Error("a field without parameters cannot be integrated")
	}
}
