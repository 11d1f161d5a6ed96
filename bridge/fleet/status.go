package fleet

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"
)

// Status is what a fleet has stored, and what its vehicles report.
type Status struct {
	Robots   []RobotStatus   `json:"robots"`   // by name
	Rollouts []Rollout       `json:"rollouts"` // by group
	Vehicles []VehicleStatus `json:"vehicles"` // by name
	Jobs     []JobStatus     `json:"jobs"`     // the newest first

	KeepJobs float64 `json:"keep_jobs"` // s after their end for which jobs are listed; 0 = without limit

	Verified bool     `json:"verified"`         // what was decided was verified with a public key; else anybody may have written it
	Faults   []string `json:"faults,omitempty"` // decisions that decide nothing, and vehicles that do not follow the log

	OldStores []string `json:"old_stores,omitempty"` // of earlier versions, which nothing reads

	Unreadable []string `json:"unreadable,omitempty"` // entries that are skipped, and what is wrong with them
}

// VehicleStatus is what is stored of one vehicle.
type VehicleStatus struct {
	Vehicle string     `json:"vehicle"`
	Logs    int        `json:"logs"`
	Bytes   int64      `json:"bytes"`              // of the logs
	LastLog *time.Time `json:"last_log,omitempty"` // when it was uploaded
	Models  int        `json:"models"`
	Newest  *Model     `json:"newest,omitempty"` // model
}

// RobotStatus is what a vehicle reports, and what was decided for it.
type RobotStatus struct {
	Vehicle  string             `json:"vehicle"`
	Link     Link               `json:"link"`
	Model    string             `json:"model,omitempty"`    // in use; the rest is not known without a status
	Since    *time.Time         `json:"since,omitempty"`    // on the vehicle's computer
	Coverage map[string]float64 `json:"coverage,omitempty"` // of 95 % intervals by unit of the channels, "" = not known
	Factor   float64            `json:"factor,omitempty"`   // the largest one on a standard deviation
	Alarms   []string           `json:"alarms,omitempty"`   // names
	Refused  string             `json:"refused,omitempty"`  // why the last model offered is not used
	Shadow   *Trial             `json:"shadow,omitempty"`
	Decided  *Installation      `json:"decided,omitempty"`
	LastLog  *time.Time         `json:"last_log,omitempty"` // when it was uploaded
}

// Link is whether a vehicle reports.
type Link string

// The states of a link.
const (
	LinkLive   Link = "live"
	LinkSilent Link = "silent"
)

// Trial is how a shadow compares with the model in use.
type Trial struct {
	Model      string  `json:"model"`
	Windows    uint64  `json:"windows"`
	Coverage   float64 `json:"coverage"`   // the least over the horizon
	Difference float64 `json:"difference"` // of scores; below 0 the shadow is better
	Std        float64 `json:"difference_std"`
}

// report fills in what a vehicle reports. units are those of the states of models.
func (s *RobotStatus) report(r *Robot, units map[string][]string) {
	s.Link = LinkSilent
	if r.Live() {
		s.Link = LinkLive
	}
	st := &r.Status
	s.Model, s.Refused = st.Model, st.Refused
	for _, f := range st.Factor {
		if finite(f) {
			s.Factor = max(s.Factor, f)
		}
	}
	for _, a := range st.Alarms() {
		s.Alarms = append(s.Alarms, a.Name)
	}
	if len(st.Models) > 0 && st.Models[0].Model == st.Model && st.Models[0].Since > 0 {
		since := time.Unix(0, st.Models[0].Since).UTC()
		s.Since = &since
	}
	if t := st.Shadow(); t != nil {
		s.Shadow = &Trial{Model: t.Model, Windows: t.Windows, Coverage: least(t.Coverage, len(t.Buckets))}
		if finite(t.Difference) && finite(t.DifferenceStd) {
			s.Shadow.Difference, s.Shadow.Std = t.Difference, t.DifferenceStd
		}
	}
	s.Coverage = coverage(st, units[st.Model])
}

// ReadStatus gathers the status of a fleet. robots may be nil.
func ReadStatus(ctx context.Context, l *Logs, q *Queue, in *Installer, robots *Robots) (Status, error) {
	m := in.Models
	logs, badLogs, err := l.List(ctx)
	if err != nil {
		return Status{}, err
	}
	models, badModels, err := m.List(ctx)
	if err != nil {
		return Status{}, err
	}
	jobs, badJobs, err := q.List(ctx)
	if err != nil {
		return Status{}, err
	}
	installed, badInstalled, err := in.List(ctx)
	if err != nil {
		return Status{}, err
	}
	rollouts, badRollouts, err := in.Rollouts(ctx)
	if err != nil {
		return Status{}, err
	}
	by := map[string]*VehicleStatus{}
	of := func(vehicle string) *VehicleStatus {
		if by[vehicle] == nil {
			by[vehicle] = &VehicleStatus{Vehicle: vehicle}
		}
		return by[vehicle]
	}
	for i := range logs {
		v := of(logs[i].Vehicle)
		v.Logs++
		v.Bytes += logs[i].Bytes
		if v.LastLog == nil || logs[i].Uploaded.After(*v.LastLog) {
			v.LastLog = &logs[i].Uploaded
		}
	}
	for i := range models {
		v := of(models[i].Job.Vehicle)
		v.Models++
		if v.Newest == nil || models[i].Trained.After(v.Newest.Trained) {
			v.Newest = &models[i]
		}
	}
	s := Status{
		Robots: []RobotStatus{}, Rollouts: append([]Rollout{}, rollouts...), Vehicles: []VehicleStatus{}, Jobs: append([]JobStatus{}, jobs...),
		KeepJobs:   q.keep.Seconds(),
		Unreadable: slices.Concat(badLogs, badModels, badJobs, badInstalled, badRollouts),
	}
	s.addRobots(robots, installed, models, by)
	for _, v := range by {
		s.Vehicles = append(s.Vehicles, *v)
	}
	slices.SortFunc(s.Robots, func(a, b RobotStatus) int { return strings.Compare(a.Vehicle, b.Vehicle) })
	slices.SortFunc(s.Rollouts, func(a, b Rollout) int { return strings.Compare(a.Group, b.Group) })
	slices.SortFunc(s.Vehicles, func(a, b VehicleStatus) int { return strings.Compare(a.Vehicle, b.Vehicle) })
	slices.SortFunc(s.Jobs, func(a, b JobStatus) int {
		return cmp.Or(b.Submitted.Compare(a.Submitted), strings.Compare(a.ID, b.ID))
	})
	return s, nil
}

// addRobots adds every vehicle that reports, or for which something was decided.
func (s *Status) addRobots(robots *Robots, installed []Installation, models []Model, stored map[string]*VehicleStatus) {
	units := map[string][]string{}
	for _, m := range models {
		units[m.ID] = m.Units
	}
	by := map[string]*RobotStatus{}
	of := func(vehicle string) *RobotStatus {
		if by[vehicle] == nil {
			by[vehicle] = &RobotStatus{Vehicle: vehicle, Link: LinkSilent}
			if v := stored[vehicle]; v != nil {
				by[vehicle].LastLog = v.LastLog
			}
		}
		return by[vehicle]
	}
	for i := range installed {
		of(installed[i].Vehicle).Decided = &installed[i]
	}
	if robots != nil {
		for _, v := range robots.Vehicles() {
			r := robots.Of(v)
			of(v).report(&r, units)
		}
	}
	for _, r := range by {
		s.Robots = append(s.Robots, *r)
	}
}
