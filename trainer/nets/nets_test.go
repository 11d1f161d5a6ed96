package nets_test

import (
	"context"
	"math"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/dgm-robotics/dgm/estimator"
	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/trainer/nets"
	"github.com/dgm-robotics/dgm/trainer/rows"
	"github.com/dgm-robotics/dgm/trainer/window"
)

const horizon = 1.0

var noiseKnots = []float64{0, 0.03, 0.1, 0.3, 1}

// frame cuts windows from the flights and measures them.
func frame(t testing.TB, channels []channel.Channel, flights []window.Flight, stride float64, set rows.Settings) nets.Data {
	t.Helper()
	windows := window.Cut(flights, horizon, stride)
	set.Horizon, set.NoiseKnots = horizon, noiseKnots
	f, err := rows.NewFrame(channels, flights, windows, set)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for i := range flights {
		n += flights[i].N()
	}
	return nets.Data{Frame: f, Flights: flights, Windows: windows, Samples: n}
}

// driven is a pendulum under a torque that changes at random, sampled at 50 Hz
// with noise: theta, omega, torque.
func driven(t testing.TB, seed uint64, flights int) nets.Data {
	t.Helper()
	channels := []channel.Channel{
		{Name: "theta", Unit: "rad", Role: channel.State, Period: channel.Angle, Derivative: "omega"},
		{Name: "omega", Unit: "rad/s", Role: channel.State},
		{Name: "torque", Unit: "N m", Role: channel.Input},
	}
	rng := rand.New(rand.NewPCG(seed, 0))
	var all []window.Flight
	for i := range flights {
		s := window.Series{Name: "made"}
		theta, omega, u := rng.NormFloat64(), rng.NormFloat64(), 0.0
		for j := range 400 {
			if j%15 == 0 {
				u = 2 * rng.NormFloat64()
			}
			s.T = append(s.T, int64(j)*20e6)
			s.X = append(s.X, theta+0.005*rng.NormFloat64(), omega+0.02*rng.NormFloat64())
			s.U = append(s.U, u)
			for range 10 { // semi-implicit Euler at 500 Hz is truth enough
				omega += 0.002 * (-9*math.Sin(theta) - 0.2*omega + u)
				theta += 0.002 * omega
			}
		}
		all = append(all, window.Prepare(i, s, channels[:2], 1, window.Options{})...)
	}
	return frame(t, channels, all, 0.1, rows.Settings{Knots: 3, Basis: 2, Prior: estimator.PriorDynamicsSpec{Stack: []model.Component{{Kind: model.Velocity}}}})
}

func quick() nets.Settings {
	s := nets.DefaultSettings()
	s.Core, s.Dynamics, s.F, s.Steps, s.Batch, s.Posterior.Rows = []int{12, 12}, []int{10}, 30, 25, 40, 2000
	return s
}

// seeded is how the posterior of a net is conditioned by default, with a seed.
func seeded(net *nets.Net, seed uint64) nets.Conditioning {
	c := net.Settings.Posterior
	c.Seed = seed
	return c
}

// member trains and conditions both readouts.
func member(t testing.TB, d nets.Data, set nets.Settings, seed uint64) ([]float64, []model.Posterior) {
	t.Helper()
	net, err := nets.TrainMember(context.Background(), d, set, seed, nil)
	if err != nil {
		t.Fatal(err)
	}
	var posts []model.Posterior
	for r := range model.Readouts {
		p, err := nets.Condition(net, d, model.Readout(r), seeded(net, seed), nil)
		if err != nil {
			t.Fatal(err)
		}
		posts = append(posts, p)
	}
	return net.Params.Flat, posts
}

// The same seed gives the same bits, whatever the number of processors.
func TestFitIsReproducible(t *testing.T) {
	d := driven(t, 1, 3)
	exact := quick()
	exact.Exact, exact.F, exact.Batch, exact.Points, exact.Steps, exact.Posterior.Passes = true, 0, 12, 5, 6, 0
	for name, set := range map[string]nets.Settings{"features": quick(), "exact": exact} {
		flat, posts := member(t, d, set, 7)
		was := runtime.GOMAXPROCS(1)
		one, postsOne := member(t, d, set, 7)
		runtime.GOMAXPROCS(was)
		if !slices.Equal(flat, one) || !reflect.DeepEqual(posts, postsOne) {
			t.Errorf("%s: one processor gives other numbers than %d", name, was)
		}
	}
	flat, _ := member(t, d, quick(), 7)
	other, _ := member(t, d, quick(), 8)
	if slices.Equal(flat, other) {
		t.Error("the seed changes nothing")
	}
}

// Rows that are too many to keep are made again by every pass, and are the same.
func TestRowsThatAreNotKept(t *testing.T) {
	d := driven(t, 3, 4)
	net, err := nets.TrainMember(context.Background(), d, quick(), 1, func(int) {})
	if err != nil {
		t.Fatal(err)
	}
	kept, err := nets.Condition(net, d, model.Plan, seeded(net, 1), nil)
	if err != nil {
		t.Fatal(err)
	}
	again, err := nets.ConditionUnkept(net, d, model.Plan, seeded(net, 1))
	if err != nil {
		t.Fatal(err)
	}
	if difference := cmp.Diff(kept, again); difference != "" {
		t.Errorf("posteriors differ: %s", difference)
	}
}

