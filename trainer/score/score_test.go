package score

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"gonum.org/v1/gonum/integrate/quad"
	"gonum.org/v1/gonum/stat/distuv"
)

// tolerance of the golden numbers: they are right to the last digit, and these
// formulas lose two or three.
const tolerance = 1e-12

func near(t *testing.T, what string, got, want, tol float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tol*(1+math.Abs(want))) {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

type golden struct {
	Z95      float64 `json:"z95"`
	Standard struct {
		Z      []float64 `json:"z"`
		Std    float64   `json:"std"`
		LogLik []float64 `json:"log_likelihood"`
		CRPS   []float64 `json:"crps"`
	} `json:"standard_normal"`
	Trajectories []struct {
		Truth, Mean, Std [][]float64
		LogLikPoints     [][]float64 `json:"log_likelihood_points"`
		CoveredPoints    [][]int     `json:"covered_points"`
		CRPSPoints       [][]float64 `json:"crps_points"`
		LogLik           float64     `json:"log_likelihood"`
		Coverage         float64     `json:"coverage95"`
		CRPS             []float64   `json:"crps_channel"`
	}
	All struct {
		LogLik   float64   `json:"log_likelihood"`
		Coverage float64   `json:"coverage95"`
		CRPS     []float64 `json:"crps_channel"`
		Pooled   float64   `json:"log_likelihood_if_pooled"`
	}
}

func readGolden(t *testing.T) *golden {
	t.Helper()
	raw, err := os.ReadFile("testdata/scores.json")
	if err != nil {
		t.Fatal(err)
	}
	g := new(golden)
	if err := json.Unmarshal(raw, g); err != nil {
		t.Fatal(err)
	}
	return g
}

func TestGoldenNumbers(t *testing.T) {
	g := readGolden(t)
	near(t, "z95", Z95, g.Z95, 0)
	for i, z := range g.Standard.Z {
		near(t, "standard log likelihood", LogLik(z, 0, g.Standard.Std), g.Standard.LogLik[i], tolerance)
		near(t, "standard CRPS", CRPS(z, 0, g.Standard.Std), g.Standard.CRPS[i], tolerance)
	}
	var trs []Trajectory
	var pooled Counters
	for _, g := range g.Trajectories {
		var tr Trajectory
		for i := range g.Truth {
			tr.Truth = append(tr.Truth, g.Truth[i]...)
			tr.Mean = append(tr.Mean, g.Mean[i]...)
			tr.Std = append(tr.Std, g.Std[i]...)
			for k := range g.Truth[i] {
				x, m, s := g.Truth[i][k], g.Mean[i][k], g.Std[i][k]
				near(t, "log likelihood of a point", LogLik(x, m, s), g.LogLikPoints[i][k], tolerance)
				near(t, "CRPS of a point", CRPS(x, m, s), g.CRPSPoints[i][k], tolerance)
				if count(Covered(x, m, s, Z95)) != g.CoveredPoints[i][k] {
					t.Errorf("coverage of %v by %v ± %v", x, m, s)
				}
				pooled.Add(x, m, s)
			}
		}
		one, err := Trajectories([]Trajectory{tr}, 2)
		if err != nil {
			t.Fatal(err)
		}
		near(t, "log likelihood of a trajectory", one.LogLik, g.LogLik, tolerance)
		near(t, "coverage of a trajectory", one.Coverage95, g.Coverage, tolerance)
		near(t, "CRPS of a trajectory", one.CRPS[1], g.CRPS[1], tolerance)
		trs = append(trs, tr)
	}
	all, err := Trajectories(trs, 2)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "log likelihood", all.LogLik, g.All.LogLik, tolerance)
	near(t, "coverage", all.Coverage95, g.All.Coverage, tolerance)
	near(t, "CRPS of channel 0", all.CRPS[0], g.All.CRPS[0], tolerance)
	near(t, "CRPS of channel 1", all.CRPS[1], g.All.CRPS[1], tolerance)
	near(t, "log likelihood, pooled", pooled.LogLik(), g.All.Pooled, tolerance)
}

