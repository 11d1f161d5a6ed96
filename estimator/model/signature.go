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
	ErrStatement = errors.New("the signature is not for this use")
)

// Sign returns a model file with the signature of key, and with a statement under a second
// one, in place of earlier ones. A statement without a sequence number is left out. It
// returns an error if the file is not one that Decode reads.
func Sign(file []byte, key ed25519.PrivateKey, s Statement) ([]byte, error) {
	if len(key) != ed25519.PrivateKeySize {
		panic(wrongKey)
	}
	m, err := Decode(file)
	if err != nil {
		return nil, err
	}
	parts, err := split(file)
	if err != nil {
		return nil, err
	}
	n := 5
	if s.Sequence > 0 {
		n = 7
	}
	s.Purpose, s.Model = ForModel, m.ID
	signed := msgbin.Append(nil, func(w *msgbin.Writer) {
		w.Array(n)
		w.Raw(parts.content)
	})
	return msgbin.Append(nil, func(w *msgbin.Writer) {
		w.Raw(signed)
		w.Bin(ed25519.Sign(key, signed))
		if s.Sequence > 0 {
			statement, second := s.sign(signed, key)
			w.Bin(statement)
			w.Bin(second)
		}
	}), nil
}

// Verify returns the statement of a model file that is signed by the private key of the
// given public one, the zero value where it has none. It returns ErrUnsigned if it is
// signed by nobody, and ErrSignature if by another or for other bytes. It does not check
// the model itself.
func Verify(file []byte, key ed25519.PublicKey) (s Statement, err error) {
	if len(key) != ed25519.PublicKeySize {
		panic(wrongKey)
	}
	parts, err := split(file)
	switch {
	case err != nil:
		return s, err
	case parts.signature == nil:
		return s, fmt.Errorf("%w: sign it by dgm-train --sign, or remove public_key from the settings", ErrUnsigned)
	case !ed25519.Verify(key, parts.signed, parts.signature):
		return s, ErrSignature
	case parts.statement == nil:
		return s, nil
	}
	return verify(parts.signed, parts.statement, parts.second, ForModel, key)
}

// DecodeSigned is Decode for files that must be signed, and their statement; a nil key asks
// for no signature.
func DecodeSigned(file []byte, key ed25519.PublicKey) (m *Model, s Statement, err error) {
	if key != nil {
		if s, err = Verify(file, key); err != nil {
			return nil, s, err
		}
	}
	m, err = Decode(file)
	return m, s, err
}

const wrongKey = "model: a key for signatures has the wrong length"

// parts are those of a signed file.
type parts struct {
	signed    []byte // what the first signature covers
	content   []byte // the same without the header of the array
	signature []byte // nil = none
	statement []byte // nil = none
	second    []byte // signature of signed and statement
}

func split(file []byte) (p parts, err error) {
	r, n, err := open(file)
	if err != nil {
		return p, err
	}
	begin := msgbin.NewReader(file)
	if _, err := begin.Array(64); err != nil {
		return p, err
	}
	for range 3 { // version, body, checksum
		if err := r.Skip(); err != nil {
			return p, fmt.Errorf("%w: %w", ErrDamaged, err)
		}
	}
	p.signed, p.content = file[:r.Offset()], file[begin.Offset():r.Offset()]
	if !r.Nil() {
		if p.signature, err = signature(r); err != nil {
			return p, err
		}
	}
	if n < 7 {
		return p, nil
	}
	if p.statement, err = r.Bin(maxStatement); err != nil {
		return p, fmt.Errorf("%w: statement: %w", ErrDamaged, err)
	}
	p.second, err = signature(r)
	return p, err
}
