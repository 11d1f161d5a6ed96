package main

import (
	_ "embed"
	"fmt"
	"os"
	"time"

	"github.com/BurntSushi/toml"

	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/node"
	"github.com/dgm-robotics/dgm/estimator/wire"
)

// template is the commented settings file, with every default in it.
//
//go:embed estimator.toml
var template string

// settings is what the settings file says, flags laid over it.
type settings struct {
	Model     string     `toml:"model"`
	Vehicle   string     `toml:"vehicle"`
	Points    int        `toml:"points"`
	Times     []duration `toml:"times"`
	Clock     string     `toml:"clock"`
	MaxFuture duration   `toml:"max_future"`
	MaxAge    duration   `toml:"max_age"`
	Validity  duration   `toml:"validity"`
	Deadline  duration   `toml:"deadline"`
	Resync    duration   `toml:"resync"`
	Status    duration   `toml:"status"`
	NATS      natsLink   `toml:"nats"`
}

// natsLink says how to reach the server.
type natsLink struct {
	URL   string `toml:"url"`
	Creds string `toml:"creds"`
	NKey  string `toml:"nkey"`
	CA    string `toml:"tls_ca"`
	Cert  string `toml:"tls_cert"`
	Key   string `toml:"tls_key"`
}

// duration is a time.Duration written as text: "1s", "20ms".
type duration time.Duration

// UnmarshalText implements encoding.TextUnmarshaler.
func (d *duration) UnmarshalText(b []byte) error {
	v, err := time.ParseDuration(string(b))
	*d = duration(v)
	return err
}

// defaults returns what the template says.
func defaults() settings {
	var s settings
	if err := s.parse(template, "default settings"); err != nil {
		panic(err)
	}
	return s
}

// read lays a settings file over s.
func (s *settings) read(path string) error {
	b, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("settings: %w", err)
	}
	return s.parse(string(b), path)
}

// parse lays settings over s; what they leave out stays.
func (s *settings) parse(text, name string) error {
	meta, err := toml.Decode(text, s)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if unknown := meta.Undecoded(); len(unknown) > 0 {
		return fmt.Errorf("%s: unknown key %q; --print-config shows all that there are", name, unknown[0].String())
	}
	return nil
}

// check returns the first setting that cannot be, named as in the file, or nil.
func (s *settings) check() error {
	switch {
	case s.Points < 0 || s.Points > 10000:
		return fmt.Errorf("points is %d, and must be within 0 … 10000", s.Points)
	case s.Points > 0 && len(s.Times) > 0:
		return fmt.Errorf("both points and times are given; choose one")
	case s.Clock != "shared" && s.Clock != "robot":
		return fmt.Errorf("clock is %q, and must be \"shared\" or \"robot\"", s.Clock)
	case s.Status < duration(10*time.Millisecond):
		return fmt.Errorf("status is %v, and must be at least 10ms", time.Duration(s.Status))
	case s.Resync <= 0:
		return fmt.Errorf("resync is %v, and must be positive", time.Duration(s.Resync))
	}
	if s.Vehicle != "" {
		if err := wire.CheckVehicle(s.Vehicle); err != nil {
			return err
		}
	}
	for i, t := range s.Times {
		if t <= 0 || (i > 0 && t <= s.Times[i-1]) {
			return fmt.Errorf("times must be positive and ascend, and %v stands at place %d", time.Duration(t), i+1)
		}
	}
	return nil
}

// node returns the configuration of the node for a model.
func (s *settings) node(m *model.Model, log func(string)) node.Config {
	c := node.Config{
		Vehicle: s.Vehicle, RobotClock: s.Clock == "robot",
		MaxFuture: time.Duration(s.MaxFuture), MaxAge: time.Duration(s.MaxAge), Validity: time.Duration(s.Validity),
		Deadline: time.Duration(s.Deadline), Resync: time.Duration(s.Resync), Every: time.Duration(s.Status),
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

// link returns how to reach the server.
func (s *settings) link(name string, log func(string)) node.Link {
	n := &s.NATS
	return node.Link{URL: n.URL, Name: name, Creds: n.Creds, NKey: n.NKey, CA: n.CA, Cert: n.Cert, Key: n.Key, Log: log}
}
