// Package recipe reads the settings of a training that a command is given: a preset, and
// a settings file over it.
package recipe

import (
	"bytes"

	"github.com/dgm-robotics/dgm/cmd/internal/cli"
	"github.com/dgm-robotics/dgm/trainer"
)

// Settings returns the settings of a preset, default or quick, and over them those of a
// file, unless its name is empty.
func Settings(preset, file string) (trainer.Config, error) {
	var base trainer.Config
	switch preset {
	case "default":
		base = trainer.Default()
	case "quick":
		base = trainer.Quick()
	default:
		return base, cli.Usage("--preset %q is neither default nor quick", preset)
	}
	if file == "" {
		return base, nil
	}
	b, err := cli.ReadSettings(file)
	if err != nil {
		return base, err
	}
	if base, err = base.Parse(bytes.NewReader(b), file); err != nil {
		return base, cli.Usage("%v", err)
	}
	return base, nil
}
