package paper

import (
	"bytes"
	"context"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dgm-robotics/dgm/cmd/internal/cli"
	"github.com/dgm-robotics/dgm/estimator/numeric/mlp"
	"github.com/dgm-robotics/dgm/trainer/paper"
)

func TestPredictStudy(t *testing.T) {
	if testing.Short() {
		t.Skip("trains")
	}
	dir := t.TempDir()
	out := done(t, dir, "predict.svg", "predict", "--sets", "lv1", "--seeds", "1", "--steps", "250", "--duration", "1ms")
	var r predicted
	document(t, dir, "predict-lv1-200.json", &r)
	if !(r.Fast > 0 && r.Fast < r.MonteCarlo) || r.Samples[len(r.Samples)-1]+r.Lost != 1000 || len(r.LogLik) != len(r.Samples) {
		t.Errorf("%+v", r)
	}
	// Few steps: LV 1 is at 2 after many.
	if r.Smoother.LogLik < 0.5 || r.Rollouts.LogLik < -3 {
		t.Errorf("log likelihood %v, of rollouts %v", r.Smoother.LogLik, r.Rollouts.LogLik)
	}
	if !strings.Contains(out, "LV 1") || !strings.Contains(out, "14980") {
		t.Error(out)
	}
	if b, err := os.ReadFile(filepath.Join(dir, "rollouts-lv1-200.svg")); err != nil || !bytes.Contains(b, []byte("<svg")) {
		t.Errorf("no rollouts: %v", err)
	}
}

// The moments of many draws from a Gaussian score as that Gaussian does.
func TestMomentsOfSamples(t *testing.T) {
	truth := []float64{5, 5, 1, -1}
	var all [][]float64
	for i := range 1000 {
		z := math.Sqrt2 * math.Erfinv(2*(float64(i*7919%1000)+0.5)/1000-1)
		all = append(all, []float64{5, 5, 1 + 0.1*z, -1 + 0.3 + 0.1*z})
	}
	n, ll, last, err := bySamples(all, truth, 2)
	if err != nil {
		t.Fatal(err)
	}
	// −½ log 2π + log 10, and for the second state another 9/2 less.
	want := -0.919 + math.Log(10) - 9./4
	if len(n) != len(counts) || math.Abs(ll[len(ll)-1]-want) > 0.05 || last.Coverage95 != 0.5 {
		t.Errorf("%v, want %v at the end; %+v", ll, want, last)
	}
	if _, _, _, err := bySamples([][]float64{truth, truth}, truth, 2); err == nil {
		t.Error("samples that are all alike are scored")
	}
}

func TestParametricStudy(t *testing.T) {
	if testing.Short() {
		t.Skip("trains")
	}
	dir := t.TempDir()
	done(t, dir, "parametric.svg", "parametric", "--sets", "lv1", "--seeds", "1", "--members", "1", "--variants", "known")
	var r parametric
	document(t, dir, "parametric-lv1-known-200.json", &r)
	if math.Abs(r.Bound-2.99) > 0.02 {
		t.Errorf("Cramér-Rao %v, it is 2.99", r.Bound)
	}
	// One seed scatters by 0.3 about the bound; the closed form loses some tenths.
	if r.Refined == nil || math.Abs(r.Refined.LogLik-r.Bound) > 1 || r.LogLik < 2.2 {
		t.Errorf("log likelihood %v, refined %+v", r.LogLik, r.Refined)
	}
	for i, e := range r.Error {
		if math.Abs(e) > 4*r.Spread[i] || r.Spread[i] > 0.05 || math.Abs(r.Start[i]) > guessed {
			t.Errorf("%s: error %v, spread %v, guess %v", r.Names[i], e, r.Spread[i], r.Start[i])
		}
	}
}

func TestScalingStudy(t *testing.T) {
	if testing.Short() {
		t.Skip("trains")
	}
	dir := t.TempDir()
	out := done(t, dir, "scaling.svg", "scaling", "--steps", "5", "--most", "3200", "--recipe", "0", "--exact", "80", "--exact-timed", "80")
	var small, large, exact scaled
	document(t, dir, "scaling-lv-features-10-0.json", &small)
	document(t, dir, "scaling-lv-features-25-0.json", &large)
	document(t, dir, "scaling-lv-exact-4-0.json", &exact)
	if small.N != 500 || large.N != 3125 || large.Features != 50 || large.Scores == nil || exact.Scores == nil || exact.Features != 0 {
		t.Errorf("%+v %+v %+v", small, large, exact)
	}
	// Memory is what can be counted: 6.25 times the rows.
	if ratio := large.MiB / small.MiB; ratio < 4.5 || ratio > 7.5 {
		t.Errorf("memory grows by %v for 6.25 times the observations", ratio)
	}
	if !strings.Contains(out, "3125") {
		t.Error(out)
	}
	a, b := throughAll([]float64{1, 2, 5}, []float64{5, 7, 13})
	if math.Abs(a-3) > 1e-9 || math.Abs(b-2) > 1e-9 || math.Abs(power([]float64{1, 10, 100}, []float64{2, 200, 20000})-2) > 1e-9 {
		t.Errorf("%v + %v x", a, b)
	}
}

