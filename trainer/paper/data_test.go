package paper

import (
	"context"
	"math"
	"strings"
	"testing"
)

func TestDataAreChecked(t *testing.T) {
	for want, spoil := range map[string]func(d *Data){
		"trajectory 2: time 3 is":                      func(d *Data) { d.Trajectories[1].T[2] = 0.1 },
		"trajectory 2: state 1 of the start":           func(d *Data) { d.Trajectories[1].X0[0] = math.NaN() },
		"trajectory 1: state 2 at time 3 is":           func(d *Data) { d.Trajectories[0].Y[5] = math.Inf(1) },
		"trajectory 1: 2 start values and 15 observed": func(d *Data) { d.Trajectories[0].Y = d.Trajectories[0].Y[1:] },
		"no state was measured after time 0":           func(d *Data) { d.Trajectories = nil },
	} {
		d := turning(2, 8, 0.05)
		spoil(d)
		if _, err := Learn(context.Background(), d, small(), 1); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q: %v", want, err)
		}
	}
	r := small()
	r.Members = 0
	if _, err := Learn(context.Background(), turning(2, 8, 0.05), r, 1); err == nil {
		t.Error("no members, no error")
	}
}
