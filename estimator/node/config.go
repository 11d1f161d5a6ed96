package node

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/node/internal/prediction"
	"github.com/dgm-robotics/dgm/estimator/node/journal"
	"github.com/dgm-robotics/dgm/estimator/wire"
)

// Config is how a node serves one vehicle. The zero value is valid.
type Config struct {
	Vehicle  string    // (optional) as in the subjects; defaults to the model's vehicle
	Times    []float64 // (optional) s after the state, ascending, within the model's horizon (but see Chain); defaults to the model's points
	Instance string    // (optional) of this process; defaults to a random one

	// Chain lets Times go beyond the model's horizon, up to eight of them: predictions
	// are then continued from where they end, and flagged chained.
	Chain bool

	// UntimedPlans uses plans without plan_dt as plans over the model's horizon, whether or not
	// their sender has shown that it knows it.
	UntimedPlans bool

	// Plain asks for the plain predictor: slower, in double precision throughout.
	Plain bool

	// RobotClock is true where the robot's clock is another than this computer's (time
	// since boot, for example). Then states are neither refused as future nor as old:
	// only their order can be checked.
	RobotClock bool
	MaxFuture  time.Duration // (optional) how far ahead of this computer's clock a state may be; defaults to 100 ms
	MaxAge     time.Duration // (optional) how long ago; defaults to the validity, and is never more
	Validity   time.Duration // (optional) how long after its state a prediction may be used; defaults to the last of Times, and is never more

	// Rate asks for predictions at a fixed rate, 1 to 10000 Hz, from the newest
	// state propagated to the tick, instead of one for each state.
	Rate     float64
	Priority int // (optional) of the process, as realtime.Settings has it; the loop runs at a priority 10 higher

	// Deadline is the time from a state's arrival, or from the tick, to the
	// prediction handed to the link; later it is flagged late. With a Rate or a
	// Deadline given, the horizon is shortened when there is no time for all of it;
	// without, for states that were superseded by a newer one.
	Deadline time.Duration // (optional) defaults to the time between ticks, or between states, as measured
	AgeLimit time.Duration // (optional) age of a state beyond which predictions are widened, at twice that flagged, at four times stopped; defaults to a quarter of the validity

	Resync time.Duration // (optional) after so long without a good state any order is accepted; defaults to 500 ms
	Every  time.Duration // (optional) time between two statuses; defaults to 1 s

	NoTrust     bool          // (optional) do not compare predictions with what is then measured
	FalseAlarms time.Duration // (optional) mean time between false alarms of the flag miscalibrated; defaults to 100 h
	TrustFile   string        // (optional) where the state of the trust monitor is kept over a restart, and with .adapt appended what adaptation has learned

	// Adapt is wire.AdaptOn to learn in flight how the robot differs from that of the training
	// data and to correct predictions by it, wire.AdaptWatch to learn and report only, or
	// wire.AdaptOff.
	Adapt string // (optional) defaults to wire.AdaptOff

	NoQueries bool             // (optional) do not answer questions
	Accept    model.Acceptance // (optional) with a key: the models and commands that are accepted, see Offer; its vehicle is that of the node
	MaxMemory int64            // (optional) bytes that the predictors of a model may take; defaults to half of what is available

	// SwapPermission asks for the vehicle's permission before a model that is offered replaces another one, see
	// wire.SwapPermission; going back to the one before needs none.
	SwapPermission bool

	// Record names a file in which everything is recorded that is needed to make the
	// same predictions again, see package journal. A file of that name is moved aside.
	Record      string // (optional)
	RecordLimit int64  // (optional) bytes at which the recording ends; defaults to 4 GiB

	Clock Clock             // (optional) defaults to SystemClock
	Log   func(line string) // (optional) for what an operator should read; defaults to nothing
}

// complete fills in defaults and returns an error for what cannot be served.
func (c *Config) complete(m *model.Model) error {
	if c.Vehicle == "" {
		c.Vehicle = m.Vehicle
	}
	c.Accept.Vehicle = c.Vehicle
	if c.Instance == "" {
		c.Instance = randomName(rand.Uint64())
	}
	times := c.Times
	if times == nil {
		times = m.EqualTimes(m.Points)
	}
	if err := c.check(m, times); err != nil {
		return err
	}
	if err := c.completeDurations(times[len(times)-1]); err != nil {
		return err
	}
	if c.RecordLimit == 0 {
		c.RecordLimit = 4 << 30
	}
	if c.Adapt == "" {
		c.Adapt = wire.AdaptOff
	}
	if c.Clock == nil {
		c.Clock = SystemClock()
	}
	if c.Log == nil {
		c.Log = func(string) {}
	}
	return nil
}

