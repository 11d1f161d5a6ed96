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
	model, log string
	plot       string
	json       bool
	raw        bool
	inputs     string
	horizons   []time.Duration
	stride     time.Duration
	maxGap     time.Duration
	truth      string // "" = score obs_std; sameLog; or the log of exact states
	startNoise float64
	startTold  bool
	seed       uint64
}

// check returns the options of the evaluation, or the error in the flags.
func (o *options) check() (evaluate.Options, error) {
	opt := evaluate.Options{Stride: o.stride.Seconds(), Truth: o.truth != "", Seed: o.seed, StartNoise: o.startNoise, HideStartCov: !o.startTold}
	switch {
	case o.model == "":
		return opt, cli.Usage("no model given: dgm-eval --model flight.dgm --log other.msgpack")
	case o.log == "":
		return opt, cli.Usage("no log given: dgm-eval --model flight.dgm --log other.msgpack")
	case o.stride <= 0:
		return opt, cli.Usage("--stride %v must be positive", o.stride)
	case o.maxGap < 0:
		return opt, cli.Usage("--max-gap %v must be positive", o.maxGap)
	case !(o.startNoise >= 0) || math.IsInf(o.startNoise, 0):
		return opt, cli.Usage("--start-noise %v must be zero or positive", o.startNoise)
	case !o.startTold && o.startNoise == 0:
		return opt, cli.Usage("--start-told=false needs --start-noise: without noise the log's own states are the start")
	case o.plot != "" && !strings.EqualFold(filepath.Ext(o.plot), ".svg"):
		return opt, cli.Usage("--plot %s: only .svg is supported", o.plot)
	}
	switch o.inputs {
	case "plan":
		opt.Readout = estimator.Plan
	case "hold":
		opt.Readout = estimator.Hold
	default:
		return opt, cli.Usage("--inputs %q is neither plan nor hold", o.inputs)
	}
	for _, h := range o.horizons {
		if h <= 0 {
			return opt, cli.Usage("--horizons: %v must be positive", h)
		}
		opt.Horizons = append(opt.Horizons, h.Seconds())
	}
	return opt, nil
}
