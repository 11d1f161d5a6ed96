package mavlink_test

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dgm-robotics/dgm/bridge/internal/reference"
	"github.com/dgm-robotics/dgm/bridge/mavlink"
	"github.com/dgm-robotics/dgm/bridge/telemetry"
)

// Every message of every sender, field, value and text of the sample is the same
// as pymavlink's, bit for bit in float64, and so is the number of bad packets.
func TestSameAsPymavlink(t *testing.T) {
	for _, path := range reference.Samples(t, "flight.tlog", "ardupilot/*.tlog") {
		t.Run(filepath.Base(path), func(t *testing.T) {
			var want struct {
				Topics []reference.Topic
				Texts  []string
				Bad    int
			}
			raw := reference.Ask(t, "pymavlink", "pymavlink_columns.py", path, &want)
			for i := range want.Topics {
				want.Topics[i].Older, want.Topics[i].Cut = true, true // definitions grow by extensions, which not all senders know
			}
			var texts []string
			s, messages, values := reference.Compare(t, func(w telemetry.Wants) (telemetry.Source, error) { return mavlink.Open(path, w) },
				func(_ int64, text string) { texts = append(texts, text) }, want.Topics, raw)
			if d := cmp.Diff(want.Texts, texts); d != "" {
				t.Error(d)
			}
			if n := s.Problems().Count(); n != want.Bad {
				t.Errorf("problems %v, pymavlink finds %d bad packets", s.Problems().All(), want.Bad)
			}
			t.Logf("%d topics, %d messages, %d values equal; problems %v", len(want.Topics), messages, values, s.Problems().All())
		})
	}
}
