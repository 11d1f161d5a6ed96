package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/dgm-robotics/dgm/estimator/durable"
)

// Outputs checks before any work that a command can write its files at the end: none of
// them is a file that it reads, no two are the same, and every name is writable (its
// folder exists and permits it, it is no folder and no device).
//
// flag names the outputs for the user: "--out". reads and writes are file names; empty
// ones are ignored.
func Outputs(flag string, reads, writes []string) error {
	if err := Apart(flag, reads, writes); err != nil {
		return err
	}
	for _, out := range writes {
		if out == "" {
			continue
		}
		file, err := durable.Create(out)
		if err != nil {
			return fmt.Errorf("%s: %w", flag, err)
		}
		file.Abort()
	}
	return nil
}

// Folder makes a folder that a command writes to by a flag, and fails at once where nothing can be
// written there.
func Folder(flag, dir string) error {
	err := os.MkdirAll(dir, 0o777)
	if err == nil {
		var probe *os.File
		if probe, err = os.CreateTemp(dir, ".writable-*"); err == nil {
			err = errors.Join(probe.Close(), os.Remove(probe.Name()))
		}
	}
	if path, ok := errors.AsType[*fs.PathError](err); ok {
		err = path.Err
	}
	if err != nil {
		return fmt.Errorf("%s: nothing can be written there: %w; choose another folder with %s", dir, err, flag)
	}
	return nil
}

// Apart is the part of Outputs that touches no file: no file that is written is
// also read, or written under another name.
func Apart(flag string, reads, writes []string) error {
	for i, out := range writes {
		if out == "" {
			continue
		}
		for _, in := range reads {
			if in != "" && same(in, out) {
				return Usage("%s is read and would be replaced by what is written: choose another %s", in, flag)
			}
		}
		for _, other := range writes[:i] {
			if other != "" && same(other, out) {
				return Usage("%s would be written twice, as %s: choose another %s", other, out, flag)
			}
		}
	}
	return nil
}

// same reports whether two names are of one file. A file that does not exist is
// identified by its folder.
func same(a, b string) bool {
	infoA, errA := os.Stat(a)
	infoB, errB := os.Stat(b)
	if errA == nil && errB == nil {
		return os.SameFile(infoA, infoB)
	}
	if errA == nil || errB == nil {
		return false
	}
	dirA, dirB := filepath.Dir(a), filepath.Dir(b)
	return filepath.Base(a) == filepath.Base(b) && (dirA == dirB || same(dirA, dirB))
}
