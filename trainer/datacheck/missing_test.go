package datacheck

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/dgm-robotics/dgm/estimator/flightlog"
)

func TestManyProblemsAreGathered(t *testing.T) {
	l := swing(even(60, 100), 0.01, 1)
	want := 0
	for i := 50; i < 5900; i += 90 {
		for j := i; j <= i+fewSamples; j++ {
			l.Segments[0].X[2*j] = math.NaN()
		}
		want++
	}
	r := Check(l, Options{Horizon: 0.2})
	if len(r.Problems) != 1 || len(r.Problems[0].Places) != want || r.Problems[0].Count != want*(fewSamples+1) || !strings.Contains(r.Problems[0].Text, "and 52 more") {
		t.Errorf("want one problem in %d places:%s", want, describe(r))
	}
	if got := len(Ranges(r.Masks[0], BadSpan)); got != want {
		t.Errorf("%d ranges are left out, want %d: the list of the text is bounded, not what is left out", got, want)
	}
}

// What is missing or wrong for a few samples is not measured there: nothing that
// is good around it is left out.
func TestFewMissingValuesAreNotMeasured(t *testing.T) {
	l := swing(even(60, 200), 0.01, 1)
	s, r := &l.Segments[0], rand.New(rand.NewPCG(9, 9))
	missing := map[string]int{}
	for i := range s.T {
		for k, name := range []string{"theta", "omega"} {
			if r.Float64() < 0.05 {
				s.X[2*i+k] = math.NaN()
				missing[name]++
			}
		}
		if r.Float64() < 0.05 {
			s.U[i] = math.NaN()
			missing["torque"]++
		}
	}
	got := Check(l, Options{Horizon: 0.5})
	if len(got.Problems) != 3 || len(leftOut(got, 0)) > 0 {
		t.Errorf("%v are left out:%s", leftOut(got, 0), describe(got))
	}
	for _, p := range got.Problems {
		if p.Kind != NonFinite || p.Severity != Note || p.Count != missing[p.Channel] {
			t.Errorf("want one note of %d values of %s:%s", missing[p.Channel], p.Channel, describe(got))
		}
	}
}

// Channels without values in the same places are one finding, and so is all that an import
// left out as invalid.
func TestChannelsOfOneCauseAreOneFinding(t *testing.T) {
	l := swing(even(60, 50), 0.01, 1)
	s := &l.Segments[0]
	for i := 1000; i < 1500; i++ {
		s.X[2*i], s.X[2*i+1] = math.NaN(), math.NaN()
	}
	s.U[2000] = math.NaN() // another cause
	for _, text := range []string{"theta: valid is not 1", "omega: v_valid is not 1"} {
		l.Notes = append(l.Notes, flightlog.Note{Text: flightlog.InvalidNote + text})
	}
	r := Check(l, Options{})
	if both := find(r, NonFinite); len(both) != 2 || !slices.Equal(both[0].Channels, []string{"omega", "theta"}) || both[0].Count != 500 ||
		!strings.HasPrefix(both[0].Text, "omega, theta are NaN for 500 samples") || both[1].Channel != "torque" || both[1].Channels != nil {
		t.Error(describe(r))
	}
	if all := find(r, Invalid); len(all) != 1 || !strings.Contains(all[0].Text, "theta: valid is not 1; omega: v_valid is not 1. ") {
		t.Error(describe(r))
	}
}

// A hole is brief for a long horizon and not for a short one.
func TestHolesAreMeasuredByTheHorizon(t *testing.T) {
	t.Parallel()
	l := swing(even(60, 200), 0.01, 1)
	for i := 1000; i < 1020; i++ { // 100 ms
		l.Segments[0].X[2*i] = math.NaN()
	}
	if r := Check(l, Options{Horizon: 1.01}); len(leftOut(r, 0)) > 0 || len(r.Problems) != 1 || r.Problems[0].To != 5.095 {
		t.Errorf("a tenth of the horizon:%s", describe(r))
	}
	if r := Check(l, Options{Horizon: 0.9}); !slices.Equal(Ranges(r.Masks[0], BadSpan), [][2]int{{1000, 1020}}) {
		t.Errorf("more than a tenth of the horizon:%s", describe(r))
	}
}

func TestSpikesAreBlanked(t *testing.T) {
	l := swing(even(60, 100), 0.01, 1)
	var want [][2]int
	for i := 100; i < 5900; i += 100 {
		l.Segments[0].X[2*i+1] += 50
		want = append(want, [2]int{i, i + 1})
	}
	if r := Check(l, Options{Horizon: 1}); !slices.Equal(Ranges(r.Masks[0][1:2], BadValue), want) || len(Ranges(r.Masks[0], BadSpan|BadStamp)) > 0 {
		t.Errorf("%v are blanked:%s", r.Masks[0], describe(r))
	}
}

// What the importer left out as invalid is a finding of its own kind.
func TestInvalidValues(t *testing.T) {
	log := swing(even(30, 100), 0.01, 11)
	log.Notes = []flightlog.Note{{Text: "Armed"}, {Text: flightlog.InvalidNote + "x, y not measured in 3 of 5 messages"}}
	found := find(Check(log, Options{}), Invalid)
	if len(found) != 1 || found[0].Severity != Note || !strings.Contains(found[0].Text, "x, y not measured in 3 of 5 messages") {
		t.Errorf("%+v", found)
	}
}
