package ardupilot_test

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dgm-robotics/dgm/bridge/ardupilot"
	"github.com/dgm-robotics/dgm/bridge/internal/reference"
	"github.com/dgm-robotics/dgm/bridge/telemetry"
)

// Every topic, field, unit, value and text of the sample is the same
// as pymavlink's, bit for bit in float64.
func TestSameAsPymavlink(t *testing.T) {
	for _, path := range reference.Samples(t, "flight.BIN", "ardupilot/*.BIN") {
		t.Run(filepath.Base(path), func(t *testing.T) {
			var want struct {
				Topics []reference.Topic
				Texts  []string
			}
			raw := reference.Ask(t, "pymavlink", "pymavlink_columns.py", path, &want)
			var texts []string
			s, messages, values := reference.Compare(t, func(w telemetry.Wants) (telemetry.Source, error) { return ardupilot.Open(path, w) },
				func(_ int64, text string) { texts = append(texts, text) }, want.Topics, raw)
			if d := cmp.Diff(want.Texts, texts); d != "" {
				t.Error(d)
			}
			t.Logf("%d topics, %d messages, %d values equal; problems %v", len(want.Topics), messages, values, s.Problems().All())
		})
	}
}
