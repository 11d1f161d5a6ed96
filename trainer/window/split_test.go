package window

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/dgm-robotics/dgm/estimator/channel"
)

// recordings makes flights of the given durations, s, at 20 Hz. The only state
// of a sample is its number, so that it can be told wherever it goes.
func recordings(durations []float64) (flights []Flight, samples int) {
	for i, d := range durations {
		var s Series
		for j := range int(math.Round(20*d)) + 1 {
			s.T = append(s.T, int64(j)*50e6)
			s.X = append(s.X, float64(samples))
			samples++
		}
		flights = append(flights, Prepare(i, s, []channel.Channel{{Name: "n", Role: channel.State}}, 0, Options{})...)
	}
	return flights, samples
}

func duration(flights []Flight) float64 {
	s := 0.0
	for i := range flights {
		s += flights[i].Duration()
	}
	return s
}

func TestSplitSharesNoSample(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		flights, n := recordings(rapid.SliceOfN(rapid.Float64Range(0.5, 60), 1, 9).Draw(t, "durations"))
		share := rapid.Float64Range(0, 0.5).Draw(t, "share")
		seed := rapid.Uint64().Draw(t, "seed")
		s := HoldOut(flights, share, 1, seed)
		seen := make([]int, n)
		for side, part := range [][]Flight{s.Train, s.Held} {
			for i := range part {
				f := &part[i]
				if f.N() == 0 {
					t.Fatal("a flight without samples")
				}
				for j, x := range f.X {
					if seen[int(x)] != 0 {
						t.Fatalf("sample %v is on both sides, or twice on one", x)
					}
					seen[int(x)] = 1 + side
					if j > 0 && x != f.X[j-1]+1 {
						t.Fatalf("sample %v follows %v in one flight", x, f.X[j-1])
					}
				}
			}
		}
		for i, where := range seen {
			if where == 0 {
				t.Fatalf("sample %d is lost", i)
			}
		}
		again := HoldOut(flights, share, 1, seed)
		if again.How != s.How || len(again.Held) != len(s.Held) || duration(again.Held) != duration(s.Held) {
			t.Fatal("the same seed splits otherwise")
		}
		for i := range s.Held {
			if again.Held[i].X[0] != s.Held[i].X[0] {
				t.Fatal("the same seed holds out other samples")
			}
		}
	})
}

// Whole segments: within half a segment of the share. Blocks: the share of every
// flight that is long enough, to a sample a block.
func TestSplitHoldsOutItsShare(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		durations := rapid.SliceOfN(rapid.Float64Range(2, 60), 1, 12).Draw(t, "durations")
		share := rapid.Float64Range(0.05, 0.5).Draw(t, "share")
		flights, _ := recordings(durations)
		total, longest, shortest := duration(flights), 0.0, math.Inf(1)
		for i := range flights {
			longest = math.Max(longest, flights[i].Duration())
			shortest = math.Min(shortest, flights[i].Duration())
		}
		s := HoldOut(flights, share, 1, rapid.Uint64().Draw(t, "seed"))
		held := duration(s.Held)
		if len(flights) >= minFlights {
			if held == 0 || (held-share*total > 0.5*longest && held > shortest) || share*total-held > 0.5*longest {
				t.Fatalf("%v s of %v held out, asked for %v", held, total, share*total)
			}
			return
		}
		want := 0.0
		for i := range flights {
			if d := flights[i].Duration(); share*d >= 1.5 {
				want += share * d
			}
		}
		if math.Abs(held-want) > 0.1*float64(len(s.Held)) {
			t.Fatalf("%v s in %d blocks held out, asked for %v", held, len(s.Held), want)
		}
	})
}

func TestSplitDependsOnItsSeed(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for _, n := range []int{1, 10} {
		d := make([]float64, n)
		for i := range d {
			d[i] = 30 + 10*rng.Float64()
		}
		flights, _ := recordings(d)
		first := map[float64]bool{}
		for seed := range uint64(10) {
			first[HoldOut(flights, 0.2, 1, seed).Held[0].X[0]] = true
		}
		if len(first) < 3 {
			t.Errorf("%d flights: ten seeds begin to hold out at %d places", n, len(first))
		}
	}
}

