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
	b, err := block(path, "PRIVATE KEY")
	if err != nil {
		return nil, err
	}
	k, err := x509.ParsePKCS8PrivateKey(b)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	key, ok := k.(ed25519.PrivateKey)
	if !ok {
		return nil, fmt.Errorf("%s: the key is not of the kind ed25519; make one by openssl genpkey -algorithm ed25519", path)
	}
	return key, nil
}

// Public reads the key that verifies. Errors name the file.
func Public(path string) (ed25519.PublicKey, error) {
	b, err := block(path, "PUBLIC KEY")
	if err != nil {
		return nil, err
	}
	k, err := x509.ParsePKIXPublicKey(b)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	key, ok := k.(ed25519.PublicKey)
	if !ok {
		return nil, fmt.Errorf("%s: the key is not of the kind ed25519; make one by openssl genpkey -algorithm ed25519", path)
	}
	return key, nil
}

// block returns the content of a PEM file's first block, which must be of a type.
func block(path, kind string) ([]byte, error) {
	text, err := cli.ReadSettings(path)
	if err != nil {
		return nil, err
	}
	b, _ := pem.Decode(text)
	if b == nil {
		return nil, fmt.Errorf("%s: holds no key in PEM form", path)
	}
	if b.Type != kind {
		return nil, fmt.Errorf("%s: holds a %s, expected a %s", path, b.Type, kind)
	}
	return b.Bytes, nil
}
