package node

import (
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
)

// A recording that is replayed on another vector unit names both. Each runs in a
// process of its own, because the units are chosen once.
func TestReplayOnAnotherVectorUnitNamesBoth(t *testing.T) {
	const record, again = "DGM_TEST_RECORD", "DGM_TEST_REPLAY"
	if to := os.Getenv(record); to != "" {
		if err := os.Rename(flight(t, 0), to); err != nil {
			t.Fatal(err)
		}
		return
	}
	if from := os.Getenv(again); from != "" {
		_, err := replayed(t, from, ReplayConfig{})
		t.Log(err)
		return
	}
	if runtime.GOARCH != "amd64" {
		t.Skip("another vector unit: only that of amd64 can be chosen in steps")
	}
	path := t.TempDir() + "/out.msgpack"
	run := func(name, units string) string {
		c := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
		c.Env = append(os.Environ(), name+"="+path, "SIMD_DISABLE="+units)
		out, err := c.CombinedOutput()
		if err != nil {
			t.Fatalf("without %s: %v: %s", units, err, out)
		}
		return string(out)
	}
	run(record, "all")
	if said := run(again, "all"); !strings.Contains(said, "<nil>") {
		t.Errorf("on the same unit: %s", said)
	}
	for units, name := range map[string]string{"avx2": "AVX+FMA", "avx512": "AVX2", "fma": "AMD64 AVX"} {
		said := run(again, units)
		if strings.Contains(said, "<nil>") {
			t.Logf("without %s every bit is the same", units)
		} else if !strings.Contains(said, "other program, processor or vector unit") || !strings.Contains(said, "scalar") || !strings.Contains(said, name) {
			t.Errorf("without %s: %s", units, said)
		}
	}
}
