package durable

import (
	"errors"
	"fmt"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// unnamed creates a file without a name in a folder, "" being the working one. It
// returns nil where that cannot be.
func unnamed(dir string) *os.File {
	if dir == "" {
		dir = "."
	}
	f, err := os.OpenFile(dir, unix.O_TMPFILE|os.O_RDWR, 0o666)
	if err != nil {
		return nil
	}
	if _, err := os.Stat(descriptor(f)); err != nil { // where link finds it
		_ = f.Close() // nothing was written
		return nil
	}
	return f
}

func descriptor(f *os.File) string { return fmt.Sprintf("/proc/self/fd/%d", f.Fd()) }

// link gives a file without a name the name, or copies it where that is forbidden.
func link(f *os.File, name string) error {
	err := unix.Linkat(unix.AT_FDCWD, descriptor(f), unix.AT_FDCWD, name, unix.AT_SYMLINK_FOLLOW)
	if err == nil || errors.Is(err, os.ErrExist) {
		return err
	}
	to, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o666)
	if err != nil {
		return err
	}
	if _, err = f.Seek(0, io.SeekStart); err == nil {
		_, err = io.Copy(to, f)
	}
	err = errors.Join(err, to.Sync(), to.Close())
	if err != nil {
		return errors.Join(err, os.Remove(name))
	}
	return nil
}
