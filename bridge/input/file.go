package input

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/klauspost/compress/zstd"
)

// maxWindow bounds the memory for a .zst file, in bytes.
const maxWindow = 128 << 20

// File is an open log file, unpacked while it is read.
type File struct {
	file     *os.File
	r        io.Reader
	unpack   io.Closer // (optional) what holds memory for unpacking
	size     int64     // bytes on disk
	consumed int64     // bytes read from disk
	packed   string    // "gzip", "zstd" or ""
	done     <-chan struct{}
}

// Open opens a file. Folders and what cannot be unpacked are refused.
func Open(path string) (*File, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	f := &File{file: file}
	if err := f.start(path); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return f, nil
}

func (f *File) start(path string) error {
	info, err := f.file.Stat()
	if err != nil {
		return err
	}
	if info.IsDir() {
		return fmt.Errorf("%s: is a folder; give its files one by one", path)
	}
	f.size = info.Size()
	head := make([]byte, 4)
	n, err := io.ReadFull(f.file, head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return err
	}
	head = head[:n]
	raw := io.MultiReader(bytes.NewReader(head), f.file)
	counted := &counter{raw, &f.consumed}
	f.r = counted
	switch {
	case bytes.HasPrefix(head, []byte{0x1f, 0x8b}):
		f.packed = "gzip"
		z, err := gzip.NewReader(counted)
		if err != nil {
			return fmt.Errorf("%s: %w", path, f.cause(err))
		}
		f.r, f.unpack = z, z
	case bytes.HasPrefix(head, []byte{0x28, 0xb5, 0x2f, 0xfd}):
		f.packed = "zstd"
		z, err := zstd.NewReader(counted, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxWindow))
		if err != nil {
			return fmt.Errorf("%s: %w", path, f.cause(err))
		}
		f.r, f.unpack = z, z.IOReadCloser()
	}
	return nil
}

// ErrStopped reports that reading was stopped before the end of the file.
var ErrStopped = errors.New("stopped")

// Until has Read fail with ErrStopped once done is closed. A packed file may hold far
// more than it seems to, and a search for the next message in it does not return
// before there is one.
func (f *File) Until(done <-chan struct{}) { f.done = done }

// Read reads unpacked bytes. Where unpacking fails the error is a *PackError.
func (f *File) Read(b []byte) (int, error) {
	select {
	case <-f.done:
		return 0, ErrStopped
	default:
	}
	n, err := f.r.Read(b)
	if err != nil && !errors.Is(err, io.EOF) {
		err = f.cause(err)
	} else if errors.Is(err, io.ErrUnexpectedEOF) {
		err = f.cause(err)
	}
	return n, err
}

// Consumed returns how many bytes were read from disk, of Size.
func (f *File) Consumed() int64 { return f.consumed }

// Size returns the size on disk.
func (f *File) Size() int64 { return f.size }

func (f *File) Close() error {
	if f.unpack != nil {
		// Nothing was written; an error of unpacking was returned by Read.
		_ = f.unpack.Close()
	}
	return f.file.Close()
}

// PackError reports that a packed file is damaged or cut off.
type PackError struct {
	Packing string // gzip or zstd
	Err     error
}

// Error returns it with its remedy.
func (e *PackError) Error() string {
	return fmt.Sprintf("the %s data are damaged or cut off (%v); compress or copy the file again", e.Packing, e.Err)
}

// Unwrap returns the cause.
func (e *PackError) Unwrap() error { return e.Err }

// cause separates unpacking's errors from the disk's.
func (f *File) cause(err error) error {
	var disk *os.PathError
	if f.packed == "" || errors.As(err, &disk) {
		return err
	}
	return &PackError{f.packed, err}
}

// counter counts what was read.
type counter struct {
	r io.Reader
	n *int64
}

func (c *counter) Read(b []byte) (int, error) {
	n, err := c.r.Read(b)
	*c.n += int64(n)
	return n, err
}
