package datacheck

import (
	"encoding/csv"
	"math"
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"testing"

	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/flightlog"
)

// TestMain collects garbage less often: the checks of short logs leave little but that.
func TestMain(m *testing.M) {
	debug.SetGCPercent(400)
	os.Exit(m.Run())
}

const shared = "../../../shared/data/"

// readCSV reads a table from the shared data, by column name.
func readCSV(t testing.TB, path string) (n int, col func(name string) []float64) {
	t.Helper()
	f, err := os.Open(filepath.Join(shared, path))
	if err != nil {
		t.Skipf("real telemetry is not on this machine: %s", path)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	head := rows[0]
	rows = rows[1:]
	return len(rows), func(name string) []float64 {
		for j, h := range head {
			if h != name {
				continue
			}
			out := make([]float64, len(rows))
			for i, r := range rows {
				v, err := strconv.ParseFloat(r[j], 64)
				if err != nil {
					v = math.NaN()
				}
				out[i] = v
			}
			return out
		}
		t.Fatalf("%s: no column %s", path, name)
		return nil
	}
}

// build makes a log from columns; seg numbers the segments (nil = one).
func build(channels []channel.Channel, t []float64, seg []float64, cols [][]float64) *flightlog.Log {
	log := &flightlog.Log{Header: flightlog.Header{Vehicle: "test", Channels: channels}}
	for i := range t {
		if i == 0 || seg != nil && seg[i] != seg[i-1] {
			name := "0"
			if seg != nil {
				name = strconv.Itoa(int(seg[i]))
			}
			log.Segments = append(log.Segments, flightlog.Segment{Name: name})
		}
		s := &log.Segments[len(log.Segments)-1]
		s.T = append(s.T, int64(math.Round(t[i]*1e9)))
		for c, ch := range channels {
			switch ch.Role {
			case channel.State:
				s.X = append(s.X, cols[c][i])
			case channel.Input:
				s.U = append(s.U, cols[c][i])
			default:
				s.Aux = append(s.Aux, cols[c][i])
			}
		}
	}
	return log
}

func pendulum(t testing.TB, arms int) *flightlog.Log {
	if arms == 1 {
		_, col := readCSV(t, "multiarm-pendulum/derived/single_200hz.csv")
		return build([]channel.Channel{
			{Name: "theta1", Unit: "rad", Role: channel.State, Derivative: "omega1", Period: channel.Angle},
			{Name: "omega1", Unit: "rad/s", Role: channel.State},
		}, col("t"), col("segment"), [][]float64{col("theta1"), col("omega1")})
	}
	_, col := readCSV(t, "multiarm-pendulum/derived/double_200hz.csv")
	return build([]channel.Channel{
		{Name: "theta1", Unit: "rad", Role: channel.State, Derivative: "omega1", Period: channel.Angle},
		{Name: "theta2", Unit: "rad", Role: channel.State, Derivative: "omega2", Period: channel.Angle},
		{Name: "omega1", Unit: "rad/s", Role: channel.State},
		{Name: "omega2", Unit: "rad/s", Role: channel.State},
	}, col("t"), col("segment"), [][]float64{col("theta1"), col("theta2"), col("omega1"), col("omega2")})
}

func torque(t testing.TB, name string, to float64) *flightlog.Log {
	_, col := readCSV(t, "dfki-simple-pendulum/"+name+".csv")
	n := 0
	for _, v := range col("time") {
		if v < to {
			n++
		}
	}
	return build([]channel.Channel{
		{Name: "position", Unit: "rad", Role: channel.State, Derivative: "velocity", Period: channel.Angle},
		{Name: "velocity", Unit: "rad/s", Role: channel.State},
		{Name: "torque", Unit: "Nm", Role: channel.Input},
	}, col("time")[:n], nil, [][]float64{col("position")[:n], col("velocity")[:n], col("torque")[:n]})
}

// flight is a Crazyflie flight, from a to b seconds.
func flight(t testing.TB, name string, a, b float64) *flightlog.Log {
	_, col := readCSV(t, "nanobench/dev/"+name+".csv")
	time := col("t")
	first, last := 0, len(time)
	for i, v := range time {
		if v-time[0] < a {
			first = i + 1
		}
		if v-time[0] <= b {
			last = i + 1
		}
	}
	var channels []channel.Channel
	var cols [][]float64
	add := func(c channel.Channel, column string) {
		channels = append(channels, c)
		cols = append(cols, col(column)[first:last])
	}
	for _, a := range []string{"x", "y", "z"} {
		add(channel.Channel{Name: a, Unit: "m", Role: channel.State, Derivative: "v" + a, Invariant: true}, "est_stateEstimate_"+a)
	}
	for _, a := range []string{"roll", "pitch", "yaw"} {
		add(channel.Channel{Name: a, Unit: "deg", Role: channel.State, Period: 360}, "att_stateEstimate_"+a)
	}
	for _, a := range []string{"x", "y", "z"} {
		add(channel.Channel{Name: "v" + a, Unit: "m/s", Role: channel.State}, "est_stateEstimate_v"+a)
	}
	for _, a := range []string{"x", "y", "z"} {
		add(channel.Channel{Name: "gyro_" + a, Unit: "rad/s", Role: channel.State}, "imu_gyro_"+a)
	}
	for _, m := range []string{"m1", "m2", "m3", "m4"} {
		add(channel.Channel{Name: m, Role: channel.Input}, "motor_motor_"+m)
	}
	add(channel.Channel{Name: "az", Unit: "g", Role: channel.Aux}, "imu_acc_z")
	add(channel.Channel{Name: "vbat", Unit: "V", Role: channel.Aux}, "pwr_pm_vbat")
	return build(channels, time[first:last], nil, cols)
}

var flights = []string{"B2_circle_fast_rep3", "B3_figure8_fast_rep2", "B5_helix_fast_rep3", "B7_oval_medium_rep3"}
