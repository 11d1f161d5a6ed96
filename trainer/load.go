package trainer

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash"
	"math"
	"slices"
	"time"

	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/flightlog"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/priordynamics"
	"github.com/dgm-robotics/dgm/estimator/wire"
	"github.com/dgm-robotics/dgm/trainer/datacheck"
	"github.com/dgm-robotics/dgm/trainer/estimation"
	"github.com/dgm-robotics/dgm/trainer/invariance"
	"github.com/dgm-robotics/dgm/trainer/motion"
	"github.com/dgm-robotics/dgm/trainer/window"
)

// Data is what remains of the logs after the check, cut into flights.
type Data struct {
	Vehicle    string
	Channels   []channel.Channel  // states, then inputs
	Kinematics channel.Kinematics // declared relations,
	Body       priordynamics.Body // and the states that they are of
	Flights    []window.Flight
	Problems   []Problem
	Hash       string           // of all samples, hex
	Filter     *model.Filter    // what estimated states that nothing measures; nil = all are measured
	Filtered   estimation.Score // how it did on the flights
	Segments   []string         // window.Fingerprint of each segment
}

// task returns states, inputs and horizon of the predictions of the data.
func (d *Data) task(horizon Duration) window.Task {
	states := channel.Select(d.Channels, channel.State)
	return window.Task{States: states, Inputs: len(d.Channels) - len(states), Horizon: horizon.Seconds()}
}

// found returns the findings of the data check in all logs.
func (d *Data) found() (all []datacheck.Problem) {
	for _, p := range d.Problems {
		all = append(all, p.Problem)
	}
	return all
}

// undeclaredAngles returns the states that look like angles and have no period.
func (d *Data) undeclaredAngles() (names []string) {
	for _, p := range d.Problems {
		if p.Kind == datacheck.Angle && !slices.Contains(names, p.Channel) {
			names = append(names, p.Channel)
		}
	}
	return names
}

// Problem is a finding of the data check, with the log it is in.
type Problem struct {
	Log string `json:"log"`
	datacheck.Problem
}

// Vehicle is the kind of the note on a log of another robot than the first one's.
const Vehicle datacheck.Kind = "vehicle"

// Alike returns why a log cannot be trained on with another one, or nil if it has the same states, inputs and kinematics.
func Alike(first, log *flightlog.Log) error {
	learned := func(l *flightlog.Log) []channel.Channel {
		return slices.Concat(channel.Select(l.Channels, channel.State), channel.Select(l.Channels, channel.Input))
	}
	if err := channel.SameLayout(learned(first), learned(log)); err != nil {
		return fmt.Errorf("%s: its channels are not those of %s: %w; import both with one map", log.Path, first.Path, err)
	}
	if !log.Kinematics.Equal(&first.Kinematics) {
		return fmt.Errorf("%s: its kinematics are not those of %s; import both with one map", log.Path, first.Path)
	}
	return nil
}

