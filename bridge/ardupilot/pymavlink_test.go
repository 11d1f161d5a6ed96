package ardupilot_test

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dgm-robotics/dgm/bridge/ardupilot"
	"github.com/dgm-robotics/dgm/bridge/internal/reference"
	"github.com/dgm-robotics/dgm/bridge/telemetry"
)

// Every topic, field, unit, value, parameter and text of the sample is the same
// as pymavlink's, bit for bit in float64.
func TestSameAsPymavlink(t *testing.T) {
	for _, path := range reference.Samples(t, "flight.BIN", "ardupilot/*.BIN") {
		t.Run(filepath.Base(path), func(t *testing.T) {
			var want struct {
				Topics     []reference.Topic
				Parameters [][]any
				Texts      []string
			}
			raw := reference.Ask(t, "pymavlink", "pymavlink_columns.py", path, &want)
			var texts []string
			s, messages, values := reference.Compare(t, func(w telemetry.Wants) (telemetry.Source, error) { return ardupilot.Open(path, w) },
				func(_ int64, text string) { texts = append(texts, text) }, want.Topics, raw)
			if d := cmp.Diff(want.Texts, texts); d != "" {
				t.Error(d)
			}
			r := s.(*ardupilot.Reader)
			if p := r.Parameters(); len(p) != len(want.Parameters) {
				t.Errorf("%d parameters, pymavlink reads %d", len(p), len(want.Parameters))
			} else {
				for i, q := range want.Parameters {
					if p[i].Name != q[0] || p[i].Value != q[1] {
						t.Errorf("parameter %d: %v, pymavlink reads %v", i, p[i], q)
					}
				}
			}
			t.Logf("%d topics, %d messages, %d values, %d parameters equal; problems %v", len(want.Topics), messages, values, len(want.Parameters), r.Problems().All())
		})
	}
}
