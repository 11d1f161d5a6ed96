package trainer

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack/lapack64"

	"github.com/dgm-robotics/dgm/estimator/feature"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/trainer/rows"
	"github.com/dgm-robotics/dgm/trainer/window"
)

// regionQuantile of the distances seen in training and on held-out windows lies
// inside; regionSlack is added on top.
const (
	regionQuantile = 0.99
	regionSlack    = 1.1
)

// trainingRegion describes where the net's inputs lie: their mean and covariance
// at the end of the horizon, and the Mahalanobis distance that all but a
// hundredth of the windows stay within.
func trainingRegion(f *rows.Frame, train, held []window.Flight, trainW, heldW []window.Window) model.Region {
	S := f.Inputs.Dim() - 1
	x := netInputs(f, train, window.Thin(trainW, 4000))
	n := len(x) / S
	r := model.Region{Mean: make([]float64, S)}
	for i := range n {
		for j := range S {
			r.Mean[j] += x[i*S+j] / float64(n)
		}
	}
	cov := make([]float64, S*S)
	for i := range n {
		row := x[i*S : (i+1)*S]
		for a := range S {
			for b := range a + 1 {
				cov[a*S+b] += (row[a] - r.Mean[a]) * (row[b] - r.Mean[b]) / float64(n)
			}
		}
	}
	// Coordinates are standardised, so a thousandth is a thousandth of what is
	// usual: it keeps a coordinate that never varied from ruling the distance.
	for a := range S {
		cov[a*S+a] += 1e-3
	}
	if _, ok := lapack64.Potrf(blas64.Symmetric{N: S, Stride: max(S, 1), Data: cov, Uplo: blas.Lower}); !ok {
		return model.Region{}
	}
	lapack64.Trtri(blas64.Triangular{N: S, Stride: max(S, 1), Data: cov, Uplo: blas.Lower, Diag: blas.NonUnit})
	for a := range S {
		r.Inverse = append(r.Inverse, cov[a*S:a*S+a+1]...)
	}
	d := distances(&r, x)
	d = append(d, distances(&r, netInputs(f, held, window.Thin(heldW, 4000)))...)
	r.Distance = regionSlack * quantile(d, regionQuantile)
	return r
}

// netInputs returns the net's input, without time, at the end of each window.
func netInputs(f *rows.Frame, flights []window.Flight, windows []window.Window) []float64 {
	I := f.Inputs.Dim()
	s, x0, scratch := make([]float64, I), make([]float64, f.Inputs.Lift.Dim()), make([]float64, f.P)
	var out []float64
	var u window.Input
	for _, w := range windows {
		fl := &flights[w.Flight]
		f.Inputs.Lift.Apply(x0, fl.State(w.Start))
		var signal feature.Signal
		if f.P > 0 {
			u = window.Input{Flight: fl, Start: w.Start}
			signal = &u
		}
		f.Inputs.Row(s, nil, f.Inputs.Horizon, x0, signal, scratch)
		out = append(out, s[1:]...)
	}
	return out
}

func distances(r *model.Region, x []float64) []float64 {
	S := len(r.Mean)
	var out []float64
	for i := 0; i+S <= len(x) && S > 0; i += S {
		sum := 0.0
		for j, o := 0, 0; j < S; j++ {
			a := 0.0
			for c, v := range r.Inverse[o : o+j+1] {
				a += v * (x[i+c] - r.Mean[c])
			}
			sum += a * a
			o += j + 1
		}
		out = append(out, math.Sqrt(sum))
	}
	return out
}

// quantile returns the q-quantile of v (nearest rank); 0 of nothing.
func quantile(v []float64, q float64) float64 {
	if len(v) == 0 {
		return 0
	}
	s := slices.Clone(v)
	slices.Sort(s)
	return s[min(int(q*float64(len(s))), len(s)-1)]
}
