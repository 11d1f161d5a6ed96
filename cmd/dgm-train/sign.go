package main

import (
	"fmt"
	"io"

	"github.com/dgm-robotics/dgm/cmd/internal/cli"
	"github.com/dgm-robotics/dgm/cmd/internal/keys"
	"github.com/dgm-robotics/dgm/estimator/model"
)

// signOnly signs a model file that there is.
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
