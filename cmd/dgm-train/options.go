package main

import (
	"bytes"
	"path/filepath"
	"strings"

	"github.com/dgm-robotics/dgm/cmd/internal/cli"
	"github.com/dgm-robotics/dgm/trainer"
)

// options are the flags that are not training settings.
type options struct {
	logs        []string
	out         string
	config      string
	preset      string
	sign, model string
	printConfig bool
	check, json bool
}

// settings returns the configuration before flags.
func (o *options) settings() (trainer.Config, error) {
	var base trainer.Config
	switch o.preset {
	case "default":
		base = trainer.Default()
	case "quick":
		base = trainer.Quick()
	default:
		return base, cli.Usage("--preset %q is neither default nor quick", o.preset)
	}
	if o.config == "" {
		return base, nil
	}
	b, err := cli.ReadSettings(o.config)
	if err != nil {
		return base, err
	}
	if base, err = base.Parse(bytes.NewReader(b), o.config); err != nil {
		return base, cli.Usage("%v", err)
	}
	return base, nil
}

// outputs are the names of the files to write.
func (o *options) outputs() (model, html, json string) {
	model = o.out
	if model == "" {
		model = stem(o.logs[0]) + ".dgm"
	}
	s := stem(model)
	return model, s + ".report.html", s + ".report.json"
}

func stem(path string) string { return strings.TrimSuffix(path, filepath.Ext(path)) }