func TestTimeStudy(t *testing.T) {
	dir := t.TempDir()
	done(t, dir, "time.svg", "time", "--sets", "lv1", "--steps", "40")
	var r timed
	document(t, dir, "time-lv1-0.json", &r)
	if sum := r.Free + r.Rise + r.Whole; !(r.Free > 0 && r.Rise > 0 && r.Whole > 0) || sum > r.Seconds || r.Steps != 40 || r.Rows != 100 {
		t.Errorf("%+v", r)
	}
}

func TestLambdaStudy(t *testing.T) {
	if testing.Short() {
		t.Skip("trains")
	}
	dir := t.TempDir()
	done(t, dir, "lambda-lv1.svg", "lambda", "--sets", "lv1", "--powers=-6,0", "--seeds", "2", "--steps", "150")
	var low, usual fitted
	document(t, dir, "lambda-lv1-minus6-1.json", &low)
	document(t, dir, "lambda-lv1-plus0-1.json", &usual)
	if low.LogLik == usual.LogLik || !(usual.Error > 0.01 && usual.Error < 5) {
		t.Errorf("%+v %+v", low, usual)
	}
	for _, p := range []int{-20, 0, 6} {
		if q, err := powerOf(powerName(p)); err != nil || q != p {
			t.Errorf("power %d comes back as %d, %v", p, q, err)
		}
	}
}

