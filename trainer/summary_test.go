package trainer_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/dgm-robotics/dgm/trainer"
)

// A prediction is told by the time that the log's segment has it at, though it is
// in a block of time that was held out, and the beginning was left out.
func TestExamplesAreWhereTheLogHasThem(t *testing.T) {
	log := pendulum(9, 1)
	s := &log.Segments[0]
	for i := range s.T { // the clock is set 2 s after the beginning
		if i >= 100 {
			s.T[i] += 3600e9
		}
	}
	cfg := small()
	cfg.Prior, cfg.Members, cfg.Training.Steps = "none", 1, 2
	cfg.Horizon = trainer.Duration(200 * time.Millisecond)
	d := load(t, log, cfg)
	res, err := trainer.Train(context.Background(), d, cfg, nil)
	if err != nil {
		t.Fatal(err)
	}
	r, err := trainer.Report(d, cfg, res, []string{"a.msgpack"}, []string{"a.dgm"})
	if err != nil || len(r.Examples) == 0 {
		t.Fatal(err)
	}
	if r.HeldOut[0].ModelID != res.Model.ID || r.HeldOut[0].EvaluatedID != res.Judged.ID || res.Judged.ID == res.Model.ID {
		t.Errorf("table of %s, judged %s; the models are %s and %s", r.HeldOut[0].ModelID, r.HeldOut[0].EvaluatedID, res.Model.ID, res.Judged.ID)
	}
	for _, e := range r.Examples {
		if e.Channel != "omega" {
			continue
		}
		var start float64
		if _, err := fmt.Sscanf(e.Window, `segment "made" at %g s`, &start); err != nil {
			t.Fatalf("%q: %v", e.Window, err)
		}
		for i, at := range e.At {
			ns := s.T[0] + int64(math.Round((start+at)*1e9))
			j, _ := slices.BinarySearch(s.T, ns-1e6) // the name is rounded to 10 ms
			if near := s.X[2*max(j-1, 0)+1 : 2*min(j+2, len(s.T))]; !within(e.Measured[i], near) {
				t.Fatalf("%s, after %g s: measured %v, the log has %v about then", e.Window, at, e.Measured[i], near)
			}
		}
	}
}

// within reports whether v lies between the odd values of a list.
func within(v float64, list []float64) bool {
	lo, hi := math.Inf(1), math.Inf(-1)
	for i := 0; i < len(list); i += 2 {
		lo, hi = math.Min(lo, list[i]), math.Max(hi, list[i])
	}
	return v >= lo-0.1 && v <= hi+0.1
}
