package priordynamics

import (
	"math"

	"github.com/dgm-robotics/dgm/estimator"
	"github.com/dgm-robotics/dgm/estimator/priordynamics"
	"github.com/dgm-robotics/dgm/trainer/blend"
	"github.com/dgm-robotics/dgm/trainer/window"
)

// Pair is a difference equation and its companion, fitted to the same data, with
// flights that neither has seen.
type Pair struct {
	Prior, Companion *priordynamics.Model
	Held             []window.Flight
}

// Blend returns the companion's share of the mean (K×Q at the knots, 0…1) that
// leaves the least of what the held-out flights did:
//
//	y ≈ a + ρ_k(τ) (b − a)      ρ linear in √τ between the knots
//
// with a and b the two predictions, by least squares, every time of the grid
// weighing the same. Every pair has its say, and the share is their mean less its
// standard error: where they disagree, as they do if one of the two runs away on
// one stretch, the equation that was chosen stays.
func Blend(pairs []Pair, K, P int, H float64, knots []float64) []float64 {
	shares := make([][]float64, len(pairs))
	for i, pair := range pairs {
		data := make([][]blend.Row, K) // per channel
		gatherBlend(data, &pair, K, P, H, knots)
		for k := range K {
			shares[i] = append(shares[i], blend.Share(data[k], len(knots), len(blendGrid))...)
		}
	}
	return blend.Agreed(shares, 1)
}

// gatherBlend adds the rows of a pair's held-out windows.
func gatherBlend(data [][]blend.Row, pair *Pair, K, P int, H float64, knots []float64) {
	a, b := priordynamics.New(pair.Prior, K, H), priordynamics.New(pair.Companion, K, H)
	da, db, y := make([]float64, K), make([]float64, K), make([]float64, K)
	hats := make([][]float64, len(blendGrid))
	for i, share := range blendGrid {
		hats[i] = make([]float64, len(knots))
		estimator.KnotWeights(hats[i], knots, share)
	}
	var u window.Input
	for _, w := range window.Cut(pair.Held, H, H/10) {
		f := &pair.Held[w.Flight]
		if P > 0 {
			u = window.Input{Flight: f, Start: w.Start}
		}
		a.Run(f.State(w.Start), &u)
		b.Run(f.State(w.Start), &u)
		for i, share := range blendGrid {
			f.Displacement(y, w.Start, share*H)
			a.At(da, nil, share*H)
			b.At(db, nil, share*H)
			for k := range K {
				if v := db[k] - da[k]; !math.IsNaN(y[k]) && !math.IsInf(v, 0) && !math.IsNaN(v) {
					data[k] = append(data[k], blend.Row{At: i, Left: y[k] - da[k], Step: v, Hat: hats[i]})
				}
			}
		}
	}
}

// blendGrid holds the horizons, as shares of H, at which the two are compared:
// dense where they differ.
var blendGrid = []float64{0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.75, 1}
