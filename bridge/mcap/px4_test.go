package mcap_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dgm-robotics/dgm/bridge/importer"
	"github.com/dgm-robotics/dgm/bridge/mcap"
	"github.com/dgm-robotics/dgm/bridge/telemetry"
	"github.com/dgm-robotics/dgm/estimator/channel"
)

// velocityFrame is where PX4's odometry says in which axes its velocity is.
const velocityFrame = 52

// Velocities of PX4 in axes of the body are left out by the preset for those of the world, and used by the one for the body, which is
// suggested for such a recording.
func TestPX4VelocityOfTheBody(t *testing.T) {
	for frame, want := range map[byte]string{1: "px4-ros2", 3: "px4-ros2-body"} {
		all := px4(100*second, 1, func(int) byte { return 0 })
		for i := range all {
			if data := all[i].data; all[i].channel == px4Odometry {
				all[i].data = func(stamp int64) []byte {
					b := data(stamp)
					b[velocityFrame] = frame
					return b
				}
			}
		}
		file := written(t, all)
		for _, preset := range []string{"px4-ros2", "px4-ros2-body"} {
			log, s, err := try(t, preset, nil, file)
			if err != nil {
				t.Fatal(err)
			}
			k := channel.Index(log.Channels, "vx")
			if left := strings.Contains(strings.Join(s.Texts(), "\n"), "vx, vy, vz left out, never valid in the rows that are kept: velocity_frame of /drone1/fmu/out/vehicle_odometry_v1 is not "); left != (preset != want) || (k < 0) != left {
				t.Errorf("frame %d, %s: channel %d\n%s", frame, preset, k, strings.Join(s.Texts(), "\n"))
			}
			if axes := map[byte]string{1: "ned", 3: "frd"}[frame]; k >= 0 && log.Channels[k].Frame != axes {
				t.Errorf("frame %d: %s", frame, log.Channels[k].Frame)
			}
		}
		path := filepath.Join(t.TempDir(), "a.mcap")
		if err := os.WriteFile(path, file, 0o666); err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if err := importer.Suggest(context.Background(), &b, path, telemetry.Opens(mcap.Open), nil); err != nil || !strings.HasPrefix(b.String(), "# The preset "+want+" fits this log. It is:\n") {
			t.Errorf("frame %d: %v\n%s", frame, err, b.String())
		}
	}
}
