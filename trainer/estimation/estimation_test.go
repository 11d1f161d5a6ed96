package estimation_test

import (
	"encoding/csv"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/trainer/estimation"
	"github.com/dgm-robotics/dgm/trainer/window"
)

var angle = []channel.Channel{{Name: "theta", Unit: "rad", Role: channel.State, Period: 2 * math.Pi}}

// swings are flights of an angle that swings, measured with noise at intervals, s, wrapped, and its rates.
func swings(flights int, duration, interval, noise float64) (out []window.Flight, rates [][]float64) {
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range flights {
		var s window.Series
		var rate []float64
		phase := rng.Float64() * 6
		for t := 0.; t < duration; t += interval {
			w := 3 + 0.5*float64(i)
			s.T = append(s.T, int64(math.Round(t*1e9)))
			s.X = append(s.X, math.Remainder(2.5*math.Sin(w*t+phase)+noise*rng.NormFloat64(), 2*math.Pi))
			rate = append(rate, 2.5*w*math.Cos(w*t+phase))
		}
		out, rates = append(out, window.Prepare(i, s, angle, 0, window.Options{})...), append(rates, rate)
	}
	return out, rates
}

func apply(t *testing.T, flights []window.Flight) (*model.Filter, []window.Flight, estimation.Score) {
	t.Helper()
	all := estimation.WithRates(angle, []int{0})
	spec, err := estimation.Fit(flights, all, estimation.Pairs(all, false))
	if err != nil {
		t.Fatal(err)
	}
	out, score, err := estimation.Apply(flights, spec, all)
	if err != nil {
		t.Fatal(err)
	}
	return spec, out, score
}

// The noise of the sensor is found, the innovations are what the filter says, and the rate is near the true one.
func TestNoiseIsFound(t *testing.T) {
	for _, c := range []struct{ interval, noise, worst float64 }{{0.005, 0.01, 0.35}, {0.02, 0.01, 0.5}, {0.01, 0.05, 1.5}, {0.01, 0, 0.02}} {
		flights, rates := swings(3, 15, c.interval, c.noise)
		spec, out, score := apply(t, flights)
		if c.noise > 0 && math.Abs(math.Sqrt(spec.R[0])/c.noise-1) > 0.1 || c.noise == 0 && spec.R[0] > 1e-8 {
			t.Errorf("every %v s a noise of %v is found as %v", c.interval, c.noise, math.Sqrt(spec.R[0]))
		}
		if c.noise > 0 && math.Abs(score.NIS-1) > 0.1 {
			t.Errorf("every %v s with noise %v: normalised innovations squared are %v", c.interval, c.noise, score.NIS)
		}
		sum, n := 0., 0
		for i := range out {
			for j := range out[i].N() {
				if e := out[i].X[2*j+1] - rates[i][j]; out[i].T[j] > 1 {
					sum, n = sum+e*e, n+1
				}
			}
		}
		if rms := math.Sqrt(sum / float64(n)); !(rms < c.worst) {
			t.Errorf("every %v s with noise %v: the rate is off by %v", c.interval, c.noise, rms)
		}
	}
}

// Where a motor's torque steps, a rate changes its slope at once, which accelerations that wander take for noise of its sensor; with the equation of motion the
// noise of each sensor is what it is.
func TestNoiseOfEachSensorIsFound(t *testing.T) {
	noise := []float64{0.005, 0.02}
	states := []channel.Channel{{Name: "theta", Unit: "rad", Role: channel.State, Period: 2 * math.Pi}, {Name: "omega", Unit: "rad/s", Role: channel.State}}
	rng := rand.New(rand.NewPCG(5, 6))
	var flights []window.Flight
	for i := range 4 {
		var s window.Series
		th, om, u := 0.5*float64(i), 0., 0.
		for j := range 500 {
			if rng.Float64() < 0.1 {
				u = 6 * (rng.Float64() - 0.5)
			}
			s.T, s.U = append(s.T, int64(j)*20e6), append(s.U, u)
			s.X = append(s.X, math.Remainder(th+noise[0]*rng.NormFloat64(), 2*math.Pi), om+noise[1]*rng.NormFloat64())
			for range 20 {
				om += 1e-3 * (8*u - 20*math.Sin(th) - 0.5*om)
				th += 1e-3 * om
			}
		}
		flights = append(flights, window.Prepare(i, s, states, 1, window.Options{})...)
	}
	plain, err := estimation.Fit(flights, states, []estimation.Pair{{Position: 0, Rate: 1}})
	if err != nil {
		t.Fatal(err)
	}
	spec, err := estimation.Learn(flights, plain, window.Task{States: states, Inputs: 1, Horizon: 0.5})
	if err != nil {
		t.Fatal(err)
	}
	if was := math.Sqrt(plain.R[1]); was < 1.3*noise[1] {
		t.Errorf("without an equation the noise of the rate is found as %v: this motion shows nothing", was)
	}
	for k, want := range noise {
		if got := math.Sqrt(spec.R[k]); math.Abs(got/want-1) > 0.1 {
			t.Errorf("a noise of %v of %s is found as %v", want, states[k].Name, got)
		}
	}
}

