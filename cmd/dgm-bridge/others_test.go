package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dgm-robotics/dgm/cmd/internal/cli"
)

// Files that are not read are refused by what they are, with the command that converts them.
func TestOtherFiles(t *testing.T) {
	zipped := func(name string) []byte {
		var b bytes.Buffer
		w := zip.NewWriter(&b)
		if _, err := w.Create(name); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	var tarred bytes.Buffer
	w := tar.NewWriter(&tarred)
	if err := w.WriteHeader(&tar.Header{Name: "a.csv", Size: 0, Mode: 0o644}); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		data []byte
		want string
	}{
		"a.xlsx":    {zipped("[Content_Types].xml"), "a workbook of a spreadsheet, which is not read: save each sheet as CSV"},
		"a.zip":     {zipped("log.csv"), "an archive (zip), which is not read: unzip "},
		"a.npz":     {zipped("x.npy"), "has no array"},
		"a.tar":     {tarred.Bytes(), "the file is an archive (tar); unpack it with tar -xf"},
		"a.csv.bz2": {[]byte("BZh91AY&SY"), "packed with bzip2, which is not read: bunzip2 -k "},
		"a.csv.xz":  {[]byte("\xfd7zXZ\x00\x00\x04"), "packed with xz, which is not read: xz -dk "},
		"a.feather": {[]byte("ARROW1\x00\x00"), "pandas.read_feather("},
		"a.npy":     {[]byte("\x93NUMPY\x01\x00"), "numpy.savez("},
		"a.pkl":     {[]byte("\x80\x04\x95\x10"), "pandas.read_pickle("},
		"a.jsonl":   {[]byte("{\"t\": 0}\n"), "pandas.read_json("},
		"a.yaml":    {[]byte("header:\n  stamp:\n    sec: 0\n---\n"), "ros2 bag record"},
		"a.h5":      {[]byte("\x89HDF\r\n\x1a\n"), "a file in HDF5"},
	} {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, c.data, 0o666); err != nil {
			t.Fatal(err)
		}
		if code, _, errs := run("topics", path, "--suggest"); code == cli.Done || !strings.Contains(errs, c.want) {
			t.Errorf("%s: no %q in %s", name, c.want, errs)
		}
	}
}