// check returns the first setting that a node cannot have, but for the durations.
func (c *Config) check(m *model.Model, times []float64) error {
	if err := wire.CheckVehicle(c.Vehicle); err != nil {
		return err
	}
	if len(times) == 0 || len(times) > wire.MaxTimes {
		return fmt.Errorf("%d times to predict at, expected 1 to %d", len(times), wire.MaxTimes)
	}
	for i, t := range times {
		if i > 0 && !(t > times[i-1]) {
			return fmt.Errorf("times must ascend, and %g s comes after %g s", t, times[i-1])
		}
	}
	if c.Rate != 0 && !(c.Rate >= 1 && c.Rate <= 10000) {
		return fmt.Errorf("rate is %g Hz, and must be 0 or within 1 … 10000", c.Rate)
	}
	if a := c.Adapt; a != "" && a != wire.AdaptOff && a != wire.AdaptWatch && a != wire.AdaptOn {
		return fmt.Errorf("adapt is %q, and must be %q, %q or %q", a, wire.AdaptOff, wire.AdaptWatch, wire.AdaptOn)
	}
	if m.K > wire.MaxChannels || m.P > wire.MaxChannels {
		return fmt.Errorf("the model has %d states and %d inputs, a message holds %d of each", m.K, m.P, wire.MaxChannels)
	}
	return nil
}

// completeDurations fills in the durations; last is the last of the times, s.
func (c *Config) completeDurations(last float64) error {
	for _, d := range [...]struct {
		name     string
		value    *time.Duration
		standard time.Duration
	}{
		{"max_future", &c.MaxFuture, 100 * time.Millisecond},
		{"validity", &c.Validity, 0}, // these three below
		{"max_age", &c.MaxAge, 0},
		{"age_limit", &c.AgeLimit, 0},
		{"deadline", &c.Deadline, 0},
		{"false_alarms", &c.FalseAlarms, 100 * time.Hour},
		{"resync", &c.Resync, 500 * time.Millisecond},
		{"every", &c.Every, time.Second},
	} {
		if *d.value < 0 {
			return fmt.Errorf("%s is %v, and must not be negative", d.name, *d.value)
		}
		if *d.value == 0 {
			*d.value = d.standard
		}
	}
	limit := func(d *time.Duration, most time.Duration) {
		if *d == 0 || *d > most {
			*d = most
		}
	}
	limit(&c.Validity, time.Duration(last*float64(time.Second)))
	limit(&c.MaxAge, c.Validity)
	limit(&c.AgeLimit, max(c.Validity/prediction.SilentAfter, 1))
	return nil
}

// adaptFile returns where what adaptation has learned is kept over a restart, "" = nowhere.
func (c *Config) adaptFile() string {
	if c.TrustFile == "" || c.Adapt == wire.AdaptOff {
		return ""
	}
	return c.TrustFile + ".adapt"
}

// settings returns what predictions depend on of a complete configuration.
func (c *Config) settings() *journal.Settings {
	return &journal.Settings{
		Vehicle: c.Vehicle, Instance: c.Instance,
		Times: c.Times, Rate: c.Rate, RobotClock: c.RobotClock, Validity: int64(c.Validity), Deadline: int64(c.Deadline),
		AgeLimit: int64(c.AgeLimit), FalseAlarms: int64(c.FalseAlarms), NoTrust: c.NoTrust, Chain: c.Chain, Fast: !c.Plain, TimedPlans: !c.UntimedPlans,
		Adapt: c.Adapt,
	}
}

// configOf is the opposite of settings.
func configOf(s *journal.Settings) Config {
	c := Config{
		Vehicle: s.Vehicle, Instance: s.Instance,
		Rate: s.Rate, RobotClock: s.RobotClock, Validity: time.Duration(s.Validity), Deadline: time.Duration(s.Deadline),
		AgeLimit: time.Duration(s.AgeLimit), FalseAlarms: time.Duration(s.FalseAlarms), NoTrust: s.NoTrust, Chain: s.Chain, Plain: !s.Fast, UntimedPlans: !s.TimedPlans,
	}
	if c.Adapt = s.Adapt; c.Adapt == "" {
		c.Adapt = wire.AdaptOff
	}
	if len(s.Times) > 0 { // else the model's
		c.Times = s.Times
	}
	return c
}

// randomName returns 12 letters and digits made of 60 random bits.
func randomName(bits uint64) string {
	const letters = "abcdefghijklmnopqrstuvwxyz234567"
	name := make([]byte, 12)
	for i := range name {
		name[i] = letters[bits>>(5*i)&31]
	}
	return string(name)
}

// Clock returns the time twice, in nanoseconds: unix since 1970, which may be set
// while the node runs, and steady since any moment, which may not. States are
// dated on the first; everything else is measured on the second.
type Clock func() (unix, steady int64)

// SystemClock returns the clock of the computer.
func SystemClock() Clock {
	start := time.Now()
	return func() (unix, steady int64) {
		now := time.Now()
		return now.UnixNano(), int64(now.Sub(start))
	}
}
