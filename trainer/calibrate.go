package trainer

import (
	"math"
	"slices"

	"github.com/dgm-robotics/dgm/estimator"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/trainer/blend"
)

// law is what brings the 95 % intervals of held-out data to 95 %: a factor for
// every channel and horizon, one that grows with the distance of the start from the
// states of training, and one that grows with the predicted motion. Errors do grow
// with the distance, on every data set tried: where all that was seen is far away,
// the posterior's own variance, made from features that fit the data, does not rise
// enough. With the motion they grow on some; see growth.go.
//
//	factor_k(t) = widen_k(t) · (distance/near)^growth · motion(t)^stir
//
// (half of stir beyond the usual motion), where near ≤ distance ≤ far, and motion is over the usual one, within bounds.
//
// Before that it decides, by channel and horizon, how much of what the nets add to
// the base counts: where the folds do not agree that it helps, it does not.
type law struct {
	gain      []float64 // K×Q
	near, far float64
	growth    float64   // power of the distance
	usual     float64   // motion of half of what was held out, over that of the frame
	stir      float64   // power of the motion
	widen     []float64 // K×Q
	scores    []float64 // of each fold, mean log likelihood of a point under the law
}

const (
	// widest is the largest factor, its inverse the smallest. A model that needs
	// more is wrong, not narrow, and the report shows it.
	widest = 3
	// normal95 is the 95 % point of |z|.
	normal95 = 1.959964
)

// calibrate finds the law by what each fold says of data that it has not seen, as
// far as the switches ask for it. reach is where the distance begins and ends to
// count; nil finds it.
func calibrate(m *model.Model, folds []*outcomes, on FoldConfig, reach *law) law {
	l := law{gain: netGain(m, folds, on.Gain)}
	if reach != nil {
		l.near, l.far, l.usual = reach.near, reach.far, reach.usual
	} else {
		l.near, l.far = reachOf(folds)
		l.usual = usualOf(folds)
	}
	l.growth, l.stir = powers(&l, folds, on)
	if reach == nil {
		l.far *= beyond
		if l.growth > 0 {
			l.far = math.Min(l.far, l.near*math.Pow(mostGrowth, 1/l.growth))
		}
	}
	l.grow(folds)
	at := factors(m, folds, on.Factors)
	Q := len(m.NoiseKnots)
	l.widen = make([]float64, m.K*Q)
	for k := range m.K {
		for q, tau := range m.NoiseKnots {
			l.widen[k*Q+q] = interpolate(folds[0].times, at, k, tau*m.Horizon)
		}
	}
	l.scores = likelihood(folds, at)
	return l
}

// netGain returns how much of the nets counts (K×Q) and brings the outcomes up to
// date.
func netGain(m *model.Model, folds []*outcomes, on bool) []float64 {
	Q := len(m.NoiseKnots)
	if !on {
		return slices.Repeat([]float64{1}, m.K*Q)
	}
	hats := make([][]float64, len(folds[0].times))
	for i, t := range folds[0].times {
		hats[i] = make([]float64, Q)
		estimator.KnotWeights(hats[i], m.NoiseKnots, t/m.Horizon)
	}
	shares := make([][]float64, len(folds))
	for f, o := range folds {
		for k := range m.K {
			var rows []blend.Row
			for i := range o.times {
				for _, p := range o.points[i][k] {
					rows = append(rows, blend.Row{At: i, Left: p.left, Step: p.net, Hat: hats[i]})
				}
			}
			shares[f] = append(shares[f], blend.Share(rows, Q, len(o.times))...)
		}
	}
	gain := blend.Agreed(shares, 1)
	for _, o := range folds {
		for i, hat := range hats {
			for k, channel := range o.points[i] {
				g := 0.0
				for q, w := range hat {
					g += w * gain[k*Q+q]
				}
				for j := range channel {
					p := &channel[j]
					p.z = (p.left - g*p.net) / p.std
				}
			}
		}
	}
	return gain
}

