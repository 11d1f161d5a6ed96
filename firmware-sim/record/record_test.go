package record

import (
	"bytes"
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dgm-robotics/dgm/estimator/flightlog"
	"github.com/dgm-robotics/dgm/firmware-sim/fault"
	"github.com/dgm-robotics/dgm/firmware-sim/plant"
	"github.com/dgm-robotics/dgm/firmware-sim/robot"
)

func run(t *testing.T, o Options) (log, truth []byte, sum Summary) {
	t.Helper()
	var a, b bytes.Buffer
	w, err := flightlog.NewWriter(&a, o.Header(false))
	if err != nil {
		t.Fatal(err)
	}
	v, err := flightlog.NewWriter(&b, o.Header(true))
	if err != nil {
		t.Fatal(err)
	}
	if sum, err = Run(context.Background(), o, w, v); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(w.Flush(), v.Flush()); err != nil {
		t.Fatal(err)
	}
	return a.Bytes(), b.Bytes(), sum
}

func read(t *testing.T, data []byte) *flightlog.Log {
	t.Helper()
	path := filepath.Join(t.TempDir(), "flight.msgpack")
	if err := os.WriteFile(path, data, 0o666); err != nil {
		t.Fatal(err)
	}
	log, err := flightlog.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return log
}

func options(name string) Options {
	p, _ := plant.Named(name)
	o := Options{Robot: robot.Typical(p), Vehicle: "v1", Samples: 401, Segments: 3}
	o.Robot.Seed = 7
	return o
}

// A log in memory is that of a file.
func TestLogIsThatOfAFile(t *testing.T) {
	o := options("pendulum")
	file, _, _ := run(t, o)
	want := read(t, file)
	got, err := Log(context.Background(), o)
	if err != nil || len(got.Segments) != len(want.Segments) || got.Vehicle != want.Vehicle {
		t.Fatalf("%v, %+v", err, got)
	}
	for i, seg := range want.Segments {
		if g := got.Segments[i]; !slices.Equal(g.T, seg.T) || !slices.Equal(g.X, seg.X) || !slices.Equal(g.U, seg.U) {
			t.Errorf("segment %d differs", i)
		}
	}
}

func TestSameSeedSameBytes(t *testing.T) {
	for _, name := range plant.Names() {
		o := options(name)
		if len(o.Robot.Plant.Inputs) > 0 {
			o.Robot.PlanHorizon, o.Robot.PlanRows = 0.5, 10
			o.Robot.Gusts.Std = 0.1
		}
		for _, text := range []string{"dropout=0.05", "jitter=1ms", "spike=0.01"} {
			f, err := fault.Parse(text, o.Robot.Plant.States, nil)
			if err != nil {
				t.Fatal(err)
			}
			o.Robot.Faults = append(o.Robot.Faults, f)
		}
		a, truthA, _ := run(t, o)
		b, truthB, _ := run(t, o)
		if !bytes.Equal(a, b) || !bytes.Equal(truthA, truthB) {
			t.Errorf("%s: two runs of one seed differ", name)
		}
		o.Robot.Seed++
		if c, _, _ := run(t, o); bytes.Equal(a, c) {
			t.Errorf("%s: another seed gives the same bytes", name)
		}
	}
}

func TestWhatALogHolds(t *testing.T) {
	o := options("pendulum")
	o.Robot.PlanHorizon, o.Robot.PlanRows = 0.5, 100 // a row for each sample
	data, exact, sum := run(t, o)
	log, truth := read(t, data), read(t, exact)
	if sum.Samples != 3*401 || sum.Lost != 0 || len(log.Segments) != 3 || len(truth.Segments) != 3 {
		t.Fatalf("%+v, %d and %d segments", sum, len(log.Segments), len(truth.Segments))
	}
	if log.Channels[0].Noise != 0.01 || truth.Channels[0].Noise != 0 || log.Vehicle != "v1" {
		t.Errorf("header %+v", log.Header)
	}
	var square float64
	for s, seg := range log.Segments {
		ref := truth.Segments[s]
		if !slices.Equal(seg.X0, ref.X[:2]) {
			t.Errorf("segment %d: x0 %v, first true state %v", s, seg.X0, ref.X[:2])
		}
		if start := int64(s) * 3_000_000_000; seg.T[0] != start || seg.T[400] != start+2_000_000_000 {
			t.Errorf("segment %d: times %d to %d", s, seg.T[0], seg.T[400])
		}
		if !slices.Equal(seg.U, ref.U) || !slices.Equal(seg.T, ref.T) {
			t.Errorf("segment %d: inputs or times differ from the truth's", s)
		}
		for i := range seg.T {
			d := (seg.X[2*i] - ref.X[2*i]) / 0.01
			square += d * d / 1203
		}
		for _, p := range seg.Plans {
			i, _ := slices.BinarySearch(seg.T, p.T)
			for j := range p.U {
				if i+j < len(seg.U) && math.Abs(p.U[j]-seg.U[i+j]) > 1e-12 {
					t.Fatalf("plan at sample %d, row %d: %v, commanded %v", i, j, p.U[j], seg.U[i+j])
				}
			}
		}
	}
	if len(log.Segments[0].Plans) != 401 {
		t.Errorf("%d plans", len(log.Segments[0].Plans))
	}
	if math.Abs(square-1) > 0.15 {
		t.Errorf("noise has %v of its variance", square)
	}
}

func TestDropoutsAreMissingAndCounted(t *testing.T) {
	o := options("lorenz")
	f, _ := fault.Parse("dropout=0.3", o.Robot.Plant.States, nil)
	o.Robot.Faults = []fault.Fault{f}
	data, exact, sum := run(t, o)
	n := 0
	for _, s := range read(t, data).Segments {
		n += len(s.T)
	}
	if n != sum.Samples || sum.Samples+sum.Lost != 1203 || sum.Lost < 300 || sum.Lost > 420 {
		t.Errorf("%d in the log, %+v", n, sum)
	}
	if s := read(t, exact).Segments; len(s[0].T) != 401 {
		t.Error("the truth lacks samples")
	}
}

func TestRunEndsEarly(t *testing.T) {
	o := options("pendulum")
	w, err := flightlog.NewWriter(&bytes.Buffer{}, o.Header(false))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Run(ctx, o, w, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	o.Robot.Plant.F = func(dst, x, _, _ []float64) { dst[0], dst[1] = 1+x[0]*x[0], 0 } // tan: a pole after π/2 s
	_, err = Run(context.Background(), o, w, nil)
	if err == nil || !strings.Contains(err.Error(), "pendulum: segment 1: the state is no longer finite after 1.57") {
		t.Errorf("diverging: %v", err)
	}
}
