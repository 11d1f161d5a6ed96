package main

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dgm-robotics/dgm/cmd/internal/cli"
	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/flightlog"
)

// cases are recordings of others, rebuilt with known values; a folder each.
var cases = filepath.Join("..", "..", "..", "shared", "cases")

// value is what a channel must be in a row of all segments, to within a tolerance.
type value struct {
	channel string
	row     int
	want    float64
}

// rebuilt is one of the cases and what must come of it.
type rebuilt struct {
	folder, format, preset string // no preset: the map in the folder, or the suggested one
	file                   string
	code                   int
	rows, segments         int
	says                   string // part of the report or the error
	values                 []value
}

var rebuiltCases = []rebuilt{
	{"01-mcap-topic-after-topic", "mcap", "ros2-odometry", "a.mcap", 0, 400, 1, "sorted by their times", []value{{"cmd_vx", 100, 0.976243706}, {"cmd_r", 100, -0.045692952}}},
	{"02-clock-set-back-2s", "mcap", "ros2-odometry", "a.mcap", 0, 400, 2, "the clock was set", nil},
	{"03-joint-states-two-publishers", "mcap", "joint-states", "a.mcap", 0, 1000, 1, "", []value{{"elbow", 500, 0.111099038}}},
	{"04-joint-states-order-changes", "mcap", "joint-states", "a.mcap", 0, 1000, 1, "", []value{{"elbow", 750, 0.125693649}}},
	{"05-joint-states-first-without-velocity", "mcap", "joint-states", "a.mcap", 0, 1000, 1, "", []value{{"elbow_velocity", 24, math.NaN()}, {"elbow_effort", 24, math.NaN()}, {"elbow_velocity", 25, -0.339698080}}},
	{"07-tf-only", "mcap", "", "a.mcap", 0, 400, 1, "", []value{{"odom_base_link_transform_translation_x", 200, 1.190612408}}},
	{"08-simulation-slower-than-real-time", "mcap", "ros2-odometry", "a.mcap", 0, 400, 1, "runs at 0.8 of the recorder's rate", []value{{"cmd_vx", 200, 0.607356}}},
	{"09-simulation-from-zero", "mcap", "ros2-odometry", "a.mcap", 0, 400, 1, "rows have the timestamps of /odom, 20 Hz", nil},
	{"11-mcap-merged-two-channels", "mcap", "ros2-odometry", "a.mcap", 0, 400, 1, "", nil},
	{"13-mcap-messages-packed", "mcap", "ros2-odometry", "a.mcap", 0, 400, 1, "", nil},
	{"14-tlog-servo-time-wraps", "mavlink", "ardupilot-copter", "a.tlog", 0, 299, 1, "m1, m2, m3, m4: from SERVO_OUTPUT_RAW, 25 Hz", nil},
	{"15-tlog-autopilot-restarts", "mavlink", "ardupilot-copter", "a.tlog", 0, 598, 2, "restarted, 1 time", nil},
	{"16-dataflash-motors-on-other-outputs", "ardupilot", "ardupilot-copter", "a.BIN", 0, 160, 1, "", []value{{"m1", 100, 1384}}},
	{"18-dataflash-lane-switch", "ardupilot", "ardupilot-copter", "a.BIN", 0, 160, 2, "by the log the selected instance changed 1 time", []value{{"x", 159, 2.936791658}}},
	{"19-dataflash-late-fmtu", "ardupilot", "ardupilot-copter", "a.BIN", 0, 160, 1, "", []value{{"roll", 50, 0.013295775}, {"p", 50, 0.337130427}}},
	{"21-csv-sec-and-nanosec", "csv", "", "a.csv", 0, 500, 1, ", 9.98 s", nil},
	{"23-csv-own-export", "csv", "", "a.csv", 0, 500, 2, "", nil},
	{"24-csv-each-topic-in-rows-of-its-own", "csv", "", "a.csv", 0, 500, 1, "joined like topics", nil},
	{"26-csv-held-states", "csv", "", "a.csv", 0, 3000, 1, "each value stays for 3 rows", []value{{"theta", 0, 0.10025}, {"theta", 1, math.NaN()}}},
	{"29-bursts", "mcap", "ros2-odometry", "a.mcap", cli.Refused, 0, 0, "arrive in bursts, 10 within 0.0018 s, every 0.5 s", nil},
	{"31-csv-latin1", "csv", "", "a.csv", 0, 100, 1, "", []value{{"theta", 0, 0.1}}},
	{"35-mcap-log-time-zero", "mcap", "ros2-odometry", "a.mcap", cli.Refused, 0, 0, "messages of /cmd_vel have no time", nil},
	{"38-csv-numbers-as-names", "csv", "", "a.csv", 0, 500, 1, "", []value{{"column1", 0, 0.1}}},
}

