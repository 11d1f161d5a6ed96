package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/dgm-robotics/dgm/cmd/internal/cli"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/trainer/attribution"
	"github.com/dgm-robotics/dgm/trainer/window"
)

// attributed is what --faults prints.
type attributed struct {
	Faults  []fault `json:"faults"` // the first of each flight
	Watched float64 `json:"watched_s"`
	Nominal float64 `json:"nominal_s"`       // of the flights in which nothing changed
	Rate    float64 `json:"false_alarms_1h"` // for which the threshold is set
}

// fault is what changed in a flight of a log.
type fault struct {
	Log string `json:"log"`
	attribution.Found
}

// attribute names what changes in the logs.
func attribute(ctx context.Context, o *options, m *model.Model, out, messages io.Writer) error {
	watched, names, err := flightsOf(m, o, o.logs, messages)
	if err != nil {
		return err
	}
	var nominal []window.Flight
	if len(o.nominal) > 0 {
		if nominal, _, err = flightsOf(m, o, o.nominal, messages); err != nil {
			return err
		}
	} else {
		fmt.Fprintln(messages, "note: without --nominal the first half of every flight is assumed to have no fault, and the second half is monitored")
		var rest []window.Flight
		for i := range watched {
			f := &watched[i]
			nominal, rest = append(nominal, f.Slice(0, f.N()/2)), append(rest, f.Slice(f.N()/2, f.N()))
		}
		watched = rest
	}
	n, err := attribution.NewNominal(ctx, m, nominal)
	if errors.Is(err, attribution.ErrTooShort) {
		return fmt.Errorf("%w: give longer logs of flights without a fault with --nominal", err)
	}
	if err != nil {
		return err
	}
	result := attributed{Faults: []fault{}, Nominal: n.Seconds, Rate: n.Rate}
	for i := range watched {
		found, err := n.Watch(ctx, m, &watched[i])
		if err != nil {
			return err
		}
		f := &watched[i]
		if found == nil {
			result.Watched += f.Duration()
			continue
		}
		result.Faults = append(result.Faults, fault{names[i], *found})
		result.Watched += found.T - f.InSegment(0)
	}
	if o.json {
		return cli.WriteJSON(out, result)
	}
	w := bufio.NewWriter(out) // keeps the first error
	for _, f := range result.Faults {
		fmt.Fprintf(w, "%s, segment %q, %.2f s: %s of %s, about %.3g %s since %.2f s, with %.0f %% of the likelihood; next: %s\n", f.Log, f.Segment, f.T, f.Kind, f.Name, f.Amount, f.Unit, f.Since, 100*f.Confidence, f.Second)
	}
	if len(result.Faults) == 0 {
		fmt.Fprintln(w, "no actuator and no sensor changed")
	}
	fmt.Fprintf(w, "monitored %.0f s; the threshold is set for %g false alarms an hour, from %.0f s of flights without a fault\n", result.Watched, result.Rate, result.Nominal)
	return w.Flush()
}

// flightsOf returns the flights of logs and the log of each, with states as the robot estimates them. What the data check would
// leave out may be the fault.
func flightsOf(m *model.Model, o *options, paths []string, messages io.Writer) (all []window.Flight, names []string, err error) {
	var score filterScore
	raw := *o
	raw.raw = true
	for _, path := range paths {
		log, err := load(m, m.Measured(), path, o.models[0], messages)
		if err != nil {
			return nil, nil, err
		}
		eraseImplausible(m, log, messages)
		flights, _, _ := cut(m, log, &raw, messages)
		if flights, err = score.apply(m, o.models[0], flights); err != nil {
			return nil, nil, err
		}
		all = append(all, flights...)
		names = append(names, slices.Repeat([]string{path}, len(flights))...)
	}
	return all, names, nil
}
