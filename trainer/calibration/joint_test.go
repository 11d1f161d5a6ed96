package calibration

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// scored is how many times of a trajectory are compared.
const scored = 8

// jointly returns trajectories of n flights in folds, whose first two of three channels have the
// correlation r.
func jointly(rng *rand.Rand, flights, each int, r float64) (out []trajectory) {
	for f := range flights {
		for range each {
			t := trajectory{fold: f % 4, flight: f, weight: 1 / float64(each)}
			for range scored {
				a, b := rng.NormFloat64(), rng.NormFloat64()
				z := []float64{a, r*a + math.Sqrt(1-r*r)*b, 3 * rng.NormFloat64()}
				for _, v := range z {
					t.largest = math.Max(t.largest, math.Abs(v))
				}
				t.z = append(t.z, z)
			}
			out = append(out, t)
		}
	}
	return out
}

// The correlation is that of the errors, shrunk little where folds agree on it, and the sizes
// of the channels, single large errors and what is not measured do not change it.
func TestCorrelationOfErrors(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 1))
	all := jointly(rng, 8, 200, 0.8)
	all[0].z[1][0], all[1].z[1][1], all[2].z[1][2] = 1e6, math.NaN(), math.Inf(1)
	winsorise(all)
	share := independence(all, 4)
	if share > 0.1 {
		t.Errorf("share %v of the identity", share)
	}
	for at := range scored {
		got := shrunk(correlation(all, at, -1), share)
		for i, want := range []float64{0.8, 0, 0} {
			if math.Abs(got[i]-want) > 0.1 {
				t.Errorf("time %d: correlations %v", at, got)
				break
			}
		}
	}
	few := jointly(rng, 4, 3, 0)
	winsorise(few)
	if share := independence(few, 4); share < 0.35 {
		t.Errorf("share %v of the identity by twelve trajectories of independent channels", share)
	}
}

// Channels that are one another's multiples have a correlation that is positive definite.
func TestShrunkIsDefinite(t *testing.T) {
	all := jointly(rand.New(rand.NewPCG(3, 2)), 4, 50, 1)
	winsorise(all)
	r := shrunk(correlation(all, 0, -1), 0)
	if r[0] >= 1-1e-4 || r[0] < 0.99 {
		t.Errorf("correlations %v", r)
	}
}

// With enough flights the quantile is that of conformal prediction, with fewer the plain one
// with a margin by how flights differ; flights weigh the same.
func TestTube(t *testing.T) {
	var all []trajectory
	for f := range 20 {
		all = append(all, trajectory{flight: f, largest: float64(f + 1), weight: 1})
	}
	if got := tube(all, 20); !slices.Equal(got, []float64{11, 19, 20}) {
		t.Errorf("of 20 flights %v", got)
	}
	if got := tube(all[:10], 10); !slices.Equal(got[:2], []float64{6, 10}) || got[2] < 12 || got[2] > 13 { // 0.25 is the standard error
		t.Errorf("of 10 flights %v", got)
	}
	for range 1000 {
		all = append(all, trajectory{flight: 20, largest: 30, weight: 1e-3})
	}
	if got := tube(all, 21); !slices.Equal(got, []float64{11, 20, 30}) {
		t.Errorf("with a flight of many windows %v", got)
	}
	if got := tube([]trajectory{{largest: 2, weight: 1}}, 0); !slices.Equal(got, []float64{2, 2, 2}) {
		t.Errorf("of one trajectory %v", got)
	}
}
