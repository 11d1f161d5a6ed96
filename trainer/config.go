package trainer

import (
	_ "embed"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/BurntSushi/toml"

	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/numeric/mlp"
	"github.com/dgm-robotics/dgm/estimator/textlimit"
	"github.com/dgm-robotics/dgm/trainer/budget"
	"github.com/dgm-robotics/dgm/trainer/calibration"
	"github.com/dgm-robotics/dgm/trainer/candidates"
	"github.com/dgm-robotics/dgm/trainer/latency"
	"github.com/dgm-robotics/dgm/trainer/matching"
	"github.com/dgm-robotics/dgm/trainer/nets"
	"github.com/dgm-robotics/dgm/trainer/priordynamics"
	"github.com/dgm-robotics/dgm/trainer/selection"
	"github.com/dgm-robotics/dgm/trainer/window"
)

// noiseKnots are the places of the noise knots on the horizon: dense where it
// grows fastest.
var noiseKnots = []float64{0, 0.03, 0.1, 0.3, 1}

// foldCount is how often the data are parted for choosing and calibrating.
const foldCount = 4

// Config has all settings of a training. Template is its commented form.
type Config struct {
	Recipe        string   `toml:"recipe"`
	Horizon       Duration `toml:"horizon"`
	Points        int      `toml:"points"`
	Kernel        string   `toml:"kernel"`
	Features      int      `toml:"features"`
	Seed          uint64   `toml:"seed"`
	Holdout       float64  `toml:"holdout"`
	Budget        Duration `toml:"budget"`
	Members       int      `toml:"members"`
	Variances     int      `toml:"variances"`
	Refits        int      `toml:"refits"`
	Filter        string   `toml:"filter"`
	Noise         string   `toml:"noise"`
	Separate      bool     `toml:"separate"`
	Stride        Duration `toml:"stride"`
	MaxGap        Duration `toml:"max_gap"`
	Knots         int      `toml:"knots"`
	Prior         string   `toml:"prior"`
	Direct        bool     `toml:"direct"`
	DirectWindows int      `toml:"direct_windows"`
	History       bool     `toml:"history"`
	Smoother      bool     `toml:"smoother"`
	Basis         int      `toml:"basis"`
	Core          string   `toml:"core"`

	Equation EquationConfig `toml:"equation"`
	Dynamics DynamicsConfig `toml:"dynamics"`
	Net      NetConfig      `toml:"net"`
	Training TrainingConfig `toml:"training"`
	Folds    FoldConfig     `toml:"folds"`
}

// EquationConfig bounds the fits of the difference equation.
type EquationConfig struct {
	Windows       int  `toml:"windows"`
	Iterations    int  `toml:"iterations"`
	Motion        bool `toml:"motion"`
	MotionWindows int  `toml:"motion_windows"`
	Actuators     bool `toml:"actuators"`
}

// DynamicsConfig describes the nets of the prior dynamics.
type DynamicsConfig struct {
	Members int `toml:"members"`
	Match   int `toml:"match"`
	Shoot   int `toml:"shoot"`
}

// NetConfig sizes the nets.
type NetConfig struct {
	Core       []int  `toml:"core"`
	Activation string `toml:"activation"`
	Heads      int    `toml:"heads"`
	Dynamics   []int  `toml:"dynamics"`
}

// TrainingConfig drives the optimiser and the conditioning of posteriors.
type TrainingConfig struct {
	Steps       int     `toml:"steps"`
	Rate        float64 `toml:"rate"`
	LastRate    float64 `toml:"last_rate"`
	Batch       int     `toml:"batch"`
	Points      int     `toml:"points"`
	Match       float64 `toml:"match"`
	MatchFrom   float64 `toml:"match_from"`
	MatchTo     float64 `toml:"match_to"`
	FineTune    int     `toml:"fine_tune"`
	DecayS      float64 `toml:"decay_smoother"`
	DecayD      float64 `toml:"decay_dynamics"`
	Temperature float64 `toml:"temper"`
	Rows        int     `toml:"rows"`
}

// FoldConfig switches the parts that are fitted by cross-validation.
type FoldConfig struct {
	Secondary     bool    `toml:"companion"` // secondary linear model
	NetworkWeight bool    `toml:"gain"`
	ScaleFactor   bool    `toml:"factors"`
	Distance      bool    `toml:"growth"`
	Motion        bool    `toml:"motion"`
	Temperature   float64 `toml:"temper"` // 0 = chosen
	Windows       int     `toml:"windows"`
}

// Duration is a time.Duration written as text: "1s", "20ms".
type Duration time.Duration

// UnmarshalText implements encoding.TextUnmarshaler.
func (d *Duration) UnmarshalText(b []byte) error {
	v, err := time.ParseDuration(string(b))
	*d = Duration(v)
	return err
}