func TestTrainingStopsWithItsContext(t *testing.T) {
	d := driven(t, 2, 2)
	ctx, cancel := context.WithCancel(context.Background())
	last := 0
	net, err := nets.TrainMember(ctx, d, quick(), 1, func(step int) {
		if last = step; step == 5 {
			cancel()
		}
	})
	if err != nil || !net.Stopped || last != 5 || len(net.Curve) != 5 {
		t.Fatalf("stopped %v after step %d, %v", net.Stopped, last, err)
	}
	if _, err := nets.Condition(net, d, model.Plan, seeded(net, 1), nil); err != nil {
		t.Errorf("what was trained so far cannot be used: %v", err)
	}
	whole, err := nets.TrainMember(context.Background(), d, quick(), 1, nil)
	if err != nil || whole.Stopped || len(whole.Curve) != quick().Steps {
		t.Errorf("stopped %v, %v", whole.Stopped, err)
	}
	// Half a training is the first half of a whole one.
	if diff := cmp.Diff(whole.Curve[0], net.Curve[0]); diff != "" {
		t.Error(diff)
	}
}

func TestTrainingImproves(t *testing.T) {
	d := driven(t, 3, 3)
	set := quick()
	set.Steps = 60
	net, err := nets.TrainMember(context.Background(), d, set, 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	first, last := 0.0, 0.0
	for i := range 5 {
		first += net.Curve[i].Data
		last += net.Curve[len(net.Curve)-1-i].Data
	}
	if !(last < first-1) {
		t.Errorf("negative log likelihood of five batches: %v at first, %v at last", first, last)
	}
}

// noise makes flights of one window each that stand still but for a noise whose
// log σ is linear in √τ, from knot to knot as given.
func noise(t testing.TB, logSigma []float64, set rows.Settings) nets.Data {
	t.Helper()
	channels := []channel.Channel{{Name: "a", Role: channel.State}, {Name: "b", Role: channel.State}}
	rng := rand.New(rand.NewPCG(4, 4))
	at := func(tau float64) float64 {
		j := 0
		for j < len(noiseKnots)-2 && tau > noiseKnots[j+1] {
			j++
		}
		a, b := math.Sqrt(noiseKnots[j]), math.Sqrt(noiseKnots[j+1])
		w := (math.Sqrt(tau) - a) / (b - a)
		return (1-w)*logSigma[j] + w*logSigma[j+1]
	}
	var all []window.Flight
	for i := range 1500 {
		s := window.Series{T: []int64{0}, X: []float64{0, 0}}
		for j := range 200 {
			tau := float64(j+1) / 200
			sigma := math.Exp(at(tau))
			s.T = append(s.T, int64(j+1)*5e6)
			s.X = append(s.X, sigma*rng.NormFloat64(), 3*sigma*rng.NormFloat64())
		}
		all = append(all, window.Prepare(i, s, channels, 0, window.Options{})...)
	}
	set.Basis = 1
	return frame(t, channels, all, 0, set)
}

// conditioned trains one net and conditions it.
func conditioned(t *testing.T, d nets.Data, set nets.Settings) model.Posterior {
	t.Helper()
	net, err := nets.TrainMember(context.Background(), d, set, 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	post, err := nets.Condition(net, d, model.Plan, seeded(net, 1), nil)
	if err != nil {
		t.Fatal(err)
	}
	return post
}

// Known noise is found again at every knot, whatever the start.
func TestNoiseIsRecovered(t *testing.T) {
	want := []float64{-2, -1.2, -0.7, -0.3, 0.2}
	d := noise(t, want, rows.Settings{})
	if len(d.Windows) != 1500 {
		t.Fatalf("%d windows", len(d.Windows))
	}
	set := quick()
	set.Steps, set.Posterior.Rows, set.Posterior.Passes = 1, 18000, 6
	for _, start := range []float64{-3, 0} {
		set.NoiseStart = []float64{start, start, start, start, start}
		post := conditioned(t, d, set)
		for k := range 2 {
			for q, w := range want {
				got := post.LogSigma[k*len(want)+q] + math.Log(d.Frame.Scale[k]) - math.Log([]float64{1, 3}[k])
				// 18000 rows, the fewest of them near the first two knots.
				if math.Abs(got-w) > []float64{0.25, 0.1, 0.05, 0.03, 0.03}[q] {
					t.Errorf("from %v: log σ of channel %d at knot %d is %.3f, expected %.3f", start, k, q, got, w)
				}
			}
		}
	}
}

// Where samples are so far apart that none is near the first knots, these have the
// noise of the first sample, whatever they began with: it is not far from all that is
// known, and the sensor's is read from it.
func TestKnotsWithoutSamplesTakeTheirNeighbours(t *testing.T) {
	d := noise(t, []float64{0, 0, 0, 0, 0}, rows.Settings{})
	for i := range d.Flights {
		fl := &d.Flights[i]
		thin := window.Series{T: []int64{0}, X: append([]float64(nil), fl.State(0)...)}
		for j := 20; j < fl.N(); j += 20 { // a tenth of the horizon
			thin.T = append(thin.T, int64(math.Round(1e9*fl.T[j])))
			thin.X = append(thin.X, fl.State(j)...)
		}
		d.Flights[i] = window.Prepare(i, thin, d.Frame.States, 0, window.Options{MaxGap: time.Second})[0]
	}
	set := quick()
	set.Steps, set.Posterior.Rows, set.Posterior.Passes = 1, 18000, 4
	for _, start := range []float64{-3, 1} {
		set.NoiseStart = []float64{start, start, 0, 0, 0}
		post := conditioned(t, d, set)
		for k := range 2 {
			got := post.LogSigma[k*5 : (k+1)*5]
			if got[0] != got[2] || got[1] != got[2] {
				t.Errorf("from %v: log σ of channel %d is %v: nothing is known of the first two knots but the third", start, k, got)
			}
			if want := math.Log([]float64{1, 3}[k] / d.Frame.Scale[k]); math.Abs(got[0]-want) > 0.1 {
				t.Errorf("from %v: log σ of channel %d is %.3f, expected %.3f", start, k, got[0], want)
			}
		}
	}
}

// One noise over the horizon is the root of the mean square of what grows: after
// training, where its gradient moves it, and after conditioning it is the same at
// every knot.
func TestConstantNoiseIsTheMeanOfAll(t *testing.T) {
	growing := []float64{-2, -1.2, -0.7, -0.3, 0.2}
	d := noise(t, growing, rows.Settings{ConstantNoise: true})
	set := quick()
	set.Steps, set.Posterior.Rows, set.Posterior.Passes = 20, 18000, 6
	net, err := nets.TrainMember(context.Background(), d, set, 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	post, err := nets.Condition(net, d, model.Plan, seeded(net, 1), nil)
	if err != nil {
		t.Fatal(err)
	}
	// Of the points of a window one is its last; the others are spread evenly.
	mean, weights := 0.0, make([]float64, len(noiseKnots))
	at := func(tau float64) float64 {
		model.KnotWeights(weights, noiseKnots, tau)
		ls := 0.0
		for q, w := range weights {
			ls += w * growing[q]
		}
		return math.Exp(2 * ls)
	}
	const steps = 200
	for j := range steps {
		mean += at(float64(j+1)/steps) / steps
	}
	points := float64(set.Posterior.Points)
	want := 0.5 * math.Log(((points-1)*mean+at(1))/points)
	Q := len(noiseKnots)
	start := (set.NoiseStart[0] + set.NoiseStart[1] + set.NoiseStart[2] + set.NoiseStart[3] + set.NoiseStart[4]) / 5
	for k := range 2 {
		trained := net.Params.LogSigma[k*Q : (k+1)*Q]
		got := post.LogSigma[k*Q : (k+1)*Q]
		for q := range Q {
			if trained[q] != trained[0] || got[q] != got[0] {
				t.Fatalf("channel %d: log σ of the knots is %v after training, %v after conditioning", k, trained, got)
			}
		}
		if math.Abs(trained[0]-start) < 0.01 {
			t.Errorf("channel %d: training leaves log σ at %v", k, trained[0])
		}
		if ls := got[0] + math.Log(d.Frame.Scale[k]) - math.Log([]float64{1, 3}[k]); math.Abs(ls-want) > 0.02 {
			t.Errorf("channel %d: log σ %.3f, expected %.3f", k, ls, want)
		}
	}
}

// With the exact kernel a state that was not measured explains nothing.
func TestUnmeasuredRowsAreNotConditionedOn(t *testing.T) {
	d := driven(t, 5, 2)
	for i := range d.Flights {
		fl := &d.Flights[i]
		for j := range fl.N() {
			if j%5 != 0 { // windows start at every fifth sample
				fl.X[2*j+1] = math.NaN()
			}
		}
	}
	set := quick()
	set.Exact, set.F, set.Batch, set.Points, set.Steps = true, 0, 12, 5, 4
	net, err := nets.TrainMember(context.Background(), d, set, 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	post, err := nets.Condition(net, d, model.Plan, seeded(net, 1), nil)
	if err != nil {
		t.Fatal(err)
	}
	empty := [2]int{}
	for k, inverse := range post.InverseFactor {
		for i := range post.Exact.N {
			row := inverse[i*(i+1)/2 : (i+1)*(i+2)/2]
			clear := !slices.ContainsFunc(row, func(v float64) bool { return v != 0 })
			if clear != (post.Weights[k][i] == 0) {
				t.Fatalf("channel %d, row %d: weight %v, and its row of L⁻¹ is clear: %v", k, i, post.Weights[k][i], clear)
			}
			if clear {
				empty[k]++
			}
		}
	}
	if empty[0] != 0 || empty[1] < post.Exact.N/2 {
		t.Errorf("%v of %d rows count as not measured", empty, post.Exact.N)
	}
}
