package node

import (
	"crypto/ed25519"
	"errors"
	"fmt"
	"os"

	"github.com/dgm-robotics/dgm/estimator/durable"
	"github.com/dgm-robotics/dgm/estimator/model"
)

// mostAccepted is the size of a file of what was accepted, bytes: two models.
const mostAccepted = 1 << 30

// ReadAccepted returns what was accepted with a key, nil where nothing was: there is no file (the one that AcceptedFile names), or it
// is of another key. A damaged file is an error, which says how to go on.
func ReadAccepted(path string, key ed25519.PublicKey) (*model.Accepted, error) {
	if path == "" || key == nil {
		return nil, nil
	}
	b, err := readRegular(path, mostAccepted)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("the newest statement accepted: %w", err)
	}
	a, err := model.DecodeAccepted(b, key)
	if err != nil {
		return nil, fmt.Errorf("%s: %w; remove the file to accept any number once more", path, err)
	}
	return a, nil
}

// AcceptedFile returns where that is kept, by the file of the trust monitor; "" = nowhere.
func AcceptedFile(trustFile string) string {
	if trustFile == "" {
		return ""
	}
	return trustFile + ".accepted"
}

// keep stores what was accepted: a model's file, or, of none, the one before that was gone back to.
func (s *models) keep(id string, file []byte) error {
	if s.acceptedFile == "" || s.accept.Key == nil {
		return nil
	}
	was, err := ReadAccepted(s.acceptedFile, s.accept.Key)
	if err != nil || was == nil {
		was = &model.Accepted{}
	}
	now := model.Accepted{Key: s.accept.Key, Sequence: s.accept.Least, Model: id, File: file, Before: was.File, Decision: s.accept.Decision, Revoked: s.accept.Revoked}
	switch {
	case file == nil:
		now.File = was.Before
	case was.Model == id:
		now.Before = was.Before
	}
	return durable.WriteFile(s.acceptedFile, now.Encode())
}

// readRegular returns the bytes of a regular file of at most so many: a pipe or a device would be waited for.
func readRegular(path string, most int64) ([]byte, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s: it is no regular file", path)
	case info.Size() > most:
		return nil, fmt.Errorf("%s: %d bytes, more than a file of this kind has", path, info.Size())
	}
	return os.ReadFile(path)
}
