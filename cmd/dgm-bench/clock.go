package main

import (
	"sync"
	"time"
)

// clock is the clock of all on the rig: it may run fast and be set.
type clock struct {
	mu    sync.Mutex
	start time.Time
	speed int64
	set   int64 // ns added to the wall clock
	jump  int64 // ns added to both
}

func newClock(speed int64) *clock { return &clock{start: time.Now(), speed: speed} }

func (c *clock) read() (unix, steady int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	steady = c.speed*int64(time.Since(c.start)) + c.jump
	return c.start.UnixNano() + steady + c.set, steady
}

func (c *clock) unix() int64 { unix, _ := c.read(); return unix }

func (c *clock) step(d time.Duration) {
	c.mu.Lock()
	c.set += int64(d)
	c.mu.Unlock()
}

// pass lets d pass at once.
func (c *clock) pass(d time.Duration) {
	c.mu.Lock()
	c.jump += int64(d)
	c.mu.Unlock()
}
