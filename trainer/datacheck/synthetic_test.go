package datacheck

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/flightlog"
)

// swing simulates a torque-driven pendulum: states theta, omega, input torque, at
// the stamps given (s). noise is the standard deviation of both sensors.
func swing(stamps []float64, noise float64, seed uint64) *flightlog.Log {
	r := rand.New(rand.NewPCG(seed, 7))
	channels := []channel.Channel{
		{Name: "theta", Unit: "rad", Role: channel.State, Derivative: "omega", Period: channel.Angle},
		{Name: "omega", Unit: "rad/s", Role: channel.State},
		{Name: "torque", Unit: "Nm", Role: channel.Input},
	}
	force := func(t float64) float64 { return 2*math.Sin(0.9*t) + 1.5*math.Sin(2.3*t+1) + 0.7*math.Sin(5.1*t) }
	x, v, now := 0.3, 0.0, stamps[0]
	cols := make([][]float64, 3)
	for _, t := range stamps {
		for now < t-1e-9 {
			h := math.Min(1e-3, t-now)
			a := -9*math.Sin(x) - 0.2*v + force(now)
			x, v, now = x+h*v+0.5*h*h*a, v+h*a, now+h
		}
		cols[0] = append(cols[0], x+noise*r.NormFloat64())
		cols[1] = append(cols[1], v+noise*r.NormFloat64())
		cols[2] = append(cols[2], force(t))
	}
	return build(channels, stamps, nil, cols)
}

// even returns stamps at a rate.
func even(seconds, rate float64) []float64 {
	out := make([]float64, int(seconds*rate))
	for i := range out {
		out[i] = 100 + float64(i)/rate
	}
	return out
}

func find(r Result, kind Kind) []Problem {
	var out []Problem
	for _, p := range r.Problems {
		if p.Kind == kind {
			out = append(out, p)
		}
	}
	return out
}

// places returns a problem for each place of the problems.
func places(all []Problem) (out []Problem) {
	for _, p := range all {
		if p.Places == nil {
			out = append(out, p)
		}
		for _, at := range p.Places {
			one := p
			one.Segment, one.Index, one.From, one.To, one.Count = at.Segment, at.Index, at.From, at.To, at.Count
			out = append(out, one)
		}
	}
	return out
}

// Ranges returns the ranges of samples at which any channel of a mask has one of the
// reasons.
func Ranges(m Mask, reasons Reason) [][2]int {
	var out [][2]int
	for i, r := range m.Samples(len(m)) {
		switch n := len(out); {
		case r&reasons == 0:
		case n > 0 && out[n-1][1] == i:
			out[n-1][1]++
		default:
			out = append(out, [2]int{i, i + 1})
		}
	}
	return out
}

// leftOut returns the samples of a segment that are not used as they are, in
// whatever way they are left out.
func leftOut(r Result, s int) [][2]int { return Ranges(r.Masks[s], BadValue|BadSpan|BadStamp) }

func describe(r Result) string {
	var b strings.Builder
	for _, p := range r.Problems {
		fmt.Fprintf(&b, "\n  %s %s %s %s %.3f-%.3f n=%d: %s", p.Severity, p.Kind, p.Segment, p.Channel, p.From, p.To, p.Count, p.Text)
	}
	return b.String()
}

func TestCleanLogsAreClean(t *testing.T) {
	t.Parallel()
	jitter := rand.New(rand.NewPCG(3, 3))
	jittered, gappy := even(20, 500), even(60, 30)
	for i := range jittered {
		jittered[i] += 0.3e-3 * jitter.Float64()
	}
	for name, l := range map[string]*flightlog.Log{
		"100 Hz":              swing(even(30, 100), 0.01, 1),
		"1 kHz":               swing(even(20, 1000), 0.005, 2),
		"without noise":       swing(even(30, 100), 0, 3),
		"1 kHz without noise": swing(even(20, 1000), 0, 4),
		"30 Hz":               swing(gappy, 0.02, 5),
		"500 Hz with jitter":  swing(jittered, 0.01, 6),
		"noisy":               swing(even(30, 200), 0.3, 7),
	} {
		if r := Check(l, Options{Horizon: 1}); len(r.Problems) != 0 || len(leftOut(r, 0)) != 0 {
			t.Errorf("%s:%s", name, describe(r))
		}
	}
}

