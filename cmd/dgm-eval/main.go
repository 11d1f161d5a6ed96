// Command dgm-eval evaluates a model on a flight log, with the onboard predictor.
package main

import (
	"math"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/dgm-robotics/dgm/cmd/internal/cli"
	"github.com/dgm-robotics/dgm/estimator"
	"github.com/dgm-robotics/dgm/trainer/evaluate"
)

func main() { cli.Main(command()) }

func command() *cobra.Command {
	var o options
	c := &cobra.Command{
		Use:   "dgm-eval --model flight.dgm --log other.msgpack",
		Short: "Evaluate a model on a flight it was not trained on",
		Long: `dgm-eval replays a log through the onboard predictor and scores the predictions by horizon and channel:

  rmse                root mean square error, beside the baselines: hold (the last value), velocity
                      (x0 + v0 t), linear (least squares, rolled out) and ridge (direct ridge regression
                      on state, plan and the last five samples); the last two are fitted in training
  in 50%, 90%, 95%    share of measurements inside the predicted interval; equal to its name if calibrated.
                      [low, high] is the 95 % confidence interval of the 95 % column (block bootstrap over time)
  std, crps, loglik   predicted standard deviation; CRPS (lower is better); log likelihood per scalar
                      measurement (higher is better)
  ood                 share of windows that the model flags as out of distribution

The first line is the verdict: USE, USE WITH CARE or DO NOT USE, the reason, and what to do next. The last
sentence compares the model with its prior dynamics alone, without the networks. The windows of several --log
are scored together. --compare prints one line for each model and log, scored on the horizons and states that
all models have; models and states that are left out are listed.
If the model was trained on a log, the verdict says so: its scores are not those of a new flight.
A model with inputs is also scored without a plan: if it is better than the baselines only with a plan,
the verdict is USE WITH CARE.

If the states contain an attitude (declared by the map as that of a rigid body, or called roll, pitch and
yaw), the attitude error is printed too: the rotation angle between prediction and measurement.

The log is checked as for training: values that the data check excludes (spikes, frozen values, stamps out
of order) are listed and not scored, unless --raw is given.

By default intervals of a measurement (obs_std) are compared with the measurements. With --truth, intervals
of the state itself (std) are compared with the exact states in another log of the same flights (see dgm-sim
record --truth); predictions start from the measured states and inputs of --log.
--truth alone declares --log itself exact, with its start states.

--adapt replays every flight causally with adaptation, which begins with nothing learned. Amounts learned up to
a state correct the predictions from it, and the intervals have the factor of live trust. The table has ratios to
predictions without adaptation and factor, by the time since the start of a flight, and the same for the factor alone.

--faults reports the actuator or the sensor that changes in a flight: an actuator with more or less
effect, an input that acts later, a sensor with an offset, each with its size and its share of the likelihood.
Logs of flights without a fault (--nominal) set the threshold, for one false alarm in ten hours.

--start-noise 3 simulates a worse state estimate than that of the log: start states get noise
of three times the sensors' standard deviation, and its covariance is passed with the state, like P0 of a
message. --start-told=false withholds the covariance.`,
		Example: `  dgm-eval --model flight.dgm --log another.msgpack --plot another.svg
  dgm-eval --model flight.dgm --log tuesday.msgpack --log wednesday.msgpack
  dgm-eval --compare --model old.dgm --model new.dgm --log another.msgpack
  dgm-sim record --system pendulum --seed 2 --out another.msgpack --truth exact.msgpack
  dgm-eval --model flight.dgm --log another.msgpack --truth exact.msgpack`,
		Args: func(cmd *cobra.Command, args []string) error {
			// The library takes the value of a flag with an optional one by = only.
			if len(args) == 1 && o.truth == sameLog {
				o.truth = args[0]
				return nil
			}
			return cobra.NoArgs(cmd, args)
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.complete(); err != nil {
				return err
			}
			return run(cmd.Context(), &o, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	f := c.Flags()
	f.StringArrayVar(&o.models, "model", nil, "model file to evaluate; with --compare may be given several times")
	f.StringArrayVar(&o.logs, "log", nil, "flight log to replay; may be given several times: all are scored together")
	f.BoolVar(&o.compare, "compare", false, "score every model on every log: one line each instead of a table")
	f.BoolVar(&o.json, "json", false, "one JSON document on standard output and nothing else")
	f.BoolVar(&o.adapt, "adapt", false, "also replay every flight causally with adaptation, and compare by the time since its start")
	f.BoolVar(&o.faults, "faults", false, "report the actuator or sensor that changes in a flight, instead of scoring predictions")
	f.StringArrayVar(&o.nominal, "nominal", nil, "with --faults: a log of flights without a fault; may be given several times (default: the first half of every flight)")
	f.StringVar(&o.estimates, "estimates", "", "also write the states that the model's filter estimates from the logs to this .csv file")
	f.StringVar(&o.plot, "plot", "", "also draw intervals with measurements and errors by horizon, to this .svg file")
	f.StringVar(&o.inputs, "inputs", "plan", "input over the horizon: plan (as logged) or hold (the last value)")
	f.DurationSliceVar(&o.horizons, "horizons", nil, "times to score, e.g. 0.1s,0.5s,1s (default: round times up to the model's horizon)")
	f.DurationVar(&o.stride, "stride", time.Duration(evaluate.DefaultStride*float64(time.Second)), "time between the starts of windows")
	f.DurationVar(&o.maxGap, "max-gap", 0, "a longer time between samples is a gap (default: 5 times the median)")
	f.StringVar(&o.truth, "truth", "", "score the interval of the state (std) against the exact states in this `log`; without a value --log itself is exact")
	f.Lookup("truth").NoOptDefVal = sameLog
	f.BoolVar(&o.raw, "raw", false, "also score values that the data check excludes (except samples whose stamps run backwards)")
	f.Float64Var(&o.StartNoise, "start-noise", 0, "add noise to the start states, this many times the sensors' standard deviation")
	f.BoolVar(&o.startTold, "start-told", true, "with --start-noise: pass the covariance of the start with the state")
	f.Uint64Var(&o.Seed, "seed", 1, "seed of the bootstrap and of --start-noise")
	return c
}

// sameLog is the value of --truth without a file.
const sameLog = "the log"

// options are the flags.
type options struct {
	evaluate.Options
	models, logs []string
	compare      bool
	adapt        bool
	faults       bool
	nominal      []string
	plot         string
	estimates    string
	json         bool
	raw          bool
	inputs       string
	horizons     []time.Duration
	stride       time.Duration
	maxGap       time.Duration
	truth        string // "" = score obs_std; sameLog; or the log of exact states
	startTold    bool
}

// complete sets the options of the evaluation, or returns the error in the flags.
func (o *options) complete() error {
	o.Stride, o.Truth, o.HideStartCov = o.stride.Seconds(), o.truth != "", !o.startTold
	switch {
	case len(o.models) == 0:
		return cli.Usage("no model given: dgm-eval --model flight.dgm --log other.msgpack")
	case len(o.logs) == 0:
		return cli.Usage("no log given: dgm-eval --model flight.dgm --log other.msgpack")
	case o.adapt && o.compare:
		return cli.Usage("--adapt evaluates one model: leave out --compare, or --adapt")
	case o.faults && (o.compare || o.adapt || o.plot != "" || o.estimates != "" || o.truth != ""):
		return cli.Usage("--faults scores no predictions: leave out --compare, --adapt, --plot, --estimates and --truth")
	case len(o.nominal) > 0 && !o.faults:
		return cli.Usage("--nominal needs --faults")
	case len(o.models) > 1 && !o.compare:
		return cli.Usage("%d models given: --compare evaluates them beside each other", len(o.models))
	case o.compare && o.plot != "":
		return cli.Usage("--plot draws one evaluation: leave out --compare, or --plot")
	case len(o.logs) > 1 && o.truth != "" && o.truth != sameLog:
		return cli.Usage("--truth %s belongs to one log, and %d are given", o.truth, len(o.logs))
	case o.stride <= 0:
		return cli.Usage("--stride %v must be positive", o.stride)
	case o.maxGap < 0:
		return cli.Usage("--max-gap %v must be positive", o.maxGap)
	case !(o.StartNoise >= 0) || math.IsInf(o.StartNoise, 0):
		return cli.Usage("--start-noise %v must be zero or positive", o.StartNoise)
	case !o.startTold && o.StartNoise == 0:
		return cli.Usage("--start-told=false needs --start-noise: without noise the log's own states are the start")
	case o.compare && o.estimates != "":
		return cli.Usage("--estimates needs a single evaluation: leave out --compare, or --estimates")
	case o.estimates != "" && !strings.EqualFold(filepath.Ext(o.estimates), ".csv"):
		return cli.Usage("--estimates %s: only .csv is supported", o.estimates)
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
