package selection

import (
	"context"
	"fmt"
	"math"

	"github.com/dgm-robotics/dgm/trainer/calibration"
	"github.com/dgm-robotics/dgm/trainer/nets"
)

// temperatures are the values of κ that are tried; the later are the safer ones.
var temperatures = []float64{1, 0.3, 0.1, 0.03, 0.01, 0.003, 0.001}

const (
	middle = 4 // place in temperatures where the search begins: at the safe one

	// safeTemperature is taken where there is no time or no data to choose: on the data
	// sets tried, no interval came out too narrow with it.
	safeTemperature = 0.01
)

// ChooseTemperature completes a choice by the temperature under which the folds are
// likeliest (oneStandardError); given > 0 takes that one.
func (t *Trials) ChooseTemperature(ctx context.Context, c Choice, net *nets.Net, set nets.Conditioning, given float64) (Choice, error) {
	if given > 0 || len(t.Folds.Folds) == 0 || ctx.Err() != nil {
		if given == 0 {
			given = safeTemperature
			c.Untried.Temperature = len(t.Folds.Folds) > 0
		}
		c.Chosen.Temperature = given
		return c, nil
	}
	at, scores, err := oneStandardError(len(temperatures), middle, func(i int) ([]float64, error) {
		scores, err := t.scores(t.Folds, net, set, temperatures[i])
		if err != nil {
			return nil, err
		}
		try := c.Chosen
		try.Temperature, try.Folds = temperatures[i], true
		try.Score, _ = calibration.Mean(scores)
		c.Candidates = append(c.Candidates, try)
		t.Budget.Work(fmt.Sprintf("choosing: likelihood temperature %g", temperatures[i]), t.Budget.Trial)
		return scores, nil
	}, func() bool { return ctx.Err() != nil })
	if err != nil {
		return c, err
	}
	c.Chosen.Temperature, c.Chosen.Folds = temperatures[at], true
	c.Chosen.Score, _ = calibration.Mean(scores)
	return c, nil
}

// oneStandardError chooses among n candidates in order, later ones being safer, by their
// scores of the folds: it climbs from the first one given to the best mean, then goes
// on to later ones as long as they are not worse by more than the standard error of the
// paired difference. When it is to stop, the best so far is taken.
func oneStandardError(n, first int, try func(i int) ([]float64, error), stop func() bool) (at int, scores []float64, err error) {
	tried := map[int][]float64{}
	score := func(i int) (float64, error) {
		if i < 0 || i >= n {
			return math.Inf(-1), nil
		}
		if _, ok := tried[i]; !ok {
			s, err := try(i)
			if err != nil {
				return 0, err
			}
			tried[i] = s
		}
		mean, _ := calibration.Mean(tried[i])
		return mean, nil
	}
	at = first
	here, err := score(at)
	if err != nil {
		return at, nil, err
	}
	for _, direction := range []int{1, -1} {
		for !stop() {
			next, err := score(at + direction)
			if err != nil {
				return at, nil, err
			}
			if next <= here {
				break
			}
			at, here = at+direction, next
		}
	}
	for best := at; at+1 < n && !stop(); at++ {
		if _, err := score(at + 1); err != nil {
			return at, nil, err
		}
		if gain, standardError := calibration.PairedDifference(tried[best], tried[at+1]); gain > standardError {
			break
		}
	}
	return at, tried[at], nil
}
