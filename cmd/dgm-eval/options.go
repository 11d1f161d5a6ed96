package main

import (
	"math"
	"path/filepath"
	"strings"
	"time"

	"github.com/dgm-robotics/dgm/cmd/internal/cli"
	"github.com/dgm-robotics/dgm/estimator"
	"github.com/dgm-robotics/dgm/trainer/evaluate"
)

// sameLog is the value of --truth without a file.
const sameLog = "the log"

// options are the flags.
type options struct {
	evaluate.Options
	model, log string
	plot       string
	json       bool
	raw        bool
	inputs     string
	horizons   []time.Duration
	stride     time.Duration
	maxGap     time.Duration
	truth      string // "" = score obs_std; sameLog; or the log of exact states
	startTold  bool
}

// complete sets the options of the evaluation, or returns the error in the flags.
func (o *options) complete() error {
	o.Stride, o.Truth, o.HideStartCov = o.stride.Seconds(), o.truth != "", !o.startTold
	switch {
	case o.model == "":
		return cli.Usage("no model given: dgm-eval --model flight.dgm --log other.msgpack")
	case o.log == "":
		return cli.Usage("no log given: dgm-eval --model flight.dgm --log other.msgpack")
	case o.stride <= 0:
		return cli.Usage("--stride %v must be positive", o.stride)
	case o.maxGap < 0:
		return cli.Usage("--max-gap %v must be positive", o.maxGap)
	case !(o.StartNoise >= 0) || math.IsInf(o.StartNoise, 0):
		return cli.Usage("--start-noise %v must be zero or positive", o.StartNoise)
	case !o.startTold && o.StartNoise == 0:
		return cli.Usage("--start-told=false needs --start-noise: without noise the log's own states are the start")
	case o.plot != "" && !strings.EqualFold(filepath.Ext(o.plot), ".svg"):
		return cli.Usage("--plot %s: only .svg is supported", o.plot)
	}
	switch o.inputs {
	case "plan":
		o.Readout = estimator.Plan
	case "hold":
		o.Readout = estimator.Hold
	default:
		return cli.Usage("--inputs %q is neither plan nor hold", o.inputs)
	}
	for _, h := range o.horizons {
		if h <= 0 {
			return cli.Usage("--horizons: %v must be positive", h)
		}
		o.Horizons = append(o.Horizons, h.Seconds())
	}
	return nil
}