func TestStamps(t *testing.T) {
	t.Parallel()
	const ms = 1_000_000
	shift := func(s *flightlog.Segment, i, j int, by int64) {
		for ; i < j; i++ {
			s.T[i] += by
		}
	}
	for _, tc := range []struct {
		name     string
		do       func(s *flightlog.Segment)
		kind     Kind
		from, to float64
		dropped  [][2]int
		cuts     []int
	}{
		{"two records swapped", func(s *flightlog.Segment) { s.T[500], s.T[501] = s.T[501], s.T[500] }, Backwards, 5, 5, [][2]int{{501, 502}}, nil},
		{"a block of late records", func(s *flightlog.Segment) { shift(s, 700, 710, -150*ms) }, Backwards, 6.85, 6.94, [][2]int{{700, 710}}, nil},
		{"one stamp far ahead", func(s *flightlog.Segment) { shift(s, 800, 801, 10_000*ms) }, Clock, 18, 18, [][2]int{{800, 801}}, nil},
		{"a stamp thrice", func(s *flightlog.Segment) { s.T[901], s.T[902] = s.T[900], s.T[900] }, Duplicate, 9, 9, [][2]int{{901, 903}}, nil},
		{"clock an hour ahead", func(s *flightlog.Segment) { shift(s, 1000, len(s.T), 3_600_000*ms) }, Clock, 3610, 3610, nil, []int{1000}},
		{"clock five seconds back", func(s *flightlog.Segment) { shift(s, 1000, len(s.T), -5_000*ms) }, Clock, 5, 5, nil, []int{1000}},
		{"half a second lost", func(s *flightlog.Segment) {
			s.T = slices.Delete(s.T, 1200, 1250)
			s.X = slices.Delete(s.X, 2*1200, 2*1250)
			s.U = slices.Delete(s.U, 1200, 1250)
		}, Gap, 11.99, 12.5, nil, []int{1200}},
	} {
		l := swing(even(30, 100), 0.01, 11)
		tc.do(&l.Segments[0])
		r := Check(l, Options{Horizon: 1})
		p := find(r, tc.kind)
		if len(p) != 1 || math.Abs(p[0].From-tc.from) > 1e-6 || math.Abs(p[0].To-tc.to) > 1e-6 {
			t.Errorf("%s: want one %s at %g-%g s, got%s", tc.name, tc.kind, tc.from, tc.to, describe(r))
		}
		m := r.Masks[0]
		var cuts [][2]int
		for _, i := range tc.cuts {
			cuts = append(cuts, [2]int{i, i + 1})
		}
		if !slices.Equal(Ranges(m, BadStamp), tc.dropped) || !slices.Equal(Ranges(m, TimeBreak), cuts) || len(Ranges(m, BadSpan|BadValue)) > 0 {
			t.Errorf("%s: %v; want %v dropped, cut at %v", tc.name, m, tc.dropped, tc.cuts)
		}
		if len(r.Problems) > 2 {
			t.Errorf("%s: more is reported than is wrong:%s", tc.name, describe(r))
		}
	}
}

