package paper

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/dgm-robotics/dgm/estimator/numeric/mlp"
)

// turning is a rotation with a period of 2π: x' = v, v' = −x, from several starts,
// observed with noise.
func turning(starts, points int, noise float64) *Data {
	rng := rand.New(rand.NewPCG(1, 1))
	d := &Data{K: 2}
	for s := range starts {
		a := 0.5 + float64(s)/float64(max(starts-1, 1))
		tr := Trajectory{X0: []float64{a, 0}}
		for i := range points {
			t := 5 * float64(i) / float64(points-1)
			tr.T = append(tr.T, t)
			x := rotated(a, t)
			tr.Y = append(tr.Y, x[0]+noise*rng.NormFloat64(), x[1]+noise*rng.NormFloat64())
		}
		d.Trajectories = append(d.Trajectories, tr)
	}
	return d
}

func rotated(a, t float64) [2]float64 { return [2]float64{a * math.Cos(t), -a * math.Sin(t)} }

// small returns a recipe that runs for seconds.
func small() Recipe {
	r := DefaultRecipe(turning(2, 3, 0))
	r.Core, r.Dynamics, r.F, r.Steps, r.Support = []int{8, 4}, []int{8}, 20, 150, 4
	r.Members, r.Rounds = 2, 2
	r.Final.Core, r.Final.F, r.Final.Steps, r.Final.Batch = []int{20, 20}, 40, 1500, 250
	r.Final.Starts, r.Final.SpreadStarts = 300, 50
	return r
}

func TestSensitivityIsTheDerivative(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	for _, act := range []mlp.Activation{mlp.Sigmoid, mlp.Tanh} {
		net := mlp.New([]int{2, 5, 4, 2}, []mlp.Activation{act, act, mlp.Linear})
		net.Glorot(rng)
		theta := make([]float64, net.Params())
		net.Bind(theta)
		end := func() []float64 {
			w := newTangent(&net, nil, 2, len(theta), false)
			w.start([]float64{0.3, -0.7})
			if !w.advance(0.1, 10) {
				t.Fatal("left all bounds")
			}
			return w.z
		}
		w := newTangent(&net, nil, 2, len(theta), true)
		w.start([]float64{0.3, -0.7})
		w.advance(0.1, 10)
		for p := range theta {
			const h = 1e-6
			old := theta[p]
			theta[p] = old + h
			plus := append([]float64(nil), end()...)
			theta[p] = old - h
			minus := end()
			theta[p] = old
			for k := range 2 {
				// Rounding over h is 1e-10, the third derivative times h² less.
				if want := (plus[k] - minus[k]) / (2 * h); !(math.Abs(w.S[k*len(theta)+p]-want) <= 1e-8) {
					t.Fatalf("%s, state %d by parameter %d: %v, difference %v", act, k, p, w.S[k*len(theta)+p], want)
				}
			}
		}
	}
}

// A flow that starts from gradient matching finds a rotation from noisy
// observations, and its intervals cover the truth.
func TestRecipeLearnsARotation(t *testing.T) {
	d := turning(5, 8, 0.05)
	m, err := Learn(context.Background(), d, small(), 1)
	if err != nil {
		t.Fatal(err)
	}
	times := make([]float64, 40)
	for i := range times {
		times[i] = 5 * float64(i) / 39
	}
	mean, std := make([]float64, 80), make([]float64, 80)
	squares, inside, n := 0.0, 0.0, 0.0
	for _, a := range []float64{0.6, 0.9, 1.2, 1.4} {
		m.Predict(mean, std, []float64{a, 0}, times)
		for i, at := range times {
			for k, x := range rotated(a, at) {
				e := mean[i*2+k] - x
				squares += e * e
				n++
				if !(std[i*2+k] > 0) {
					t.Fatalf("std %v at %v s", std[i*2+k], at)
				}
				if math.Abs(e) < 2*std[i*2+k] {
					inside++
				}
			}
		}
	}
	// 80 numbers of noise 0.05 and a smooth field: a fifth of the noise is usual.
	if rmse := math.Sqrt(squares / n); !(rmse <= 0.04) {
		t.Errorf("error %v on unseen starts, noise 0.05", rmse)
	}
	if !(inside/n >= 0.75) {
		t.Errorf("%v of the true states within two standard deviations", inside/n)
	}
	for _, f := range m.Flows {
		for k, s := range f.Sigma {
			if s *= f.Inputs.Lift.Std[k]; !(s >= 0.035) || !(s <= 0.075) {
				t.Errorf("noise of channel %d learned as %v, it is 0.05", k, s)
			}
		}
	}
}

