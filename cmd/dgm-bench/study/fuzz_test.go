package study

import (
	"os"
	"path/filepath"
	"testing"
)

// FuzzRows: rows of results that other programs wrote or edited are read or refused.
func FuzzRows(f *testing.F) {
	f.Add([]byte(`{"set":"a","variant":"x","seed":1,"loglik":1}` + "\n"))
	f.Add([]byte(`{"set":"a","seed":-1,"channels":["x"],"geo":[1,null]}` + "\n{"))
	f.Fuzz(func(t *testing.T, lines []byte) {
		path := filepath.Join(t.TempDir(), "s"+ending)
		if err := os.WriteFile(path, lines, 0o600); err != nil {
			t.Fatal(err)
		}
		rows, err := readRows(path)
		for _, r := range rows {
			if r == nil && err == nil {
				t.Error("a row is nil")
			}
		}
	})
}
