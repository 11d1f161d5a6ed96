//go:build !linux

package realtime

import (
	"errors"
	"math"
	"time"
)

// Apply returns an error for any setting: none can be had here.
func (s *Settings) Apply() error {
	if s.Priority > 0 || s.LockMemory || len(s.CPUs) > 0 {
		return errors.New("priority, locked memory and processors can be chosen on Linux only")
	}
	return nil
}

// Sleeper sleeps.
type Sleeper struct{ zero time.Time }

// NewSleeper returns a sleeper on the caller's clock, which is at steady now, ns.
func NewSleeper(steady int64, _ int) *Sleeper {
	return &Sleeper{zero: time.Now().Add(-time.Duration(steady))}
}

// Close does nothing.
func (s *Sleeper) Close() {}

// Until sleeps until a time on the caller's clock, which may be past.
func (s *Sleeper) Until(steady int64) { time.Sleep(time.Until(s.zero.Add(time.Duration(steady)))) }

// Available returns math.MaxInt64: nothing is known here.
func Available() int64 { return math.MaxInt64 }
