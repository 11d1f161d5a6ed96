package score

import (
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mathext"
)

// draws is the number of resamplings: enough for the 2.5 % quantile to be
// steady in its third decimal at coverages near 0.95.
const draws = 2000

// Chance returns the probability that at most misses of n independent trials fail, of which
// each fails with probability p, and that at least so many do. Neither number need be whole:
// the tails are those of the binomial distribution by its incomplete beta function.
func Chance(misses, n, p float64) (atMost, atLeast float64) {
	atMost, atLeast = 1, 1
	if misses < n {
		atMost = mathext.RegIncBeta(n-misses, misses+1, 1-p)
	}
	if misses > 0 {
		atLeast = mathext.RegIncBeta(misses, n-misses+1, p)
	}
	return atMost, atLeast
}

// Interval returns the central 95 % interval of the mean of v, n values in time order, by a
// circular block bootstrap over time (Politis & Romano 1992). Neighbouring windows overlap,
// so their errors are not independent: whole blocks of them are drawn. A block should be
// longer than the overlap; it is limited to n/4 so that there are several to draw. n and
// block are positive.
//
// The interval of a constant series (a coverage of 1, say) has no width and carries no
// information.
func Interval(v []float64, block int, rng *rand.Rand) (low, high float64) {
	n := len(v)
	block = min(block, max(1, n/4))
	// sum[i] = v[0] + … + v[i−1], twice around.
	sum := make([]float64, 2*n+1)
	for i := range 2 * n {
		sum[i+1] = sum[i] + v[i%n]
	}
	means := make([]float64, draws)
	for d := range means {
		for left := n; left > 0; left -= block {
			s, length := rng.IntN(n), min(block, left)
			means[d] += sum[s+length] - sum[s]
		}
		means[d] /= float64(n)
	}
	slices.Sort(means)
	const level = 0.95
	tail := (1 - level) / 2
	return means[int(tail*(draws-1))], means[int((1-tail)*(draws-1)+0.5)]
}
