//go:build !linux

package durable

import (
	"errors"
	"os"
)

// unnamed returns nil: this system has no files without a name.
func unnamed(string) *os.File { return nil }

func link(*os.File, string) error { return errors.ErrUnsupported }
