package main

import (
	"bytes"
	"crypto/ed25519"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/dgm-robotics/dgm/cmd/internal/cli"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/model/artificial"
	"github.com/dgm-robotics/dgm/estimator/wire"
)

// writeKey writes a private key as openssl does.
func writeKey(t *testing.T, path string, first byte) ed25519.PrivateKey {
	t.Helper()
	key := ed25519.NewKeyFromSeed(bytes.Repeat([]byte{first}, ed25519.SeedSize))
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
	return key
}

func TestSignAnExistingModel(t *testing.T) {
	dir := t.TempDir()
	pemFile, path := filepath.Join(dir, "private.pem"), filepath.Join(dir, "flight.dgm")
	key := writeKey(t, pemFile, 1)
	public := key.Public().(ed25519.PublicKey)
	m := artificial.New(artificial.Size{K: 2, Features: 10, Points: 5, Horizon: 1}, 1)
	if err := model.WriteFile(path, m); err != nil {
		t.Fatal(err)
	}
	if _, _, err := model.ReadSigned(path, public); !errors.Is(err, model.ErrUnsigned) {
		t.Fatal(err)
	}
	if code, out, errs := call("--sign", pemFile, "--model", path); code != cli.Done || out != "signed "+path+"\n" {
		t.Fatalf("exit %d, %q, %q", code, out, errs)
	}
	got, statement, err := model.ReadSigned(path, public)
	if statement.Vehicle != m.Vehicle || statement.Sequence == 0 || statement.Created == 0 {
		t.Errorf("statement %+v", statement)
	}
	if err != nil || got.ID != m.ID && m.ID != "" {
		t.Fatalf("%v, id %q, was %q", err, got.ID, m.ID)
	}
	if statement.Expires != 0 {
		t.Errorf("it expires at %d", statement.Expires)
	}
	if code, _, errs := call("--sign", pemFile, "--model", path, "--valid", "1h"); code != cli.Done {
		t.Fatalf("exit %d, %q", code, errs)
	}
	if _, s, err := model.ReadSigned(path, public); err != nil || s.Expires-s.Created != int64(time.Hour) {
		t.Errorf("%+v, %v", s, err)
	}
	other := writeKey(t, filepath.Join(dir, "other.pem"), 2)
	if _, _, err := model.ReadSigned(path, other.Public().(ed25519.PublicKey)); !errors.Is(err, model.ErrSignature) {
		t.Errorf("by another key: %v", err)
	}

	before, _ := os.ReadFile(path)
	log := filepath.Join(dir, "swing.msgpack")
	writeLog(t, log, 4)
	for _, c := range []struct {
		code int
		want string
		args []string
	}{
		{cli.Wrong, "needs --sign", []string{"--model", path}},
		{cli.Wrong, "negative", []string{"--sign", pemFile, "--model", path, "--valid", "-1s"}},
		{cli.Wrong, "quad.*", []string{"--sign", pemFile, "--model", path, "--vehicle", "quad.*"}},
		{cli.Wrong, "no --log", []string{"--sign", pemFile, "--model", path, "--log", log}},
		{cli.Failed, "none.pem", []string{"--sign", filepath.Join(dir, "none.pem"), "--model", path}},
		{cli.Failed, "swing.msgpack: ", []string{"--sign", pemFile, "--model", log}},
		{cli.Failed, "contains no PEM key", []string{"--sign", path, "--model", path}},
		{cli.Failed, "contains no PEM key", []string{"--sign", log, "--log", log}}, // before any training
		{cli.Wrong, "private.pem is read", []string{"--sign", pemFile, "--log", log, "--out", pemFile}},
	} {
		if code, _, errs := call(c.args...); code != c.code || !strings.Contains(errs, c.want) || strings.Count(errs, "\n") != 1 {
			t.Errorf("%v: exit %d, %q", c.args, code, errs)
		}
	}
	if after, _ := os.ReadFile(path); !bytes.Equal(before, after) {
		t.Error("a call that failed changed the model")
	}
}

func TestRollbackIsWritten(t *testing.T) {
	dir := t.TempDir()
	pemFile, path := filepath.Join(dir, "private.pem"), filepath.Join(dir, "rollback.msgpack")
	key := writeKey(t, pemFile, 1)
	if code, _, errs := call("--sign", pemFile, "--rollback", "0123456789abcdef", "--vehicle", "quad1", "--sequence", "7", "--out", path); code != cli.Done {
		t.Fatalf("exit %d, %q", code, errs)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var c wire.Command
	if err := c.Decode(b); err != nil || c.Action != wire.Rollback {
		t.Fatalf("%+v, %v", c, err)
	}
	s, err := model.VerifyRollback(c.Statement, c.Signature, key.Public().(ed25519.PublicKey))
	if err != nil || s.Model != "0123456789abcdef" || s.Vehicle != "quad1" || s.Sequence != 7 || s.Created == 0 {
		t.Errorf("%+v, %v", s, err)
	}
	for _, args := range [][]string{
		{"--rollback", "0123456789abcdef", "--vehicle", "quad1", "--out", path}, // no key
		{"--sign", pemFile, "--rollback", "0123456789abcdef", "--vehicle", "quad1"},
		{"--sign", pemFile, "--rollback", "0123456789abcdef", "--out", path},
		{"--sign", pemFile, "--rollback", "0123456789abcdef", "--vehicle", "quad1", "--fleet", "red", "--out", path},
	} {
		if code, _, _ := call(args...); code != cli.Wrong {
			t.Errorf("%v: exit %d", args, code)
		}
	}
}
