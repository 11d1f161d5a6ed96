package mcap_test

import (
	"path/filepath"
	"testing"

	"github.com/dgm-robotics/dgm/bridge/internal/reference"
	"github.com/dgm-robotics/dgm/bridge/mcap"
	"github.com/dgm-robotics/dgm/bridge/telemetry"
)

// Every topic, field and value of the sample, which has every kind of number and
// array, is the same as mcap-ros2-support's, bit for bit in float64.
func TestSameAsROS2(t *testing.T) {
	for _, path := range reference.Samples(t, "flight.mcap", "mcap/*.mcap") {
		t.Run(filepath.Base(path), func(t *testing.T) {
			sameAsROS2(t, path)
		})
	}
}

func sameAsROS2(t *testing.T, path string) {
	var want struct{ Topics []reference.Topic }
	raw := reference.Ask(t, "mcap_ros2", "mcap_ros2_columns.py", path, &want)
	s, messages, values := reference.Compare(t, func(w telemetry.Wants) (telemetry.Source, error) { return mcap.Open(path, w) }, nil, want.Topics, raw)
	if s.Problems().Count() != 0 {
		t.Error(s.Problems().All())
	}
	t.Logf("%d topics, %d messages, %d values equal", len(want.Topics), messages, values)
}
