package main

import (
	"encoding/hex"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

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
		{nil, []string{"11111111 (not verified)", "not verified without a public key"}, nil},
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

// What an earlier version has stored is named by setup and status, until setup removes it.
func TestOldStoresAreNamed(t *testing.T) {
	url := listen(t)
	nc, err := nats.Connect(url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"fleet-names", "fleet-rollouts", "of-somebody-else"} {
		if _, err := js.CreateKeyValue(t.Context(), jetstream.KeyValueConfig{Bucket: name}); err != nil {
			t.Fatal(err)
		}
	}
	const named = "fleet-names, fleet-rollouts; to remove them: dgm-fleet setup --remove-old"
	if code, _, errs := call("setup", "--nats", url); code != cli.Done || !strings.Contains(errs, named) {
		t.Errorf("setup: exit %d, %s", code, errs)
	}
	if code, out, errs := call("status", "--wait", "1ms", "--nats", url); code != cli.Done || !strings.Contains(out, named) {
		t.Errorf("status: exit %d, %s%s", code, out, errs)
	}
	if code, out, errs := call("setup", "--remove-old", "--nats", url); code != cli.Done || strings.Count(out, "removed the key-value store") != 2 {
		t.Errorf("setup --remove-old: exit %d, %s%s", code, out, errs)
	}
	if code, out, _ := call("status", "--json", "--wait", "1ms", "--nats", url); code != cli.Done || strings.Contains(out, "old_stores") {
		t.Errorf("status: exit %d, %s", code, out)
	}
	if _, err := js.KeyValue(t.Context(), "of-somebody-else"); err != nil {
		t.Error(err)
	}
}

// A group that there is not is an error with those that there are.
func TestAnUnknownGroupIsRefused(t *testing.T) {
	url := listen(t)
	private, _ := keyFiles(t, 1)
	if code, _, errs := call("setup", "--nats", url); code != cli.Done {
		t.Fatalf("exit %d, %s", code, errs)
	}
	if code, _, errs := call("rollback", "--group", "dronse", "--sign", private, "--nats", url); code != cli.Failed || !strings.Contains(errs, "there is no group") {
		t.Errorf("exit %d, %s", code, errs)
	}
	if code, _, errs := call("group", "drones", "drone-1", "drone-2", "--sign", private, "--nats", url); code != cli.Done {
		t.Fatalf("exit %d, %s", code, errs)
	}
	for _, args := range [][]string{{"promote"}, {"rollback"}, {"pin", "--model", "0123"}, {"rollout"}} {
		code, _, errs := call(append(args, "--group", "dronse", "--sign", private, "--nats", url)...)
		if code != cli.Failed || !strings.Contains(errs, `"dronse" is no group`) || !strings.Contains(errs, "groups are drones;") {
			t.Errorf("%q: exit %d, %s", args, code, errs)
		}
	}
	if code, _, errs := call("rollout", "--stop", "--group", "dronse", "--sign", private, "--nats", url); code != cli.Failed || !strings.Contains(errs, "with a rollout there is no group") {
		t.Errorf("exit %d, %s", code, errs)
	}
}