// An equation of motion makes the rate of a pendulum better, that of noisy angles and that of an exact encoder: there it moves
// from sample to sample in a whole step.
func TestEquationHelps(t *testing.T) {
	for _, c := range []struct{ noise, most float64 }{{0.01, 0.35}, {0, 0.7}} {
		rng := rand.New(rand.NewPCG(3, 4))
		var flights []window.Flight
		var rates [][]float64
		for i := range 2 {
			var s window.Series
			var rate []float64
			th, om := 1.2+0.8*float64(i), 0.
			for j := range 1000 {
				y := th + c.noise*rng.NormFloat64()
				s.T, s.X, rate = append(s.T, int64(j)*5e6), append(s.X, math.Round(y*1e4)/1e4), append(rate, om)
				for range 10 {
					om -= 5e-4 * (20*math.Sin(th) + 0.1*om)
					th += 5e-4 * om
				}
			}
			flights, rates = append(flights, window.Prepare(i, s, angle, 0, window.Options{})...), append(rates, rate)
		}
		plain, before, _ := apply(t, flights)
		all := estimation.WithRates(angle, []int{0})
		spec, err := estimation.Learn(flights, plain, window.Task{States: all, Horizon: 0.5})
		if err != nil {
			t.Fatal(err)
		}
		after, score, err := estimation.Apply(flights, spec, all)
		if err != nil {
			t.Fatal(err)
		}
		rms := func(of []window.Flight) (sum float64) {
			for i := range of {
				for j := 200; j < of[i].N(); j++ {
					e := of[i].X[2*j+1] - rates[i][j]
					sum += e * e
				}
			}
			return math.Sqrt(sum)
		}
		if ratio := rms(after) / rms(before); spec.Equation.Degree == 0 || !(ratio < c.most) || c.noise == 0 && math.Abs(spec.Equation.Step-0.005) > 1e-9 || math.Abs(score.NIS-1) > 0.2 {
			t.Errorf("noise %v: an equation of degree %d, step %v s, leaves %.2f of the error of the rate; NIS %.2f", c.noise, spec.Equation.Degree, spec.Equation.Step, ratio, score.NIS)
		}
	}
}

// What a fold leaves out is estimated by an equation that was not fitted to it, from the beginning of its flight on, and compared
// with what was measured.
func TestOwnFilters(t *testing.T) {
	flights, _ := swings(3, 10, 0.01, 0.01)
	all := estimation.WithRates(angle, []int{0})
	task := window.Task{States: all, Horizon: 0.5}
	plain, _, _ := apply(t, flights)
	spec, err := estimation.Learn(flights, plain, task)
	if err != nil {
		t.Fatal(err)
	}
	if spec.Equation.Degree == 0 {
		t.Fatal("there is no equation")
	}
	out, _, err := estimation.Apply(flights, spec, all)
	if err != nil {
		t.Fatal(err)
	}
	held := out[2].Following(500, 800)
	own, err := estimation.Own([]window.Flight{held}, out[:2], spec, task)
	if err != nil {
		t.Fatal(err)
	}
	f, differs := &own[0], 0
	for i := range f.N() {
		if f.Y[2*i] != held.Y[2*i] || f.Y[2*i+1] != f.X[2*i+1] || !f.Known(i) {
			t.Fatalf("sample %d: compared with %v, measured %v, estimated %v", i, f.Y[2*i:2*i+2], held.Y[2*i], f.X[2*i:2*i+2])
		}
		if f.X[2*i+1] != held.X[2*i+1] {
			differs++
		}
		if d := math.Abs(f.X[2*i+1] - held.X[2*i+1]); d > 1 {
			t.Fatalf("sample %d: the rate is estimated as %v, and by all flights as %v", i, f.X[2*i+1], held.X[2*i+1])
		}
	}
	if past, at := f.Past(0); f.N() != 300 || differs < 290 || at != 500 || past.N() != out[2].N() {
		t.Errorf("%d samples, %d of them other than by all flights; their past begins at %d of %d", f.N(), differs, at, past.N())
	}
	if again, err := estimation.Own([]window.Flight{held}, out[:2], nil, task); err != nil || &again[0].X[0] != &held.X[0] {
		t.Errorf("without a filter: %v", err)
	}
}

