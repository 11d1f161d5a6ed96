package timebase_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/dgm-robotics/dgm/bridge/frames"
	"github.com/dgm-robotics/dgm/bridge/timebase"
)

var nan = math.NaN()

// out is a row that was copied.
type out struct {
	T      int64
	Values []float64
}

// drain takes the rows that are ready.
func drain(j *timebase.Joiner) (rows []out) {
	for r := j.Next(); r != nil; r = j.Next() {
		rows = append(rows, out{r.T, slices.Clone(r.Values)})
	}
	return rows
}

func same(t *testing.T, got, want []out) {
	t.Helper()
	if d := cmp.Diff(want, got, cmpopts.EquateNaNs(), cmpopts.EquateApprox(0, 1e-12), cmpopts.EquateEmpty()); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// Base at 0, 10, 20, 30; another topic at 5, 15, 25 interpolated, the same held,
// and one of angles.
func TestEveryInterpolation(t *testing.T) {
	j := timebase.New(timebase.Config{Widths: []int{1, 2}, Base: 0, Slack: 100, Signals: []timebase.Signal{
		{Track: 0, At: []int{0}},
		{Track: 1, At: []int{0}, How: timebase.Linear, MaxAge: 10},
		{Track: 1, At: []int{0}, How: timebase.Hold, MaxAge: 5},
		{Track: 1, At: []int{1}, How: timebase.Turning, Period: 360, MaxAge: 10},
		{Track: 1, At: []int{0}, How: timebase.Exact},
	}})
	for i := range int64(4) {
		j.Add(0, 10*i, []float64{float64(i)})
		if i < 3 {
			j.Add(1, 10*i+5, []float64{float64(10 * i), []float64{350, 10, 20}[i]})
		}
	}
	j.Add(1, 20, []float64{14, 18}) // late by one, and at a time of the base
	j.Finish()
	same(t, drain(j), []out{
		{0, []float64{0, nan, nan, nan, nan}},
		{10, []float64{1, 5, 0, 360, nan}},
		{20, []float64{2, 14, 14, 18, 14}},
		{30, []float64{3, nan, 20, nan, nan}},
	})
	if st := j.Stats[1]; st != (timebase.Stats{Measured: 1, Between: 1, Before: 2, MaxAge: 10}) {
		t.Errorf("%+v", st)
	}
	if st := j.Stats[2]; st != (timebase.Stats{Measured: 1, Between: 2, Before: 1, MaxAge: 5}) {
		t.Errorf("%+v", st)
	}
}

func TestNothingIsInventedOverAGap(t *testing.T) {
	j := timebase.New(timebase.Config{Widths: []int{1, 1}, Base: 0, Slack: 10, Signals: []timebase.Signal{
		{Track: 1, At: []int{0}, How: timebase.Linear, MaxAge: 4},
		{Track: 1, At: []int{0}, How: timebase.Hold, MaxAge: 4},
	}})
	j.Add(1, 0, []float64{1})
	j.Add(1, 20, []float64{2})
	for i := range int64(5) {
		j.Add(0, 1+4*i, []float64{0})
	}
	j.Finish()
	same(t, drain(j), []out{{1, []float64{nan, 1}}, {5, []float64{nan, nan}}, {9, []float64{nan, nan}}, {13, []float64{nan, nan}}, {17, []float64{nan, nan}}})
}

// An attitude between two others turns at a constant rate, whatever the sign of
// its quaternion; what is no attitude gives none.
func TestRotation(t *testing.T) {
	j := timebase.New(timebase.Config{Widths: []int{1, 4}, Base: 0, Slack: 10, Signals: []timebase.Signal{{Track: 1, At: []int{0, 1, 2, 3}, How: timebase.Rotation}}})
	a, b := frames.FromEuler([3]float64{0, 0, 3}), frames.FromEuler([3]float64{0, 0, 4})
	j.Add(1, 0, a[:])
	j.Add(1, 10, []float64{-b[0], -b[1], -b[2], -b[3]})
	j.Add(1, 20, []float64{0, 0, 0, 0})
	j.Add(0, 3, []float64{0})
	j.Add(0, 13, []float64{0})
	j.Finish()
	rows := drain(j)
	yaw := frames.Quaternion(rows[0].Values).Euler()[2]
	if math.Abs(math.Mod(yaw-3.3+3*math.Pi, 2*math.Pi)-math.Pi) > 1e-12 {
		t.Errorf("yaw %v, expected 3.3", yaw)
	}
	if !math.IsNaN(rows[1].Values[0]) {
		t.Errorf("an attitude out of none: %v", rows[1])
	}
}

// Rows come as soon as nothing more can be expected for them, and whatever the
// order in which messages of about the same time come, they are the same.
func TestOrderOfMessagesDoesNotMatter(t *testing.T) {
	cfg := timebase.Config{Widths: []int{1, 1, 1}, Base: 1, Slack: 50, Signals: []timebase.Signal{
		{Track: 0, At: []int{0}, MaxAge: 30},
		{Track: 1, At: []int{0}},
		{Track: 2, At: []int{0}, How: timebase.Hold},
	}}
	type msg struct {
		track int
		t     int64
	}
	var all []msg
	for i := range int64(300) {
		for k, every := range []int64{3, 7, 41} {
			if i%every == 0 {
				all = append(all, msg{k, i})
			}
		}
	}
	play := func(all []msg, finish bool) []out {
		j := timebase.New(cfg)
		var rows []out
		for _, m := range all {
			j.Add(m.track, m.t, []float64{float64(m.t)})
			rows = append(rows, drain(j)...)
		}
		if finish {
			j.Finish()
		}
		return append(rows, drain(j)...)
	}
	want := play(all, true)
	if len(want) != 43 || want[1].Values[0] != 7 || want[6].Values[2] != 41 {
		t.Fatalf("%d rows, %v", len(want), want[:7])
	}
	if early := play(all, false); len(early) < 30 || !slices.EqualFunc(early, want[:len(early)], func(a, b out) bool { return cmp.Equal(a, b, cmpopts.EquateNaNs()) }) {
		t.Errorf("%d of %d rows come before the end", len(early), len(want))
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for range 20 {
		// Swap what is near, within the slack.
		shuffled := slices.Clone(all)
		for range 500 {
			i := rng.IntN(len(shuffled) - 4)
			k := i + rng.IntN(4)
			if shuffled[i].track != shuffled[k].track {
				shuffled[i], shuffled[k] = shuffled[k], shuffled[i]
			}
		}
		same(t, play(shuffled, true), want)
	}
}

func TestLateAndRepeated(t *testing.T) {
	j := timebase.New(timebase.Config{Widths: []int{1}, Base: 0, Slack: 0, Signals: []timebase.Signal{{Track: 0, At: []int{0}}}})
	for _, at := range []int64{10, 20, 20, 15, 30, 12} {
		j.Add(0, at, []float64{float64(at)})
		drain(j)
	}
	if j.Late != 2 {
		t.Errorf("%d late, expected the second 20 and 12", j.Late)
	}
	j.Reset()
	j.Add(0, 1, []float64{7})
	j.Finish()
	if rows := drain(j); len(rows) != 1 || rows[0].T != 1 {
		t.Errorf("after a reset: %v", rows)
	}
}

// A topic without end and a base that is silent: what is held stays bounded.
func TestMemoryIsBounded(t *testing.T) {
	j := timebase.New(timebase.Config{Widths: []int{1, 1}, Base: 0, Slack: 1000, Signals: []timebase.Signal{{Track: 1, At: []int{0}}}})
	x := []float64{0}
	allocs := testing.AllocsPerRun(1, func() {
		for i := range int64(200_000) {
			j.Add(1, i, x)
			drain(j)
		}
	})
	if allocs > 100 {
		t.Errorf("%v allocations for a topic that no row needs", allocs)
	}
	// And the other way round: a base without any other sample.
	k := timebase.New(timebase.Config{Widths: []int{1, 1}, Base: 0, Slack: 1 << 40, Signals: []timebase.Signal{{Track: 1, At: []int{0}}}})
	rows := 0
	for i := range int64(300_000) {
		k.Add(0, i, x)
		rows += len(drain(k))
	}
	if rows < 100_000 {
		t.Errorf("%d rows; the others wait for what does not come", rows)
	}
}

// Neither a recording that is paused between episodes nor commands that are given for a while are
// bursts, and pauses are not part of a rate.
func TestPausesAreNoBursts(t *testing.T) {
	for name, c := range map[string]struct {
		run, every int64 // ms, of episodes
		step       int64 // ms
	}{"episodes": {5000, 35_000, 20}, "long episodes": {10_000, 70_000, 20}, "commands": {1500, 10_000, 20}, "fast": {2000, 20_000, 1}} {
		m := &timebase.Model{}
		n := 0
		for at := int64(0); at < 6*c.every; at += c.step {
			if at%c.every < c.run {
				m.Add(0, timebase.Sender{}, false, at*ms, at*ms)
				n++
			}
		}
		m.Finish()
		if k := m.Of(0); k.Bursts != nil || math.Abs(k.Rate*float64(c.step)-1000) > 5 || k.N != n {
			t.Errorf("%s: %v, %+v", name, k.Bursts, k)
		}
	}
}

// The usual step of messages that come in pairs is the one between the pairs, however many there
// are.
func TestUsualStepOfPairs(t *testing.T) {
	for n := 10; n < 5000; n *= 2 {
		var s timebase.Steps
		for i := range n {
			s.Add([]int64{3, 17}[i%2])
		}
		if s.Usual() != 17 {
			t.Errorf("%d steps: %d", n, s.Usual())
		}
	}
}

// A pause before the usual step is known has no part in the rate either.
func TestRateWithoutPauses(t *testing.T) {
	for at := range 40 {
		var s timebase.Steps
		for i := range 200 {
			d := 20 * ms
			if i == at {
				d = 60_000 * ms
			}
			s.Add(d)
		}
		if r := s.Rate(); math.Abs(r-50) > 1e-6 {
			t.Errorf("a pause at step %d: %v Hz", at, r)
		}
	}
}
