package journal

import (
	"errors"
	"fmt"

	"github.com/dgm-robotics/dgm/estimator/msgbin"
)

// cursor reads the elements of a payload and keeps the first error.
type cursor struct {
	r   *msgbin.Reader
	err error
}

func read[T any](c *cursor, what string, f func() (T, error)) T {
	var zero T
	if c.err != nil {
		return zero
	}
	v, err := f()
	if err != nil {
		c.err = fmt.Errorf("%s: %w", what, err)
		return zero
	}
	return v
}

func (c *cursor) int(what string) int64     { return read(c, what, c.r.Int64) }
func (c *cursor) uint(what string) uint64   { return read(c, what, c.r.Uint64) }
func (c *cursor) float(what string) float64 { return read(c, what, c.r.Float64) }
func (c *cursor) bool(what string) bool     { return read(c, what, c.r.Bool) }
func (c *cursor) string(what string) string {
	return read(c, what, func() (string, error) { return c.r.String(mostText) })
}

// bin copies a bin into dst's memory.
func (c *cursor) bin(what string, dst *[]byte) {
	b := read(c, what, func() ([]byte, error) { return c.r.Bin(mostBytes) })
	*dst = append((*dst)[:0], b...)
}

var errShort = errors.New("has too few elements")

func (h *Header) read(r *msgbin.Reader) error {
	n, err := r.Array(64)
	if err != nil || n < 14 {
		return errors.New("is not the header of a journal: was this file written by --record?")
	}
	c := &cursor{r: r}
	if m := c.string("magic"); c.err != nil || m != magic {
		return errors.New("is not the header of a journal: was this file written by --record?")
	}
	if v := c.int("version"); c.err == nil && v != version {
		return fmt.Errorf("is of version %d, this program reads %d", v, version)
	}
	h.Vehicle, h.Instance, h.Platform = c.string("vehicle"), c.string("instance"), c.string("platform")
	h.Times = read(c, "times", func() ([]float64, error) { return r.AppendFloats(nil, mostTimes) })
	h.Rate, h.RobotClock = c.float("rate"), c.bool("robot clock")
	h.Validity, h.Deadline, h.AgeLimit, h.FalseAlarms = c.int("validity"), c.int("deadline"), c.int("age limit"), c.int("false alarms")
	h.NoTrust, h.Chain = c.bool("trust off"), c.bool("chain")
	if n >= 15 {
		h.Fast = c.bool("fast predictor")
	}
	return c.err
}

func (m *Model) read(r *msgbin.Reader, n int) error {
	if n < 3 {
		return errShort
	}
	c := &cursor{r: r}
	c.bin("model", &m.File)
	c.bin("trust", &m.Trust)
	return c.err
}

func (s *State) read(r *msgbin.Reader, n int) error {
	if n < 5 {
		return errShort
	}
	c := &cursor{r: r}
	s.At, s.Age, s.Period = c.int("arrival"), c.int("age"), c.int("time between states")
	c.bin("message", &s.Message)
	return c.err
}

func (p *Prediction) read(r *msgbin.Reader, n int) error {
	if n < 9 {
		return errShort
	}
	c := &cursor{r: r}
	*p = Prediction{Tick: c.uint("tick"), Due: c.int("due"), End: c.int("end"), Unix: c.int("unix"), Level: int(c.int("step"))}
	p.Fresh, p.Contested, p.Outcome = c.bool("fresh"), c.bool("contested"), c.string("outcome")
	if c.err != nil || p.Outcome != OK {
		return c.err
	}
	if n < 14+len(p.Digests) {
		return errShort
	}
	p.Seq, p.T, p.ValidUntil = c.uint("seq"), c.int("t"), c.int("valid_until")
	p.Flags, p.Points = c.uint("flags"), int(c.int("points"))
	for i := range p.Digests {
		p.Digests[i] = c.uint(Digested[i])
	}
	return c.err
}
