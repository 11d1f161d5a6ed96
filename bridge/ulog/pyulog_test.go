package ulog_test

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/dgm-robotics/dgm/bridge/internal/reference"
	"github.com/dgm-robotics/dgm/bridge/telemetry"
	"github.com/dgm-robotics/dgm/bridge/ulog"
)

// samples returns the shared recordings.
func samples(t testing.TB) []string { return reference.Shared(t, "ulg/*.ulg") }

// pyulog is what pyulog read.
type pyulog struct {
	Topics   []reference.Topic
	Corrupt  bool
	Dropouts []int
	Logged   []string
}

// Every topic, field, value and text of every sample is the same as pyulog's, bit for bit in float64.
func TestSameAsPyulog(t *testing.T) {
	for _, path := range reference.Samples(t, "flight.ulg", "ulg/*.ulg") {
		t.Run(filepath.Base(path), func(t *testing.T) {
			var want pyulog
			raw := reference.Ask(t, "pyulog", "pyulog_columns.py", path, &want)
			compare(t, path, &want, raw)
		})
	}
}

func compare(t *testing.T, path string, want *pyulog, raw []byte) {
	var texts []string
	s, messages, values := reference.Compare(t, func(w telemetry.Wants) (telemetry.Source, error) { return ulog.Open(path, w) },
		func(_ int64, text string) { texts = append(texts, text) }, want.Topics, raw)
	t.Logf("%d topics, %d messages, %d values equal; problems %v", len(want.Topics), messages, values, s.Problems().All())
	if want.Corrupt || s.Problems().Count() != len(want.Dropouts) {
		t.Errorf("problems %v; pyulog: corrupt %v, dropouts %v", s.Problems().All(), want.Corrupt, want.Dropouts)
	}
	if d := cmp.Diff(want.Logged, texts, cmpopts.EquateEmpty()); d != "" {
		t.Errorf("texts (-pyulog +here):\n%s", d)
	}
}
