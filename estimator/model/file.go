package model

import (
	"bytes"
	"crypto/ed25519"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/dgm-robotics/dgm/estimator/durable"
)

// ReadFile reads and checks a model file. Errors name the file.
func ReadFile(path string) (*Model, error) {
	m, _, err := ReadSigned(path, nil)
	return m, err
}

// ReadSigned is ReadFile for a file that must be signed, and its statement; a nil key asks
// for no signature. Both refuse a model that is not sealed.
func ReadSigned(path string, key ed25519.PublicKey) (m *Model, s Statement, err error) {
	b, err := read(path)
	if err != nil {
		return nil, s, err
	}
	if m, s, err = DecodeSigned(b, key); err == nil {
		err = m.Sealed()
	}
	if err != nil {
		return nil, s, fmt.Errorf("%s: %w", path, err)
	}
	return m, s, nil
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
	file := bytes.NewBuffer(start[:n])
	if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
		file.Grow(int(min(info.Size(), MaxFile)) + bytes.MinRead)
	}
	if _, err := file.ReadFrom(io.LimitReader(f, MaxFile)); err != nil {
		return nil, err
	}
	if file.Len() > MaxFile {
		return nil, fmt.Errorf("%s: %w: it has more than %d MiB; train a smaller model", path, ErrNotModel, MaxFile>>20)
	}
	return file.Bytes(), nil
}

// WriteFile encodes a model and writes its file whole or not at all.
func WriteFile(path string, m *Model) error { return WriteSigned(path, m, nil, Statement{}) }

// WriteSigned is WriteFile with the signature of key, see Sign; a nil key makes none.
func WriteSigned(path string, m *Model, key ed25519.PrivateKey, s Statement) error {
	b, err := m.Encode()
	if err == nil && key != nil {
		b, err = Sign(b, key, s)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return durable.WriteFile(path, b)
}

// SignFile puts the signature of key into a model file, see Sign. Errors name the file,
// which is then unchanged.
func SignFile(path string, key ed25519.PrivateKey, s Statement) error {
	b, err := read(path)
	if err != nil {
		return err
	}
	if b, err = Sign(b, key, s); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return durable.WriteFile(path, b)
}