// Load checks the logs and cuts them into flights. Logs with different channels are an error that names the
// first difference. A recording that is given twice is an error, too, because the training would see the
// held-out part of one copy in the other.
func Load(logs []*flightlog.Log, cfg Config) (*Data, error) {
	d := &Data{}
	for i, log := range logs {
		all := slices.Concat(channel.Select(log.Channels, channel.State), channel.Select(log.Channels, channel.Input))
		for j := range all {
			all[j].Unit = channel.CanonicalUnit(all[j].Unit) // the one spelling in models, reports and messages
		}
		if i == 0 {
			d.Vehicle, d.Channels = log.Vehicle, all
		} else if err := Alike(logs[0], log); err != nil {
			return nil, err
		}
	}
	if err := wire.CheckVehicle(d.Vehicle); len(logs) > 0 && err != nil {
		return nil, fmt.Errorf("%s: %w; an estimator could not use its model: record or import it under another name", logs[0].Path, err)
	}
	if len(logs) > 0 {
		body, err := priordynamics.NewBody(&logs[0].Kinematics, channel.Select(d.Channels, channel.State))
		if err != nil {
			return nil, fmt.Errorf("%s: kinematics: %w; import it with another map", logs[0].Path, err)
		}
		d.Kinematics, d.Body = logs[0].Kinematics, body
	}
	if err := window.Distinct(logs); err != nil {
		return nil, err
	}
	samples, thin := sha256.New(), newThinning(logs, len(d.Channels), cfg.Horizon.Seconds())
	for _, log := range logs {
		if err := d.add(log, logs[0], cfg, samples, thin); err != nil {
			return d, err
		}
	}
	d.Hash = hex.EncodeToString(samples.Sum(nil))
	d.Problems = append(d.Problems, thin.problems(logs)...)
	if err := d.estimate(logs, cfg); err != nil || len(d.Flights) == 0 {
		return d, err
	}
	d.invariant(logs[0].Path, cfg.Horizon.Seconds())
	return d, nil
}

// add checks a log and cuts it into flights, less what thin leaves out; samples hashes all of them.
func (d *Data) add(log, first *flightlog.Log, cfg Config, samples hash.Hash, thin *thinning) error {
	if log.Vehicle != d.Vehicle {
		d.Problems = append(d.Problems, Problem{log.Path, datacheck.Problem{Kind: Vehicle, Index: -1, Severity: datacheck.Note, Text: fmt.Sprintf(
			"%s is a log of vehicle %q, %s of %q: one model is trained on both, for %q. Leave it out unless the robots are of one kind.",
			log.Path, log.Vehicle, first.Path, d.Vehicle, d.Vehicle)}})
	}
	result := datacheck.Check(log, datacheck.Options{Horizon: cfg.Horizon.Seconds()})
	for _, p := range result.Problems {
		d.Problems = append(d.Problems, Problem{log.Path, p})
	}
	if stop := result.Stop(); stop != nil {
		return fmt.Errorf("%s: %s", log.Path, stop.Text)
	}
	for s := range log.Segments {
		seg := &log.Segments[s]
		write(samples, seg.T, seg.X, seg.U)
		d.Segments = append(d.Segments, window.Fingerprint(seg))
		thin.leaveOut(seg, result.Masks[s])
		d.Flights = append(d.Flights, window.Checked(len(d.Flights), seg, result.Masks[s], d.Channels, window.Options{MaxGap: time.Duration(cfg.MaxGap)})...)
	}
	return nil
}

// Invariant is the kind of the note on a position that nothing depends on.
const Invariant datacheck.Kind = "invariant"

// invariant declares the positions invariant that nothing depends on.
func (d *Data) invariant(path string, horizon float64) {
	states := channel.Select(d.Channels, channel.State)
	for _, k := range invariance.Find(d.Flights, states, motion.Places(states, d.Channels[len(states):], &d.Body), horizon) {
		c := &d.Channels[k]
		c.Invariant = true
		d.Problems = append(d.Problems, Problem{path, datacheck.Problem{Kind: Invariant, Index: -1, Channel: c.Name, Severity: datacheck.Note, Text: fmt.Sprintf(
			"%s: on held-out parts of the flights nothing depends on it. The model does not read it: predictions are the same wherever the robot is (invariant = true in a map declares it).", c.Name)}})
	}
}

// Estimated is the kind of the note on an unmeasured state that a filter estimates.
const Estimated datacheck.Kind = "estimated"

