package keys_test

import (
	"crypto/ed25519"
	"crypto/x509"
	"encoding/pem"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dgm-robotics/dgm/cmd/internal/keys"
)

// Whatever a file holds: a key of the right length, or an error that names the file.
func FuzzKeys(f *testing.F) {
	private := ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))
	a, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		f.Fatal(err)
	}
	b, err := x509.MarshalPKIXPublicKey(private.Public())
	if err != nil {
		f.Fatal(err)
	}
	f.Add(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: a}))
	f.Add(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: b}))
	f.Add([]byte("-----BEGIN PUBLIC KEY-----\n-----END PUBLIC KEY-----\n"))
	name := filepath.Join(f.TempDir(), "key.pem")
	f.Fuzz(func(t *testing.T, text []byte) {
		if err := os.WriteFile(name, text, 0o600); err != nil {
			t.Fatal(err)
		}
		if k, err := keys.Private(name); err == nil && len(k) != ed25519.PrivateKeySize || err != nil && !strings.HasPrefix(err.Error(), name) {
			t.Fatalf("%d bytes, %v", len(k), err)
		}
		if k, err := keys.Public(name); err == nil && len(k) != ed25519.PublicKeySize || err != nil && !strings.HasPrefix(err.Error(), name) {
			t.Fatalf("%d bytes, %v", len(k), err)
		}
	})
}
