package paper

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/dgm-robotics/dgm/estimator/durable"
	"github.com/dgm-robotics/dgm/trainer/score"
)

// result is one finished seed of one set, as it stands in its file. Scores are of
// the true state; rmse is by channel, in its unit.
type result struct {
	Set        string    `json:"set"`
	Seed       int       `json:"seed"`
	LogLik     float64   `json:"loglik"`
	Coverage50 float64   `json:"coverage50"`
	Coverage90 float64   `json:"coverage90"`
	Coverage95 float64   `json:"coverage95"`
	RMSE       []float64 `json:"rmse"`
	Seconds    float64   `json:"seconds"`
	Phases     phases    `json:"phases"`
	Flows      *scores   `json:"flows,omitempty"` // of the refined dynamics, integrated: what the smoother was taught
	Members    []float64 `json:"members"`         // log likelihood of each member as gradient matching left it
	Rerun      int       `json:"rerun"`           // fits that were told by their objective to have collapsed
	Dropped    int       `json:"dropped"`         // refined dynamics that explain the data worse than others
	Free       []float64 `json:"free"`            // effective number of parameters of each of the others
	Recipe     string    `json:"recipe"`
}

// scores are those of another predictor on the same truth, without the starts
// themselves, which it knows for certain.
type scores struct {
	LogLik     float64 `json:"loglik"`
	Coverage50 float64 `json:"coverage50"`
	Coverage95 float64 `json:"coverage95"`
}

// phases are the seconds of the parts of a recipe.
type phases struct {
	Members  float64 `json:"members"`
	Flows    float64 `json:"flows"`
	Smoother float64 `json:"smoother"`
}

// file returns the name of the file of one seed.
func (r *result) file(dir string) string {
	return filepath.Join(dir, fmt.Sprintf("%s-%d.json", r.Set, r.Seed))
}

// write puts the result into its file.
func (r *result) write(dir string) error {
	b, err := json.Marshal(r)
	if err != nil {
		return err
	}
	return durable.WriteFile(r.file(dir), append(b, '\n'))
}

// read returns the result of an earlier run; ok is false where there is none.
func read(dir, set string, seed int) (r *result, ok bool, err error) {
	r = &result{Set: set, Seed: seed}
	path := r.file(dir)
	b, err := os.ReadFile(path)
	if os.IsNotExist(err) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	if err := json.Unmarshal(b, r); err != nil {
		return nil, false, fmt.Errorf("%s is no result (%w): remove it, and the seed is run again", path, err)
	}
	if r.Set != set || r.Seed != seed {
		return nil, false, fmt.Errorf("%s holds seed %d of %s: give it its own name back, or remove it", path, r.Seed, r.Set)
	}
	return r, true, nil
}

// score sets the scores.
func (r *result) score(trs []score.Trajectory, k int) error {
	s, err := score.Trajectories(trs, k)
	if err != nil {
		return fmt.Errorf("%s, seed %d: %w", r.Set, r.Seed, err)
	}
	r.LogLik, r.Coverage50, r.Coverage90, r.Coverage95, r.RMSE = s.LogLik, s.Coverage50, s.Coverage90, s.Coverage95, s.RMSE
	return nil
}
