package keys

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func write(t *testing.T, kind string, der []byte, err error) string {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "key.pem")
	if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestKeys(t *testing.T) {
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(private)
	priv := write(t, "PRIVATE KEY", der, err)
	der, err = x509.MarshalPKIXPublicKey(public)
	pub := write(t, "PUBLIC KEY", der, err)
	if k, err := Private(priv); err != nil || !k.Equal(private) {
		t.Errorf("private: %v", err)
	}
	if k, err := Public(pub); err != nil || !k.Equal(public) {
		t.Errorf("public: %v", err)
	}
	other, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err = x509.MarshalPKCS8PrivateKey(other)
	curve := write(t, "PRIVATE KEY", der, err)
	der, err = x509.MarshalPKIXPublicKey(&other.PublicKey)
	curvePub := write(t, "PUBLIC KEY", der, err)
	empty := write(t, "PUBLIC KEY", nil, nil)
	for name, c := range map[string]struct {
		err  error
		part string
	}{
		"public for private": {second(Private(pub)), "contains a PUBLIC KEY, expected a PRIVATE KEY"},
		"private for public": {second(Public(priv)), "contains a PRIVATE KEY, expected a PUBLIC KEY"},
		"private of a curve": {second(Private(curve)), "not of the kind ed25519"},
		"public of a curve":  {second(Public(curvePub)), "not of the kind ed25519"},
		"missing":            {second(Public(pub + "x")), "no such file"},
		"empty":              {second(Public(empty)), empty},
	} {
		if c.err == nil || !strings.Contains(c.err.Error(), c.part) {
			t.Errorf("%s: %v", name, c.err)
		}
	}
}

func second[T any](_ T, err error) error { return err }
