package window

import (
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/flightlog"
)

// twins are a measured log and the exact one of the same two flights: an angle that
// turns, written on a circle, and its rate. The sensors lose every seventh sample.
func twins() (measured, exact *flightlog.Log) {
	header := flightlog.Header{Channels: []channel.Channel{
		{Name: "angle", Role: channel.State, Period: channel.Angle}, {Name: "rate", Role: channel.State},
	}}
	measured, exact = &flightlog.Log{Header: header}, &flightlog.Log{Header: header}
	rng := rand.New(rand.NewPCG(1, 2))
	for s, name := range []string{"a", "b"} {
		m, e := flightlog.Segment{Name: name}, flightlog.Segment{Name: name}
		for i := range 400 {
			t := int64(s)*1e12 + int64(i)*5_000_000 + 1
			x := 4 * float64(i) * 0.005
			e.T, e.X = append(e.T, t), append(e.X, math.Remainder(x, channel.Angle), 4)
			if i%7 == 6 {
				continue
			}
			m.T = append(m.T, t)
			m.X = append(m.X, math.Remainder(x+0.05*rng.NormFloat64(), channel.Angle), 4+0.1*rng.NormFloat64())
		}
		measured.Segments, exact.Segments = append(measured.Segments, m), append(exact.Segments, e)
	}
	return measured, exact
}

func TestExactStatesAreWhatIsComparedWith(t *testing.T) {
	measured, exact := twins()
	flights := fromLog(measured, Options{})
	if err := AddExact(flights, exact); err != nil {
		t.Fatal(err)
	}
	d := make([]float64, 2)
	for i := range flights {
		f := &flights[i]
		for _, start := range f.Starts(nil, 0.5, 0) {
			if !f.Displacement(d, start, 0.5) {
				t.Fatalf("nothing after sample %d", start)
			}
			for k, want := range []float64{4 * (f.T[start] + 0.5), 4} {
				if got := f.State(start)[k] + d[k]; math.Abs(math.Remainder(got-want, channel.Angle)) > 1e-9 {
					t.Fatalf("flight %d, sample %d, channel %d: leads to %v, exact is %v", i, start, k, got, want)
				}
			}
			if math.Abs(d[0]-2) > 0.5 { // and by no turn more
				t.Fatalf("sample %d: moved by %v", start, d[0])
			}
		}
		// A part of a flight keeps its exact states.
		part := f.Slice(50, 200)
		part.Displacement(d, 0, 0.25)
		if got := part.State(0)[1] + d[1]; math.Abs(got-4) > 1e-9 {
			t.Errorf("rate in a slice leads to %v", got)
		}
	}
}

// TestExactStatesBetweenSamples: a clock that jitters meets what the state was at
// its own time, not at the nearest sample.
func TestExactStatesBetweenSamples(t *testing.T) {
	measured, exact := twins()
	rng := rand.New(rand.NewPCG(3, 4))
	for s := range measured.Segments {
		for i := range measured.Segments[s].T {
			measured.Segments[s].T[i] += int64(4e6 * (rng.Float64() - 0.5))
		}
	}
	flights := fromLog(measured, Options{})
	if err := AddExact(flights, exact); err != nil {
		t.Fatal(err)
	}
	for i := range flights {
		f := &flights[i]
		known := 0
		for j := range f.T {
			at := 4 * (float64(f.Origin-int64(f.Segment)*1e12-1)/1e9 + f.T[j])
			got := f.Exact[2*j]
			if math.IsNaN(got) {
				continue
			}
			known++
			if math.Abs(math.Remainder(got-at, channel.Angle)) > 1e-7 || math.Abs(got-f.X[2*j]) > 1 {
				t.Fatalf("flight %d, sample %d: %v beside a measured %v, exact is %v", i, j, got, f.X[2*j], at)
			}
		}
		if known < len(f.T)-2 {
			t.Errorf("flight %d: %d of %d samples have an exact state", i, known, len(f.T))
		}
	}
}

func TestExactLogMustFit(t *testing.T) {
	for _, c := range []struct {
		name string
		do   func(exact *flightlog.Log)
		say  string
	}{
		{"a segment less", func(l *flightlog.Log) { l.Segments = l.Segments[:1] }, `segment "b": it is number 2 of the log`},
		{"other names", func(l *flightlog.Log) { l.Segments[0].Name = "c" }, `segment "a"`},
		{"a clock of its own", func(l *flightlog.Log) {
			for i := range l.Segments[1].T {
				l.Segments[1].T[i] += 1e9
			}
		}, `segment "b": the sample at 1000000000001 ns (0.000000 s after its first) has no exact one`},
		{"a sample less", func(l *flightlog.Log) {
			s := &l.Segments[0]
			s.T, s.X = append(s.T[:100:100], s.T[101:]...), append(s.X[:200:200], s.X[202:]...)
		}, "(0.500000 s after its first)"},
		{"too short", func(l *flightlog.Log) { s := &l.Segments[0]; s.T, s.X = s.T[:380], s.X[:760] }, "has no exact one"},
	} {
		measured, exact := twins()
		c.do(exact)
		err := AddExact(fromLog(measured, Options{}), exact)
		var e *ExactError
		if !errors.As(err, &e) || !strings.Contains(err.Error(), c.say) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}