func TestUnits(t *testing.T) {
	l := swing(even(30, 100), 0.01, 12)
	for i := 1; i < len(l.Segments[0].X); i += 2 {
		l.Segments[0].X[i] *= 180 / math.Pi
	}
	r := Check(l, Options{Horizon: 1})
	if p := find(r, Unit); len(p) != 1 || p[0].Channel != "omega" || !strings.Contains(p[0].Text, "degrees") {
		t.Errorf("omega in degrees:%s", describe(r))
	}
	l = swing(even(30, 100), 0.01, 12)
	for i, v := range l.Segments[0].T {
		l.Segments[0].T[i] = v / 1000 // milliseconds read as microseconds
	}
	r = Check(l, Options{})
	if p := find(r, Rate); len(p) != 1 || !strings.Contains(p[0].Text, "unit of time") {
		t.Errorf("stamps in the wrong unit:%s", describe(r))
	}
	if p := find(r, Unit); len(p) != 1 || !strings.Contains(p[0].Text, "1000") {
		t.Errorf("stamps in the wrong unit:%s", describe(r))
	}
	l = swing(even(60, 100), 0.01, 13)
	l.Channels[0].Period, l.Channels[0].Derivative = 0, ""
	x := l.Segments[0].X
	for i := 0; i < len(x); i += 2 {
		x[i] = math.Mod(6*float64(i)/200+20*math.Pi, 2*math.Pi) - math.Pi // turns all the time
	}
	if p := find(Check(l, Options{}), Angle); len(p) != 1 || p[0].Severity != Note || p[0].Channel != "theta" || !strings.Contains(p[0].Text, "period") {
		t.Errorf("an angle that is not declared:%s", describe(Check(l, Options{})))
	}
}

func TestPoorLogs(t *testing.T) {
	still := swing(even(30, 100), 0.01, 14)
	for i := 400; i < len(still.Segments[0].T); i++ {
		r := rand.New(rand.NewPCG(1, uint64(i)))
		still.Segments[0].X[2*i], still.Segments[0].X[2*i+1] = 0.001*r.NormFloat64(), 0.001*r.NormFloat64()
	}
	flat := swing(even(30, 100), 0.01, 15)
	for i := range flat.Segments[0].U {
		flat.Segments[0].U[i] = 1.5
	}
	clipped := swing(even(30, 100), 0.01, 16)
	for i := 1; i < len(clipped.Segments[0].X); i += 2 {
		clipped.Segments[0].X[i] = math.Max(-2, math.Min(2, clipped.Segments[0].X[i]))
	}
	sparse := swing(even(30, 100), 0.01, 17)
	for i := range sparse.Segments[0].T {
		if i%5 != 0 {
			sparse.Segments[0].X[2*i+1] = math.NaN()
		}
	}
	held := swing(even(30, 100), 0.01, 18)
	for i := range held.Segments[0].T {
		held.Segments[0].X[2*i+1] = held.Segments[0].X[2*(i-i%4)+1]
	}
	absent := swing(even(30, 100), 0.01, 19)
	for i := range absent.Segments[0].T {
		absent.Segments[0].X[2*i] = math.NaN()
	}
	for _, tc := range []struct {
		name    string
		log     *flightlog.Log
		kind    Kind
		channel string
		stop    bool
	}{
		{"at rest", still, Unexcited, "", false},
		{"a constant input", flat, Constant, "torque", false},
		{"a clipped sensor", clipped, Clipped, "omega", false},
		{"a slow sensor", sparse, Rate, "omega", false},
		{"a slow sensor that is held", held, Rate, "omega", false},
		{"a channel without values", absent, NonFinite, "theta", true},
		{"a short log", swing(even(0.5, 100), 0.01, 20), Short, "", true},
		{"a single sample", swing(even(0.01, 100), 0.01, 20), Short, "", true},
	} {
		r := Check(tc.log, Options{Horizon: 1})
		p := find(r, tc.kind)
		if len(p) == 0 || p[0].Channel != tc.channel {
			t.Errorf("%s: want %s of %q, got%s", tc.name, tc.kind, tc.channel, describe(r))
		}
		if (r.Stop() != nil) != tc.stop {
			t.Errorf("%s: stop is %v:%s", tc.name, r.Stop() != nil, describe(r))
		}
	}
	measured := 0
	for i, r := range Check(held, Options{}).Masks[0][1] {
		if r&Missing == 0 {
			measured++
			if i%4 != 0 {
				t.Fatalf("sample %d, held since %d, counts as measured", i, i-i%4)
			}
		}
	}
	if measured != 750 {
		t.Errorf("%d of 750 measured values count", measured)
	}
	if p := find(Check(clipped, Options{}), Clipped); len(p) > 0 {
		at := 0
		for _, q := range p {
			at += q.Count
		}
		n := 0
		for i := 1; i < len(clipped.Segments[0].X); i += 2 {
			if math.Abs(clipped.Segments[0].X[i]) == 2 {
				n++
			}
		}
		if at < n*8/10 {
			t.Errorf("%d of %d clipped samples are found", at, n)
		}
	}
}

