package node

import (
	"bytes"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/model/artificial"
	"github.com/dgm-robotics/dgm/estimator/node/internal/recording"
	"github.com/dgm-robotics/dgm/estimator/wire"
)

// Every prediction is made again from the recording, bit for bit: with another model on the
// way, a reset and a restart that continues with what was learned; with a filter, too, whose equation is corrected.
func TestReplayEqualsAnAdaptedFlight(t *testing.T) {
	plain := func(m *model.Model) *model.Model { return m }
	for _, of := range []struct {
		rate float64
		with func(*model.Model) *model.Model
	}{{0, plain}, {50, plain}, {0, filtered}, {50, filtered}} {
		rate, dir := of.rate, t.TempDir()
		for part := range 2 {
			path := filepath.Join(dir, "out"+string(rune('0'+part)))
			r := newChangedOf(t, of.with(artificial.Adaptable(3, adaptableStep)), Config{Adapt: wire.AdaptOn, Rate: rate, Record: path, TrustFile: filepath.Join(dir, "trust")}, -0.2, 5e18/4+int64(part)*20e9)
			var err error
			if r.n.worker.recorder, err = recording.New(path, r.n.models.settings, 0); err != nil {
				t.Fatal(err)
			}
			r.n.worker.recorder.Model(r.n.worker.engine.Loaded)
			if g := gainOf(t, r.status()); part == 1 && math.Abs(g.Value+20) > 8 {
				t.Errorf("after a restart: %v", g.String())
			}
			r.fly(6)
			if err := r.n.Swap(of.with(artificial.Adaptable(9, adaptableStep))); err != nil {
				t.Fatal(err)
			}
			r.fly(6)
			if g := gainOf(t, r.status()); math.Abs(g.Value+20) > 8 {
				t.Errorf("after another model: %v", g.String())
			}
			r.n.keepStates()
			r.c.pass(5000 * ms)
			r.n.worker.engine.ResetAdaptation()
			r.n.worker.recorder.Reset()
			r.fly(3)
			if err := r.n.worker.recorder.Close(); err != nil {
				t.Fatal(err)
			}
			b, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			sum, err := Replay(bytes.NewReader(b), path, ReplayConfig{})
			if err != nil || sum.Models != 2 || sum.Predictions < 700 {
				t.Errorf("rate %v, part %d: %+v, %v", rate, part, sum, err)
			}
			_, err = Replay(bytes.NewReader(b), path, ReplayConfig{Config: &Config{Vehicle: "v1", Rate: rate}})
			if err == nil || !strings.Contains(err.Error(), "adapt is off and was on") {
				t.Errorf("rate %v, replayed without: %v", rate, err)
			}
		}
	}
}

// Recordings of adapted flights replay bit for bit on every vector unit.
func TestAdaptedReplayOnEveryVectorUnit(t *testing.T) {
	if runtime.GOARCH != "amd64" || os.Getenv("DGM_SLOW") == "" {
		t.Skip("another vector unit: only that of amd64 can be chosen in steps; DGM_SLOW=1 runs it")
	}
	for _, units := range []string{"all", "fma", "avx2", "avx512"} {
		c := exec.Command(os.Args[0], "-test.run=^TestReplayEqualsAnAdaptedFlight$")
		c.Env = append(os.Environ(), "SIMD_DISABLE="+units)
		if out, err := c.CombinedOutput(); err != nil {
			t.Errorf("without %s: %v: %s", units, err, out)
		}
	}
}