// MarshalText implements encoding.TextMarshaler.
func (d Duration) MarshalText() ([]byte, error) { return []byte(time.Duration(d).String()), nil }

// Seconds returns the duration in seconds.
func (d Duration) Seconds() float64 { return time.Duration(d).Seconds() }

// choose is the setting that leaves a choice to the data; for the basis it is −1.
const choose = "choose"

// Template is the commented configuration, with every default in it.
//
//go:embed train.toml
var Template string

// Default returns the configuration of Template.
func Default() Config {
	c, err := Config{}.Parse(strings.NewReader(Template), "default configuration")
	if err != nil {
		panic(err)
	}
	return c
}

// Quick returns the preset of the demo: one small member, no nets in the prior dynamics and
// fewer windows, in a fraction of the time; less accurate.
func Quick() Config {
	c := Default()
	c.Members, c.Features, c.Core, c.Basis = 1, 60, "linear", selection.UsualBasis
	c.Training.Steps, c.Training.Batch, c.Training.Rows = 60, 60, 3000
	c.Equation.Windows, c.Equation.Iterations, c.Equation.MotionWindows, c.DirectWindows, c.Dynamics.Members = 300, 20, 100, 3000, 0
	c.Folds.Windows = 400
	return c
}

// Quick reports whether a training takes no more effort than the quick preset.
func (c *Config) Quick() bool {
	q := Quick()
	return c.Members <= q.Members && c.Dynamics.Members <= q.Dynamics.Members && c.Equation.Windows <= q.Equation.Windows && c.DirectWindows <= q.DirectWindows
}

// Names of recipes.
const (
	recipeRobots    = "robots"
	recipePublished = "published"
)

// published returns c with the method of the paper as published (Treven et al., 2021, its
// appendix) for windows of flights: one smoother of a core 10-5 with 40 random features, as for
// many trajectories there, a learned prior mean and one noise for each channel, gradient
// matching from the first step on, and nothing of what was added since.
func (c Config) published() Config {
	c.Prior, c.History, c.Basis, c.Core, c.Kernel, c.Features, c.Noise = "none", false, 0, "net", "rff", 40, "constant"
	c.Members, c.Variances, c.Refits = 1, 1, 0
	c.Net = NetConfig{Core: []int{10, 5}, Activation: "sigmoid", Heads: 3, Dynamics: []int{20, 20}}
	s, t := matching.Published(1000, 0, 0.05, 0.5), &c.Training
	t.Steps, t.Rate, t.LastRate, t.FineTune = s.Steps, s.Rate, s.Last, s.FineTune
	t.Match, t.MatchFrom, t.MatchTo, t.DecayS, t.DecayD, t.Temperature = s.Lambda, s.From, s.To, s.DecayS, s.DecayD, 1
	c.Folds = FoldConfig{Temperature: 1, Windows: c.Folds.Windows}
	return c
}

// Parse reads a configuration on top of c. A setting that it leaves out keeps its value, or has that of the
// recipe that it names. An unknown key is an error.
func (c Config) Parse(r io.Reader, name string) (Config, error) {
	text, err := io.ReadAll(r)
	if err != nil {
		return c, fmt.Errorf("%s: %w", name, err)
	}
	if err := textlimit.TOML(text); err != nil {
		return c, fmt.Errorf("%s: %w", name, err)
	}
	var recipe struct{ Recipe string }
	if _, err := toml.Decode(string(text), &recipe); err == nil && recipe.Recipe == recipePublished {
		c = c.published()
	}
	meta, err := toml.Decode(string(text), &c)
	if err != nil {
		return c, fmt.Errorf("%s: %w", name, err)
	}
	if unknown := meta.Undecoded(); len(unknown) > 0 {
		return c, fmt.Errorf("%s: unknown key %q; --print-config lists all keys", name, unknown[0].String())
	}
	if err := c.Check(); err != nil {
		return c, fmt.Errorf("%s: %w", name, err)
	}
	return c, nil
}

