package baseline

import (
	"encoding/csv"
	"math"
	"os"
	"strconv"
	"testing"

	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/linear"
	"github.com/dgm-robotics/dgm/trainer/score"
	"github.com/dgm-robotics/dgm/trainer/window"
)

// table reads a CSV file of numbers (other cells become NaN) by column.
func table(t *testing.T, path string) map[string][]float64 {
	t.Helper()
	file, err := os.Open("../../../shared/data/" + path)
	if err != nil {
		t.Skipf("real telemetry %s is not here", path)
	}
	defer file.Close()
	rows, err := csv.NewReader(file).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	out := make(map[string][]float64)
	for j, name := range rows[0] {
		for _, r := range rows[1:] {
			v, err := strconv.ParseFloat(r[j], 64)
			if err != nil {
				v = math.NaN()
			}
			out[name] = append(out[name], v)
		}
	}
	return out
}

// series cuts rows [from, to) of columns into a series.
func series(cols map[string][]float64, time string, x, u []string, from, to int) window.Series {
	var s window.Series
	for i := from; i < to; i++ {
		s.T = append(s.T, int64(math.Round(cols[time][i]*1e9)))
		for _, n := range x {
			s.X = append(s.X, cols[n][i])
		}
		for _, n := range u {
			s.U = append(s.U, cols[n][i])
		}
	}
	return s
}

type realSet struct {
	states      []channel.Channel
	inputs      int
	train, test []window.Flight
	H, stride   float64
}

func pendulum(t *testing.T, path string, angles int, test []int, H float64) *realSet {
	c := table(t, "multiarm-pendulum/derived/"+path)
	set := &realSet{H: H, stride: 0.02}
	var names []string
	for i := range angles {
		n := strconv.Itoa(i + 1)
		names = append(names, "theta"+n)
		set.states = append(set.states, channel.Channel{Name: "theta" + n, Role: channel.State, Period: channel.Angle, Derivative: "omega" + n})
	}
	for i := range angles {
		n := strconv.Itoa(i + 1)
		names = append(names, "omega"+n)
		set.states = append(set.states, channel.Channel{Name: "omega" + n, Role: channel.State})
	}
	begin := 0
	for i := 1; i <= len(c["t"]); i++ {
		if i < len(c["t"]) && c["segment"][i] == c["segment"][begin] && math.IsNaN(c["split"][i]) && c["t"][i] > c["t"][i-1] {
			continue
		}
		f := window.Prepare(int(c["segment"][begin]), series(c, "t", names, nil, begin, i), set.states, 0, window.Options{})
		isTest := false
		for _, s := range test {
			isTest = isTest || float64(s) == c["segment"][begin]
		}
		if isTest && len(set.test) < len(test) { // id comes before vad
			set.test = append(set.test, f...)
		} else {
			set.train = append(set.train, f...)
		}
		begin = i
	}
	return set
}

func dfki(t *testing.T) *realSet {
	c := table(t, "dfki-simple-pendulum/energy_shaping.csv")
	set := &realSet{H: 0.5, stride: 0.02, inputs: 1, states: []channel.Channel{
		{Name: "position", Role: channel.State, Period: channel.Angle, Derivative: "velocity"},
		{Name: "velocity", Role: channel.State}}}
	cuts := []float64{0, 2.5, 4.5, 12.3, 14.3, 1e9}
	begin := 0
	for j := 1; j < len(cuts); j++ {
		end := begin
		for end < len(c["time"]) && c["time"][end] < cuts[j] {
			end++
		}
		f := window.Prepare(j, series(c, "time", []string{"position", "velocity"}, []string{"torque"}, begin, end), set.states, 1, window.Options{})
		if j%2 == 0 {
			set.test = append(set.test, f...)
		} else {
			set.train = append(set.train, f...)
		}
		begin = end
	}
	return set
}