// factors returns the factor of every horizon and channel (T × K). A channel's own
// errors have as much say as those of all channels together, more where the folds tell
// the channels apart (ownSay). The folds have equal say: one that the others could not
// prepare for must not widen what all the rest find right. Where the folds would narrow,
// they do so only as far as they agree: the mean of their logarithms plus half of its
// standard error, at most to 1.
func factors(m *model.Model, folds []*outcomes, on bool) [][]float64 {
	out := make([][]float64, len(folds[0].times))
	for i := range out {
		out[i] = slices.Repeat([]float64{1}, m.K)
		if !on {
			continue
		}
		own, pooled := make([][]float64, m.K), make([]float64, len(folds))
		for f, o := range folds {
			var all []float64
			for k, channel := range o.points[i] {
				var z []float64
				for _, p := range channel {
					z = append(z, p.z/p.grown)
				}
				own[k] = append(own[k], math.Log(bounded(quantile95(z))))
				all = append(all, z...)
			}
			pooled[f] = math.Log(bounded(quantile95(all)))
		}
		say := ownSay(own, pooled)
		v := make([]float64, len(folds))
		for k := range m.K {
			for f := range folds {
				v[f] = say[k]*own[k][f] + (1-say[k])*pooled[f]
			}
			mean, err := meanErr(v)
			if mean < 0 {
				mean = math.Min(0, mean+0.5*err)
			}
			out[i][k] = math.Exp(mean)
		}
	}
	return out
}

// ownSay returns how much each channel's own log factor counts (K, 0.5…1) beside that
// of all, from those of the folds (K × folds, folds). It is that of the best linear
// estimate of a channel's factor when channels differ by τ² and a channel's mean over
// folds errs by se²: τ²/(τ² + se²). With much data a channel stands for itself.
func ownSay(own [][]float64, pooled []float64) []float64 {
	centre, _ := meanErr(pooled)
	spread, errs := 0.0, make([]float64, len(own))
	for k, v := range own {
		mean, err := meanErr(v)
		errs[k] = err * err
		spread += ((mean-centre)*(mean-centre) - errs[k]) / float64(len(own))
	}
	out := slices.Repeat([]float64{0.5}, len(own))
	if spread > 0 {
		for k, e := range errs {
			out[k] = math.Max(0.5, spread/(spread+e))
		}
	}
	return out
}

// meanErr returns the mean and its standard error; none of one value.
func meanErr(v []float64) (mean, err float64) {
	n, squares := float64(len(v)), 0.0
	for _, x := range v {
		mean += x / n
		squares += x * x / n
	}
	return mean, math.Sqrt(math.Max(0, squares-mean*mean) / math.Max(1, n-1))
}

// likelihood returns the mean log likelihood of a held-out point of each fold under
// the law, outliers capped. Here, where models are compared, cells of states weigh
// the same; the law itself is of windows as they come, since so is the coverage
// that is promised.
func likelihood(folds []*outcomes, at [][]float64) []float64 {
	var out []float64
	for _, o := range folds {
		sum, n := 0.0, 0.0
		for i := range o.times {
			for k, channel := range o.points[i] {
				for _, p := range channel {
					f := at[i][k] * p.grown
					z := p.z / f
					sum += p.weight * (-0.5*math.Min(z*z, zCap) - math.Log(f*p.std) - 0.5*math.Log(2*math.Pi))
					n += p.weight
				}
			}
		}
		out = append(out, sum/n)
	}
	return out
}

// paired returns the mean of a − b and its standard error.
func paired(a, b []float64) (mean, err float64) {
	d := make([]float64, len(a))
	for i := range a {
		d[i] = a[i] - b[i]
	}
	return meanErr(d)
}

func bounded(f float64) float64 { return math.Min(math.Max(f, 1.0/widest), widest) }

// quantile95 returns the 95 % quantile of |z| over that of a standard normal; 1
// of nothing.
func quantile95(z []float64) float64 {
	if len(z) == 0 {
		return 1
	}
	a := make([]float64, len(z))
	for i, v := range z {
		a[i] = math.Abs(v)
	}
	slices.Sort(a)
	return a[min(int(0.95*float64(len(a))), len(a)-1)] / normal95
}

// interpolate returns channel k of the table at time t, linear in √t and constant
// beyond the ends.
func interpolate(times []float64, table [][]float64, k int, t float64) float64 {
	last := len(times) - 1
	if t <= times[0] {
		return table[0][k]
	}
	for i := range last {
		if t <= times[i+1] {
			a, b := math.Sqrt(times[i]), math.Sqrt(times[i+1])
			w := (math.Sqrt(t) - a) / (b - a)
			return (1-w)*table[i][k] + w*table[i+1][k]
		}
	}
	return table[last][k]
}
