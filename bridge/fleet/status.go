package fleet

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"
)

// Status is what a fleet has stored.
type Status struct {
	Vehicles []VehicleStatus `json:"vehicles"` // by name
	Jobs     []JobStatus     `json:"jobs"`     // the newest first

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

// ReadStatus gathers the status of a fleet.
func ReadStatus(ctx context.Context, l *Logs, q *Queue, m *Models) (Status, error) {
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
	s := Status{Vehicles: []VehicleStatus{}, Jobs: append([]JobStatus{}, jobs...), Unreadable: slices.Concat(badLogs, badModels, badJobs)}
	for _, v := range by {
		s.Vehicles = append(s.Vehicles, *v)
	}
	slices.SortFunc(s.Vehicles, func(a, b VehicleStatus) int { return strings.Compare(a.Vehicle, b.Vehicle) })
	slices.SortFunc(s.Jobs, func(a, b JobStatus) int {
		return cmp.Or(b.Submitted.Compare(a.Submitted), strings.Compare(a.ID, b.ID))
	})
	return s, nil
}
