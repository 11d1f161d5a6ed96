package model_test

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/dgm-robotics/dgm/estimator/internal/msgbin"
	"github.com/dgm-robotics/dgm/estimator/model"
)

// wrap makes a file with a fitting checksum around a body.
func wrap(body []byte) []byte {
	sum := sha256.Sum256(body)
	return msgbin.Append(nil, func(w *msgbin.Writer) {
		w.Array(5)
		w.String(model.Magic)
		w.Int(model.Version)
		w.Bin(body)
		w.Bin(sum[:])
		w.Nil()
	})
}

func TestEveryFlippedBitIsRefused(t *testing.T) {
	b := goldenFile(t, "v3")
	for i := range b {
		for bit := range 8 {
			b[i] ^= 1 << bit
			if _, err := model.Decode(b); err == nil {
				t.Fatalf("bit %d of byte %d flipped and not seen", bit, i)
			}
			b[i] ^= 1 << bit
		}
	}
}

func TestEveryTruncationIsRefused(t *testing.T) {
	b := goldenFile(t, "v3")
	for n := range b {
		_, err := model.Decode(b[:n])
		if err == nil {
			t.Fatalf("%d of %d bytes were enough", n, len(b))
		}
		if errors.Is(err, model.ErrDamaged) && !strings.HasSuffix(err.Error(), "; copy it again") {
			t.Fatalf("cut after %d bytes, and no mend: %v", n, err)
		}
	}
	if _, err := model.Decode(append(b, 0)); !errors.Is(err, model.ErrDamaged) {
		t.Errorf("a byte behind the end: %v", err)
	}
}

func TestOtherFilesAreNamed(t *testing.T) {
	good := goldenFile(t, "v3")
	at := bytes.IndexByte(good, model.Magic[len(model.Magic)-1]) + 1
	newer := bytes.Clone(good)
	newer[at] += 9
	signed := func(s []byte) []byte {
		return msgbin.Append(bytes.Clone(good[:len(good)-1]), func(w *msgbin.Writer) { w.Bin(s) })
	}
	for name, c := range map[string]struct {
		file []byte
		is   error
		want string
	}{
		"empty":           {nil, model.ErrNotModel, "model"},
		"text":            {[]byte("t,theta,omega\n0,1,2\n"), model.ErrNotModel, "model"},
		"a log":           {[]byte("\x85\xa5magic\xaddgm.flightlog"), model.ErrNotModel, "model"},
		"other magic":     {bytes.Replace(good, []byte(model.Magic), []byte("dgm-mOdel"), 1), model.ErrNotModel, model.Magic},
		"newer version":   {newer, model.ErrVersion, "found 12, this program reads 1 to 11: use a program of the same release, or train again"},
		"checksum":        {bytes.Replace(good, []byte("made up"), []byte("made uP"), 1), model.ErrDamaged, "copy it again"},
		"short signature": {signed(make([]byte, 63)), model.ErrDamaged, "signature"},
	} {
		_, err := model.Decode(c.file)
		if !errors.Is(err, c.is) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := model.Decode(signed(make([]byte, 64))); err != nil {
		t.Errorf("the signature's place is not free: %v", err)
	}
}

func TestFileErrorsNameTheFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "absent.dgm")
	if _, err := model.ReadFile(path); err == nil || !strings.Contains(err.Error(), path) {
		t.Error(err)
	}
	m, err := model.Decode(goldenFile(t, "v3"))
	if err != nil {
		t.Fatal(err)
	}
	path = filepath.Join(t.TempDir(), "m.dgm")
	m.Scale[1] = math.NaN()
	var field *model.FieldError
	if err := model.WriteFile(path, m); !errors.As(err, &field) || field.Field != "scale" || !strings.Contains(err.Error(), path) {
		t.Error(err)
	}
	m.Scale[1] = 1
	if err := model.WriteFile(path, m); err != nil {
		t.Fatal(err)
	}
	back, err := model.ReadFile(path)
	if err != nil || back.ID != m.ID || len(back.ID) != 16 {
		t.Errorf("wrote model %s, read %v, %v", m.ID, back, err)
	}
}

// What is no model is told from its first bytes: something without an end ends.
func TestOtherFilesAreNoModel(t *testing.T) {
	dir := t.TempDir()
	in := func(name string, b []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, b, 0o666); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for path, want := range map[string]string{
		dir:                                     "is a folder; name the model file in it",
		in("empty", nil):                        "it is empty",
		in("text", []byte("no model at all\n")): "dgm-train wrote",
		in("short", goldenFile(t, "v3")[:20]):   "damaged",
		"/dev/zero":                             "does not start with",
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := model.ReadFile(path)
		runtime.ReadMemStats(&after)
		if err == nil || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", path, err, want)
		}
		if used := after.TotalAlloc - before.TotalAlloc; used > 1<<20 {
			t.Errorf("%s: %d bytes of memory were taken", path, used)
		}
	}
}

// TestUntrustedLengthsDoNotAllocate offers lengths of gigabytes in a few bytes.
func TestUntrustedLengthsDoNotAllocate(t *testing.T) {
	huge := []byte{0xff, 0xff, 0xff, 0xff}
	claim := func(code byte) []byte { return append([]byte{code}, huge...) }
	head := msgbin.Append(nil, func(w *msgbin.Writer) {
		w.Array(5)
		w.String(model.Magic)
		w.Int(model.Version)
	})
	field := func(key string, v []byte) []byte {
		return wrap(msgbin.Append(nil, func(w *msgbin.Writer) {
			w.Map(1)
			w.String(key)
			w.Raw(v)
		}))
	}
	files := map[string][]byte{
		"outer array":  claim(0xdd),
		"magic":        append([]byte{0x95}, claim(0xdb)...),
		"body":         append(bytes.Clone(head), claim(0xc6)...),
		"body map":     wrap(claim(0xdf)),
		"key":          wrap(append([]byte{0x81}, claim(0xdb)...)),
		"extension":    field("vehicle", claim(0xc9)),
		"text":         field("vehicle", claim(0xdb)),
		"vector":       field("scale", claim(0xc6)),
		"number array": field("scale", claim(0xdd)),
		"list":         field("members", claim(0xdd)),
		"whole map":    field("inputs", claim(0xdf)),
	}
	for name, b := range files {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := model.Decode(b)
		runtime.ReadMemStats(&after)
		if err == nil {
			t.Errorf("%s: accepted", name)
		}
		if n := after.TotalAlloc - before.TotalAlloc; n > 64<<10 {
			t.Errorf("%s: %d bytes were taken for %d: %v", name, n, len(b), err)
		}
	}
}