// One measurement in twenty that is off by ten standard deviations is found as an outlier, and not taken for the noise.
func TestOutliersAreNoNoise(t *testing.T) {
	flights, _ := swings(3, 15, 0.01, 0.01)
	outliers := 0
	for i := range flights {
		for j := 5; j < flights[i].N(); j += 20 {
			flights[i].X[j] += 0.1
			outliers++
		}
	}
	spec, _, score := apply(t, flights)
	if math.Abs(math.Sqrt(spec.R[0])/0.01-1) > 0.1 || math.Abs(score.NIS-1) > 0.15 || score.Rejected < outliers*9/10 || score.Rejected > outliers*11/10 {
		t.Errorf("a noise of 0.01 is found as %v; %+v, of %d outliers", math.Sqrt(spec.R[0]), score, outliers)
	}
}

// Predictions start from the estimate and are compared with the measurement; before the filter has settled nothing starts.
func TestStartsAndComparisons(t *testing.T) {
	flights, _ := swings(2, 3, 0.01, 0.01)
	_, out, _ := apply(t, flights)
	for i := range out {
		f, of := &out[i], &flights[i]
		if f.K != 2 || f.Known(3) || !f.Known(20) {
			t.Fatalf("%d states, known at samples 3 and 20: %v and %v", f.K, f.Known(3), f.Known(20))
		}
		d := make([]float64, 2)
		f.SampleDisplacement(d, 50, 60)
		if want := of.X[60] - f.X[2*50]; d[0] != want || d[1] != f.X[2*60+1]-f.X[2*50+1] || f.X[2*50] == of.X[50] {
			t.Errorf("displacement %v, expected %v from an estimate", d, want)
		}
	}
}

// Only angles and lengths without a rate get one.
func TestPositions(t *testing.T) {
	states := []channel.Channel{
		{Name: "x", Unit: "m", Role: channel.State, Derivative: "vx"}, {Name: "vx", Unit: "m/s", Role: channel.State}, {Name: "y", Unit: "m", Role: channel.State},
		{Name: "heading", Unit: "deg", Role: channel.State}, {Name: "temperature", Unit: "°C", Role: channel.State}, {Name: "roll", Unit: "rad", Role: channel.State}, {Name: "y_rate", Unit: "V", Role: channel.State},
	}
	kinematics := channel.Kinematics{Relation: channel.Quadrotor, Attitude: []string{"roll"}}
	at := estimation.Positions(nil, states, &kinematics)
	if !slices.Equal(at, []int{2, 3}) {
		t.Fatalf("positions %v", at)
	}
	all := estimation.WithRates(states, at)
	if err := channel.Check(all); err != nil {
		t.Error(err)
	}
	if got := strings.Join(channel.Names(all[len(states):]), " "); got != "y_rate_ heading_rate" || all[2].Derivative != "y_rate_" || all[7].Unit != "m/s" || !all[8].Estimated || all[6].Estimated {
		t.Errorf("added %q, %+v", got, all)
	}
	if len(channel.Measured(all)) != len(states) {
		t.Errorf("measured %v", channel.Names(channel.Measured(all)))
	}
}

// The table has a row for each sample: the estimates of Apply with what they may be off by, nothing before the filter has
// settled, whatever the flights are compared with later.
func TestWriteCSV(t *testing.T) {
	flights, rates := swings(2, 3, 0.01, 0.01)
	spec, out, _ := apply(t, flights)
	var b strings.Builder
	if err := estimation.WriteCSV(&b, out, spec, estimation.WithRates(angle, []int{0})); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(strings.NewReader(b.String())).ReadAll()
	if err != nil || len(rows) != 1+out[0].N()+out[1].N() || strings.Join(rows[0], " ") != "segment t theta theta_std theta_rate theta_rate_std" {
		t.Fatalf("%d rows, %v, %v", len(rows), rows[0], err)
	}
	inside := 0
	for i, row := range rows[1:] {
		n, j := i/out[0].N(), i%out[0].N()
		f := &out[n]
		if j < 5 && row[2]+row[5] != "" {
			t.Fatalf("row %d: %v before the filter has settled", i, row)
		}
		if j < 20 {
			continue
		}
		var v [4]float64
		for k := range v {
			if v[k], err = strconv.ParseFloat(row[2+k], 64); err != nil {
				t.Fatal(err)
			}
		}
		if math.Abs(v[2]-f.X[2*j+1]) > 1e-6 || math.Abs(math.Remainder(v[0]-f.X[2*j], 2*math.Pi)) > 1e-6 {
			t.Fatalf("row %d: %v, expected %v", i, v, f.X[2*j:2*j+2])
		}
		if math.Abs(v[2]-rates[n][j]) < 1.96*v[3] {
			inside++
		}
	}
	if inside < 450 {
		t.Errorf("%d of 560 rates are within their 95 %% intervals", inside)
	}
}

