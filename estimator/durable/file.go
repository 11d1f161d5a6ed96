// Package durable writes files that are either there and whole or not there.
//
// A [File] is written under a temporary name in the folder of the final one,
// synced, and renamed at the end: after a crash, a full disk or a power cut the
// final name holds what it held before, or everything.
package durable

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// File is a file being written. It implements io.Writer.
type File struct {
	path string   // the final name
	temp *os.File // nil after Commit and Abort
}

// Create begins a file that will stand at path after Commit. It fails at once
// where the folder is missing or not writable, and where path is something that
// must not be replaced (a folder, a device).
func Create(path string) (*File, error) {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s: is not a regular file and is not replaced; choose another name", path)
	}
	dir, base := filepath.Split(path)
	if base == "" {
		return nil, fmt.Errorf("%s: a file name is missing", path)
	}
	// A name of its own, so that two writers and leftovers of a crash do not meet.
	for i := range 1000 {
		name := filepath.Join(dir, fmt.Sprintf(".%s.%d.tmp", base, i))
		temp, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o666)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("%s: cannot be written: %w", path, cause(err))
		}
		return &File{path: path, temp: temp}, nil
	}
	return nil, fmt.Errorf("%s: cannot be written: 1000 temporary files of this name are left over in its folder; delete them", path)
}

// Path returns the final name.
func (f *File) Path() string { return f.path }

// Write appends b.
func (f *File) Write(b []byte) (int, error) {
	if f.temp == nil {
		panic("durable: write after Commit or Abort")
	}
	n, err := f.temp.Write(b)
	if err != nil {
		err = fmt.Errorf("%s: cannot be written: %w", f.path, cause(err))
	}
	return n, err
}

// Sync puts on the disk what was written so far, still under the temporary name.
func (f *File) Sync() error {
	if err := f.temp.Sync(); err != nil {
		return fmt.Errorf("%s: cannot be written: %w", f.path, cause(err))
	}
	return nil
}

// Commit puts the file under its final name. On an error nothing stands there
// that was not there before, and the temporary file is gone.
func (f *File) Commit() error {
	if f.temp == nil {
		panic("durable: Commit after Commit or Abort")
	}
	temp := f.temp
	err := temp.Sync()
	if e := temp.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = os.Rename(temp.Name(), f.path)
	}
	f.temp = nil
	if err != nil {
		err = errors.Join(fmt.Errorf("%s: cannot be written: %w", f.path, cause(err)), os.Remove(temp.Name()))
		return err
	}
	return SyncFolder(f.path)
}

// Abort drops the file. After Commit or Abort it does nothing, so that it can be
// deferred.
func (f *File) Abort() {
	if f.temp == nil {
		return
	}
	// Nothing can be done about a temporary file that does not go away, and
	// nothing depends on it.
	_ = f.temp.Close()
	_ = os.Remove(f.temp.Name())
	f.temp = nil
}

// WriteFile writes data to path: all of it or nothing.
func WriteFile(path string, data []byte) error {
	f, err := Create(path)
	if err != nil {
		return err
	}
	defer f.Abort()
	if _, err := f.Write(data); err != nil {
		return err
	}
	return f.Commit()
}

// SyncFolder makes the entry of path in its folder durable.
func SyncFolder(path string) error {
	dir, err := os.Open(filepath.Dir(path))
	if err != nil {
		return fmt.Errorf("%s: its folder cannot be synced: %w", path, cause(err))
	}
	defer dir.Close()
	// Some file systems do not sync folders; the file itself is safe then.
	if err := dir.Sync(); err != nil && !errors.Is(err, errors.ErrUnsupported) && !errors.Is(err, fs.ErrInvalid) {
		return fmt.Errorf("%s: its folder cannot be synced: %w", path, cause(err))
	}
	return nil
}

// cause strips the operation and the temporary name off an error of package os:
// the user knows the final name only.
func cause(err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	var link *os.LinkError
	if errors.As(err, &link) {
		return link.Err
	}
	return err
}
