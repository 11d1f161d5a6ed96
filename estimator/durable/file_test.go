package durable_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/dgm-robotics/dgm/estimator/durable"
)

// names lists the files of a folder.
func names(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return out
}

func TestWriteFileIsAtomic(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.bin")
	if err := durable.WriteFile(path, []byte("before")); err != nil {
		t.Fatal(err)
	}
	f, err := durable.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	other, err := durable.Create(path) // a second writer of the same name
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Write([]byte("half")); err != nil {
		t.Fatal(err)
	}
	if got, _ := os.ReadFile(path); string(got) != "before" {
		t.Errorf("while writing the file holds %q", got)
	}
	f.Abort()
	f.Abort()
	if _, err := other.Write([]byte("after")); err != nil {
		t.Fatal(err)
	}
	if err := other.Commit(); err != nil {
		t.Fatal(err)
	}
	other.Abort()
	if got, _ := os.ReadFile(path); string(got) != "after" {
		t.Errorf("after Commit the file holds %q", got)
	}
	if got := names(t, dir); len(got) != 1 {
		t.Errorf("left over: %v", got)
	}
	if info, _ := os.Stat(path); info.Mode().Perm()&0o400 == 0 {
		t.Errorf("mode %v", info.Mode())
	}
}

func TestErrorsNameTheFile(t *testing.T) {
	dir := t.TempDir()
	for _, path := range []string{filepath.Join(dir, "missing", "a.bin"), dir, dir + "/", os.DevNull} {
		_, err := durable.Create(path)
		if err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: error %v", path, err)
		}
	}
	if got := names(t, dir); len(got) != 0 {
		t.Errorf("left over: %v", got)
	}
	// A folder that takes the name while the file is written: Commit must fail
	// and clean up.
	path := filepath.Join(dir, "late")
	f, err := durable.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(path, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := f.Commit(); err == nil || !strings.Contains(err.Error(), path) || strings.Contains(err.Error(), ".tmp") {
		t.Errorf("Commit onto a folder: %v", err)
	}
	if got := names(t, dir); len(got) != 1 {
		t.Errorf("left over: %v", got)
	}
}

// A size limit of the process stands in for a full disk: a write fails midway.
func TestWriteFails(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "big")
	var old syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &old); err != nil {
		t.Skip("no file size limits here: ", err)
	}
	f, err := durable.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	limit := old
	limit.Cur = 4096
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		t.Skip("no file size limits here: ", err)
	}
	_, err = f.Write(make([]byte, 10000))
	if e := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &old); e != nil {
		t.Fatal(e)
	}
	if err == nil || !strings.Contains(err.Error(), path+": cannot be written") || !errors.Is(err, syscall.EFBIG) {
		t.Errorf("error %v", err)
	}
	f.Abort()
	if got := names(t, dir); len(got) != 0 {
		t.Errorf("left over: %v", got)
	}
}
