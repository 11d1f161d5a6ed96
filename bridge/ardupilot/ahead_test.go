package ardupilot_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dgm-robotics/dgm/bridge/ardupilot"
	"github.com/dgm-robotics/dgm/bridge/telemetry"
)

// In a log that begins in flight the description of a format comes behind its first records,
// and its instances are distinguished all the same. A second start of the autopilot in the
// file is read as it is.
func TestDescribedLater(t *testing.T) {
	log := newLog().format(30, 3+8+1+4, "EST", "QBf", "TimeUS,C,X")
	estimate := func(us uint64, core byte, x float32) { log.record(30, us, core, x) }
	for i := range 10 {
		estimate(uint64(1000*i), 0, float32(i))
		estimate(uint64(1000*i), 1, float32(100+i))
		if i == 4 {
			log.record(12, uint64(4500), byte(30), chars("s#m", 16), chars("F-0", 16))
		}
	}
	path := filepath.Join(t.TempDir(), "a.BIN")
	if err := os.WriteFile(path, log.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	counts := map[string]int{}
	r, err := ardupilot.Open(path, telemetry.Wants{Select: func(t *telemetry.Topic) []string {
		if t.Name != "EST" {
			return nil
		}
		return []string{"X"}
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for {
		m, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(m.Topic.Name, "EST") {
			counts[m.Topic.String()]++
			if (m.Values[0] >= 100) != (m.Topic.Instance == 1) {
				t.Errorf("%s is %v", m.Topic, m.Values)
			}
		}
	}
	if counts["EST"] != 10 || counts["EST#1"] != 10 || r.Problems().Count() != 0 {
		t.Error(counts, r.Problems().All())
	}
}
