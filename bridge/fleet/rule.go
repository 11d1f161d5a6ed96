package fleet

import (
	"fmt"
	"math"
	"time"

	"github.com/dgm-robotics/dgm/estimator/wire"
)

// Rule is when a model is promoted, and when it goes back.
//
// As a shadow it has been compared with the model in use over windows that do not overlap; d is
// the difference of the scores (mean CRPS) of a window, the shadow's minus the other's. Since the rule is applied
// again and again until it holds, the interval of the mean of d must hold at all numbers n of windows at a
// time. With the mean m and the standard deviation s of n differences that is, asymptotically with probability
// 1 − α (Waudby-Smith, Arbour, Sinha, Kennedy & Ramdas 2024, Time-uniform central limit theory and asymptotic
// confidence sequences, Theorem 2.2; for scores of forecasters: Choe & Ramdas 2023),
//
//	m ± s √( 2 (nρ² + 1)/(n²ρ²) · log(√(nρ² + 1)/α) ),    ρ² = (−2 log α + log(1 − 2 log α))/n₀
//
// which is narrowest about n₀ = 100. Where differences are skewed as an exponential distribution is, α = 0.02 from 30
// windows on decides one trial of twenty between equally good models. The shadow is better when the interval is below 0, and worse when it is above; it is
// not decided before Windows windows. Its coverage is within the band when at each time after the start of a window its 95 %
// intervals have covered at least the share Band, over all channels.
//
// A model in use leaves the band when the estimator's trust monitor has an alarm: its sequential test of that band has
// one false alarm in 100 hours (package trust).
type Rule struct {
	Windows   int           `json:"windows"`    // least number of windows
	Alpha     float64       `json:"alpha"`      // α
	Band      float64       `json:"band"`       // least coverage
	CanaryFor time.Duration `json:"canary_for"` // ns, for which the canary uses the model before others do, and others until they are done
	Longest   time.Duration `json:"longest"`    // ns, of the trial as a shadow
}

// UsualRule is the rule for vehicles in service.
func UsualRule() Rule {
	return Rule{Windows: 30, Alpha: 0.02, Band: 0.90, CanaryFor: 10 * time.Minute, Longest: 7 * 24 * time.Hour}
}

func (r Rule) check() error {
	if r.Windows < 2 || !(r.Alpha > 0 && r.Alpha < 1) || !(r.Band >= 0 && r.Band <= 1) || r.CanaryFor < 0 || r.Longest <= 0 {
		return fmt.Errorf("rule %+v: at least 2 windows, alpha and band within 0 … 1, positive times", r)
	}
	return nil
}

// narrowest is n₀.
const narrowest = 100

// interval returns half the width of the interval for n windows, in standard deviations.
func (r Rule) interval(n float64) float64 {
	l := -2 * math.Log(r.Alpha)
	rho2 := (l + math.Log(1+l)) / narrowest
	return math.Sqrt(2 * (n*rho2 + 1) / (n * n * rho2) * math.Log(math.Sqrt(n*rho2+1)/r.Alpha))
}

// verdict of a trial.
type verdict int

const (
	undecided verdict = iota
	better
	worse
)

// judge returns what a trial has shown, and why.
func (r Rule) judge(s *wire.LoadedModel) (verdict, string) {
	if s.Windows < uint64(r.Windows) {
		return undecided, fmt.Sprintf("%d of at least %d windows", s.Windows, r.Windows)
	}
	if !finite(s.Difference) || !(s.DifferenceStd >= 0) || !finite(s.DifferenceStd) {
		return undecided, fmt.Sprintf("difference of scores %v, standard deviation %v", s.Difference, s.DifferenceStd)
	}
	half := r.interval(float64(s.Windows)) * s.DifferenceStd
	text := fmt.Sprintf("%d windows, difference of scores %.3g ± %.2g", s.Windows, s.Difference, half)
	if s.Difference-half > 0 {
		return worse, text
	}
	if c := least(s.Coverage, len(s.Buckets)); c < r.Band {
		return undecided, fmt.Sprintf("%s, coverage %.0f %%", text, 100*c)
	}
	if s.Difference+half < 0 {
		return better, text
	}
	return undecided, text
}

// least returns the least mean over channels of coverage (B×K) at any of B times, 0 where there is none or it is no share.
func least(coverage []float64, buckets int) float64 {
	if buckets == 0 {
		return 0
	}
	least, K := 1.0, len(coverage)/buckets
	for b := range buckets {
		sum := 0.0
		for _, c := range coverage[b*K:][:K] {
			if !(c >= 0 && c <= 1) {
				return 0
			}
			sum += c / float64(K)
		}
		least = min(least, sum)
	}
	return least
}

// finite reports whether a number that a vehicle has sent is one.
func finite(x float64) bool { return math.Abs(x) <= math.MaxFloat64 }

// left reports whether a model in use has left the band, by the status of its vehicle.
func left(s *wire.Status) bool { return s.Miscalibrated > 0 }

// shown reports whether a status has so many comparisons with measurements at every time of the horizon, of one channel at least,
// and a coverage that they gave. Silence is no evidence.
func shown(s *wire.Status, windows int) bool {
	B, n := len(s.Buckets), len(s.Checks)
	if B == 0 || n == 0 || n%B != 0 || len(s.Coverage) != n {
		return false
	}
	for b := range B {
		enough := false
		for k := range n / B {
			checks, c := s.Checks[b*n/B+k], s.Coverage[b*n/B+k]
			enough = enough || checks >= float64(windows) && finite(checks) && c >= 0 && c <= 1
		}
		if !enough {
			return false
		}
	}
	return true
}
