// Package durable writes files that are complete or absent, and files that keep
// what was synced.
//
// A [File] of [Create] is written in the folder of the final name, synced, and renamed
// at the end: after a crash, a full disk or a power cut the final name has its earlier
// content, or all of the new one. Until then it has no name where Linux and the file
// system have such files, so that a writer that is killed leaves nothing behind; else a
// temporary one. A File of [Append] grows in place.
package durable

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// File is a file being written. It implements io.Writer. It ends by Commit or
// Abort.
type File struct {
	path    string   // the final name
	file    *os.File // nil after Commit and Abort
	replace bool     // file gets the final name by Commit
	name    string   // the temporary one; "" = none
}

// Create begins a file that appears at path with Commit. It fails at once where
// the folder is missing or not writable, and where path is something that must not
// be replaced (a folder, a device).
func Create(path string) (*File, error) {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s: is not a regular file and is not replaced; choose another name", path)
	}
	dir, base := filepath.Split(path)
	if base == "" {
		return nil, fmt.Errorf("%s: a file name is missing", path)
	}
	f := &File{path: path, replace: true}
	if f.file = unnamed(dir); f.file != nil {
		return f, nil
	}
	err := f.temporary(func(name string) (err error) {
		f.file, err = os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o666)
		return err
	})
	if err != nil {
		return nil, notWritten(path, err)
	}
	return f, nil
}

// temporary gives the file a temporary name by make. Each writer has a name of its own,
// also beside the leftovers of a crash.
func (f *File) temporary(make func(name string) error) error {
	dir, base := filepath.Split(f.path)
	for i := range 1000 {
		name := filepath.Join(dir, fmt.Sprintf(".%s.%d.tmp", base, i))
		err := make(name)
		if err == nil {
			f.name = name
		}
		if !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	return errors.New("1000 temporary files of this name are left over in its folder; delete them")
}

// Append begins or continues a file in place: what was synced survives the loss of
// power.
func Append(path string) (*File, error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o666)
	if err != nil {
		return nil, notWritten(path, err)
	}
	return &File{path: path, file: file}, nil
}

// Path returns the final name.
func (f *File) Path() string { return f.path }

func (f *File) Write(b []byte) (int, error) {
	n, err := f.open().Write(b)
	return n, notWritten(f.path, err)
}

// Sync puts on the disk what was written so far, in a file of Create still under
// the temporary name.
func (f *File) Sync() error { return notWritten(f.path, f.open().Sync()) }

func (f *File) open() *os.File {
	if f.file == nil {
		panic("durable: a file is used after Commit or Abort")
	}
	return f.file
}

// Commit syncs and closes the file; one of Create gets its final name. On an error
// the final name of such a file has its earlier content and the temporary file is
// gone; a file of Append keeps what was written.
func (f *File) Commit() error {
	file := f.open()
	f.file = nil
	err := file.Sync()
	if err == nil && f.replace && f.name == "" {
		err = f.temporary(func(name string) error { return link(file, name) })
	}
	if e := file.Close(); err == nil {
		err = e
	}
	if err == nil && f.replace {
		err = os.Rename(f.name, f.path)
	}
	switch {
	case err == nil:
		return SyncFolder(f.path)
	case f.name != "":
		return errors.Join(notWritten(f.path, err), os.Remove(f.name))
	}
	return notWritten(f.path, err)
}

// Abort drops a file of Create and closes one of Append as it is. After Commit or
// Abort it does nothing, so that it can be deferred.
func (f *File) Abort() {
	if f.file == nil {
		return
	}
	// The file is given up, and nothing depends on a temporary one that remains.
	_ = f.file.Close()
	if f.name != "" {
		_ = os.Remove(f.name)
	}
	f.file = nil
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

// notWritten adds the final name to an error of package os, nil where it is nil.
func notWritten(path string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: cannot be written: %w", path, cause(err))
}

// cause removes the operation and the temporary name from an error of package os.
func cause(err error) error {
	if path, ok := errors.AsType[*fs.PathError](err); ok {
		return path.Err
	}
	if link, ok := errors.AsType[*os.LinkError](err); ok {
		return link.Err
	}
	return err
}