// The smoother predicts mean and standard deviation of the flows.
func TestSmootherRepeatsItsFlows(t *testing.T) {
	d := turning(5, 8, 0.05)
	r := small()
	r.Members = 1
	m, err := Learn(context.Background(), d, r, 2)
	if err != nil {
		t.Fatal(err)
	}
	f := m.Flows[0]
	times := []float64{1, 2, 3, 4, 5}
	a, va := make([]float64, 10), make([]float64, 10)
	b, sb := make([]float64, 10), make([]float64, 10)
	for _, x0 := range [][]float64{{0.55, 0}, {1.1, 0}, {1.45, 0}} {
		if !f.predict(a, va, x0, times) {
			t.Fatal("the flow cannot be integrated")
		}
		m.Predict(b, sb, x0, times)
		for i := range a {
			s := math.Sqrt(va[i])
			if !(math.Abs(a[i]-b[i]) <= 0.05) || !(sb[i] >= 0.5*s) || !(sb[i] <= 2*s+0.02) {
				t.Errorf("start %v, number %d: smoother %v ± %v, flow %v ± %v", x0, i, b[i], sb[i], a[i], s)
			}
		}
	}
}

func TestSeedDecides(t *testing.T) {
	d := turning(3, 5, 0.05)
	r := small()
	var got [3][]float64
	for i, seed := range []uint64{1, 1, 2} {
		m, err := Learn(context.Background(), d, r, seed)
		if err != nil {
			t.Fatal(err)
		}
		got[i] = make([]float64, 2)
		m.Predict(got[i], make([]float64, 2), []float64{1, 0}, []float64{2})
	}
	if got[0][0] != got[1][0] || got[0][1] != got[1][1] {
		t.Errorf("the same seed gives %v and %v", got[0], got[1])
	}
	if got[0][0] == got[2][0] {
		t.Error("another seed gives the same")
	}
}

func TestEndOfContextEndsTraining(t *testing.T) {
	ctx, stop := context.WithCancel(context.Background())
	stop()
	if _, err := Learn(ctx, turning(2, 4, 0.1), small(), 1); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

// A member of some of the trajectories has the scalers of all: noise and evidence of its
// flow are comparable with others'.
func TestSomeTrajectoriesKeepTheScale(t *testing.T) {
	d := turning(6, 8, 0.05)
	for _, c := range []struct{ most, want int }{{0, 6}, {47, 5}, {48, 6}, {17, 2}, {1, 1}} {
		some := d.subsample(rand.New(rand.NewPCG(1, 1)), c.most)
		if len(some.Trajectories) != c.want {
			t.Errorf("at most %d observations: %d trajectories of 8, want %d", c.most, len(some.Trajectories), c.want)
		}
		if a, b := scale(some), scale(d); !slices.Equal(a.Lift.Std, b.Lift.Std) || !slices.Equal(a.Lift.Mean, b.Lift.Mean) || a.TimeStd != b.TimeStd {
			t.Errorf("at most %d observations: another scale", c.most)
		}
	}
}

// A product of matrices expresses no more than one of them, and is refined to the same
// field.
func TestAProductOfMatricesIsRefinedAsOne(t *testing.T) {
	d := turning(1, 100, 0.1)
	r := small()
	r.DynAct, r.Support = mlp.Linear, 0
	var noise []float64
	for _, hidden := range [][]int{nil, {6, 6}, {6, 6, 6}} {
		r.Dynamics = hidden
		f, err := Train(context.Background(), d, r.Settings, 1)
		if err != nil {
			t.Fatal(err)
		}
		flow := f.newFlow(d, netAlone)
		if !flow.Shoot(context.Background(), d, 12) {
			t.Fatalf("%v: cannot be integrated", hidden)
		}
		if noise == nil {
			noise = flow.Sigma
		}
		if !(flow.Free >= 4) || !(flow.Free <= 7) {
			t.Errorf("%v: %v effective parameters, want those of one matrix and a constant", hidden, flow.Free)
		}
		for k, s := range flow.Sigma {
			if !(math.Abs(s-noise[k]) <= 0.02*noise[k]) {
				t.Errorf("%v: noise %v, of one matrix %v", hidden, flow.Sigma, noise)
			}
		}
	}
}

// Whether the last step was kept or undone, the residuals that the noise is updated by are
// those of the parameters.
func TestResidualsAreThoseOfTheParameters(t *testing.T) {
	d := turning(5, 20, 0.05)
	f, err := Train(context.Background(), d, small().Settings, 1)
	if err != nil {
		t.Fatal(err)
	}
	for seed := range uint64(20) {
		fl := f.newFlow(d, sparse)
		rng := rand.New(rand.NewPCG(3, seed))
		for i := range fl.Theta {
			fl.Theta[i] += 0.3 * rng.NormFloat64()
		}
		n := newNewton(fl, d)
		n.mu = 1e-3 // steps too long, some of which are undone
		if !n.iterate(context.Background(), 1+int(seed%4)) {
			continue
		}
		e := slices.Clone(n.e)
		if _, ok := n.residuals(false); !ok || !slices.Equal(e, n.e) {
			t.Fatalf("start %d: residuals of other parameters", seed)
		}
	}
}
