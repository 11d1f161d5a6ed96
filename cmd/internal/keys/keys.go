// Package keys reads the keys that model files are signed and verified with:
// Ed25519, in the PEM files that openssl writes.
//
//	openssl genpkey -algorithm ed25519 -out private.pem
//	openssl pkey -in private.pem -pubout -out public.pem
package keys

import (
	"crypto/ed25519"
	"crypto/x509"
	"encoding/pem"
	"fmt"

	"github.com/dgm-robotics/dgm/cmd/internal/cli"
)

// Private reads the key that signs. Errors name the file.
func Private(path string) (ed25519.PrivateKey, error) {
	return read[ed25519.PrivateKey](path, "PRIVATE KEY", x509.ParsePKCS8PrivateKey)
}

// Public reads the key that verifies. Errors name the file.
func Public(path string) (ed25519.PublicKey, error) {
	return read[ed25519.PublicKey](path, "PUBLIC KEY", x509.ParsePKIXPublicKey)
}

// read returns the key in the first block of a PEM file, which must be of a kind.
func read[K any](path, kind string, parse func([]byte) (any, error)) (key K, err error) {
	text, err := cli.ReadSettings(path)
	if err != nil {
		return key, err
	}
	b, _ := pem.Decode(text)
	if b == nil {
		return key, fmt.Errorf("%s: contains no PEM key", path)
	}
	if b.Type != kind {
		return key, fmt.Errorf("%s: contains a %s, expected a %s", path, b.Type, kind)
	}
	any, err := parse(b.Bytes)
	if err != nil {
		return key, fmt.Errorf("%s: %w", path, err)
	}
	key, ok := any.(K)
	if !ok {
		return key, fmt.Errorf("%s: the key is not of the kind ed25519; make one by openssl genpkey -algorithm ed25519", path)
	}
	return key, nil
}
