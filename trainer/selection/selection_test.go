package selection

import (
	"errors"
	"slices"
	"testing"
)

// A later core must be likelier on the fold that its net has not seen, by the margin,
// and on the others beyond the standard error.
func TestALaterCoreMustBeClearlyLikelier(t *testing.T) {
	safe := []float64{1, 1, 1, 1}
	for _, c := range []struct {
		scores []float64
		want   bool
	}{
		{[]float64{1.1, 1.1, 1.12, 1.09}, true},
		{[]float64{1.02, 1.3, 1.3, 1.3}, false}, // within the margin on the first
		{[]float64{1.2, 0.7, 1.4, 0.8}, false},  // the folds do not agree
		{[]float64{0.8, 0.9, 0.8, 0.9}, false},
	} {
		if got := clearlyLikelier(c.scores, safe); got != c.want {
			t.Errorf("%v after %v: %v", c.scores, safe, got)
		}
	}
}

// The best is climbed to from the middle; of those after it that nobody can tell from
// it the last is taken.
func TestOneStandardError(t *testing.T) {
	never := func() bool { return false }
	for _, c := range []struct {
		name   string
		scores [][]float64
		want   int
	}{
		{"the best is clear", [][]float64{{1, 1}, {2, 2}, {3, 3.1}, {5, 5.1}, {4, 4.1}}, 3},
		{"the best lies before the middle", [][]float64{{1, 1}, {9, 9.1}, {3, 3}, {2, 2}, {1, 1}}, 1},
		{"a gain within the standard error", [][]float64{{1, 1, 1}, {2, 2, 2}, {5, 4, 6}, {4.9, 4.5, 5.5}, {4.8, 5.1, 5}}, 4},
		{"all the same", [][]float64{{1, 1}, {1, 1}, {1, 1}, {1, 1}, {1, 1}}, 4},
	} {
		at, scores, err := oneStandardError(len(c.scores), 2, func(i int) ([]float64, error) { return c.scores[i], nil }, never)
		if err != nil || at != c.want || !slices.Equal(scores, c.scores[at]) {
			t.Errorf("%s: %d (%v), want %d; %v", c.name, at, scores, c.want, err)
		}
	}
	tries := 0
	at, _, err := oneStandardError(5, 2, func(i int) ([]float64, error) { tries++; return []float64{float64(i), float64(i)}, nil }, func() bool { return tries > 1 })
	if err != nil || at != 3 || tries != 2 {
		t.Errorf("stopped after two: %d after %d, %v", at, tries, err)
	}
	if _, _, err := oneStandardError(5, 2, func(int) ([]float64, error) { return nil, errors.New("no") }, never); err == nil {
		t.Error("an error is lost")
	}
}
