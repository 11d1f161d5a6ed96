package main

import (
	"encoding/hex"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/dgm-robotics/dgm/bridge/fleet"
	"github.com/dgm-robotics/dgm/cmd/internal/cli"
	"github.com/dgm-robotics/dgm/cmd/internal/keys"
	"github.com/dgm-robotics/dgm/estimator/model"
)

// The status shows what the operator's key has signed, and names what another key has; without a key it says that nothing is verified.
func TestTheStatusVerifiesDecisions(t *testing.T) {
	url := listen(t)
	if code, _, errs := call("setup", "--nats", url); code != cli.Done {
		t.Fatalf("exit %d, %s", code, errs)
	}
	nc, err := nats.Connect(url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	private, public := keyFiles(t, 1)
	forger, _ := keyFiles(t, 2)
	install := func(path, id string) {
		t.Helper()
		key, err := keys.Private(path)
		if err != nil {
			t.Fatal(err)
		}
		was, err := fleet.ReadDecisions(t.Context(), nc, nil)
		if err != nil {
			t.Fatal(err)
		}
		s := model.Statement{Purpose: model.ForInstallation, Vehicle: "p1", Model: id, Number: uint64(len(was.Decisions) + 1)}
		if s.Decision, err = hex.DecodeString(was.Head); err == nil {
			s.Content, err = json.Marshal(fleet.Installation{Vehicle: "p1", Flown: &fleet.Ref{Model: id}})
		}
		if err == nil {
			_, err = nc.Request("dgm.decision.installation.p1", model.SignDecision(s, key), 5*time.Second)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	install(private, "00000000honest00")
	install(forger, "11111111forged11")
	for _, c := range []struct {
		args     []string
		has, not []string
	}{
		{nil, []string{"11111111 (not verified)", "not verified: no public key"}, nil},
		{[]string{"--public-key", public}, []string{"00000000", `! decision 2, "installation.p1": `}, []string{"11111111", "not verified"}},
		{[]string{"--json"}, []string{`"verified": false`, "11111111forged11"}, []string{"faults"}},
		{[]string{"--json", "--public-key", public}, []string{`"verified": true`, "00000000honest00", `"faults": [`}, []string{"11111111forged11"}},
	} {
		code, out, errs := call(append([]string{"status", "--wait", "1ms", "--nats", url}, c.args...)...)
		if code != cli.Done {
			t.Errorf("%q: exit %d, %s", c.args, code, errs)
		}
		for _, text := range c.has {
			if !strings.Contains(out, text) {
				t.Errorf("%q lacks %q: %s", c.args, text, out)
			}
		}
		for _, text := range c.not {
			if strings.Contains(out, text) {
				t.Errorf("%q has %q: %s", c.args, text, out)
			}
		}
	}
	if code, _, _ := call("status", "--nats", url, "--public-key", private); code == cli.Done {
		t.Error("a private key verifies")
	}
}