func TestCRPSIsTheIntegralItIsDefinedBy(t *testing.T) {
	for _, c := range [][3]float64{{0.3, 1, 0.5}, {-2, 0.1, 1.5}, {4, 4, 0.01}} {
		x, d := c[0], distuv.Normal{Mu: c[1], Sigma: c[2]}
		square := func(y float64, indicator float64) float64 {
			v := d.CDF(y) - indicator
			return v * v
		}
		width := 10*d.Sigma + math.Abs(x-d.Mu)
		want := quad.Fixed(func(y float64) float64 { return square(y, 0) }, x-2*width, x, 500, nil, 0) +
			quad.Fixed(func(y float64) float64 { return square(y, 1) }, x, x+2*width, 500, nil, 0)
		near(t, "CRPS", CRPS(x, d.Mu, d.Sigma), want, 1e-9)
		near(t, "PIT", PIT(x, d.Mu, d.Sigma), d.CDF(x), 1e-14)
	}
	for _, c := range [][2]float64{{0.50, Z50}, {0.90, Z90}, {0.95, Z95}} {
		near(t, "z", c[1], distuv.UnitNormal.Quantile(0.5+c[0]/2), 1e-15)
	}
}

func TestPredictionsThatCannotBeScored(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range [][3]float64{{0, 0, 0}, {0, 0, -1}, {0, 0, nan}, {0, 0, inf}, {0, nan, 1}, {0, inf, 1}, {nan, 0, 1}} {
		good := Trajectory{Truth: []float64{1, 2}, Mean: []float64{1, 2}, Std: []float64{1, 1}}
		bad := Trajectory{Truth: []float64{1, 2, 3, c[0]}, Mean: []float64{1, 2, 3, c[1]}, Std: []float64{1, 1, 1, c[2]}}
		_, err := Trajectories([]Trajectory{good, bad}, 2)
		if err == nil || !strings.HasPrefix(err.Error(), "trajectory 1, point 1, channel 1: ") {
			t.Errorf("%v: error %v", c, err)
		}
	}
}

// ar returns n values of a stationary AR(1) process with unit variance.
func ar(rng *rand.Rand, n int, rho float64) []float64 {
	v := make([]float64, n)
	v[0] = rng.NormFloat64()
	for i := 1; i < n; i++ {
		v[i] = rho*v[i-1] + math.Sqrt(1-rho*rho)*rng.NormFloat64()
	}
	return v
}

func TestBootstrapOfACorrelatedSeries(t *testing.T) {
	// Of a correlated series, intervals of a 95 % bootstrap must cover the true
	// mean about 95 times in 100; with short blocks they fail far more often.
	rng := rand.New(rand.NewPCG(1, 1))
	const runs, n, rho = 150, 2000, 0.95
	hits := map[int]int{}
	for range runs {
		v := ar(rng, n, rho)
		for _, block := range []int{10, 100} {
			low, high := Interval(v, block, rng)
			if low <= 0 && 0 <= high {
				hits[block]++
			}
		}
	}
	if h := hits[100]; h < runs*86/100 || h == runs {
		t.Errorf("blocks of 100: %d of %d intervals hold the mean", h, runs)
	}
	if h := hits[10]; h > runs*2/3 {
		t.Errorf("blocks of 10: %d of %d intervals hold the mean", h, runs)
	}
}

func TestBootstrapIsSeeded(t *testing.T) {
	v := ar(rand.New(rand.NewPCG(2, 2)), 300, 0.5)
	of := func() (float64, float64) {
		return Interval(v, 20, rand.New(rand.NewPCG(3, 3)))
	}
	a, b := of()
	if c, d := of(); a != c || b != d || !(a < b) {
		t.Errorf("intervals %v %v and %v %v", a, b, c, d)
	}
	if low, high := Interval([]float64{0.5}, 50, rand.New(rand.NewPCG(3, 3))); low != 0.5 || high != 0.5 {
		t.Errorf("one value: %v %v", low, high)
	}
}

func TestGeoRatio(t *testing.T) {
	near(t, "geo", GeoRatio([]float64{1, 8}, []float64{2, 4}), 1, 1e-15)
	near(t, "geo", GeoRatio([]float64{1, 1, 1}, []float64{10, 100, 1000}), 0.01, 1e-15)
}
