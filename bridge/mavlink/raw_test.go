package mavlink_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/bluenviron/gomavlib/v3/pkg/dialects/common"

	"github.com/dgm-robotics/dgm/bridge/mavlink"
	"github.com/dgm-robotics/dgm/bridge/telemetry"
)

// Packets as a radio gives them, without times of recording, are read with the times that they have themselves; those without one have
// that of the last of the same sender. Damage costs what it covers, and the stream may begin within a packet.
func TestPacketsWithoutTimes(t *testing.T) {
	const n = 40
	var s station
	var raw []byte
	var at []int
	for i := range n {
		for _, m := range []func(){
			func() {
				s.packet(t, i, 1+i%2, 1, 1, &common.MessageAttitude{TimeBootMs: uint32(1000 + 20*i), Roll: float32(i), Yawspeed: 1})
			},
			func() { s.packet(t, i, 2, 1, 1, &common.MessageHeartbeat{BaseMode: 128, MavlinkVersion: 3}) },
		} {
			begin := s.Len()
			m()
			at, raw = append(at, len(raw)), append(raw, s.Bytes()[begin+8:]...)
		}
	}
	damaged := bytes.Clone(raw)
	damaged[at[20]+12] ^= 1
	for name, c := range map[string]struct {
		log           []byte
		lost, problem int
	}{"whole": {raw, 0, 0}, "damaged": {damaged, 1, 1}, "from within a packet": {raw[5:], 1, 1}, "cut off": {raw[:len(raw)-3], 0, 1}} {
		if !mavlink.IsTlog(c.log) && name != "from within a packet" {
			t.Error(name, "is not recognised")
		}
		path := filepath.Join(t.TempDir(), "a.tlog")
		if err := os.WriteFile(path, c.log, 0o666); err != nil {
			t.Fatal(err)
		}
		r, err := mavlink.Open(path, telemetry.Wants{Select: func(x *telemetry.Topic) []string {
			if x.Name == "ATTITUDE" {
				return []string{"roll"}
			}
			return nil
		}})
		if err != nil {
			t.Fatal(name, err)
		}
		rolls, beats, last := 0, 0, int64(0)
		for m, err := r.Next(); err == nil; m, err = r.Next() {
			if m.Topic.Name == "ATTITUDE" {
				last = int64(1000+20*m.Values[0]) * 1e6
				rolls++
			} else {
				beats++
			}
			if m.Time != last || m.Logged != last {
				t.Errorf("%s: %s at %d, logged at %d, not at %d", name, m.Topic, m.Time, m.Logged, last)
			}
		}
		if p := r.Problems().All(); rolls != n-c.lost || beats < n-2 || len(p) != c.problem {
			t.Errorf("%s: %d attitudes, %d others, %v", name, rolls, beats, p)
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
}