func nano(t *testing.T) *realSet {
	set := &realSet{H: 0.5, stride: 0.05, inputs: 4}
	var names []string
	for _, a := range []string{"x", "y", "z"} {
		names = append(names, "est_stateEstimate_"+a)
		set.states = append(set.states, channel.Channel{Name: a, Role: channel.State, Invariant: true, Derivative: "v" + a})
	}
	for _, a := range []string{"x", "y", "z"} {
		names = append(names, "est_stateEstimate_v"+a)
		set.states = append(set.states, channel.Channel{Name: "v" + a, Role: channel.State})
	}
	for _, a := range []string{"roll", "pitch", "yaw"} {
		names = append(names, "att_stateEstimate_"+a)
		c := channel.Channel{Name: a, Role: channel.State}
		if a == "yaw" { // it turns; the others tilt a little
			c.Period = channel.Angle
		}
		set.states = append(set.states, c)
	}
	for _, a := range []string{"x", "y", "z"} {
		names = append(names, "imu_gyro_"+a)
		set.states = append(set.states, channel.Channel{Name: "w" + a, Role: channel.State})
	}
	for i, flight := range []string{"B2_circle_fast_rep3", "B3_figure8_fast_rep2", "B5_helix_fast_rep3", "B7_oval_medium_rep3"} {
		c := table(t, "nanobench/dev/"+flight+".csv")
		t0 := c["t"][0]
		from, to := 0, 0
		for j := range c["t"] {
			c["t"][j] -= t0
			for _, a := range []string{"roll", "pitch", "yaw"} {
				c["att_stateEstimate_"+a][j] *= math.Pi / 180
			}
			for m := 1; m <= 4; m++ {
				c["motor_motor_m"+strconv.Itoa(m)][j] *= c["pwr_pm_vbat"][j] / 4 / 65535
			}
			if c["t"][j] < 5 {
				from = j + 1
			}
			if c["t"][j] <= 35.5 {
				to = j + 1
			}
		}
		f := window.Prepare(i, series(c, "t", names, []string{"motor_motor_m1", "motor_motor_m2", "motor_motor_m3", "motor_motor_m4"}, from, to), set.states, 4, window.Options{})
		if i == 0 {
			set.test = append(set.test, f...)
		} else {
			set.train = append(set.train, f...)
		}
	}
	return set
}

// geo is the geometric mean over channels and horizons of the errors of pred
// over those of holding the last value, on the test flights. pred writes
// displacements at the times.
func geo(set *realSet, pred func(dst []float64, f *window.Flight, start int)) float64 {
	K, times := len(set.states), set.times()
	got, truth := make([]float64, len(times)*K), make([]float64, K)
	model, hold := make([]float64, len(got)), make([]float64, len(got))
	for i := range set.test {
		f := &set.test[i]
		for _, s := range f.Starts(nil, set.H, set.stride) {
			pred(got, f, s)
			for j, h := range times {
				f.Displacement(truth, s, h)
				for k, d := range truth {
					model[j*K+k] += (got[j*K+k] - d) * (got[j*K+k] - d)
					hold[j*K+k] += d * d
				}
			}
		}
	}
	for i := range model {
		model[i], hold[i] = math.Sqrt(model[i]), math.Sqrt(hold[i])
	}
	return score.GeoRatio(model, hold)
}

// times are the horizons that the figures below are of.
func (set *realSet) times() []float64 {
	var out []float64
	for _, h := range []float64{0.05, 0.1, 0.2, 0.5, 1} {
		if h <= set.H {
			out = append(out, h)
		}
	}
	return out
}

// TestFiguresOfRealTelemetry holds the baselines to what an independent
// implementation got from the same splits: if these drift, models are
// compared with something else than is said.
func TestFiguresOfRealTelemetry(t *testing.T) {
	for _, c := range []struct {
		name      string
		set       func(t *testing.T) *realSet
		velocity  float64
		one, five float64 // linear, by samples a step
	}{
		{"single pendulum", func(t *testing.T) *realSet { return pendulum(t, "single_200hz.csv", 1, []int{1}, 1) }, 0.98, 0.096, 0.095},
		{"double pendulum", func(t *testing.T) *realSet { return pendulum(t, "double_200hz.csv", 2, []int{3, 8, 13, 18}, 0.5) }, 0.88, 0.240, 0.233},
		{"driven pendulum", dfki, 0.53, 1.7, 1.07},
		{"quadrotor", nano, 0.66, 0.360, 0.317},
	} {
		t.Run(c.name, func(t *testing.T) {
			set := c.set(t)
			K := len(set.states)
			check(t, "velocity", c.velocity, geo(set, func(dst []float64, f *window.Flight, s int) {
				for i := range dst {
					dst[i] = 0
					if v := channel.Index(set.states, set.states[i%K].Derivative); v >= 0 {
						dst[i] = f.State(s)[v] * set.times()[i/K]
					}
				}
			}))
			dt := window.Interval(set.train)
			for i, want := range []float64{c.one, c.five} {
				m, ok := fitStep(set.train, window.Task{States: set.states, Inputs: set.inputs}, float64(steps[i])*dt)
				if !ok {
					t.Fatal("no fit")
				}
				r, err := linear.New(m, set.states, set.inputs, set.times())
				if err != nil {
					t.Fatal(err)
				}
				check(t, "linear", want, geo(set, func(dst []float64, f *window.Flight, s int) {
					if !r.Predict(dst, f.State(s), &window.Input{Flight: f, Start: s}) {
						t.Fatal("not finite")
					}
				}))
			}
			if _, err := Linear(set.train, window.Task{States: set.states, Inputs: set.inputs, Horizon: set.H}); err != nil {
				t.Error(err)
			}
		})
	}
}

func check(t *testing.T, what string, want, got float64) {
	t.Helper()
	t.Logf("%s: geo %.4f", what, got)
	if math.Abs(got/want-1) > 0.015 {
		t.Errorf("%s: geo %.4f, want %.3f", what, got, want)
	}
}