// Check returns the first invalid setting, named as in the file, or nil.
func (c *Config) Check() error {
	t := &c.Training
	for _, r := range []struct {
		ok           bool
		key, problem string
	}{
		{oneOf(c.Recipe, recipeRobots, recipePublished), "recipe", `must be "robots" or "published"`},
		{c.Horizon > 0, "horizon", "must be positive"},
		{within(c.Points, 1, 1000), "points", "must be within 1…1000"},
		{oneOf(c.Kernel, "rff", "exact"), "kernel", `must be "rff" or "exact"`},
		{within(c.Features, 2, 2000) && c.Features%2 == 0, "features", "must be an even number within 2…2000"},
		{within(c.Holdout, 0, 0.5), "holdout", "must be within 0…0.5"},
		{c.Budget > 0, "budget", "must be positive"},
		{within(c.Members, 1, 16), "members", "must be within 1…16"},
		{within(c.Variances, 1, 16), "variances", "must be within 1…16"},
		{oneOf(c.Filter, "auto", "on", "off"), "filter", `must be "auto", "on" or "off"`},
		{oneOf(c.Noise, "growing", "constant"), "noise", `must be "growing" or "constant"`},
		{c.Stride >= 0, "stride", "must not be negative"},
		{c.MaxGap >= 0, "max_gap", "must not be negative"},
		{within(c.Knots, 1, 50), "knots", "must be within 1…50"},
		{oneOf(c.Prior, "stack", "equation", "velocity", "none"), "prior", `must be "stack", "equation", "velocity" or "none"`},
		{within(c.Basis, -1, 4), "basis", "must be within 0…4, or -1 to choose"},
		{oneOf(c.Core, choose, "linear", "net"), "core", `must be "choose", "linear" or "net"`},
		{len(c.Net.Core) >= 1 && widths(c.Net.Core), "net.core", "needs at least one width within 1…512"},
		{widths(c.Net.Dynamics), "net.dynamics", "widths must be within 1…512"},
		{oneOf(c.Net.Activation, choose, "tanh", "sigmoid"), "net.activation", `must be "choose", "tanh" or "sigmoid"`},
		{within(c.Dynamics.Members, 0, 8), "dynamics.members", "must be within 0…8"},
		{within(c.Dynamics.Match, 0, 1e6) && within(c.Dynamics.Shoot, 0, 1e6), "dynamics.match", "steps of matching and shooting must be within 0…1000000"},
		{within(c.Net.Heads, 1, 32), "net.heads", "must be within 1…32"},
		{within(c.Refits, 0, 32), "refits", "must be 0 to 32"},
		{within(c.Folds.Temperature, 0, 1), "folds.temper", "must be 0 to 1"},
		{within(c.Folds.Windows, 100, 1e6), "folds.windows", "must be within 100…1000000"},
		{within(c.Equation.Windows, 10, 1e6) && c.Equation.Iterations >= 1, "equation", "needs 10 to 1000000 windows and at least 1 iteration"},
		{within(c.Equation.MotionWindows, 20, 1e6), "equation.motion_windows", "must be within 20…1000000"},
		{within(c.DirectWindows, 100, 1e6), "direct_windows", "must be within 100…1000000"},
		{within(t.Steps, 1, 1e6), "training.steps", "must be within 1…1000000"},
		{t.Rate <= 1 && t.LastRate > 0 && t.LastRate <= t.Rate, "training.rate", "rates must be positive and at most 1, the last one not above the first"},
		{within(t.Batch, 1, 1e5), "training.batch", "must be within 1…100000"},
		{within(t.Points, 2, 1000), "training.points", "must be within 2…1000"},
		{within(t.Match, 0, 1e6), "training.match", "must be within 0…1000000"},
		{t.MatchFrom >= 0 && t.MatchTo > t.MatchFrom && t.MatchTo <= 1, "training.match_from", "matching must rise between two shares of the steps, within 0…1"},
		{within(t.FineTune, 0, t.Steps), "training.fine_tune", "must be within 0 and the steps"},
		{within(t.DecayS, 0, 1e6) && within(t.DecayD, 0, 1e6), "training.decay_smoother", "decays must be within 0…1000000"},
		{within(t.Rows, 100, 1e6), "training.rows", "must be within 100…1000000"},
		{t.Temperature > 0 && t.Temperature <= 1, "training.temper", "must be within (0, 1]"},
	} {
		if !r.ok {
			return fmt.Errorf("setting %s: %s", r.key, r.problem)
		}
	}
	return nil
}

func within[T int | float64](v, low, high T) bool { return v >= low && v <= high }

func oneOf(v string, all ...string) bool { return slices.Contains(all, v) }

func widths(w []int) bool {
	return !slices.ContainsFunc(w, func(n int) bool { return !within(n, 1, 512) })
}

// withoutSmoother returns the configuration of a model that is its prior dynamics alone:
// of the nets and their posterior the smallest, which conditioning leaves at zero.
func (c Config) withoutSmoother() Config {
	c.Kernel, c.Features, c.Core, c.Basis = "rff", 2, "linear", 0
	c.Members, c.Variances, c.Refits, c.Folds.Temperature = 1, 1, 0, 1
	return c
}

// usesEquation reports whether a difference equation is part of the prior dynamics.
func (c *Config) usesEquation() bool { return c.Prior == "stack" || c.Prior == "equation" }

