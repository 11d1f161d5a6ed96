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
	Topics      []reference.Topic
	Corrupt     bool
	Dropouts    []int
	Logged      []string
	Syncs       int
	Parameters  map[string]float64
	Changes     [][]any
	Information map[string]string
	Multi       map[string][][]int
}

// Every topic, field, value, text, parameter and information of every sample is
// the same as pyulog's, bit for bit in float64.
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
	r := s.(*ulog.Reader)
	t.Logf("%d topics, %d messages, %d values equal; problems %v", len(want.Topics), messages, values, r.Problems().All())
	if want.Corrupt || r.Problems().Count() != len(want.Dropouts) {
		t.Errorf("problems %v; pyulog: corrupt %v, dropouts %v", r.Problems().All(), want.Corrupt, want.Dropouts)
	}
	if c := r.Counts(); c.Dropouts != len(want.Dropouts) || c.Syncs != want.Syncs || c.Logged != len(want.Logged) {
		t.Errorf("%+v; pyulog reads %d dropouts, %d synchronisations, %d texts", c, len(want.Dropouts), want.Syncs, len(want.Logged))
	}
	if d := cmp.Diff(want.Logged, texts, cmpopts.EquateEmpty()); d != "" {
		t.Errorf("texts (-pyulog +here):\n%s", d)
	}
	parameters := map[string]float64{}
	for _, e := range r.Parameters() {
		v, ok := e.Number()
		if !ok {
			t.Errorf("parameter %s of type %s", e.Key, e.Type)
		}
		parameters[e.Key] = v
	}
	if d := cmp.Diff(want.Parameters, parameters); d != "" {
		t.Errorf("parameters (-pyulog +here):\n%s", d)
	}
	if len(r.Changes()) != len(want.Changes) {
		t.Errorf("%d parameters changed, pyulog reads %d", len(r.Changes()), len(want.Changes))
	}
	information := map[string]string{}
	for _, e := range r.Information() {
		if len(e.Type) > 4 && e.Type[:5] == "char[" {
			information[e.Key] = e.Text()
		}
	}
	if d := cmp.Diff(want.Information, information); d != "" {
		t.Errorf("information (-pyulog +here):\n%s", d)
	}
	parts := map[string][]int{} // how many in each group, by key
	for _, e := range r.MultiInformation() {
		all := parts[e.Key]
		if e.Continued && len(all) > 0 {
			all[len(all)-1]++
		} else {
			all = append(all, 1)
		}
		parts[e.Key] = all
	}
	theirs := map[string][]int{}
	for k, groups := range want.Multi {
		for _, g := range groups {
			theirs[k] = append(theirs[k], len(g))
		}
	}
	if d := cmp.Diff(theirs, parts); d != "" {
		t.Errorf("multi information (-pyulog +here):\n%s", d)
	}
}
