package importer

import (
	"cmp"
	"embed"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/dgm-robotics/dgm/bridge/mapfile"
	"github.com/dgm-robotics/dgm/estimator/channel"
)

// presets are maps for robots that many people have, each commented.
//
//go:embed presets/*.toml
var presets embed.FS

// ReadMap reads a map.toml. Errors are *mapfile.Error, or of package os.
func ReadMap(path string) (*Map, error) {
	m := &Map{file: path}
	if err := mapfile.Read(path, m); err != nil {
		return nil, err
	}
	return m, cmp.Or(m.inherit(), m.Check())
}

// ParseMap is ReadMap of data; name is what errors call it.
func ParseMap(name string, data []byte) (*Map, error) {
	m := &Map{file: name}
	if err := mapfile.Parse(name, data, m); err != nil {
		return nil, err
	}
	return m, cmp.Or(m.inherit(), m.Check())
}

// Presets returns the names of the built-in maps.
func Presets() []string {
	entries, err := presets.ReadDir("presets")
	if err != nil {
		panic("importer: the presets are not embedded")
	}
	var names []string
	for _, e := range entries {
		names = append(names, strings.TrimSuffix(e.Name(), ".toml"))
	}
	slices.Sort(names)
	return names
}

// PresetText returns the text of a preset, for people to read and change.
func PresetText(name string) (string, error) {
	text, err := presets.ReadFile(path.Join("presets", name+".toml"))
	if err != nil {
		return "", fmt.Errorf("there is no preset %q; there are: %s", name, strings.Join(Presets(), ", "))
	}
	return string(text), nil
}

// Preset returns the map of a preset.
func Preset(name string) (*Map, error) {
	text, err := PresetText(name)
	if err != nil {
		return nil, err
	}
	return ParseMap("preset "+name, []byte(text))
}

// inherit takes from the preset that the map is like what it does not say itself: states and auxiliary channels, before its own, and
// phases, resets, primary instances, kinematics, and the validity of these states. Inputs and refusals are its own.
func (m *Map) inherit() error {
	if m.Like == "" {
		return nil
	}
	other, err := Preset(m.Like)
	if err != nil {
		return m.wrong("like", err.Error(), "name one of them, or leave it out")
	}
	if other.Like != "" {
		return m.wrong("like", fmt.Sprintf("preset %q is like another one itself", m.Like), "name that one")
	}
	own := m.channelNames()
	var channels []Channel
	for _, c := range other.Channels {
		if c.Role != channel.Input && !slices.ContainsFunc(c.names(), func(n string) bool { return own[n] }) {
			channels = append(channels, c)
		}
	}
	m.Channels = append(channels, m.Channels...)
	m.Phases, m.Resets, m.Primaries = first(m.Phases, other.Phases), first(m.Resets, other.Resets), first(m.Primaries, other.Primaries)
	m.Frames, m.Kinematics = cmp.Or(m.Frames, other.Frames), cmp.Or(m.Kinematics, other.Kinematics)
	if b := &m.Body; b.Axes == "" && len(b.Position)+len(b.Velocity)+len(b.Attitude)+len(b.Rates) == 0 {
		m.Body = other.Body
	}
	m.KinematicsOptional = m.KinematicsOptional || other.KinematicsOptional
	names := m.channelNames()
	for _, v := range other.Valid {
		v.Channels = slices.DeleteFunc(slices.Clone(v.Channels), func(n string) bool { return own[n] })
		if len(v.Channels) > 0 && !slices.ContainsFunc(v.Channels, func(n string) bool { return !names[n] }) {
			m.Valid = append(m.Valid, v)
		}
	}
	return nil
}

// channelNames is the set of the names of all channels.
func (m *Map) channelNames() map[string]bool {
	out := map[string]bool{}
	for i := range m.Channels {
		for _, n := range m.Channels[i].names() {
			out[n] = true
		}
	}
	return out
}

// first returns the first list that has something.
func first[T any](own, other []T) []T {
	if len(own) > 0 {
		return own
	}
	return other
}
