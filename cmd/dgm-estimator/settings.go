package main

import (
	_ "embed"
	"fmt"
	"time"

	"github.com/BurntSushi/toml"

	"github.com/dgm-robotics/dgm/cmd/internal/cli"
	"github.com/dgm-robotics/dgm/cmd/internal/link"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/node"
	"github.com/dgm-robotics/dgm/estimator/node/realtime"
	"github.com/dgm-robotics/dgm/estimator/textlimit"
	"github.com/dgm-robotics/dgm/estimator/wire"
)

// template is the commented settings file, with every default in it.
//
//go:embed estimator.toml
var template string

// settings are those of the settings file, replaced by flags.
type settings struct {
	vehicle                   // of the only one, or common to all
	Vehicles []toml.Primitive `toml:"vehicles"`
	NATS     link.Flags       `toml:"nats"`
	Models   models           `toml:"models"`
	Upload   uploads          `toml:"upload"`
	Realtime realTime         `toml:"realtime"`
	Metrics  metrics          `toml:"metrics"`

	each []vehicle // one for each of Vehicles, with what they have in common
}

// vehicle is what can be set for one vehicle.
type vehicle struct {
	Model       string     `toml:"model"`
	Vehicle     string     `toml:"vehicle"`
	Points      int        `toml:"points"`
	Times       []duration `toml:"times"`
	Chain       bool       `toml:"chain"`
	Untimed     bool       `toml:"untimed_plans"`
	Predictor   string     `toml:"predictor"`
	Rate        float64    `toml:"rate"`
	Clock       string     `toml:"clock"`
	MaxFuture   duration   `toml:"max_future"`
	MaxAge      duration   `toml:"max_age"`
	AgeLimit    duration   `toml:"age_limit"`
	Validity    duration   `toml:"validity"`
	Deadline    duration   `toml:"deadline"`
	Resync      duration   `toml:"resync"`
	Status      duration   `toml:"status"`
	Trust       bool       `toml:"trust"`
	FalseAlarms duration   `toml:"false_alarms"`
	TrustFile   string     `toml:"trust_file"`
	Adapt       string     `toml:"adapt"`
	Queries     bool       `toml:"queries"`
	Record      string     `toml:"record"`
	RecordLimit int64      `toml:"record_limit_mb"`
	Object      string     `toml:"object"`
}

// models are where models come from while the program runs.
type models struct {
	Bucket    string `toml:"bucket"`
	MaxMemory int64  `toml:"max_memory_mb"`
	PublicKey string `toml:"public_key"`
	Swap      string `toml:"swap"`

	Fleet         string `toml:"fleet"`
	LeastSequence uint64 `toml:"least_sequence"`
	Unnumbered    bool   `toml:"unnumbered"`
}

// uploads are settings of dgm-bridge upload, which reads and checks them.
type uploads struct {
	When   string   `toml:"when"`
	Around duration `toml:"around"`
	Dir    string   `toml:"dir"`
	MostMB int64    `toml:"most_mb"`
}

// realTime is what the program asks of the operating system.
type realTime struct {
	Priority   int   `toml:"priority"`
	LockMemory bool  `toml:"lock_memory"`
	CPUs       []int `toml:"cpus"`
	Collect    int   `toml:"collect"`
	Memory     int64 `toml:"memory_mb"`
}

// metrics are where the numbers of the status can be read.
type metrics struct {
	Listen string `toml:"listen"`
}

// duration is a time.Duration written as text: "1s", "20ms".
type duration time.Duration

// UnmarshalText implements encoding.TextUnmarshaler.
func (d *duration) UnmarshalText(b []byte) error {
	v, err := time.ParseDuration(string(b))
	*d = duration(v)
	return err
}

func defaults() settings {
	var s settings
	if err := s.parse(template, "default settings"); err != nil {
		panic(err)
	}
	return s
}

// readChecked replaces in s what a settings file sets, and checks the result.
func (s *settings) readChecked(path string) error {
	err := s.read(path)
	if err == nil {
		if err = s.check(); err != nil {
			err = fmt.Errorf("%s: %w", path, err)
		}
	}
	return err
}

// read replaces in s what a settings file sets.
func (s *settings) read(path string) error {
	b, err := cli.ReadSettings(path)
	if err != nil {
		return fmt.Errorf("settings: %w", err)
	}
	return s.parse(string(b), path)
}

// parse replaces in s what the text sets.
func (s *settings) parse(text, name string) error {
	if err := textlimit.TOML([]byte(text)); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	meta, err := toml.Decode(text, s)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	s.each = nil
	for i, p := range s.Vehicles {
		v := s.vehicle
		v.Vehicle = "" // each needs a name of its own, or its model's
		if err := meta.PrimitiveDecode(p, &v); err != nil {
			return fmt.Errorf("%s: vehicle %d: %w", name, i+1, err)
		}
		s.each = append(s.each, v)
	}
	if unknown := meta.Undecoded(); len(unknown) > 0 {
		return fmt.Errorf("%s: unknown key %q; --print-config lists all keys", name, unknown[0].String())
	}
	return nil
}

