package importer

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/dgm-robotics/dgm/bridge/csv"
	"github.com/dgm-robotics/dgm/bridge/mapfile"
	"github.com/dgm-robotics/dgm/bridge/telemetry"
)

// Texts of a sender in a log of several vehicles: the vehicle, and its part that sends.
const (
	systemText    = "system"
	componentText = "component"
	autopilot     = "1" // the component
)

// system is a vehicle that a log has messages of.
type system struct {
	number   string
	channels int // of the map, whose topics it sends
	messages int // of these topics
}

// surveyVehicle surveys the files. Of several vehicles one is read, with its settings, its texts
// and its phases: the one that the map selects, or sends most of what the map names.
func (j *job) surveyVehicle(ctx context.Context) (said remarks, err error) {
	m := *j.Map
	m.vehicle = m.Where[systemText]
	if j.All {
		m.Phases = nil
	}
	j.Map = &m
	if err := j.survey(ctx); err != nil || m.IsTable() {
		return nil, err
	}
	if m.vehicle != "" {
		return nil, m.silent(j.files)
	}
	if m.selectsSystem() {
		return nil, nil
	}
	all := m.systems(j.files[0].counts)
	if len(all) < 2 {
		return nil, nil
	}
	best, next := all[0], all[1]
	if best.channels == next.channels && float64(best.messages) < nearlyAll*float64(best.messages+next.messages) {
		var texts []string
		for _, s := range all {
			texts = append(texts, fmt.Sprintf("system=%s (%d messages)", s.number, s.messages))
		}
		return nil, &mapfile.Error{File: m.file, Field: "where", Reason: fmt.Sprintf("%s has messages of several vehicles: %s", j.files[0].base(), strings.Join(texts, ", ")),
			Remedy: "select one with --where system=" + best.number}
	}
	m.vehicle = best.number
	var others []string
	for _, s := range all[1:] {
		others = append(others, "system="+s.number)
	}
	said.add("senders", Warning, "", "%s has messages of several vehicles: system=%s is read, %s left out", j.files[0].base(), best.number, strings.Join(others, ", ")).Remedy = "choose another one with --where"
	j.files, j.read = nil, 0
	if err := j.survey(ctx); err != nil {
		return nil, err
	}
	return said, m.silent(j.files)
}

// survey reads what is in the files: of topics in a pass of their own, of tables from
// the names of their columns.
func (j *job) survey(ctx context.Context) error {
	j.passes = 3
	if j.Map.IsTable() {
		j.passes = 2
	}
	var numbers []string
	for _, in := range j.inputs {
		var f *survey
		var err error
		if j.Map.IsTable() {
			f, err = surveyTable(in, j.opener(&csv.Counts{}, in.group))
		} else {
			f, err = surveyTopics(ctx, j.Map, in.path, j.opener(nil, in.group), j.progress)
			j.read++
		}
		if err != nil {
			return err
		}
		if !j.Map.IsTable() {
			j.Map.flown(f)
			numbers = append(numbers, f.numbers.found()...)
		}
		j.files = append(j.files, f)
	}
	if j.Map.distinguish(numbers) {
		j.files, j.read = nil, 0
		return j.survey(ctx)
	}
	return nil
}

// silent returns an error where the vehicle that is read sends nothing in a file.
func (m *Map) silent(files []*survey) error {
	for _, f := range files {
		if len(f.counts) == 0 {
			return &mapfile.Error{File: m.file, Field: "where", Reason: fmt.Sprintf("%s has no messages of system=%s", f.base(), m.vehicle), Remedy: "dgm-bridge topics " + f.path + " --suggest lists those that it has"}
		}
	}
	return nil
}

// selectsSystem reports whether channels select vehicles of their own.
func (m *Map) selectsSystem() bool {
	for i := range m.Channels {
		for _, s := range m.Channels[i].sources() {
			if s.Where[systemText] != "" {
				return true
			}
		}
	}
	return false
}

// systems returns the vehicles with an autopilot of which there are messages, those first that
// send most of what the map names.
func (m *Map) systems(counts []*telemetry.Count) (all []system) {
	for _, c := range counts {
		w := whereOf(c.Topic)
		if number := w[systemText]; w[componentText] == autopilot && !slices.ContainsFunc(all, func(s system) bool { return s.number == number }) {
			all = append(all, system{number: number})
		}
	}
	for i := range all {
		s := &all[i]
		channels := map[int]bool{}
		for _, c := range counts {
			if whereOf(c.Topic)[systemText] != s.number {
				continue
			}
			named := m.named(c.Topic)
			if len(named) > 0 {
				s.messages += c.N
			}
			for _, k := range named {
				channels[k] = true
			}
		}
		s.channels = len(channels)
	}
	slices.SortStableFunc(all, func(a, b system) int {
		if a.channels != b.channels {
			return b.channels - a.channels
		}
		return b.messages - a.messages
	})
	return all
}

// named returns the channels that could be read from a topic, by its name.
func (m *Map) named(t *telemetry.Topic) (channels []int) {
	for k := range m.Channels {
		if slices.ContainsFunc(m.Channels[k].sources(), func(x *Source) bool { return x.Topic == t.Name }) {
			channels = append(channels, k)
		}
	}
	return channels
}