// estimate has a filter estimate the states: the rates of positions that have none, and where all states are measured those
// with a rate, if that makes predictions better.
func (d *Data) estimate(logs []*flightlog.Log, cfg Config) error {
	if cfg.Filter == "off" || len(d.Flights) == 0 {
		return nil
	}
	states := channel.Select(d.Channels, channel.State)
	positions := slices.DeleteFunc(estimation.Positions(d.Flights, states, &d.Kinematics), func(k int) bool { return estimation.Constant(d.Flights, k) })
	if cfg.Equation.Motion {
		determined := motion.Determined(states, d.Channels[len(states):], &d.Body)
		positions = slices.DeleteFunc(positions, func(k int) bool { return determined[k] })
	}
	all := estimation.WithRates(states, positions)
	if cfg.Filter == "on" && len(estimation.Pairs(all, true)) == 0 {
		return fmt.Errorf("%s: filter is \"on\", and no state is a position: give angles and lengths their units, or set filter to \"auto\"", logs[0].Path)
	}
	task := window.Task{States: all, Inputs: len(d.Channels) - len(states), Horizon: cfg.Horizon.Seconds()}
	choice, err := estimation.Choose(d.Flights, task, cfg.Filter == "on")
	if err != nil {
		return fmt.Errorf("%s: %w", logs[0].Path, err)
	}
	note := func(k int, text string) {
		d.Problems = append(d.Problems, Problem{logs[0].Path, datacheck.Problem{Kind: Estimated, Index: -1, Channel: all[k].Name, Severity: datacheck.Note, Text: text}})
	}
	for _, p := range choice.Unlike {
		note(p.Position, fmt.Sprintf("%[1]s: not filtered. It does not move as %[2]s says: one of both may be late, or %[2]s that of another axis or point. Predictions start where %[1]s is measured.", all[p.Position].Name, all[p.Rate].Name))
	}
	spec, gain := choice.Filter, ""
	if spec == nil {
		return nil
	}
	if choice.Ratio > 0 {
		gain = fmt.Sprintf(" On held-out flights the CRPS of difference equations from its estimates is %.2f times that from the measurements.", choice.Ratio)
	}
	flights, score, err := estimation.Apply(d.Flights, spec, all)
	if err != nil {
		return fmt.Errorf("%s: %w", logs[0].Path, err)
	}
	if flights, err = estimation.Targets(flights, spec, all); err != nil {
		return fmt.Errorf("%s: %w", logs[0].Path, err)
	}
	spec.Usual, spec.Smoothed = score.Covariance, true
	d.Filter, d.Filtered, d.Flights, d.Channels = spec, score, flights, append(all, d.Channels[len(states):]...)
	for _, c := range spec.Chains {
		note(c.Rate, d.estimated(c)+gain)
	}
	return nil
}

// estimated says what the filter makes of a position.
func (d *Data) estimated(c model.FilterChain) string {
	p, rate, r := &d.Channels[c.Position], &d.Channels[c.Rate], d.Filter.R
	text := fmt.Sprintf("%s: estimated, no sensor. A filter estimates it from %s, whose sensor has a standard deviation of %.2g %s", rate.Name, p.Name, math.Sqrt(r[c.Position]), p.Unit)
	if !rate.Estimated {
		text = fmt.Sprintf("%s and %s: filtered. Their sensors have standard deviations of %.2g %s and %.2g %s", p.Name, rate.Name, math.Sqrt(r[c.Position]), p.Unit, math.Sqrt(r[c.Rate]), rate.Unit)
	}
	if c.Offset != 0 {
		text += fmt.Sprintf("; %s shows %.2g %s more than the slope of %s", rate.Name, c.Offset, rate.Unit, p.Name)
	}
	of := &d.Filtered.States[c.Position]
	return text + fmt.Sprintf("; the mean of the normalised innovations squared of %s is %.2f (1 if the filter is consistent), the correlation of successive ones %.2f (0 if consistent), %d of %d measurements were outliers.", p.Name, of.NIS, of.Whiteness, of.Rejected, of.Used+of.Rejected)
}

// write hashes slices of numbers, which does not fail.
func write(h hash.Hash, all ...any) {
	for _, v := range all {
		binary.Write(h, binary.LittleEndian, v)
	}
}
