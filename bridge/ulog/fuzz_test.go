package ulog_test

import (
	"testing"

	"github.com/dgm-robotics/dgm/bridge/telemetry"
)

// Whatever the bytes are, reading ends, with no more problems than are kept and
// times that are none of the impossible ones.
func FuzzReader(f *testing.F) {
	f.Add(plain(3))
	f.Add(newLog().format("o:uint64_t timestamp;i[2] x;").format("i:float a;").subscribe(0, 1, "o").data(0, le64(1000), le64(0)).Bytes())
	f.Add(newLog().record('B', make([]byte, 40)).record('I', []byte("\x0bchar[1] key1")).record('L', []byte("6"), le64(1), []byte("x")).Bytes())
	f.Fuzz(func(t *testing.T, log []byte) {
		g := read(t, log)
		if len(g.problems) > telemetry.MaxProblems+1 {
			t.Fatalf("%d problems", len(g.problems))
		}
		for i, at := range g.times {
			if at < 0 {
				t.Fatalf("message %d of %s at time %d", i, g.topics[i], at)
			}
		}
		for _, p := range g.problems {
			if p.Offset < 0 || p.Offset > int64(len(log)) || p.Reason == "" || p.Record == "" {
				t.Fatalf("problem %+v of a log of %d bytes", p, len(log))
			}
		}
	})
}
