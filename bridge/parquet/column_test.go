package parquet

import (
	"slices"
	"testing"
)

// Whatever is written about the columns, their units are those of durations, or none.
func FuzzDurations(f *testing.F) {
	f.Add(`{"columns": [{"name": null, "field_name": "t", "numpy_type": "timedelta64[us]"}, {"field_name": "x", "numpy_type": "float64"}]}`)
	f.Add(`{"columns": [{"field_name": null, "numpy_type": "timedelta64["}]}`)
	f.Add("[]")
	f.Fuzz(func(t *testing.T, metadata string) {
		for name, unit := range durations(metadata) {
			if !slices.Contains([]string{"s", "ms", "us", "ns"}, unit) {
				t.Errorf("%q: %q", name, unit)
			}
		}
	})
}
