package main

import (
	"fmt"
	"math"
	"slices"

	"github.com/dgm-robotics/dgm/estimator/flightlog"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/trainer/estimation"
	"github.com/dgm-robotics/dgm/trainer/window"
)

// filterScore is how the filter of a model did on the logs.
type filterScore struct {
	Used      bool     `json:"used"`
	NIS       float64  `json:"nis"`       // mean normalised innovation squared: 1 in a consistent filter
	Whiteness float64  `json:"whiteness"` // correlation of the innovations from one to the next: 0 in one
	Rejected  int      `json:"rejected"`  // outliers
	Estimated []string `json:"estimated"`
	NEES      *float64 `json:"nees,omitempty"` // mean normalised error squared, where the exact states are known: 1 in one

	measurements, pairs, compared int
}

// apply returns the flights with the states that nothing measures, as the robot estimates them.
func (s *filterScore) apply(m *model.Model, modelPath string, flights []window.Flight) ([]window.Flight, error) {
	if s.Estimated == nil {
		s.Estimated = []string{}
	}
	if m.Filter == nil {
		if len(m.Measured()) < len(m.Channels) {
			return nil, fmt.Errorf("%s: it has estimated states but no filter: train it again", modelPath)
		}
		return flights, nil
	}
	out, score, err := estimation.As(m, flights)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", modelPath, err)
	}
	if s.Used = true; len(s.Estimated) == 0 {
		for _, c := range m.Channels[:m.K] {
			if c.Estimated {
				s.Estimated = append(s.Estimated, c.Name)
			}
		}
	}
	s.NIS += score.NIS * float64(score.Used)
	s.Whiteness += score.Whiteness * float64(score.Pairs)
	s.Rejected += score.Rejected
	s.measurements += score.Used
	s.pairs += score.Pairs
	return out, nil
}

// compare takes the estimates of flights whose exact states are known.
func (s *filterScore) compare(m *model.Model, flights []window.Flight) error {
	if m.Filter == nil {
		return nil
	}
	sum, n, err := estimation.NEES(flights, m.Filter, m.Channels[:m.K])
	if err != nil {
		return err
	}
	if s.NEES == nil {
		s.NEES = new(float64)
	}
	*s.NEES += sum
	s.compared += n
	return nil
}

// end makes the sum over logs a mean.
func (s *filterScore) end() {
	if s.measurements > 0 {
		s.NIS /= float64(s.measurements)
		s.Whiteness /= float64(max(1, s.pairs))
	}
	if s.compared > 0 {
		*s.NEES /= float64(s.compared)
	}
}

// String says what was estimated; empty where all is measured.
func (s *filterScore) String() string {
	if !s.Used {
		return ""
	}
	// The mean of n squares of normal numbers is within 2√(2/n) of 1, the correlation of n pairs within 2/√n of 0.
	what := "Filtered."
	if len(s.Estimated) > 0 {
		what = "Estimated, no sensor: " + quoted(s.Estimated) + "."
	}
	text := fmt.Sprintf("%s Normalised innovations squared %.3f as a mean, expected 1 ± %.3f; correlation from one to the next %.3f, expected 0 ± %.3f; %d outliers.",
		what, s.NIS, 2*math.Sqrt(2/float64(max(1, s.measurements))), s.Whiteness, 2/math.Sqrt(float64(max(1, s.pairs))), s.Rejected)
	if s.compared > 0 {
		text += fmt.Sprintf(" Normalised errors of the estimates squared %.3f as a mean, expected 1.", *s.NEES)
	}
	return text
}

// measures reports whether a log of the channels of a model has values of all states.
func measures(log *flightlog.Log, m *model.Model) bool {
	any := make([]bool, m.K)
	for i := range log.Segments {
		for j, v := range log.Segments[i].X {
			any[j%m.K] = any[j%m.K] || !math.IsNaN(v)
		}
	}
	return !slices.Contains(any, false)
}
