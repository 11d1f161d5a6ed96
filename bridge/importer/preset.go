package importer

import (
	"embed"
	"fmt"
	"path"
	"strings"
)

// presets are maps for robots that many people have, each commented.
//
//go:embed presets/*.toml
var presets embed.FS

// Presets returns the names of the maps that come with the program.
func Presets() []string {
	entries, err := presets.ReadDir("presets")
	if err != nil {
		panic("importer: the presets are not embedded")
	}
	var names []string
	for _, e := range entries {
		names = append(names, strings.TrimSuffix(e.Name(), ".toml"))
	}
	return names
}

// PresetText returns the text of a preset, to be read and changed by people.
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
