package crazyflie_test

import (
	"testing"

	"github.com/dgm-robotics/dgm/bridge/crazyflie"
	"github.com/dgm-robotics/dgm/bridge/internal/reference"
	"github.com/dgm-robotics/dgm/bridge/telemetry"
)

// Every event, variable and value of the committed recording is the same as what
// Python's struct reads, bit for bit in float64.
func TestSameAsStruct(t *testing.T) {
	path := reference.Committed("flight.log")
	var want struct{ Topics []reference.Topic }
	raw := reference.Ask(t, "struct", "struct_columns.py", path, &want)
	s, messages, values := reference.Compare(t, func(w telemetry.Wants) (telemetry.Source, error) { return crazyflie.Open(path, w) }, nil, want.Topics, raw)
	if s.Problems().Count() != 0 {
		t.Error(s.Problems().All())
	}
	t.Logf("%d topics, %d messages, %d values equal", len(want.Topics), messages, values)
}
