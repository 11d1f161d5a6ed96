package fleet

import (
	"fmt"
	"strings"
	"testing"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go/jetstream"
)

// A vehicle that stores as many logs as it can fills its own share: others upload, and the operator decides. Shares stay when a vehicle is
// added, and what is stored fits. No store is without a limit.
func TestOneRobotFillsItsOwnStoreAlone(t *testing.T) {
	ns := startServer(t, &server.Options{
		Host: "127.0.0.1", Port: server.RANDOM_PORT, JetStream: true, StoreDir: t.TempDir(), JetStreamMaxStore: 1000 << 20, NoLog: true, NoSigs: true,
	})
	nc := connect(t, ns)
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	setup := func(s Settings) map[string]int64 {
		t.Helper()
		if err := Setup(t.Context(), nc, s); err != nil {
			t.Fatal(err)
		}
		most := map[string]int64{}
		for _, v := range s.Robots {
			stream, err := js.Stream(t.Context(), "OBJ_"+OwnLogs(v))
			if err != nil {
				t.Fatal(err)
			}
			most[v] = stream.CachedInfo().Config.MaxBytes
		}
		if _, err := js.Stream(t.Context(), "DGM_ROOM"); err == nil {
			t.Error("the stream that was made to measure is there")
		}
		return most
	}
	robots := []string{"drone-1", "drone-2"}
	share := setup(Settings{Lease: lease, Robots: robots})["drone-1"]
	if share != (256<<20)/3 { // of 512 MB, a half of it for two and the common store
		t.Errorf("%d bytes", share)
	}
	for info := range js.ListStreams(t.Context()).Info() {
		if c := info.Config; c.MaxBytes <= 0 || c.MaxMsgSize <= 0 || c.Discard != jetstream.DiscardNew {
			t.Errorf("%s: at most %d bytes, messages of %d, %v", c.Name, c.MaxBytes, c.MaxMsgSize, c.Discard)
		}
	}
	refused := ""
	for i := int64(0); refused == "" && i < 2*share/(250<<10); i++ {
		if _, err := js.Publish(t.Context(), fmt.Sprintf("$O.%s.C.%d", OwnLogs("drone-1"), i), make([]byte, 250<<10)); err != nil {
			refused = err.Error()
		}
	}
	if !strings.Contains(refused, "maximum bytes") {
		t.Errorf("refused: %q", refused)
	}
	logs, err := Uploads(connect(t, ns))
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := logs.Upload(t.Context(), writeLog(t, "drone-1", 20000, 1), nil); err == nil || !strings.Contains(err.Error(), "--log-bytes") {
		t.Errorf("an upload to a store that is full: %v", err)
	}
	if _, _, err := logs.Upload(t.Context(), writeLog(t, "drone-2", 50, 1), nil); err != nil {
		t.Error(err)
	}
	in := installer(t, ns)
	m := registered(t, in.Models, "drone-2", 1)
	if _, err := in.Promote(t.Context(), "drone-2", m.Ref(), ""); err != nil {
		t.Error(err)
	}
	again := setup(Settings{Lease: lease, Robots: append(robots, "drone-3")})
	if again["drone-1"] != share || again["drone-2"] != share || again["drone-3"] <= 0 {
		t.Errorf("%v", again)
	}
}

// The log of decisions, of which nothing is removed, gets more room by another setup when it is full: twice what it holds.
func TestAFullLogOfDecisions(t *testing.T) {
	ns := serve(t, Settings{})
	nc := connect(t, ns)
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	for size := maxDecision - 1000; size > 0; { // as much as fits, and then less and less
		if _, err := js.Publish(t.Context(), decisionPrefix+"tag.x", make([]byte, size)); err != nil {
			size /= 2
		}
	}
	in := installer(t, ns)
	group := Group{Name: "g", Vehicles: []string{"a"}}
	if err := in.SetGroup(t.Context(), group); err == nil || !strings.Contains(err.Error(), "dgm-fleet setup") {
		t.Errorf("a decision: %v", err)
	}
	for range 2 {
		if err := Setup(t.Context(), nc, Settings{Lease: lease}); err != nil {
			t.Fatal(err)
		}
		if held, limit, err := sizeOf(t.Context(), js, decisionStream); err != nil || limit < 2*held-decisionBytes/100 || held < decisionBytes*9/10 {
			t.Errorf("it holds %d of %d bytes, %v", held, limit, err)
		}
	}
	if err := in.SetGroup(t.Context(), group); err != nil {
		t.Error(err)
	}
}
