package input_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/dgm-robotics/dgm/bridge/input"
)

// Whatever a file holds: it is read as it is or unpacked, or a PackError reports it. What has no mark of a
// packing is returned byte for byte.
func FuzzFile(f *testing.F) {
	var z, s bytes.Buffer
	g := gzip.NewWriter(&z)
	e, err := zstd.NewWriter(&s)
	if err != nil {
		f.Fatal(err)
	}
	for _, w := range []io.WriteCloser{g, e} {
		if _, err := w.Write(bytes.Repeat([]byte("a log"), 100)); err != nil {
			f.Fatal(err)
		}
		if err := w.Close(); err != nil {
			f.Fatal(err)
		}
	}
	f.Add(z.Bytes())
	f.Add(s.Bytes())
	f.Add(z.Bytes()[:z.Len()/2])
	f.Add([]byte("no log"))
	name := filepath.Join(f.TempDir(), "a.log")
	f.Fuzz(func(t *testing.T, b []byte) {
		if err := os.WriteFile(name, b, 0o600); err != nil {
			t.Fatal(err)
		}
		var damage *input.PackError
		file, err := input.Open(name)
		if err != nil {
			if !errors.As(err, &damage) {
				t.Fatalf("error of type %T: %v", err, err)
			}
			return
		}
		defer file.Close()
		got, err := io.ReadAll(io.LimitReader(file, 1<<20)) // a few bytes may unpack to terabytes
		if err != nil && !errors.As(err, &damage) {
			t.Fatalf("error of type %T: %v", err, err)
		}
		packed := bytes.HasPrefix(b, []byte{0x1f, 0x8b}) || bytes.HasPrefix(b, []byte{0x28, 0xb5, 0x2f, 0xfd})
		if !packed && (err != nil || !bytes.Equal(got, b)) {
			t.Fatalf("%d bytes of %d, %v", len(got), len(b), err)
		}
	})
}