func TestLearningStudy(t *testing.T) {
	if testing.Short() {
		t.Skip("trains")
	}
	dir, k := t.TempDir(), key{Study: "learning", Set: "lv", Variant: "3", Seed: unseen, Settings: "--members 1", Version: version}
	_, q, err := gridOfLV(3).learn(context.Background(), k, func(r *paper.Recipe) {
		r.Members, r.Final.Steps, r.Final.Starts, r.Final.SpreadStarts = 1, 1000, 5000, 500
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := k.write(dir, &learned{result: *q}); err != nil {
		t.Fatal(err)
	}
	done(t, dir, "learning.svg", "learning", "--grids", "3", "--members", "1", "--seeds", "1")
	var r learned
	document(t, dir, "learning-lv-3-200.json", &r)
	// 9 trajectories of 5 observations: between 1 and 2 is usual, NDP has 0.62.
	if r.Failed != "" || r.LogLik < 0 || len(r.Members) != 1 {
		t.Errorf("%+v", r)
	}
}

func TestAblationStudy(t *testing.T) {
	if testing.Short() {
		t.Skip("trains")
	}
	dir := t.TempDir()
	done(t, dir, "ablation-lv100.svg", "ablation", "--sets", "lv100", "--seeds", "1", "--steps", "10")
	var joint, separate ablated
	document(t, dir, "ablation-lv100-joint-with-0.json", &joint)
	document(t, dir, "ablation-lv100-separate-without-0.json", &separate)
	if joint.Unseen == nil || separate.Unseen != nil || len(joint.Mean) != ablatedPoints || joint.Error == separate.Error {
		t.Errorf("%+v %+v", joint, separate)
	}
}

func TestBaselinesStudy(t *testing.T) {
	if testing.Short() {
		t.Skip("trains")
	}
	dir := t.TempDir()
	out := done(t, dir, "baselines.svg", "baselines", "--sets", "dp1", "--seeds", "1", "--chains", "2", "--steps", "60", "--keep", "30", "--pretraining", "3000")
	for _, method := range []string{"sgld", "sghmc"} {
		var r sampled
		document(t, dir, "baselines-dp1-"+method+"-0.json", &r)
		// Draws of a prior around the truth, hardly moved yet.
		if r.Scores == nil || r.Scores.LogLik < -5 || r.Weights != 604 || r.Samples[len(r.Samples)-1] != 60 || !(r.Loss < 1e-2) {
			t.Errorf("%s: %+v %+v", method, r, r.Scores)
		}
	}
	if !strings.Contains(out, "NDP") || !strings.Contains(out, "SGHMC") {
		t.Error(out)
	}
}

func TestOverparamStudy(t *testing.T) {
	if testing.Short() {
		t.Skip("trains")
	}
	dir := t.TempDir()
	done(t, dir, "overparam.svg", "overparam", "--shapes", "3-4-3", "--methods", "sgld,sghmc", "--seeds", "1", "--chains", "2", "--steps", "60", "--keep", "30")
	var r sampled
	document(t, dir, "overparam-linear-sghmc-3-4-3-0.json", &r)
	if r.Weights != 24 || r.Scores == nil || !(r.Loss < 1e-6) {
		t.Errorf("%+v", r)
	}
	// The prior lets the product vary by 0.01: tried on the net itself.
	net := mlp.New([]int{3, 2, 3}, make([]mlp.Activation, 2))
	for i := range net.Layers[0].W {
		net.Layers[0].W[i], net.Layers[1].W[i] = float64(i), 1-float64(i)
	}
	base := productNorm(net.Layers)
	sum := 0.0
	for _, l := range net.Layers {
		for i := range l.W {
			const h = 1e-4
			l.W[i] += h
			up := productNorm(net.Layers)
			l.W[i] -= 2 * h
			down := productNorm(net.Layers)
			l.W[i] += h
			sum += (up + down - 2*base) / (2 * h * h) // ‖∂B/∂w‖²
		}
	}
	if got := productSpread(&net); math.Abs(got-math.Sqrt(sum/9)) > 1e-3*got {
		t.Errorf("spread %v, by differences %v", got, math.Sqrt(sum/9))
	}
}

func TestWrongUsageOfStudies(t *testing.T) {
	for _, args := range [][]string{
		{"predict", "--steps", "0"}, {"predict", "--duration", "0s"}, {"parametric", "--members", "0"}, {"parametric", "--sets", "qu64"},
		{"scaling", "--most", "1"}, {"time", "--steps", "0"}, {"lambda", "--powers=99"}, {"learning", "--grids", "1"},
		{"ablation", "--steps", "0"}, {"baselines", "--keep", "0"}, {"baselines", "--steps", "10", "--keep", "20"},
		{"overparam", "--shapes", "3-4"}, {"overparam", "--shapes", "3-x-3"}, {"overparam", "--methods", "nuts"}, {"trajectories", "--sets", "lv2"}, {"parametric", "--variants", "x"},
	} {
		if code, _, _ := run(append(args, "--out", t.TempDir())...); code != cli.Wrong {
			t.Errorf("%v: code %d", args, code)
		}
	}
}

// Pictures of trajectories belong to the results of the tables: where both are there
// nothing is run.
func TestTrajectoriesStudy(t *testing.T) {
	if testing.Short() {
		t.Skip("trains")
	}
	dir := t.TempDir()
	for _, name := range []string{"lv100", "dp1"} {
		s, k := named(name), key{Set: name, Seed: unseen, Version: version}
		d, _, err := s.both(0)
		if err != nil {
			t.Fatal(err)
		}
		f, err := paper.Train(context.Background(), d, quick(), 1)
		if err != nil {
			t.Fatal(err)
		}
		if err := drawTrajectories(dir, k, ofFit(f)); err != nil {
			t.Fatal(err)
		}
		r := &result{key: k, scores: scores{2, 0.5, 0.9, 0.95}, RMSE: s.plant.Noise, Recipe: "short"}
		if err := k.write(dir, r); err != nil {
			t.Fatal(err)
		}
	}
	code, out, errs := run("trajectories", "--sets", "lv100,dp1", "--out", dir)
	if code != cli.Done || !strings.Contains(errs, "2 of 2") || !strings.Contains(out, "LV 100") {
		t.Errorf("code %d: %s%s", code, out, errs)
	}
	page := filepath.Join(dir, "page.html")
	if code, _, errs := run("report", "--results", dir, "--out", page); code != cli.Done {
		t.Fatalf("code %d: %s", code, errs)
	}
	b, err := os.ReadFile(page)
	if err != nil || bytes.Count(b, []byte("<svg")) < 4 || !bytes.Contains(b, []byte("unseen")) {
		t.Errorf("%v: %d pictures", err, bytes.Count(b, []byte("<svg")))
	}
}

// quick are settings of a second.
func quick() paper.Settings {
	s := paper.DefaultSettings()
	s.Steps, s.F, s.Support = 20, 20, 5
	return s
}
