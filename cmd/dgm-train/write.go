package main

import (
	"crypto/ed25519"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/dgm-robotics/dgm/cmd/internal/cli"
	"github.com/dgm-robotics/dgm/cmd/internal/keys"
	"github.com/dgm-robotics/dgm/estimator/model"
)

// signOnly signs an existing model file.
func (o *options) signOnly(out io.Writer) error {
	switch {
	case o.sign == "":
		return cli.Usage("--model needs --sign, the private key to sign it with")
	case len(o.logs) > 0 || o.out != "" || o.check:
		return cli.Usage("--model signs a file in its place: no --log, --out or --check goes with it")
	}
	key, err := keys.Private(o.sign)
	if err != nil {
		return err
	}
	if err := model.SignFile(o.model, key); err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "signed %s\n", o.model)
	return err
}

// writeModel writes the model. If its folder fails that was writable when the training
// began (a full disk, a removed drive), the model is saved among the temporary files,
// and the error names the place: a training of hours is not lost.
func writeModel(path string, m *model.Model, key ed25519.PrivateKey) error {
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
		_ = os.Remove(dir) // an empty folder among the temporary files
		return err
	}
	return fmt.Errorf("%w; the model was saved as %s", err, saved)
}
