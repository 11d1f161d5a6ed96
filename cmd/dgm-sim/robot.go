package main

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/dgm-robotics/dgm/cmd/internal/cli"
	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/firmware-sim/plant"
	"github.com/dgm-robotics/dgm/firmware-sim/robot"
)

// robotFlags select the robot to simulate, recorded or live.
type robotFlags struct {
	system  string
	rate    float64
	seed    uint64
	x0      string
	noise   string
	params  []string
	faults  []string
	horizon time.Duration
	rows    int
}

// add defines the flags; horizon is the default of the plan.
func (f *robotFlags) add(cmd *cobra.Command, horizon time.Duration) {
	fl := cmd.Flags()
	fl.StringVar(&f.system, "system", "", "which system to simulate (see dgm-sim list)")
	fl.Float64Var(&f.rate, "rate", 200, "samples a second, Hz")
	fl.Uint64Var(&f.seed, "seed", 1, "seed of all random numbers")
	fl.StringVar(&f.x0, "x0", "", `start state: all values in order, "0.5,0", or some by name, "theta=0.5"`)
	fl.StringVar(&f.noise, "noise", "1", `sensor noise: a factor on the system's default, standard deviations by name, or both: "0.5,theta=0.01"`)
	fl.StringArrayVar(&f.params, "param", nil, `change a physical constant, "m=0.13"; controllers keep the default (repeatable)`)
	fl.StringArrayVar(&f.faults, "fault", nil, `add a fault, "dropout=0.01" (repeatable, see dgm-sim list)`)
	fl.DurationVar(&f.horizon, "plan-horizon", horizon, "horizon of the plan of inputs in each state; 0 = no plan")
	fl.IntVar(&f.rows, "plan-rows", 50, "values of each input in a plan")
	cli.Require(cmd, "system")
}

// config reads the flags. Every error is wrong usage.
func (f *robotFlags) config() (c robot.Config, err error) {
	p, ok := plant.Named(f.system)
	if !ok {
		return c, cli.Usage("system %q is unknown; known are %s", f.system, strings.Join(plant.Names(), ", "))
	}
	c = robot.Typical(p)
	c.Rate, c.Seed = f.rate, f.seed
	if !(f.rate > 0 && f.rate <= 100_000) {
		return c, cli.Usage("--rate %v must be above 0 and at most 100000 Hz", f.rate)
	}
	if f.x0 != "" {
		if c.X0, err = vector("--x0", f.x0, p.States, p.X0); err != nil {
			return c, err
		}
	}
	if c.Noise, err = noise(f.noise, &p); err != nil {
		return c, err
	}
	if c.Params, err = params(f.params, &p); err != nil {
		return c, err
	}
	if err := f.addFaults(&c); err != nil {
		return c, err
	}
	return c, f.plan(&c)
}

// maxPlan bounds the time of one sample, which cannot be interrupted.
const maxPlan = time.Minute

func (f *robotFlags) plan(c *robot.Config) error {
	if f.horizon == 0 || len(c.Plant.Inputs) == 0 {
		return nil
	}
	if f.horizon < 0 || f.rows < 1 || f.rows > 10_000 || f.horizon < time.Duration(f.rows) {
		return cli.Usage("--plan-horizon %v in --plan-rows %d: the horizon must be positive, with 1 to 10000 rows", f.horizon, f.rows)
	}
	if f.horizon > maxPlan {
		return cli.Usage("--plan-horizon %v must be at most %v: the controller is simulated so far ahead of every sample", f.horizon, maxPlan)
	}
	c.PlanHorizon, c.PlanRows = f.horizon.Seconds(), f.rows
	return nil
}

func (f *robotFlags) addFaults(c *robot.Config) error {
	for _, text := range f.faults {
		if err := c.AddFault(text); err != nil {
			return cli.Usage("--fault %v", err)
		}
	}
	return nil
}

// vector reads K numbers in order, or some by name with the others from rest.
func vector(flag, text string, states []channel.Channel, rest []float64) ([]float64, error) {
	parts, names := strings.Split(text, ","), channel.Names(states)
	out := slices.Clone(rest)
	for i, part := range parts {
		var err error
		switch {
		case strings.Contains(part, "="):
			err = assign(out, part, "state", names)
		case len(parts) != len(states):
			err = fmt.Errorf("%d values for the %d states %s; give all or name them", len(parts), len(states), strings.Join(names, ", "))
		default:
			out[i], err = number(part)
		}
		if err != nil {
			return nil, cli.Usage("%s %s: %v", flag, text, err)
		}
	}
	return out, nil
}

// assign reads NAME=VALUE into the place of the name.
func assign(out []float64, text, kind string, names []string) (err error) {
	name, value, _ := strings.Cut(text, "=")
	i := slices.Index(names, strings.TrimSpace(name))
	if i < 0 {
		return fmt.Errorf("%s %q is unknown, known are %s", kind, name, strings.Join(names, ", "))
	}
	out[i], err = number(value)
	return err
}

// noise reads a factor on the plant's noise, values by name, or both.
func noise(text string, p *plant.Plant) ([]float64, error) {
	out := slices.Clone(p.Noise)
	var named []string
	for part := range strings.SplitSeq(text, ",") {
		if strings.Contains(part, "=") {
			named = append(named, part)
			continue
		}
		factor, err := number(part)
		if err != nil || factor < 0 {
			return nil, cli.Usage(`--noise %s: %q must be a factor that is not negative, or name=value`, text, part)
		}
		for i := range out {
			out[i] = factor * p.Noise[i]
		}
	}
	if named == nil {
		return out, nil
	}
	out, err := vector("--noise", strings.Join(named, ","), p.States, out)
	if err != nil {
		return nil, err
	}
	for i, v := range out {
		if v < 0 {
			return nil, cli.Usage("--noise %s: the standard deviation of %s is negative", text, p.States[i].Name)
		}
	}
	return out, nil
}

// params reads name=value for physical constants; nil where none is set.
func params(texts []string, p *plant.Plant) ([]float64, error) {
	if len(texts) == 0 {
		return nil, nil
	}
	var names []string
	for _, q := range p.Params {
		names = append(names, q.Name)
	}
	out := p.Values()
	for _, text := range texts {
		if err := assign(out, text, "constant", names); err != nil {
			return nil, cli.Usage("--param %s: %v", text, err)
		}
	}
	return out, nil
}

func number(text string) (float64, error) {
	v, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
		return 0, fmt.Errorf("%q is not a number", text)
	}
	return v, nil
}
