package paper

import (
	"errors"
	"fmt"

	"github.com/dgm-robotics/dgm/trainer/score"
)

// result is one finished seed of one set of the tables, as it stands in its file.
type result struct {
	key
	scores
	RMSE    []float64 `json:"rmse"` // by channel, in its unit
	Seconds float64   `json:"seconds"`
	Phases  phases    `json:"phases"`
	Flows   *scores   `json:"flows,omitempty"` // of the refined dynamics, integrated: what the smoother was taught
	Members []float64 `json:"members"`         // log likelihood of each member as gradient matching left it
	Rerun   int       `json:"rerun"`           // fits that were told by their objective to have collapsed
	Dropped int       `json:"dropped"`         // refined dynamics that explain the data worse than others
	Forms   []string  `json:"forms"`           // what each of the others is made of
	Free    []float64 `json:"free"`            // its effective number of parameters
	Temper  float64   `json:"temper"`          // by which their variances were multiplied
	Lost    int       `json:"lost,omitempty"`  // starts of the smoother's lessons from which the dynamics run off
	Recipe  string    `json:"recipe"`
}

func (r *result) check() error {
	if len(r.RMSE) == 0 || r.Recipe == "" {
		return errors.New("rmse or recipe is not there")
	}
	if r.scores == (scores{}) {
		return errors.New("its scores are not there")
	}
	for _, s := range sets() {
		if s.name == r.Set && len(r.RMSE) != len(s.plant.States) {
			return fmt.Errorf("rmse has %d numbers, %s %d states", len(r.RMSE), s.label, len(s.plant.States))
		}
	}
	for _, v := range []float64{r.Coverage50, r.Coverage90, r.Coverage95} {
		if !(v >= 0 && v <= 1) {
			return fmt.Errorf("a coverage of %v is no share", v)
		}
	}
	return nil
}

// scores are those of one predictor on the true states.
type scores struct {
	LogLik     float64 `json:"loglik"`
	Coverage50 float64 `json:"coverage50"`
	Coverage90 float64 `json:"coverage90"`
	Coverage95 float64 `json:"coverage95"`
}

func scored(s *score.Result) scores {
	return scores{s.LogLik, s.Coverage50, s.Coverage90, s.Coverage95}
}

// phases are the seconds of the parts of a recipe.
type phases struct {
	Members  float64 `json:"members"`
	Flows    float64 `json:"flows"`
	Smoother float64 `json:"smoother"`
}
