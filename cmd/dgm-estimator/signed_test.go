package main

import (
	"bytes"
	"crypto/ed25519"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dgm-robotics/dgm/cmd/internal/cli"
	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/flightlog"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/wire"
)

// From a log to a model that is served where signatures are required: signed as it is
// trained it is accepted, without its signature refused, signed again accepted again.
func TestTrainedAndSignedIsServed(t *testing.T) {
	if os.Getenv("DGM_SLOW") == "" {
		t.Skip("dgm-train is built and a model trained; DGM_SLOW=1 runs it")
	}
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	key := ed25519.NewKeyFromSeed(bytes.Repeat([]byte{3}, ed25519.SeedSize))
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	public, err := x509.MarshalPKIXPublicKey(key.Public())
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, in("private.pem"), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}))
	writeFile(t, in("public.pem"), pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: public}))
	swing(t, in("swing.msgpack"))
	train := in("dgm-train")
	if out, err := exec.Command("go", "build", "-o", train, "../dgm-train").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	run := func(args ...string) {
		t.Helper()
		if out, err := exec.Command(train, args...).CombinedOutput(); err != nil {
			t.Fatalf("dgm-train %v: %v: %s", args, err, out)
		}
	}
	url, client := statesServer(t) // of a vehicle without inputs
	config := func(path string) string {
		writeFile(t, path+".toml", fmt.Appendf(nil, "model = %q\nvehicle = \"pend1\"\n[nats]\nurl = %q\n[models]\npublic_key = %q\n", path, url, in("public.pem")))
		return path + ".toml"
	}
	serves := func(path string) {
		t.Helper()
		var out, messages buffer
		stop := estimate(t, &out, &messages, "--config", config(path))
		awaitPrediction(t, client, "dgm.predict.pend1", "an answer by "+path, func(p *wire.Prediction) bool {
			return len(p.Mean) > 0 && strings.Contains(messages.String(), p.Model)
		})
		if code := stop(); code != cli.Done {
			t.Errorf("%s: code %d, %s", path, code, messages.String())
		}
	}
	run("--log", in("swing.msgpack"), "--preset", "quick", "--horizon", "500ms", "--sign", in("private.pem"), "--vehicle", "pend1", "--out", in("signed.dgm"))
	serves(in("signed.dgm"))
	m, err := model.ReadFile(in("signed.dgm"))
	if err == nil {
		err = model.WriteFile(in("later.dgm"), m) // which has no key
	}
	if err != nil {
		t.Fatal(err)
	}
	if code, _, said := execute("--config", config(in("later.dgm"))); code != cli.Failed || !strings.Contains(said, "not signed") {
		t.Errorf("unsigned: code %d, %q", code, said)
	}
	run("--sign", in("private.pem"), "--vehicle", "pend1", "--model", in("later.dgm"))
	serves(in("later.dgm"))
}

// swing writes the log of an undamped swing, θ̈ = −9 θ, with a little noise.
func swing(t *testing.T, path string) {
	t.Helper()
	f, err := flightlog.CreateFile(path, flightlog.Header{Vehicle: "swing", Channels: []channel.Channel{
		{Name: "angle", Unit: "rad", Role: channel.State, Derivative: "rate"}, {Name: "rate", Unit: "rad/s", Role: channel.State},
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Abort()
	if err := f.BeginSegment("one", nil); err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range 600 {
		s, c := math.Sincos(3 * float64(i) * 0.02)
		if err := f.Sample(int64(i)*20e6, []float64{s + 0.002*rng.NormFloat64(), 3*c + 0.01*rng.NormFloat64()}, nil, nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Commit(); err != nil {
		t.Fatal(err)
	}
}