func TestEmptyLog(t *testing.T) {
	l := swing(even(1, 100), 0, 1)
	l.Segments = nil
	if r := Check(l, Options{Horizon: 1}); r.Stop() == nil || r.Problems[0].Kind != Short {
		t.Errorf("no segments:%s", describe(r))
	}
}

func TestJSON(t *testing.T) {
	b, err := json.Marshal(Check(swing(even(30, 100), 0.01, 1), Options{}))
	if err != nil || string(b) != `{"problems":[]}` {
		t.Errorf("empty result: %s, %v", b, err)
	}
	l := swing(even(30, 100), 0.01, 1)
	for i := 1200; i < 1238; i++ {
		l.Segments[0].X[2*i+1] = 900 * math.Cos(float64(i*i))
	}
	b, err = json.Marshal(Check(l, Options{Horizon: 1}))
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Problems []struct {
			Kind, Channel, Text, Severity string
			From, To                      float64
			Count                         int
		}
	}
	if err := json.Unmarshal(b, &got); err != nil {
		t.Fatal(err)
	}
	if len(got.Problems) != 1 {
		t.Fatalf("want one problem: %s", b)
	}
	p := got.Problems[0]
	if p.Kind != "outlier" || p.Channel != "omega" || p.From != 12 || p.To != 12.37 || p.Count != 38 || p.Severity != "exclude" || p.Text == "" {
		t.Errorf("got %+v", p)
	}
}

func TestStampsOutOfOrderAreOneProblemWithTheirCount(t *testing.T) {
	l := swing(even(30, 100), 0.01, 11)
	T := l.Segments[0].T
	for i := range 40 {
		a := 100 + 50*i
		T[a], T[a+1] = T[a+1], T[a]
	}
	T[2901] = T[2900]
	T[2951], T[2952] = T[2950], T[2950]
	r := Check(l, Options{Horizon: 0.3})
	p := find(r, Backwards)
	if len(p) != 1 || p[0].Count != 40 || p[0].Severity != Exclude || len(p[0].Places) != 40 {
		t.Errorf("40 pairs swapped:%s", describe(r))
	}
	p = find(r, Duplicate)
	if len(p) != 1 || p[0].Count != 3 || len(p[0].Places) != 2 {
		t.Errorf("3 stamps again:%s", describe(r))
	}
	if len(r.Problems) != 2 || len(Ranges(r.Masks[0], BadStamp)) != 42 || len(Ranges(r.Masks[0], BadSpan)) > 0 {
		t.Errorf("left out: %v%s", r.Masks[0], describe(r))
	}
}

func TestSameListEveryTime(t *testing.T) {
	l := swing(even(30, 100), 0.01, 1)
	r := rand.New(rand.NewPCG(5, 5))
	for range 20 {
		l.Segments[0].X[r.IntN(len(l.Segments[0].X))] += 50
	}
	first := describe(Check(l, Options{Horizon: 1}))
	for range 5 {
		if again := describe(Check(l, Options{Horizon: 1})); again != first {
			t.Fatalf("differs:%s\nfrom:%s", again, first)
		}
	}
}
