package study

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/dgm-robotics/dgm/cmd/internal/cli"
)

// Results are the rows in a folder: one file of JSON lines a study, NAME.jsonl.
type Results struct {
	Dir  string
	rows map[string][]*Row // by file name without ending
}

const ending = ".jsonl"

// largest is the size of a file of results that is read, bytes.
const largest = 64 << 20

// Open reads the results of a folder, which need not exist. Of two rows with the same key
// the later one counts. An empty name is no folder and holds nothing.
func Open(dir string) (*Results, error) {
	s := &Results{Dir: dir, rows: map[string][]*Row{}}
	if dir == "" {
		return s, nil
	}
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		name, ok := strings.CutSuffix(e.Name(), ending)
		if !ok {
			continue
		}
		if s.rows[name], err = readRows(filepath.Join(dir, e.Name())); err != nil {
			return nil, err
		}
	}
	return s, nil
}

func readRows(path string) ([]*Row, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > largest {
		return nil, fmt.Errorf("%s is no file of at most %d MB: remove it from the folder of results", path, largest>>20)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var all []*Row
	at := map[Key]int{}
	for i, line := range bytes.Split(bytes.TrimSuffix(b, []byte("\n")), []byte("\n")) {
		if len(b) == 0 {
			break
		}
		r := new(Row)
		if err := json.Unmarshal(line, r); err != nil {
			return nil, fmt.Errorf("%s: line %d is no result (%w): remove the line, and its unit runs again", path, i+1, err)
		}
		if j, ok := at[r.Key]; ok {
			all[j] = r
			continue
		}
		at[r.Key] = len(all)
		all = append(all, r)
	}
	return all, nil
}

// Rows returns the rows of a file, in its order.
func (s *Results) Rows(file string) []*Row { return s.rows[file] }

// find returns the row of a key in a file, nil where there is none.
func (s *Results) find(file string, k Key) *Row {
	for _, r := range s.rows[file] {
		if r.Key == k {
			return r
		}
	}
	return nil
}

// add appends a row to a file, and syncs it. Without a folder it is only kept.
func (s *Results) add(file string, r *Row) error {
	line, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("%s: %w", r.Key, err)
	}
	if old := s.find(file, r.Key); old != nil {
		*old = *r
	} else {
		s.rows[file] = append(s.rows[file], r)
	}
	if s.Dir == "" {
		return nil
	}
	f, err := os.OpenFile(filepath.Join(s.Dir, file+ending), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(append(line, '\n'))
	return errors.Join(err, f.Sync(), f.Close())
}

// DefaultDir returns where results go without --out: where they are committed, if that
// folder is here.
func DefaultDir() string {
	if info, err := os.Stat(filepath.Join("cmd", "dgm-bench")); err == nil && info.IsDir() {
		return filepath.Join("cmd", "dgm-bench", "results")
	}
	return "paper-results"
}

// writable makes a folder and tries to write to it, before hours of work end there.
func writable(dir string) error {
	if dir == "" {
		return cli.Usage("--out must not be empty")
	}
	return cli.Folder("--out", dir)
}