func TestTooFewValues(t *testing.T) {
	flights, _ := swings(1, 0.05, 0.01, 0.01)
	if _, err := estimation.Fit(flights, estimation.WithRates(angle, []int{0}), []estimation.Pair{{Position: 0, Rate: 1}}); err == nil || !strings.Contains(err.Error(), "theta has no rate, and 5 values") {
		t.Error(err)
	}
}

// wandering returns flights of a position whose acceleration wanders, measured with noise, as the filter estimates them, and their true
// states.
func wandering(t *testing.T) (out []window.Flight, truth [][]float64, spec *model.Filter, all []channel.Channel) {
	rng := rand.New(rand.NewPCG(9, 10))
	states := []channel.Channel{{Name: "x", Unit: "m", Role: channel.State}}
	var flights []window.Flight
	for i := range 6 {
		var s window.Series
		var exact []float64
		x, v, a := 0., 0., 0.
		for j := range 3000 {
			s.T, s.X = append(s.T, int64(j)*10_000_000), append(s.X, x+0.02*rng.NormFloat64())
			exact = append(exact, x, v)
			for range 10 {
				a += math.Sqrt(20*0.001)*rng.NormFloat64() - 0.001*(a+2*v+x) // it stays near 0
				v += 0.001 * a
				x += 0.001 * v
			}
		}
		flights, truth = append(flights, window.Prepare(i, s, states, 0, window.Options{})...), append(truth, exact)
	}
	all = estimation.WithRates(states, []int{0})
	spec, err := estimation.Fit(flights, all, estimation.Pairs(all, false))
	if err != nil {
		t.Fatal(err)
	}
	out, _, err = estimation.Apply(flights, spec, all)
	if err != nil {
		t.Fatal(err)
	}
	return out, truth, spec, all
}

// The errors of causal estimates about targets have the mean square of those about the true states, of the rate too, which nothing
// measures; about measurements they have that of the sensor besides.
func TestTargetsAreAsFarAsTheTruth(t *testing.T) {
	out, truth, spec, all := wandering(t)
	out, err := estimation.Targets(out, spec, all)
	if err != nil {
		t.Fatal(err)
	}
	for k := range 2 {
		aimed, real, measured := 0., 0., 0.
		for i := range out {
			f := &out[i]
			for j := 2*100 + k; j < len(f.X); j += 2 {
				a, b, c := f.Target[j]-f.X[j], truth[i][j]-f.X[j], f.Y[j]-f.X[j]
				aimed, real, measured = aimed+a*a, real+b*b, measured+c*c
			}
		}
		t.Logf("state %d: mean square %.3f of the true one; about measurements %.3f", k, aimed/real, measured/real)
		if ratio := aimed / real; math.Abs(ratio-1) > 0.1 {
			t.Errorf("state %d: the mean square is %.3f of the true one", k, ratio)
		}
		if k == 0 && measured < 2*aimed {
			t.Errorf("measurements are no farther than targets: %.3f", measured/aimed)
		}
	}
}

// The errors of estimates are what the covariance says, position and rate together; exact values that are not known do not count.
func TestNEES(t *testing.T) {
	out, truth, spec, all := wandering(t)
	for _, known := range []bool{true, false} {
		exact := slices.Clone(out)
		for i := range exact {
			exact[i].Exact = slices.Clone(truth[i])
			for j := 1; j < len(truth[i]) && !known; j += 2 {
				exact[i].Exact[j] = math.NaN()
			}
		}
		sum, n, err := estimation.NEES(exact, spec, all)
		if err != nil || n < 17000 || math.Abs(sum/float64(n)-1) > 0.15 {
			t.Errorf("rates known: %v: normalised errors squared %.3f of %d samples: %v", known, sum/float64(n), n, err)
		}
	}
}

// A state with one value throughout shows no noise, whatever is missing of it.
func TestConstantStates(t *testing.T) {
	nan := math.NaN()
	flights := []window.Flight{{K: 3, X: []float64{1, 2, nan, 1, 2, nan}, T: []float64{0, 1}}, {K: 3, X: []float64{1, nan, nan, 1, 3, nan}, T: []float64{0, 1}}}
	for k, want := range []bool{true, false, true} {
		if got := estimation.Constant(flights, k); got != want {
			t.Errorf("state %d: %v", k, got)
		}
	}
}