// What is held out whole is what has no gap, of which a segment of a log may have several.
func TestSplitReportsWhatItHoldsOut(t *testing.T) {
	flights, _ := recordings([]float64{20, 20, 20, 20, 20})
	for i := range flights {
		flights[i].Segment = 0
	}
	if got, want := HoldOut(flights, 0.2, 1, 1).How, "1 of 5 stretches without a gap held out whole"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// Blocks are as many as leave three horizons in each, and lie one in each part.
func TestBlocksSpreadOverAFlight(t *testing.T) {
	flights, _ := recordings([]float64{100})
	s := HoldOut(flights, 0.2, 1, 1)
	if len(s.Held) != 4 {
		t.Fatalf("%d blocks of 100 s", len(s.Held))
	}
	for i := range s.Held {
		if mid := s.Held[i].T[0] + 2.5; mid < float64(25*i) || mid > float64(25*(i+1)) {
			t.Errorf("block %d lies around %v s", i, mid)
		}
		if before, at := s.Held[i].Past(1); before.N() != flights[0].N() || before.T[at] != s.Held[i].T[1] {
			t.Errorf("block %d has %d samples before it, of %d", i, at, before.N())
		}
	}
	for i := range s.Train { // what is held out is not read by a training window
		if before, at := s.Train[i].Past(1); before.N() != s.Train[i].N() || at != 1 {
			t.Errorf("training data %d have %d samples before them", i, at)
		}
	}
	for d, want := range map[float64]int{7: 0, 8: 1, 31: 2, 46: 3, 61: 4} {
		if got := blockCount(d, 0.2, 1); got != want {
			t.Errorf("%v s are parted in %d, expected %d", d, got, want)
		}
	}
}

// A robot that rests and moves by turns is judged on both, wherever the seed leads.
func TestSplitHoldsOutWhatIsUsual(t *testing.T) {
	states := []channel.Channel{{Name: "x", Role: channel.State}}
	s := Series{Name: "turns"}
	for i := range 5000 {
		at := float64(i) * 0.02
		s.T, s.X = append(s.T, int64(i)*20e6), append(s.X, 0)
		if int(at/5)%2 == 1 {
			s.X[i] = math.Sin(4 * at)
		}
	}
	flights := Prepare(0, s, states, 0, Options{})
	for seed := range uint64(20) {
		for _, held := range HoldOut(flights, 0.2, 1, seed).Held {
			from := int(math.Round(held.InSegment(0) / 0.02))
			if a := activity(&flights[0], from, from+held.N(), 1); a < 0.6 || a > 1.6 {
				t.Errorf("seed %d: the block at %.1f s moves %.2f times as much as usual", seed, held.InSegment(0), a)
			}
		}
	}
}

// From four flights on whole ones are held out, with all their stretches.
func TestSplitHoldsOutWholeFlights(t *testing.T) {
	flights, _ := recordings([]float64{20, 20, 20, 20})
	parted := append([]Flight{flights[0].Slice(0, 150), flights[0].Slice(200, 401)}, flights[1:]...)
	for seed := range uint64(8) {
		s := HoldOut(parted, 0.25, 1, seed)
		on := map[int]bool{}
		for i := range s.Train {
			on[s.Train[i].Segment] = true
		}
		for i := range s.Held {
			if on[s.Held[i].Segment] {
				t.Errorf("seed %d: flight %d is on both sides", seed, s.Held[i].Segment)
			}
		}
		if !s.Whole || len(on) != 3 {
			t.Errorf("seed %d: whole %v, trained on flights %v", seed, s.Whole, on)
		}
	}
	for _, few := range [][]Flight{flights[:3], {flights[0].Slice(0, 60), flights[0].Slice(60, 120), flights[0].Slice(120, 180), flights[0].Slice(180, 240), flights[0].Slice(240, 300)}} {
		if s := HoldOut(few, 0.25, 1, 1); s.Whole {
			t.Errorf("%s, which is no whole flight", s.How)
		}
	}
}

// The horizon that is advised is a duration that the flag takes.
func TestHorizonShorterThanASlowSample(t *testing.T) {
	f := Flight{K: 1, T: []float64{0, 20, 40}, X: make([]float64, 3)}
	if err := Enough([]Flight{f}, nil, 40, 0.5, 0.2, nil); err == nil || !strings.HasSuffix(err.Error(), "choose a --horizon of 200s or more, or correct the times if they are not in s") {
		t.Error(err)
	}
}
