package csv_test

import (
	"testing"

	"github.com/dgm-robotics/dgm/bridge/csv"
	"github.com/dgm-robotics/dgm/bridge/internal/reference"
	"github.com/dgm-robotics/dgm/bridge/telemetry"
)

// Every row and value of the committed table is the same as what Python's csv reads,
// bit for bit in float64.
func TestSameAsPython(t *testing.T) {
	path := reference.Committed("flight.csv")
	var want struct{ Topics []reference.Topic }
	raw := reference.Ask(t, "csv", "csv_columns.py", path, &want)
	cfg := csv.Config{Time: csv.Time{Column: "t", Unit: "s", OnBackwards: csv.Fail, OnDuplicate: csv.Keep}, Counts: &csv.Counts{}}
	_, messages, values := reference.Compare(t, func(w telemetry.Wants) (telemetry.Source, error) { return csv.Open(path, w, cfg) }, nil, want.Topics, raw)
	if cfg.Counts.Duplicates.N != 1 {
		t.Errorf("%+v, the table repeats one time", cfg.Counts)
	}
	t.Logf("%d rows, %d values equal", messages, values)
}
