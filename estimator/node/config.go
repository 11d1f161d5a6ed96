package node

import (
	"crypto/ed25519"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/wire"
)

// Config says how a node serves one vehicle. The zero value is a good one.
type Config struct {
	Vehicle  string    // (optional) as in the subjects; defaults to the model's vehicle
	Times    []float64 // (optional) s after the state, ascending, within the model's horizon (but see Chain); defaults to the model's points
	Instance string    // (optional) of this process; defaults to a random one

	// Chain lets Times go beyond the model's horizon, up to eight of them: predictions
	// are then continued from where they end, and flagged chained.
	Chain bool

	// Plain asks for the plain predictor: slower, in double precision throughout.
	Plain bool

	// RobotClock says that the robot's clock is another than this computer's (time
	// since boot, say). Then states are neither refused as future nor as old: only
	// their order can be checked.
	RobotClock bool
	MaxFuture  time.Duration // (optional) how far ahead of this computer's clock a state may be; defaults to 100 ms
	MaxAge     time.Duration // (optional) how long ago; defaults to the validity, and is never more
	Validity   time.Duration // (optional) how long after its state a prediction may be used; defaults to the last of Times, and is never more

	// Rate asks for predictions at a fixed rate, 1 to 10000 Hz, from the newest
	// state propagated to the tick, instead of one for each state.
	Rate     float64
	Priority int // (optional) of the process, as realtime.Settings has it; the loop goes above it

	// Deadline is the time from a state's arrival, or from the tick, to the
	// prediction handed to the link; later it is flagged late. With a Rate or a
	// Deadline given, the horizon is shortened when there is no time for all of it;
	// without, for states that were held up until a newer one came.
	Deadline time.Duration // (optional) defaults to the time between ticks, or between states, as measured
	AgeLimit time.Duration // (optional) age of a state beyond which predictions are widened, at twice that flagged, at four times stopped; defaults to a quarter of the validity

	Resync time.Duration // (optional) after so long without a good state any order is taken; defaults to 500 ms
	Every  time.Duration // (optional) time between two statuses; defaults to 1 s

	NoTrust     bool          // (optional) do not hold predictions against what comes
	FalseAlarms time.Duration // (optional) mean time between false alarms of the flag miscalibrated; defaults to 100 h
	TrustFile   string        // (optional) where what is known of the intervals is kept over a restart

	NoQueries bool              // (optional) do not answer questions
	PublicKey ed25519.PublicKey // (optional) take only models that are signed by its private key, see Offer

	// Record names a file in which everything is recorded that is needed to make the
	// same predictions again, see package journal. A file of that name is moved aside.
	Record      string // (optional)
	RecordLimit int64  // (optional) bytes at which the recording ends; defaults to 4 GiB

	Clock Clock             // (optional) defaults to SystemClock
	Log   func(line string) // (optional) for what an operator should read; defaults to nothing
}

// believable is how many times its scale in the model the standard deviation of
// a state may be: beyond it P0 says nothing but that a filter has diverged.
const believable = 1000

// complete fills in defaults and returns an error for what cannot be served.
func (c *Config) complete(m *model.Model) error {
	if c.Vehicle == "" {
		c.Vehicle = m.Vehicle
	}
	if err := wire.CheckVehicle(c.Vehicle); err != nil {
		return err
	}
	if c.Instance == "" {
		c.Instance = randomName(rand.Uint64())
	}
	times := c.Times
	if times == nil {
		times = modelTimes(m)
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
	if m.K > wire.MaxChannels || m.P > wire.MaxChannels {
		return fmt.Errorf("the model has %d states and %d inputs, a message holds %d of each", m.K, m.P, wire.MaxChannels)
	}
	last := time.Duration(times[len(times)-1] * float64(time.Second))
	for _, d := range []struct {
		name     string
		value    *time.Duration
		standard time.Duration
		most     time.Duration // 0 = any
	}{
		{"max_future", &c.MaxFuture, 100 * time.Millisecond, 0},
		{"validity", &c.Validity, last, last},
		{"max_age", &c.MaxAge, 0, 0}, // standard: the validity, below
		{"deadline", &c.Deadline, 0, 0},
		{"age_limit", &c.AgeLimit, 0, 0}, // standard: of the validity, below
		{"false_alarms", &c.FalseAlarms, 100 * time.Hour, 0},
		{"resync", &c.Resync, 500 * time.Millisecond, 0},
		{"every", &c.Every, time.Second, 0},
	} {
		if *d.value < 0 {
			return fmt.Errorf("%s is %v, and must not be negative", d.name, *d.value)
		}
		if *d.value == 0 {
			*d.value = d.standard
		}
		if d.most > 0 {
			*d.value = min(*d.value, d.most)
		}
	}
	if c.MaxAge == 0 || c.MaxAge > c.Validity {
		c.MaxAge = c.Validity
	}
	if c.AgeLimit == 0 || c.AgeLimit > c.Validity/silentFrom {
		c.AgeLimit = max(c.Validity/silentFrom, 1)
	}
	if c.RecordLimit == 0 {
		c.RecordLimit = 4 << 30
	}
	if c.Clock == nil {
		c.Clock = SystemClock()
	}
	if c.Log == nil {
		c.Log = func(string) {}
	}
	return nil
}

// deadline returns the time that a prediction may take, ns; 0 = any. period is the
// time between states.
func (c *Config) deadline(period int64) int64 {
	switch {
	case c.Deadline > 0:
		return int64(c.Deadline)
	case c.Rate > 0:
		return int64(1e9 / c.Rate)
	}
	return period
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