// candidates returns which candidates the stack has, of inputs that act late.
func (c *Config) candidates(inputs []channel.Channel, late *latency.Result) candidates.Settings {
	s := candidates.Settings{
		Inputs:   inputs,
		Equation: c.usesEquation(), Linear: c.Folds.Secondary, Velocity: c.Prior == "stack" || c.Prior == "velocity",
		Direct: c.Prior == "stack" && c.Direct, History: c.History, Motion: c.Prior == "stack" && c.Equation.Motion,
		Effort:        priordynamics.Effort{Windows: c.Equation.Windows, Iterations: c.Equation.Iterations},
		DirectWindows: c.DirectWindows, MotionWindows: c.Equation.MotionWindows,
		Knots: noiseKnots, Folds: foldCount, Seed: c.Seed,
	}
	if c.Equation.Actuators {
		s.Actuators = late.Actuators()
	}
	if n := &c.Dynamics; c.Prior == "stack" && n.Match+n.Shoot > 0 {
		s.Nets = candidates.Nets{Members: n.Members, Match: n.Match, Shoot: n.Shoot}
	}
	return s
}

// stride returns the distance between the starts of windows of a horizon, s.
func (c *Config) stride(horizon float64) float64 {
	if c.Stride == 0 {
		return horizon / 50
	}
	return c.Stride.Seconds()
}

// netSettings returns the settings of the nets, but for what is chosen.
func (c *Config) netSettings() nets.Settings {
	s, t := nets.DefaultSettings(), &c.Training
	s.Core, s.D, s.F, s.Dynamics = c.Net.Core, c.Net.Heads, c.Features, c.Net.Dynamics
	s.Activation = mlp.Tanh
	if c.Net.Activation == "sigmoid" {
		s.Activation = mlp.Sigmoid
	}
	s.Exact = c.Kernel == "exact"
	s.ZeroMean = c.usesEquation()
	s.Steps, s.Rate, s.Last, s.Batch, s.Points = t.Steps, t.Rate, t.LastRate, t.Batch, t.Points
	s.Lambda, s.From, s.To, s.FineTune = t.Match, t.MatchFrom, t.MatchTo, t.FineTune
	s.DecayS, s.DecayD, s.Temperature = t.DecayS, t.DecayD, t.Temperature
	s.Posterior.Rows, s.Posterior.Seed = t.Rows, c.Seed
	if !c.Smoother {
		s.Steps, s.ZeroMean, s.Posterior.NoiseAlone = 0, true, true
	}
	if s.Exact { // its cost grows with the cube of a batch's rows
		s.F, s.Batch = 0, min(s.Batch, 240/s.Points)
	}
	return s
}

// options returns the cores and bases to choose from.
func (c *Config) options() selection.Options {
	var cores []selection.Core
	if c.Core != "net" {
		cores = append(cores, selection.Linear())
	}
	for _, act := range []mlp.Activation{mlp.Tanh, mlp.Sigmoid} {
		if own := c.Net.Activation; c.Core != "linear" && (own == choose || own == act.String()) {
			cores = append(cores, selection.Core{Name: fmt.Sprint(act, " ", c.Net.Core), Widths: c.Net.Core, Activation: act, Heads: c.Net.Heads})
		}
	}
	if c.Basis >= 0 {
		return selection.Options{Cores: cores, Bases: []int{c.Basis}}
	}
	return selection.Options{Cores: cores, Bases: []int{selection.UsualBasis, selection.UsualBasis + 1, 0}}
}

// plan returns the work of a training, for its progress.
func (c *Config) plan(task window.Task, readouts, folds int, held bool) budget.Plan {
	usual, options, prior := Default(), c.options(), c.candidates(nil, &latency.Result{Gain: 1})
	p := budget.Plan{
		States: len(task.States), Inputs: task.Inputs, Equation: prior.Equation, Motion: prior.Motion, Direct: prior.Direct, Nets: prior.Nets.Members > 0, Folds: folds,
		NetSteps:   float64(c.Dynamics.Match+2*c.Dynamics.Shoot) / float64(usual.Dynamics.Match+2*usual.Dynamics.Shoot),
		NetMembers: c.Dynamics.Members, Chain: candidates.MayChain(task), Cores: len(options.Cores), Bases: len(options.Bases), Conditions: readouts, Members: c.Members,
		Steps: float64(c.netSettings().Steps) / float64(usual.Training.Steps), Features: float64(c.Features+30) / float64(usual.Features+30), Held: held,
	}
	if p.Direct && c.History {
		p.Conditions *= 2
	}
	return p
}

// switches returns what a calibration model fits.
func (c *FoldConfig) switches() calibration.Switches {
	return calibration.Switches{NetworkWeight: c.NetworkWeight, ScaleFactor: c.ScaleFactor, Distance: c.Distance, Motion: c.Motion}
}

// TOML returns the configuration as a file, without comments.
func (c Config) TOML() string {
	var b strings.Builder
	if err := toml.NewEncoder(&b).Encode(c); err != nil {
		panic(err) // of a type of ours, into memory
	}
	return b.String()
}
