// Package disturb holds disturbances of a plant: wind, payload and wear, which no input,
// controller or model contains.
package disturb

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/dgm-robotics/dgm/firmware-sim/seed"
)

// Gusts describes wind as a Gaussian process with zero mean, independent in each
// of a plant's disturbances, in their units.
type Gusts struct {
	Std  float64 // standard deviation; 0 = calm
	Time float64 // (optional) correlation time, s; defaults to 1
	Onset
}

// ParseGusts reads STD, STD:TIME, STD:TIME:AT or STD:TIME:AT:OVER, for example
// "0.5", "0.5:2s" or "0.5:2s:20s:5s".
func ParseGusts(text string) (Gusts, error) {
	parts := strings.Split(text, ":")
	std := parts[0]
	g := Gusts{Time: 1}
	v, err := strconv.ParseFloat(std, 64)
	if err != nil || !(v >= 0) || math.IsInf(v, 0) {
		return g, fmt.Errorf("wind=%s: the standard deviation %q must be a number that is not negative; write wind=0.5, wind=0.5:2s or wind=0.5:2s:20s", text, std)
	}
	g.Std = v
	if len(parts) == 1 {
		return g, nil
	}
	d, err := time.ParseDuration(parts[1])
	if err != nil || d <= 0 {
		return g, fmt.Errorf("wind=%s: the correlation time %q must be a duration above zero; write wind=0.5:2s", text, parts[1])
	}
	g.Time = d.Seconds()
	if g.Onset, err = onset(parts[2:]); err != nil {
		return g, fmt.Errorf("wind=%s: %w; write wind=0.5:2s:20s or wind=0.5:2s:20s:5s", text, err)
	}
	return g, nil
}

// Wind is an Ornstein-Uhlenbeck process sampled at equal steps, exact at any
// step: d' = a d + √(1 − a²) σ n with a = exp(−step/Time), started in its
// stationary distribution.
type Wind struct {
	src        *seed.Source
	keep, kick float64
	now        []float64
}

// NewWind starts wind of dim components that changes every step seconds.
func NewWind(g Gusts, dim int, step float64, src *seed.Source) *Wind {
	if g.Time <= 0 {
		g.Time = 1
	}
	a := math.Exp(-step / g.Time)
	w := &Wind{src: src, keep: a, kick: g.Std * math.Sqrt(-math.Expm1(-2*step/g.Time)), now: make([]float64, dim)}
	for i := range w.now {
		w.now[i] = g.Std * src.Normal()
	}
	return w
}

// Now returns the wind of the current step. The slice changes with Next.
func (w *Wind) Now() []float64 { return w.now }

// Next moves on by one step.
func (w *Wind) Next() {
	for i := range w.now {
		w.now[i] = w.keep*w.now[i] + w.kick*w.src.Normal()
	}
}
