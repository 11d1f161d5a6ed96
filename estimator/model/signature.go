package model

import (
	"crypto/ed25519"
	"errors"
	"fmt"

	"github.com/dgm-robotics/dgm/estimator/internal/msgbin"
)

// The reasons for refusing the origin of a file, for errors.Is.
var (
	ErrUnsigned  = errors.New("model file is not signed")
	ErrSignature = errors.New("model file is not signed by the trusted key")
)

// Sign returns a model file with the signature of key, in place of an earlier one.
// It returns an error if the file is not one that Decode reads.
func Sign(file []byte, key ed25519.PrivateKey) ([]byte, error) {
	if len(key) != ed25519.PrivateKeySize {
		panic(wrongKey)
	}
	if _, err := Decode(file); err != nil {
		return nil, err
	}
	signed, rest, _, err := split(file)
	if err != nil {
		return nil, err
	}
	return msgbin.Append(nil, func(w *msgbin.Writer) {
		w.Raw(signed)
		w.Bin(ed25519.Sign(key, signed))
		w.Raw(rest)
	}), nil
}

// Verify returns nil if a model file is signed by the private key of the given
// public one, ErrUnsigned if by nobody, and ErrSignature if by another or for
// other bytes. It does not check the model itself.
func Verify(file []byte, key ed25519.PublicKey) error {
	if len(key) != ed25519.PublicKeySize {
		panic(wrongKey)
	}
	signed, _, signature, err := split(file)
	switch {
	case err != nil:
		return err
	case signature == nil:
		return fmt.Errorf("%w: sign it by dgm-train --sign, or remove public_key from the settings", ErrUnsigned)
	case !ed25519.Verify(key, signed, signature):
		return ErrSignature
	}
	return nil
}

// DecodeSigned is Decode for files that must be signed; a nil key asks for no
// signature.
func DecodeSigned(file []byte, key ed25519.PublicKey) (*Model, error) {
	if key != nil {
		if err := Verify(file, key); err != nil {
			return nil, err
		}
	}
	return Decode(file)
}

const wrongKey = "model: a key for signatures has the wrong length"

// split returns what of a file a signature covers, what follows the signature, and
// the signature, nil where there is none.
func split(file []byte) (signed, rest, signature []byte, err error) {
	r, _, err := open(file)
	if err != nil {
		return nil, nil, nil, err
	}
	for range 3 { // version, body, checksum
		if err := r.Skip(); err != nil {
			return nil, nil, nil, fmt.Errorf("%w: %w", ErrDamaged, err)
		}
	}
	at := r.Offset()
	if !r.Nil() {
		if signature, err = r.Bin(signatureSize); err != nil || len(signature) != signatureSize {
			return nil, nil, nil, fmt.Errorf("%w: the signature is neither nil nor a bin of %d bytes", ErrDamaged, signatureSize)
		}
	}
	return file[:at], file[r.Offset():], signature, nil
}
