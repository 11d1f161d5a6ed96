package main

import (
	"crypto/ed25519"
	"fmt"
	"os"
	"path/filepath"

	"github.com/dgm-robotics/dgm/estimator/model"
)

// keep writes the model. Where the folder fails that could be written to when the
// training began (a disk that is full, a drive that was taken away), it is saved
// among the temporary files, and the error says where: the hours of a training
// are not lost for it.
func keep(path string, m *model.Model, key ed25519.PrivateKey) error {
	err := model.WriteSigned(path, m, key)
	if err == nil {
		return nil
	}
	dir, e := os.MkdirTemp("", "dgm-train-")
	if e != nil {
		return err
	}
	saved := filepath.Join(dir, filepath.Base(path))
	if e := model.WriteSigned(saved, m, key); e != nil {
		// An empty folder among the temporary files is all that would be left.
		_ = os.Remove(dir)
		return err
	}
	return fmt.Errorf("%w; the model was saved as %s", err, saved)
}
