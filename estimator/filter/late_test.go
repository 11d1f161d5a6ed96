package filter_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/dgm-robotics/dgm/estimator/filter"
)

// slowAndFast is a position, which one sensor gives every tenth sample, late, beside its rate of another.
func slowAndFast(t testing.TB) *filter.Filter {
	t.Helper()
	f, err := filter.New(filter.Config{
		Channels: []filter.Channel{{R: 0.01}, {R: 0.04}}, Process: &filter.Kinematic{K: 2, Chains: []filter.Chain{{Position: 0, Rate: 1, Q: 50}}},
		Start: []float64{4, 9, 25}, MaxGap: 0.3, Sensors: []bool{true, true},
	}, 1)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// A sample that comes late has the effect that it has in time, bit for bit, whatever came in between; so have its outliers
// and those after it.
func TestLateSamples(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	at := stamps(400)
	x := walk(rng, at, 50)
	nan := math.NaN()
	inTime, late := slowAndFast(t), slowAndFast(t)
	late.KeepLate(16)
	type waiting struct {
		due int
		t   int64
		y   []float64
	}
	var waits []waiting
	arrive := func(i int, each func(r filter.Result)) {
		for len(waits) > 0 && waits[0].due <= i {
			w := waits[0]
			waits = waits[1:]
			if r, ok := late.Late(w.t, w.y); !ok {
				t.Fatalf("a sample of %d ns is refused at %d ns", w.t, late.Last())
			} else if nu, _ := late.Innovations(); r.NIS > 0 && (math.IsNaN(nu[0]) || !math.IsNaN(nu[1])) {
				t.Fatalf("innovations of a late sample are %v", nu)
			} else {
				each(r)
			}
		}
	}
	rejected, rejectedLate := 0, 0
	for i := range at {
		u := []float64{float64(i)}
		rate := []float64{nan, x[i][1] + 0.2*rng.NormFloat64()}
		rejected += inTime.Update(at[i], rate, u).Rejected
		rejectedLate += late.Update(at[i], rate, u).Rejected
		arrive(i, func(r filter.Result) { rejectedLate += r.Rejected })
		if i%10 == 3 {
			position := []float64{x[i][0] + 0.1*rng.NormFloat64(), nan}
			if i%50 == 33 {
				position[0] += 9
			}
			stamp := at[i] + interval/3
			rejected += inTime.Update(stamp, position, u).Rejected
			waits = append(waits, waiting{i + 1 + rng.IntN(9), stamp, position})
		}
	}
	arrive(math.MaxInt, func(r filter.Result) { rejectedLate += r.Rejected })
	P, again := make([]float64, 4), make([]float64, 4)
	inTime.Covariance(P)
	late.Covariance(again)
	if !slices.Equal(inTime.Estimate(), late.Estimate()) || !slices.Equal(P, again) || !slices.Equal(inTime.Rejected(), late.Rejected()) {
		t.Errorf("in time %v, %v, %v outliers; late %v, %v, %v", inTime.Estimate(), P, inTime.Rejected(), late.Estimate(), again, late.Rejected())
	}
	if rejected != 8 || rejectedLate != 8 || !inTime.Settled() {
		t.Errorf("%d and %d outliers, expected 8", rejected, rejectedLate)
	}
	// What is older than all that is kept, or from before a reset, changes nothing.
	before := slices.Clone(late.Estimate())
	if _, ok := late.Late(late.Last()-30*interval, []float64{1, nan}); ok || !slices.Equal(before, late.Estimate()) {
		t.Error("a sample of long ago is taken")
	}
	late.Update(late.Last()+1e9, []float64{1, 1}, nil)
	if _, ok := late.Late(late.Last()-interval, []float64{1, nan}); ok {
		t.Error("a sample of before the gap is taken")
	}
	if _, ok := inTime.Late(inTime.Last()-interval, []float64{1, nan}); ok {
		t.Error("a filter that keeps nothing takes a late sample")
	}
}

// Each channel begins with its first measurement, wherever it is, whichever sensor was first; until then nothing counts.
func TestSensorsBeginOneAfterTheOther(t *testing.T) {
	f, nan := slowAndFast(t), math.NaN()
	for i := range 10 {
		f.Update(int64(i)*interval, []float64{nan, 1}, nil)
	}
	if f.Settled() {
		t.Error("the estimate counts before the position was measured")
	}
	if r := f.Update(10*interval, []float64{1000, nan}, nil); r.Used != 1 || r.Rejected != 0 || r.Reset != filter.None || !f.Settled() {
		t.Errorf("the first position: %+v, settled %v", r, f.Settled())
	}
	for i := 11; i < 60; i++ {
		y := []float64{nan, 1}
		if i%10 == 0 {
			y[0] = 1000 + 0.01*float64(i-10)
		}
		if r := f.Update(int64(i)*interval, y, nil); r.Rejected > 0 || r.Reset != filter.None {
			t.Fatalf("sample %d: %+v", i, r)
		}
	}
	if x := f.Estimate(); math.Abs(x[0]-1000.49) > 0.05 || math.Abs(x[1]-1) > 0.05 {
		t.Errorf("estimate %v", x)
	}
}

func TestLateSamplesAllocateNothing(t *testing.T) {
	f, nan := slowAndFast(t), math.NaN()
	f.KeepLate(16)
	now := int64(0)
	fast, slow, u := []float64{nan, 1}, []float64{0, nan}, []float64{1}
	step := func() {
		for range 10 {
			now += interval
			f.Update(now, fast, u)
		}
		slow[0] = 1e-9 * float64(now-5*interval)
		if _, ok := f.Late(now-5*interval, slow); !ok {
			t.Fatal("a late sample is refused")
		}
	}
	step()
	if n := testing.AllocsPerRun(100, step); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
