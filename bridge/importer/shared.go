package importer

import (
	"maps"
	"path/filepath"
	"slices"
)

// shared finds rows that two files have, as two parts of one recording that overlap: they count twice, and held-out flights would be known.
type shared struct {
	rows  map[int64][]sample // of each file so far, by their times: some, and the last
	n     int                // of the file at hand
	first []float64          // its first row
	last  sample             // its last one
	kept  int
	found map[[2]int]bool // the earlier file and the later one
}

// sample is a row of a file.
type sample struct {
	file int
	t    int64
	x    []float64
}

const (
	eachShared = 64      // rows, of which one is kept
	mostShared = 1 << 14 // rows that are kept
)

func newShared() *shared {
	return &shared{rows: map[int64][]sample{}, last: sample{file: -1}, found: map[[2]int]bool{}}
}

// add takes a row in.
func (s *shared) add(r *row) {
	if r.file != s.last.file {
		s.keep(s.last)
		s.n, s.first, s.last = 0, slices.Clone(r.values[0]), sample{r.file, r.t, slices.Clone(r.values[0])}
	}
	s.last.t = r.t
	copy(s.last.x, r.values[0])
	for _, e := range s.rows[r.t] {
		// Recordings that begin alike, or at rest, as simulated ones do, are two.
		if e.file != r.file && alikeRows(e.x, r.values[0]) && !alikeRows(e.x, s.first) {
			s.found[[2]int{e.file, r.file}] = true
		}
	}
	if s.n++; s.n%eachShared == 0 {
		s.keep(sample{r.file, r.t, slices.Clone(r.values[0])})
	}
}

// keep keeps a row.
func (s *shared) keep(x sample) {
	if x.file >= 0 && s.kept < mostShared {
		s.kept++
		s.rows[x.t] = append(s.rows[x.t], x)
	}
}

// alikeRows reports whether two rows have the same values.
func alikeRows(x, y []float64) bool {
	return slices.EqualFunc(x, y, func(a, b float64) bool { return a == b || a != a && b != b })
}

// into adds which files share rows, but for those that are the same throughout.
func (s *shared) into(out *remarks, j *job) {
	name := func(file int) string { return filepath.Base(j.inputs[file].path) }
	for _, f := range slices.SortedFunc(maps.Keys(s.found), func(a, b [2]int) int { return slices.Compare(a[:], b[:]) }) {
		if a, b := j.inputs[f[0]], j.inputs[f[1]]; a.path != b.path && !alike(a.path, b.path) {
			out.add("twice", Warning, "", "%s and %s overlap: they have rows in common, which count twice", name(f[0]), name(f[1])).Remedy = "cut one of them, or give parts that do not overlap"
		}
	}
}
