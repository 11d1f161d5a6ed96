package report

import (
	"fmt"

	"github.com/dgm-robotics/dgm/trainer/evaluate"
)

// number is one of those that stand at the head of a report.
type number struct {
	Name, Value, Note string
	Bad               bool // outside of what USE asks for
}

// numbers returns those by which a model is judged: its error beside two baselines, the coverage of its intervals as a mean and where it
// is least, and how far the test is from the training.
func numbers(t *evaluate.Table) []number {
	name, ratio := t.Geo.Best()
	low, high := t.CoverageRange()
	least, where := 1.0, ""
	for _, h := range t.Horizons {
		for _, c := range h.Channels {
			if c.Coverage95 <= least {
				least, where = c.Coverage95, fmt.Sprintf("%s, %s ahead", c.Name, evaluate.Seconds(h.T))
			}
		}
	}
	flagged := t.FlaggedOOD()
	calibration := "windows of the training flights calibrated it"
	if n := t.CalibrationFlights; n != nil && *n > 0 {
		calibration = fmt.Sprintf("mean over channels; %d whole flights calibrated it", *n)
	}
	return []number{
		{"Error relative to hold", value(t.Geo.Model), "RMSE, geometric mean over channels and horizons", t.Geo.Model > 1},
		{"Error relative to the best", value(ratio), "baseline, " + baselinePhrase[name], ratio > beats},
		{"95 % intervals covered", evaluate.Percent(low, high), calibration, low < meanNarrow || high > meanWide},
		{"Least coverage", evaluate.Percent(least, least), where, least < cellNarrow},
		{"Unlike the training", evaluate.Percent(flagged, flagged), "of the predictions are flagged out of distribution", flagged >= mostFlagged},
	}
}
