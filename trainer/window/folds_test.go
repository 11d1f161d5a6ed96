package window

import (
	"math"
	"slices"
	"testing"

	"github.com/dgm-robotics/dgm/estimator/channel"
)

// lying returns one flight for each duration, in s, its number in the log from 0 on.
func lying(durations ...float64) []Flight {
	var out []Flight
	states := []channel.Channel{{Name: "x", Role: channel.State}}
	for n, d := range durations {
		s := Series{Name: "flight"}
		for i := range int(d*50) + 1 {
			s.T, s.X = append(s.T, int64(i)*20e6), append(s.X, float64(i))
		}
		out = append(out, Prepare(n, s, states, 0, Options{})...)
	}
	return out
}

func segments(flights []Flight) (all []int) {
	for i := range flights {
		if !slices.Contains(all, flights[i].Segment) {
			all = append(all, flights[i].Segment)
		}
	}
	return all
}

func TestFoldsHoldOutWholeFlights(t *testing.T) {
	whole := lying(20, 20, 20, 20, 20)
	parts := append([]Flight{whole[0].Slice(0, 300), whole[0].Slice(400, 1001)}, whole[1:]...)
	for name, flights := range map[string][]Flight{"whole": whole, "in parts": parts} {
		folds := Folds(flights, 0.5, 4)
		if len(folds) != 4 {
			t.Fatalf("%s: %d folds", name, len(folds))
		}
		var held []int
		for _, f := range folds {
			for _, s := range segments(f.Held) {
				if slices.Contains(segments(f.Train), s) {
					t.Errorf("%s: flight %d on both sides", name, s)
				}
				held = append(held, s)
			}
		}
		if slices.Sort(held); !slices.Equal(held, []int{0, 1, 2, 3, 4}) {
			t.Errorf("%s: held out %v", name, held)
		}
	}
}

// Few flights, or one beside which the others weigh little, are parted in blocks of
// time, each sample held out once.
func TestFoldsHoldOutBlocks(t *testing.T) {
	for name, flights := range map[string][]Flight{"two": lying(20, 20), "one long": lying(60, 5, 5, 5, 5), "one": lying(60)} {
		folds := Folds(flights, 0.5, 4)
		if len(folds) != 4 {
			t.Fatalf("%s: %d folds", name, len(folds))
		}
		held, all := 0, 0
		for i := range flights {
			all += flights[i].N()
		}
		for _, f := range folds {
			if len(segments(f.Train)) != len(flights) {
				t.Errorf("%s: trains on flights %v only", name, segments(f.Train))
			}
			for i := range f.Held {
				held += f.Held[i].N()
			}
		}
		if held != all {
			t.Errorf("%s: %d samples held out, of %d", name, held, all)
		}
	}
}

// Flights of the robot that flew twice among seven are held out together; those of the
// robot that flew most are dealt out.
func TestFoldsHoldOutARobot(t *testing.T) {
	var flights []Flight
	states := []channel.Channel{{Name: "x", Role: channel.State}}
	for n, trim := range []float64{1, 1.2, 8, 1.1, 0.9, 8.3, 1} {
		s := Series{Name: "flight"}
		for i := range 1001 {
			s.T, s.X, s.U = append(s.T, int64(i)*20e6), append(s.X, float64(i)), append(s.U, trim+float64(i%3-1))
		}
		flights = append(flights, Prepare(n, s, states, 1, Options{})...)
	}
	folds := Folds(flights, 0.5, 4)
	if len(folds) != 4 {
		t.Fatal(len(folds), "folds")
	}
	for _, f := range folds {
		held := segments(f.Held)
		if !f.Whole || slices.Contains(held, 2) != slices.Contains(held, 5) {
			t.Errorf("holds out flights %v, whole %v", held, f.Whole)
		}
		if slices.Contains(held, 2) && len(held) > 3 || len(held) == 0 {
			t.Errorf("holds out flights %v", held)
		}
	}
}

// Flights that move alike are held out together, in whatever order they were flown.
func TestFoldsHoldOutKinds(t *testing.T) {
	states := []channel.Channel{{Name: "x", Role: channel.State}, {Name: "y", Role: channel.State}}
	var flights []Flight
	kind := map[int]int{}
	for n := range 12 {
		kind[n] = n % 4 // along x, along y, both, hardly
		s := Series{Name: "flight"}
		size := [][2]float64{{1, 0.05}, {0.05, 1}, {1, 1}, {0.05, 0.05}}[kind[n]]
		for i := range 1001 {
			at := (1 + 0.1*float64(n)) * 0.02 * float64(i)
			s.T, s.X = append(s.T, int64(i)*20e6), append(s.X, size[0]*math.Sin(at), size[1]*math.Cos(at))
		}
		flights = append(flights, Prepare(n, s, states, 0, Options{})...)
	}
	folds := Folds(flights, 0.5, 4)
	if len(folds) != 4 {
		t.Fatalf("%d folds", len(folds))
	}
	for _, f := range folds {
		held := segments(f.Held)
		if len(held) != 3 || kind[held[0]] != kind[held[1]] || kind[held[1]] != kind[held[2]] {
			t.Errorf("flights %v are held out together", held)
		}
	}
}
