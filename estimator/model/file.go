package model

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/dgm-robotics/dgm/estimator/durable"
	"github.com/dgm-robotics/dgm/estimator/msgbin"
)

// Magic is the first element of a model file.
const Magic = "dgm-model"

// signatureSize is the length of an Ed25519 signature.
const signatureSize = 64

// Version is the version of the format that this package writes and the only one
// it reads.
const Version = 1

// The reasons for refusing a file, for errors.Is.
var (
	ErrNotModel = errors.New("not a model file")
	ErrVersion  = errors.New("version of the model format is not supported")
	ErrDamaged  = errors.New("model file is damaged")
	ErrUnsealed = errors.New("model holds no self-checks")
)

// Sealed returns ErrUnsealed for a model that was trained on data and has no
// self-checks, without which its evaluation cannot be verified. An artificial one,
// without a hash of data, need not have any.
func (m *Model) Sealed() error {
	if len(m.Checks) == 0 && m.Provenance.DataHash != "" {
		return fmt.Errorf("%w, so that this program cannot verify its evaluation; train again", ErrUnsealed)
	}
	return nil
}

// Encode returns the file of a model and sets its ID. It returns an error if the
// model contradicts itself.
func (m *Model) Encode() ([]byte, error) {
	if err := m.Check(); err != nil {
		return nil, err
	}
	body := encodeMap(m.fields)
	sum := sha256.Sum256(body)
	m.ID = hex.EncodeToString(sum[:8])
	return msgbin.Append(nil, func(w *msgbin.Writer) {
		w.Array(5)
		w.String(Magic)
		w.Int(Version)
		w.Bin(body)
		w.Bin(sum[:])
		w.Nil()
	}), nil
}

// open returns a Reader behind the magic of a model file, and the number of
// elements of its array.
func open(file []byte) (r *msgbin.Reader, n int, err error) {
	r = msgbin.NewReader(file)
	if n, err = r.Array(64); err != nil || n < 5 {
		return nil, 0, fmt.Errorf("%w: it does not start with the array of a model", ErrNotModel)
	}
	if magic, err := r.StringBytes(64); err != nil || string(magic) != Magic {
		return nil, 0, fmt.Errorf("%w: it does not start with %q", ErrNotModel, Magic)
	}
	return r, n, nil
}

// Decode reads a model from the bytes of its file and checks it whole.
func Decode(b []byte) (*Model, error) {
	r, n, err := open(b)
	if err != nil {
		return nil, err
	}
	v, err := r.Int64()
	if err != nil {
		return nil, fmt.Errorf("%w: version: %w; copy it again", ErrDamaged, err)
	}
	if v != Version {
		return nil, fmt.Errorf("%w: found %d, this program reads %d: use a program of the same release, or train again", ErrVersion, v, Version)
	}
	body, err := r.Bin(maxFile)
	if err != nil {
		return nil, fmt.Errorf("%w: body: %w; copy it again", ErrDamaged, err)
	}
	want, err := r.Bin(sha256.Size)
	if err != nil {
		return nil, fmt.Errorf("%w: checksum: %w; copy it again", ErrDamaged, err)
	}
	sum := sha256.Sum256(body)
	if !bytes.Equal(sum[:], want) {
		return nil, fmt.Errorf("%w: its checksum does not match its content; copy it again", ErrDamaged)
	}
	if !r.Nil() {
		if s, err := r.Bin(signatureSize); err != nil || len(s) != signatureSize {
			return nil, fmt.Errorf("%w: the signature is neither nil nor a bin of %d bytes; copy it again", ErrDamaged, signatureSize)
		}
	}
	for i := 5; i < n; i++ { // elements of later writers
		if err := r.Skip(); err != nil {
			return nil, fmt.Errorf("%w: element %d: %w; copy it again", ErrDamaged, i, err)
		}
	}
	if r.Left() > 0 {
		return nil, fmt.Errorf("%w: %d bytes after its end; copy it again", ErrDamaged, r.Left())
	}
	m := new(Model)
	err = decodeMap(msgbin.Raw{Bytes: body}, "", m.fields)
	if err == nil {
		err = m.Check()
	}
	if err != nil {
		return nil, fmt.Errorf("%w; its checksum matches, so it was written that way: train again with a program of this release", err)
	}
	m.ID = hex.EncodeToString(sum[:8])
	return m, nil
}

// ReadFile reads and checks a model file. Errors name the file.
func ReadFile(path string) (*Model, error) { return ReadSigned(path, nil) }

// ReadSigned is ReadFile for a file that must be signed; a nil key asks for no
// signature. Both refuse a model that is not sealed.
func ReadSigned(path string, key ed25519.PublicKey) (*Model, error) {
	b, err := read(path)
	if err != nil {
		return nil, err
	}
	m, err := DecodeSigned(b, key)
	if err == nil {
		err = m.Sealed()
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return m, nil
}

// read returns the bytes of a file that begins like a model. It reads the first
// bytes before the rest: a path may name a stream without an end.
func read(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.IsDir() {
		return nil, fmt.Errorf("%s: is a folder; name the model file in it", path)
	}
	start := make([]byte, 32) // no model is smaller, and the magic is in them
	n, err := io.ReadFull(f, start)
	switch {
	case n == 0 && errors.Is(err, io.EOF):
		return nil, fmt.Errorf("%s: %w: it is empty; copy it again, or train", path, ErrNotModel)
	case err != nil && !errors.Is(err, io.ErrUnexpectedEOF):
		return nil, err
	case !bytes.Contains(start[:n], []byte(Magic)):
		return nil, fmt.Errorf("%s: %w: it does not start with %q; name a file that dgm-train wrote", path, ErrNotModel, Magic)
	}
	rest, err := io.ReadAll(io.LimitReader(f, maxFile))
	if err != nil {
		return nil, err
	}
	if len(rest) == maxFile {
		return nil, fmt.Errorf("%s: %w: it has more than %d bytes", path, ErrNotModel, maxFile)
	}
	return append(start[:n], rest...), nil
}

// WriteFile encodes a model and writes its file whole or not at all.
func WriteFile(path string, m *Model) error { return WriteSigned(path, m, nil) }

// WriteSigned is WriteFile with the signature of key; a nil key makes none.
func WriteSigned(path string, m *Model, key ed25519.PrivateKey) error {
	b, err := m.Encode()
	if err == nil && key != nil {
		b, err = Sign(b, key)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return durable.WriteFile(path, b)
}

// SignFile puts the signature of key into a model file, in place of an earlier one.
// Errors name the file, which is then unchanged.
func SignFile(path string, key ed25519.PrivateKey) error {
	b, err := read(path)
	if err != nil {
		return err
	}
	if b, err = Sign(b, key); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return durable.WriteFile(path, b)
}
