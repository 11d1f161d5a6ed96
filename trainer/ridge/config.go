package ridge

import (
	"fmt"
	"math"
	"slices"

	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/direct"
	"github.com/dgm-robotics/dgm/estimator/history"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/trainer/window"
)

// Config describes a fit.
type Config struct {
	Times    []float64       // T, s, ascending, > 0, at most the task's horizon
	History  history.Spec    // rows of history of which levels read the newest
	Rows     []int           // levels beside that without history: rows that each reads, ascending
	Readouts []model.Readout // one level of each for every amount of history
	Blocks   int             // parts of the plan
	Shorter  int             // fits without products that read 1 to so many of the long rows less are candidates, too
	Products int             // products of two columns are columns where there are at most so many to multiply
	// Sharpness is the power of a candidate's error on what the folds hold out, over that of another,
	// by which its share in the mean is the less, see settle; 0 = the best of each channel and time alone.
	Sharpness float64

	Base func() Base // (optional) a new one for each caller: a second map is of what it leaves

	Stride  float64 // s between training windows; 0 = every sample
	Windows int     // (optional) at most so many windows, spread evenly, or a multiple of the columns if that is more
}

// Base predicts the displacements that a map adds to, from many starts at once.
type Base interface {
	Lanes() int                                                         // starts at once
	Start(lane int, x0 []float64, u channel.Command, history []float64) // sets one
	Run()                                                               // predicts from all
	Displacements(dst []float64, lane int)                              // from one, at Config.Times: T×K
}

func (c *Config) check(horizon float64) error {
	switch {
	case len(c.Times) == 0 || !slices.IsSorted(c.Times) || !(c.Times[0] > 0) || c.Times[len(c.Times)-1] > horizon:
		return fmt.Errorf("ridge: times %v: give ascending times above 0 and up to %g s", c.Times, horizon)
	case !slices.IsSorted(c.Rows) || len(c.Rows) > 0 && (c.Rows[0] < 1 || c.Rows[len(c.Rows)-1] > c.History.Rows()):
		return fmt.Errorf("ridge: levels of %v rows of history: give ascending numbers from 1 to %d", c.Rows, c.History.Rows())
	case !(c.Stride >= 0):
		return fmt.Errorf("ridge: stride %g s is negative", c.Stride)
	}
	return nil
}

// penalties of standardised columns of the candidates.
var penalties = []float64{1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1}

// frame returns a map without levels, its columns standardised by the starts of the
// windows.
func frame(flights []window.Flight, windows []window.Window, task window.Task, blocks int) direct.Model {
	m := direct.Model{Lift: channel.NewLift(task.States), Blocks: blocks}
	m.UMean, m.UStd = window.InputScale(flights, task.Inputs)
	m.Range = inputRange(flights, m.UMean, m.UStd)
	var starts []float64
	for _, w := range windows {
		starts = append(starts, flights[w.Flight].State(w.Start)...)
	}
	m.Lift.Standardise(starts, len(task.States))
	for _, c := range task.States {
		m.Derivative = append(m.Derivative, channel.Index(task.States, c.Derivative))
	}
	return m
}

// inputRange returns the largest standardised inputs (P) by their absolute value.
func inputRange(flights []window.Flight, mean, std []float64) []float64 {
	out := make([]float64, len(mean))
	for i := range flights {
		for j := range flights[i].N() {
			for p, v := range flights[i].Input(j) {
				if v = math.Abs(v-mean[p]) / std[p]; v > out[p] { // false for what is not known
					out[p] = v
				}
			}
		}
	}
	return out
}

// inputChange returns the largest standardised changes of the inputs in windows, see direct.Model.Change.
func inputChange(parts []part, horizon float64, m *direct.Model, rows int) []float64 {
	P, row := len(m.UStd), len(m.Derivative)+len(m.UStd)
	out, mean, before := make([]float64, (1+rows)*P), make([]float64, P), make([]float64, P)
	raise := func(of, a, b []float64) {
		for p, v := range a {
			if d := math.Abs(v-b[p]) / m.UStd[p]; d > of[p] { // false for what is not known
				of[p] = d
			}
		}
	}
	for _, part := range parts {
		for i, w := range part.windows {
			f := &part.flights[w.Flight]
			copy(before, f.Input(w.Start))
			for j := range m.Blocks {
				from := f.T[w.Start] + horizon*float64(j)/float64(m.Blocks)
				f.InputMean(mean, from, from+horizon/float64(m.Blocks))
				raise(out[:P], mean, before)
				copy(before, mean)
			}
			after := f.Input(w.Start)
			for r, past := 1, part.past[i]; len(past) > 0; r++ {
				raise(out[r*P:(r+1)*P], after, past[row-P:row])
				after, past = past[row-P:row], past[row:]
			}
		}
	}
	return out
}

// fine is the number of rows of one sample each, few that of the least history that is read.
const fine, few = 5, 2

// mostSamples of a horizon are each a time of a default map.
const mostSamples = 16

// Default describes the fit of a model's direct map to flights: times that are dense where
// predictions change fastest, and no farther apart than what a servo needs to follow its command, since weights between two
// times have some of the effect of what the plan does after; rows of history that grow longer backwards, up to most of
// the horizon. On eight flights of a small quadrotor these had 0.93 of the error of five rows of
// one sample, as 25 such rows had 0.95 of it; ten parts of the plan instead of five another
// 0.99.
func Default(flights []window.Flight, task window.Task, readouts int) Config {
	H, interval := task.Horizon, window.Interval(flights)
	c := Config{Blocks: 10, Shorter: 2, Sharpness: 8, Products: 32, Stride: H / 50}
	if n := int(H/interval + 1e-6); n <= mostSamples {
		for j := range n {
			c.Times = append(c.Times, interval*float64(j+1))
		}
	} else {
		for _, tau := range []float64{0.02, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.65, 0.8} {
			c.Times = append(c.Times, tau*H)
		}
		c.Times = window.AtSamples(c.Times, H, flights)
	}
	for n := len(c.Times); n > 0 && c.Times[n-1] > (1-1e-6)*H; n-- {
		c.Times = c.Times[:n-1]
	}
	c.Times = append(c.Times, H)
	for r := range model.Readout(readouts) {
		c.Readouts = append(c.Readouts, r)
	}
	var edges []float64
	for j := range fine {
		edges = append(edges, float64(j+1)*interval)
	}
	for e := 2 * fine * interval; e <= 0.8*H; e *= 2 {
		edges = append(edges, e)
	}
	c.History = history.Spec{Edges: edges}
	for c.History.Check() != nil { // samples too far apart or too dense for so many rows
		c.History.Edges = c.History.Edges[:len(c.History.Edges)-1]
	}
	for _, rows := range []int{few, c.History.Rows()} {
		if rows <= c.History.Rows() && rows > 0 && !slices.Contains(c.Rows, rows) {
			c.Rows = append(c.Rows, rows)
		}
	}
	return c
}
