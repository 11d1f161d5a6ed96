package importer

import (
	"slices"
	"testing"
)

// Numbers that take turns distinguish senders; a counter, a mode that changes now and then, and fractions do not.
func TestNumbersOfSenders(t *testing.T) {
	for name, c := range map[string]struct {
		value func(i int) float64
		want  bool
	}{
		"two in turns":        {func(i int) float64 { return float64(1 + i%2) }, true},
		"one in ten":          {func(i int) float64 { return float64(i % 10 / 9) }, true},
		"one":                 {func(int) float64 { return 7 }, false},
		"a counter":           {func(i int) float64 { return float64(i) }, false},
		"a counter of 8 bits": {func(i int) float64 { return float64(i % 256) }, false},
		"a mode":              {func(i int) float64 { return float64(i / 200) }, false},
		"fractions":           {func(i int) float64 { return 0.5 * float64(i%2) }, false},
	} {
		all := numberings{}
		x := all.field("id")
		for i := range 1000 {
			x.add(c.value(i))
		}
		if got := slices.Equal(all.found(), []string{"id"}); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
	if (numberings{}).field("x") != nil {
		t.Error("x numbers senders")
	}
}
