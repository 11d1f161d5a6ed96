package model

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
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
)

// Encode returns the file of a model and sets its ID. It returns an error if the
// model contradicts itself.
func (m *Model) Encode() ([]byte, error) {
	if err := m.Check(); err != nil {
		return nil, err
	}
	c := &coder{}
	m.fields(c)
	body := c.finish(nil)
	sum := sha256.Sum256(body)
	m.ID = hex.EncodeToString(sum[:8])
	out := msgbin.AppendArrayHeader(nil, 5)
	out = msgbin.AppendString(out, Magic)
	out = msgbin.AppendInt(out, Version)
	out = msgbin.AppendBin(out, body)
	out = msgbin.AppendBin(out, sum[:])
	return msgbin.AppendNil(out), nil
}

// Decode reads a model from the bytes of its file and checks it whole.
func Decode(b []byte) (*Model, error) {
	r := msgbin.NewReader(b)
	n, err := r.Array(64)
	if err != nil || n < 5 {
		return nil, fmt.Errorf("%w: it does not start with the array of a model", ErrNotModel)
	}
	if magic, err := r.StringBytes(64); err != nil || string(magic) != Magic {
		return nil, fmt.Errorf("%w: it does not start with %q", ErrNotModel, Magic)
	}
	v, err := r.Int64()
	if err != nil {
		return nil, fmt.Errorf("%w: version: %w", ErrDamaged, err)
	}
	if v != Version {
		return nil, fmt.Errorf("%w: found %d, this program reads %d: use a program of the same release, or train again", ErrVersion, v, Version)
	}
	body, err := r.Bin(maxFile)
	if err != nil {
		return nil, fmt.Errorf("%w: body: %w", ErrDamaged, err)
	}
	want, err := r.Bin(sha256.Size)
	if err != nil {
		return nil, fmt.Errorf("%w: checksum: %w", ErrDamaged, err)
	}
	sum := sha256.Sum256(body)
	if !bytes.Equal(sum[:], want) {
		return nil, fmt.Errorf("%w: its checksum does not fit its content; copy it again", ErrDamaged)
	}
	if !r.Nil() {
		if s, err := r.Bin(signatureSize); err != nil || len(s) != signatureSize {
			return nil, fmt.Errorf("%w: the signature is neither nil nor a bin of %d bytes", ErrDamaged, signatureSize)
		}
	}
	for i := 5; i < n; i++ { // what later writers add
		if err := r.Skip(); err != nil {
			return nil, fmt.Errorf("%w: element %d: %w", ErrDamaged, i, err)
		}
	}
	if r.Left() > 0 {
		return nil, fmt.Errorf("%w: %d bytes after its end", ErrDamaged, r.Left())
	}
	m := new(Model)
	c := open(body, "")
	if c.err == nil {
		m.fields(c)
	}
	if c.err != nil {
		return nil, c.err
	}
	if err := m.Check(); err != nil {
		return nil, err
	}
	m.ID = hex.EncodeToString(sum[:8])
	return m, nil
}

// ReadFile reads and checks a model file. Errors name the file.
func ReadFile(path string) (*Model, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.Size() > maxFile {
		return nil, fmt.Errorf("%s: %w: %d bytes, at most %d", path, ErrNotModel, info.Size(), maxFile)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	m, err := Decode(b)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return m, nil
}

// WriteFile encodes a model and writes its file whole or not at all.
func WriteFile(path string, m *Model) error {
	b, err := m.Encode()
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return durable.WriteFile(path, b)
}