// vehicles returns the settings of every vehicle.
func (s *settings) vehicles() []vehicle {
	if len(s.each) > 0 {
		return s.each
	}
	return []vehicle{s.vehicle}
}

// check returns an error for the first invalid setting, named as in the file.
func (s *settings) check() error {
	names, files := map[string]bool{}, map[string]bool{}
	for i := range s.vehicles() {
		v := &s.vehicles()[i]
		if err := v.check(); err != nil {
			if len(s.each) > 0 {
				return fmt.Errorf("vehicle %d: %w", i+1, err)
			}
			return err
		}
		if names[v.Vehicle] && v.Vehicle != "" {
			return fmt.Errorf("vehicle %q is there twice; run one estimator for each", v.Vehicle)
		}
		names[v.Vehicle] = true
		for _, f := range [...]string{v.Record, v.TrustFile} {
			if f != "" && files[f] {
				return fmt.Errorf("vehicle %d: %s is also written for another purpose: give every vehicle its own record and trust_file", i+1, f)
			}
			files[f] = true
		}
	}
	if s.Models.MaxMemory < 0 {
		return fmt.Errorf("models: max_memory_mb is %d, and must not be negative", s.Models.MaxMemory)
	}
	if s.Models.Swap != "always" && s.Models.Swap != "permitted" {
		return fmt.Errorf("models: swap is %q, and must be \"always\" or \"permitted\"", s.Models.Swap)
	}
	if err := s.realtime().Check(); err != nil {
		return fmt.Errorf("realtime: %w", err)
	}
	return s.Metrics.check()
}

func (s *vehicle) check() error {
	switch {
	case s.Points < 0 || s.Points > 10000:
		return fmt.Errorf("points is %d, and must be within 0 … 10000", s.Points)
	case s.Points > 0 && len(s.Times) > 0:
		return fmt.Errorf("both points and times are given; choose one")
	case s.Rate != 0 && !(s.Rate >= 1 && s.Rate <= 10000):
		return fmt.Errorf("rate is %g, and must be 0 or within 1 … 10000 Hz", s.Rate)
	case s.Clock != "shared" && s.Clock != "robot":
		return fmt.Errorf("clock is %q, and must be \"shared\" or \"robot\"", s.Clock)
	case s.Predictor != "fast" && s.Predictor != "plain":
		return fmt.Errorf("predictor is %q, and must be \"fast\" or \"plain\"", s.Predictor)
	case s.Adapt != wire.AdaptOff && s.Adapt != wire.AdaptWatch && s.Adapt != wire.AdaptOn:
		return fmt.Errorf("adapt is %q, and must be %q, %q or %q", s.Adapt, wire.AdaptOff, wire.AdaptWatch, wire.AdaptOn)
	case s.Status < duration(10*time.Millisecond):
		return fmt.Errorf("status is %v, and must be at least 10ms", time.Duration(s.Status))
	case s.Resync <= 0:
		return fmt.Errorf("resync is %v, and must be positive", time.Duration(s.Resync))
	case s.FalseAlarms <= 0:
		return fmt.Errorf("false_alarms is %v, and must be positive", time.Duration(s.FalseAlarms))
	case s.RecordLimit < 1:
		return fmt.Errorf("record_limit_mb is %d, and must be at least 1", s.RecordLimit)
	}
	if s.Vehicle != "" {
		if err := wire.CheckVehicle(s.Vehicle); err != nil {
			return err
		}
	}
	for i, t := range s.Times {
		if t <= 0 || (i > 0 && t <= s.Times[i-1]) {
			return fmt.Errorf("times must be positive and ascending, but %v is at position %d", time.Duration(t), i+1)
		}
	}
	return nil
}

func (s *vehicle) node(m *model.Model, log func(string)) node.Config {
	c := node.Config{
		Vehicle: s.Vehicle, RobotClock: s.Clock == "robot", Rate: s.Rate, Chain: s.Chain, Plain: s.Predictor == "plain", UntimedPlans: s.Untimed,
		MaxFuture: time.Duration(s.MaxFuture), MaxAge: time.Duration(s.MaxAge), AgeLimit: time.Duration(s.AgeLimit),
		Validity: time.Duration(s.Validity), Deadline: time.Duration(s.Deadline), Resync: time.Duration(s.Resync), Every: time.Duration(s.Status),
		NoTrust: !s.Trust, FalseAlarms: time.Duration(s.FalseAlarms), TrustFile: s.TrustFile, Adapt: s.Adapt,
		NoQueries: !s.Queries, Record: s.Record, RecordLimit: s.RecordLimit << 20,
		Log: log,
	}
	for i := range s.Points {
		c.Times = append(c.Times, m.Horizon*float64(i+1)/float64(s.Points))
	}
	for _, t := range s.Times {
		c.Times = append(c.Times, time.Duration(t).Seconds())
	}
	return c
}

// realtime returns what to ask of the operating system.
func (s *settings) realtime() *realtime.Settings {
	r := &s.Realtime
	return &realtime.Settings{Priority: r.Priority, LockMemory: r.LockMemory, CPUs: r.CPUs, Collect: r.Collect, Memory: r.Memory << 20}
}
