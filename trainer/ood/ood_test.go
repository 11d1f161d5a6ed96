package ood

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/trainer/window"
)

var flyer = []channel.Channel{
	{Name: "vx", Role: channel.State},
	{Name: "vy", Role: channel.State},
	{Name: "lean x", Role: channel.State, Period: channel.Angle},
	{Name: "lean y", Role: channel.State, Period: channel.Angle},
}

// circle flies circles at 1 m/s, leaning inwards; turn −1 flies them the other way
// round. All channels have the same distribution in both.
func circle(seed uint64, turn float64, seconds float64) []window.Flight {
	rng := rand.New(rand.NewPCG(seed, 0))
	s := window.Series{Name: "circle"}
	for i := range int(50 * seconds) {
		a := turn * 2 * float64(i) / 50
		vx, vy := math.Cos(a), math.Sin(a)
		s.T = append(s.T, int64(i)*20e6)
		s.X = append(s.X,
			vx+0.02*rng.NormFloat64(), vy+0.02*rng.NormFloat64(),
			-turn*0.1*vy+0.005*rng.NormFloat64(), turn*0.1*vx+0.005*rng.NormFloat64())
	}
	return window.Prepare(0, s, flyer, 0, window.Options{})
}

func lifted(flights ...[]window.Flight) channel.Lift {
	l := channel.NewLift(flyer)
	var all []float64
	for _, fs := range flights {
		for i := range fs {
			for j := range fs[i].N() {
				all = append(all, fs[i].State(j)...)
			}
		}
	}
	l.Standardise(all, len(flyer))
	return l
}

// What only the joint distribution of the channels distinguishes is outside, what is
// flown again is inside.
func TestReversedPathIsOutOfDistribution(t *testing.T) {
	train := circle(1, 1, 60)
	lift := lifted(train)
	const H = 0.5
	s := Starts(&lift, train, window.Cut(train, H, H/25))
	r, ok := s.Detector()
	if !ok {
		t.Fatal("no region")
	}
	if len(r.Points) > references || len(r.Points) < 100 {
		t.Errorf("%d reference points", len(r.Points))
	}
	threshold := s.Threshold(H)
	outside := func(flights []window.Flight) float64 {
		x := Starts(&lift, flights, window.Cut(flights, H, H/5))
		n := 0.0
		for i := range x.windows {
			if x.distance(&r, i) > threshold {
				n++
			}
		}
		return n / float64(len(x.windows))
	}
	if share := outside(circle(2, 1, 30)); share > 0.1 {
		t.Errorf("%.0f %% of the same circle is outside", 100*share)
	}
	if share := outside(circle(3, -1, 30)); share < 0.9 {
		t.Errorf("%.0f %% of the other way round is outside", 100*share)
	}
}

// A window that overlaps what is left out would tell the region about it.
func TestNothingIsKeptOfWhatIsLeftOut(t *testing.T) {
	flights := circle(4, 1, 40)
	const H = 0.5
	lift := lifted(flights)
	s := Starts(&lift, flights, window.Cut(flights, H, H/10))
	held := 0
	for _, p := range s.parts(H) {
		for i, w := range s.windows {
			f := &flights[s.windows[i].Flight]
			if p.holds(f, w) {
				held++
			}
			for j, v := range s.windows {
				if p.holds(f, w) && !p.touches(f, v, H) && math.Abs(f.T[v.Start]-f.T[w.Start]) < H {
					t.Fatalf("windows %d and %d overlap", i, j)
				}
			}
		}
	}
	if held != len(s.windows) {
		t.Errorf("%d windows were left out once, of %d", held, len(s.windows))
	}
}

func TestManyFlightsAreGroupedIntoBlocks(t *testing.T) {
	var flights []window.Flight
	for i := range 90 {
		flights = append(flights, circle(uint64(i), 1, 2)...)
	}
	lift := lifted(flights)
	s := Starts(&lift, flights, window.Cut(flights, 0.5, 0.25))
	parts := s.parts(0.5)
	if len(parts) != blocks {
		t.Errorf("%d parts", len(parts))
	}
	for i := range flights {
		n := 0
		for _, p := range parts {
			if p.flights[&flights[i]] {
				n++
			}
		}
		if n != 1 {
			t.Errorf("flight %d is in %d parts", i, n)
		}
	}
	if s.Threshold(0.5) <= 0 {
		t.Error("no threshold")
	}
}

// The cosine of an angle that stays small is noise: it must not be news.
func TestCosinesOfSmallAnglesHaveLowWeight(t *testing.T) {
	train := circle(5, 1, 60)
	lift := lifted(train)
	w := weights(&lift, identityCovariance(lift.Dim()))
	for l, k := range lift.Kind {
		if k == channel.Cosine && w[l] > 0.2*w[l-1] {
			t.Errorf("coordinate %d weighs %v, the sine %v", l, w[l], w[l-1])
		}
	}
}

func identityCovariance(n int) []float64 {
	c := make([]float64, n*n)
	for i := range n {
		c[i*n+i] = 1
	}
	return c
}

func TestTooFewStatesGiveNoDetector(t *testing.T) {
	lift := lifted(circle(6, 1, 5))
	if _, ok := Fit(&lift, make([]float64, lift.Dim()), 10); ok {
		t.Error("one state has a detector")
	}
}

func TestInputs(t *testing.T) {
	s := window.Series{Name: "driven"}
	for i := range 10 {
		s.T = append(s.T, int64(i)*1e7)
		s.X = append(s.X, 0, 0, 0, float64(i))
		s.U = append(s.U, float64(i%4)-1, 7)
	}
	flights := window.Prepare(0, s, flyer, 2, window.Options{})
	low, high := Inputs(flights, 2, 0)
	if low[0] != -1 || high[0] != 2 || low[1] != 7 || high[1] != 7 {
		t.Errorf("%v … %v", low, high)
	}
	// Over two samples −1 0 1 2 −1 … is −0.5, 0.5, 1.5 and again 0.5.
	low, high = Inputs(flights, 2, 0.02)
	if math.Abs(low[0]+0.5) > 1e-9 || math.Abs(high[0]-1.5) > 1e-9 || math.Abs(low[1]-7) > 1e-9 || math.Abs(high[1]-7) > 1e-9 {
		t.Errorf("means over two samples: %v … %v", low, high)
	}
}

// A robot that rests for most of a log: its rest weighs no more than each of the
// places that it goes to.
func TestRestWeighsNoMoreThanMotion(t *testing.T) {
	rest := window.Series{Name: "rest"}
	rng := rand.New(rand.NewPCG(7, 0))
	for i := range 4000 {
		rest.T = append(rest.T, int64(i)*20e6)
		for range flyer {
			rest.X = append(rest.X, 1e-4*rng.NormFloat64())
		}
	}
	flights := append(window.Prepare(0, rest, flyer, 0, window.Options{}), circle(8, 1, 20)...)
	lift := lifted(flights)
	s := Starts(&lift, flights, window.Cut(flights, 0.5, 0.02))
	c := s.Strata()
	if c == nil {
		t.Fatal("no cells")
	}
	var sum [2]float64
	for _, w := range s.windows {
		sum[w.Flight] += c.Weight(flights[w.Flight].State(w.Start))
	}
	if sum[1] < 5*sum[0] {
		t.Errorf("rest weighs %.0f, motion %.0f", sum[0], sum[1])
	}
	if w := (*Strata)(nil).Weight(nil); w != 1 {
		t.Errorf("without cells a window weighs %v", w)
	}
}
