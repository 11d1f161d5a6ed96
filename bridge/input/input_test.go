package input_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/klauspost/compress/zstd"

	"github.com/dgm-robotics/dgm/bridge/input"
)

// text is something that packs, and is longer than any buffer here.
var text = []byte(strings.Repeat("0.123,4.567,8.901\n", 50_000))

func packed(t *testing.T, kind string) []byte {
	var b bytes.Buffer
	var w io.WriteCloser
	switch kind {
	case "gzip":
		w = gzip.NewWriter(&b)
	case "zstd":
		z, err := zstd.NewWriter(&b)
		if err != nil {
			t.Fatal(err)
		}
		w = z
	default:
		return text
	}
	if _, err := w.Write(text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestUnpacks(t *testing.T) {
	for _, kind := range []string{"plain", "gzip", "zstd"} {
		data := packed(t, kind)
		path := filepath.Join(t.TempDir(), "log")
		if err := os.WriteFile(path, data, 0o666); err != nil {
			t.Fatal(err)
		}
		f, err := input.Open(path)
		if err != nil {
			t.Fatal(kind, err)
		}
		got, err := io.ReadAll(f)
		if err != nil || !bytes.Equal(got, text) || f.Consumed() != int64(len(data)) || f.Size() != int64(len(data)) {
			t.Errorf("%s: %d bytes, %v, %d of %d consumed", kind, len(got), err, f.Consumed(), f.Size())
		}
		if err := f.Close(); err != nil {
			t.Error(kind, err)
		}
		// Cut off and damaged: the error names the packing.
		if kind == "plain" {
			continue
		}
		flipped := bytes.Clone(data)
		flipped[len(flipped)/2] ^= 0xff
		for what, b := range map[string][]byte{"cut": data[:len(data)/2], "flipped": flipped} {
			if err := os.WriteFile(path, b, 0o666); err != nil {
				t.Fatal(err)
			}
			f, err := input.Open(path)
			if err == nil {
				_, err = io.Copy(io.Discard, f)
				f.Close()
			}
			var pack *input.PackError
			if !errors.As(err, &pack) || pack.Packing != kind || !strings.Contains(err.Error(), "damaged or cut off") {
				t.Errorf("%s %s: %v", kind, what, err)
			}
		}
	}
	if _, err := input.Open(t.TempDir()); err == nil || !strings.Contains(err.Error(), "is a folder") {
		t.Error(err)
	}
	if _, err := input.Open("nix"); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
	empty := filepath.Join(t.TempDir(), "empty")
	if err := os.WriteFile(empty, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if f, err := input.Open(empty); err != nil {
		t.Error(err)
	} else if b, err := io.ReadAll(f); len(b) != 0 || err != nil {
		t.Error(b, err)
	}
}

// However the bytes are read, they are the same, and so is the
// place.
func TestWindow(t *testing.T) {
	data := make([]byte, 10_000)
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range data {
		data[i] = byte(rng.Uint32())
	}
	for name, r := range map[string]io.Reader{
		"at once":   bytes.NewReader(data),
		"halves":    iotest.HalfReader(bytes.NewReader(data)),
		"by bytes":  iotest.OneByteReader(bytes.NewReader(data)),
		"with data": iotest.DataErrReader(bytes.NewReader(data)),
	} {
		w := input.NewWindow(r, 300)
		at := 0
		for at < len(data) {
			n := rng.IntN(301)
			b := w.Peek(n)
			if len(b) != min(n, len(data)-at) || !bytes.Equal(b, data[at:at+len(b)]) || w.Offset() != int64(at) {
				t.Fatalf("%s: at %d, offset %d: %d of %d bytes", name, at, w.Offset(), len(b), n)
			}
			k := rng.IntN(len(b) + 1)
			if rng.IntN(4) == 0 {
				if far := int64(rng.IntN(500)); w.Skip(far) != min(far, int64(len(data)-at)) {
					t.Fatalf("%s: skipped another number of bytes at %d", name, at)
				} else {
					at += int(min(far, int64(len(data)-at)))
				}
				continue
			}
			w.Pass(k)
			at += k
		}
		if len(w.Peek(1)) != 0 || w.Err() != nil || w.Skip(5) != 0 {
			t.Errorf("%s: at the end: %v", name, w.Err())
		}
	}
	w := input.NewWindow(iotest.TimeoutReader(iotest.OneByteReader(bytes.NewReader(data))), 10)
	if b := w.Peek(5); len(b) != 1 || !errors.Is(w.Err(), iotest.ErrTimeout) {
		t.Errorf("%d bytes, %v", len(b), w.Err())
	}
}
