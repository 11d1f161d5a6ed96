package study

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// Merge adds rows of the study that were made elsewhere, as JSON lines, but for those that are stored. With a row of
// another study, or one that is no result, nothing is added.
func (s *Study) Merge(store *Results, lines []byte) (added int, err error) {
	if err := writable(store.Dir); err != nil {
		return 0, err
	}
	var rows []*Row
	for line := range bytes.Lines(lines) {
		r := new(Row)
		if err := json.Unmarshal(line, r); err != nil {
			return 0, fmt.Errorf("%s: a row is no result: %w", s.Name, err)
		}
		main := *r
		main.Variant, _, _ = strings.Cut(r.Variant, also)
		if !s.owns(&main) {
			return 0, fmt.Errorf("%s: the row %.80q is of another study", s.Name, r.Key)
		}
		if main.Variant == r.Variant {
			if err := s.complete(r); err != nil {
				return 0, fmt.Errorf("%s: %w", s.Name, err)
			}
		}
		if store.find(s.file(), r.Key) == nil {
			rows = append(rows, r)
		}
	}
	return len(rows), store.add(s.file(), rows)
}
