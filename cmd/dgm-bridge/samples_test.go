package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dgm-robotics/dgm/bridge/importer"
	"github.com/dgm-robotics/dgm/cmd/internal/cli"
)

// Recordings of real robots by the presets: counted, and imported whole.
func TestRealLogs(t *testing.T) {
	samples := filepath.Join("..", "..", "..", "shared", "data", "parser-samples")
	for _, c := range []struct {
		format, preset, file string
		topics, messages     int
		want                 []string
	}{
		{"ulog", "px4-quadrotor", "ulg/esc_status_log.ulg", 34, 8200, []string{
			"vehicle quadrotor, 306 rows in 1 segment, 38.3144 s", "rows have the timestamps of vehicle_local_position, 7.96 Hz", "slow: x, y, z, vx, vy, vz at 7.96 Hz (vehicle_local_position); m1, m2, m3, m4 at 9.184 Hz (actuator_outputs#1); a horizon of 1 s has 8 messages", `the lines "vehicle_local_position 20", "actuator_outputs 20" in etc/logging/logger_topics.txt`, "9 rows on the ground or disarmed left out"}},
		{"ardupilot", "ardupilot-sub", "ardupilot/small.BIN", 43, 7510, []string{
			"vehicle sub, 87 rows in 1 segment, 8.60021 s", "p, q, r: from IMU, 25 Hz, interpolated", "150 rows on the ground or disarmed left out"}},
		{"mavlink", "ardupilot-sub", "ardupilot/small.tlog", 51, 35912, []string{
			"vehicle sub, 48 rows in 1 segment, 15.656 s", "clock 1/1 is 1683219851.591 s behind", "kinematics only of roll, pitch, yaw by p, q, r: the data contradict it: y moves", "CAMERA_INFORMATION: wrong checksum, 159 bytes skipped"}},
	} {
		t.Run(c.file, func(t *testing.T) {
			path := filepath.Join(samples, c.file)
			if _, err := os.Stat(path); err != nil {
				t.Skip("the shared recording is not here: ", c.file)
			}
			code, out, errs := run("topics", path, "--json")
			var rep topicsReport
			if err := json.Unmarshal([]byte(out), &rep); err != nil || code != cli.Done {
				t.Fatal(code, errs, err)
			}
			messages := 0
			for _, topic := range rep.Topics {
				messages += topic.Count
			}
			if len(rep.Topics) != c.topics || messages != c.messages {
				t.Errorf("%d topics, %d messages, want %d, %d", len(rep.Topics), messages, c.topics, c.messages)
			}
			code, out, errs = run("topics", path, "--suggest")
			if _, err := importer.ParseMap("suggestion", []byte(out)); err != nil || code != cli.Done || !strings.Contains(out, "The preset "+c.preset+" fits this log") {
				t.Errorf("exit %d, %s, %v", code, errs, err)
			}
			dir := t.TempDir()
			suggested, flight := filepath.Join(dir, "map.toml"), filepath.Join(dir, "f.msgpack")
			if err := os.WriteFile(suggested, []byte(out), 0o666); err != nil {
				t.Fatal(err)
			}
			code, out, errs = run("import", c.format, "--preset", c.preset, path, "--out", flight)
			if code != cli.Done || errs != "" {
				t.Fatal(code, errs)
			}
			if _, again, errs := run("import", c.format, "--map", suggested, path, "--out", flight); again != out {
				t.Errorf("by the suggested map:\n%s%s\nby the preset:\n%s", again, errs, out)
			}
			for _, want := range c.want {
				if !strings.Contains(out, want) {
					t.Errorf("no %q in\n%s", want, out)
				}
			}
		})
	}
}
