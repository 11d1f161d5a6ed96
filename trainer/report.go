package trainer

import (
	"time"

	"github.com/dgm-robotics/dgm/trainer/budget"
	"github.com/dgm-robotics/dgm/trainer/datacheck"
	"github.com/dgm-robotics/dgm/trainer/report"
	"github.com/dgm-robotics/dgm/trainer/summary"
)

// Result is a trained model with what the stages of its training returned.
type Result = summary.Result

// Progress is how far a training is.
type Progress = budget.Progress

// Report returns the contents of the report of a training: logs and files are the names
// that were read and written, the model first.
func Report(d *Data, cfg Config, res *Result, logs, files []string) (*report.Report, error) {
	var problems []datacheck.Problem
	for _, p := range d.Problems {
		problems = append(problems, p.Problem)
	}
	return summary.Report(res, summary.Training{
		Vehicle: d.Vehicle, Problems: problems, DataHash: d.Hash, Settings: cfg.TOML(), Budget: time.Duration(cfg.Budget), Logs: logs, Files: files,
	})
}