// Recordings that were misread once are read as they were made, or refused with the reason.
func TestRebuiltCases(t *testing.T) {
	if _, err := os.Stat(cases); err != nil {
		t.Skip("the recordings are not here: ", cases)
	}
	for _, c := range rebuiltCases {
		t.Run(c.folder, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(cases, c.folder)
			out := filepath.Join(t.TempDir(), "flight.msgpack")
			args := []string{"import", c.format, "--out", out, filepath.Join(dir, c.file)}
			m := filepath.Join(dir, "map.toml")
			switch _, err := os.Stat(m); {
			case c.preset != "":
				args = append(args, "--preset", c.preset)
			case err == nil:
				args = append(args, "--map", m)
			default:
				_, text, errs := run("topics", filepath.Join(dir, c.file), "--suggest")
				m = filepath.Join(t.TempDir(), "map.toml")
				if err := os.WriteFile(m, []byte(text), 0o666); err != nil || errs != "" {
					t.Fatal(err, errs)
				}
				args = append(args, "--map", m)
			}
			code, report, errs := run(args...)
			if code != c.code || !strings.Contains(report+errs, c.says) {
				t.Fatalf("exit %d, want %d, and %q in\n%s%s", code, c.code, c.says, report, errs)
			}
			if code != cli.Done {
				return
			}
			log, err := flightlog.ReadFile(out)
			if err != nil {
				t.Fatal(err)
			}
			rows := 0
			for _, s := range log.Segments {
				rows += len(s.T)
			}
			if rows != c.rows || len(log.Segments) != c.segments {
				t.Errorf("%d rows in %d segments, want %d in %d\n%s", rows, len(log.Segments), c.rows, c.segments, report)
			}
			for _, v := range c.values {
				if got, err := cell(log, v.channel, v.row); err != nil || math.Abs(got-v.want) > 2e-6 || math.IsNaN(got) != math.IsNaN(v.want) {
					t.Errorf("%s in row %d is %v, want %v; %v", v.channel, v.row, got, v.want, err)
				}
			}
		})
	}
}

// cell returns the value of a channel in a row of all segments.
func cell(log *flightlog.Log, name string, row int) (float64, error) {
	for _, s := range log.Segments {
		if row >= len(s.T) {
			row -= len(s.T)
			continue
		}
		for role, values := range map[channel.Role][]float64{channel.State: s.X, channel.Input: s.U, channel.Aux: s.Aux} {
			of := channel.Select(log.Channels, role)
			if i := channel.Index(of, name); i >= 0 {
				return values[len(of)*row+i], nil
			}
		}
		return 0, fmt.Errorf("there is no channel %s of %v", name, channel.Names(log.Channels))
	}
	return 0, fmt.Errorf("there is no row %d", row)
}

// Outputs of two versions of PX4 have different units, so that their logs are not learned
// from together; PX4's messages in ROS 2 have a preset of their own.
func TestVersionsOfPX4(t *testing.T) {
	if _, err := os.Stat(cases); err != nil {
		t.Skip("the recordings are not here: ", cases)
	}
	units := map[string]string{}
	for _, name := range []string{"a", "b"} {
		out := filepath.Join(t.TempDir(), "flight.msgpack")
		if code, _, errs := run("import", "ulog", "--preset", "px4-quadrotor", filepath.Join(cases, "33-two-versions-of-px4", name+".ulg"), "--out", out); code != cli.Done {
			t.Fatal(errs)
		}
		log, err := flightlog.ReadFile(out)
		if err != nil {
			t.Fatal(err)
		}
		units[name] = log.Channels[channel.Index(log.Channels, "m1")].Unit
	}
	if units["a"] == units["b"] {
		t.Errorf("%v", units)
	}
	if _, text, _ := run("topics", filepath.Join(cases, "27-px4-msgs", "a.mcap"), "--suggest"); !strings.Contains(text, "The preset px4-ros2 fits this log") {
		t.Error(text)
	}
}
