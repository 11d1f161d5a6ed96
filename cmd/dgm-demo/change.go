package main

import (
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/dgm-robotics/dgm/cmd/dgm-demo/judge"
	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/wire"
	"github.com/dgm-robotics/dgm/trainer/plot"
)

// What is compared about a change of the robot in flight.
const (
	earliestChange = 6 * time.Second // calm flight before it
	afterChange    = 8 * time.Second // flight after it
	learning       = 2.              // s after it that show how large it is
	recovered      = 5.              // s after it from which on it should be learned
	settling       = 3.              // s after the start that are left out
	drawEvery      = 4               // states between two points of the picture
)

const changeName = "change.svg"

// change compares the predictions of the end of the horizon with what is measured, before and
// after the robot changes.
type change struct {
	at       float64 // s of the flight
	horizon  float64 // s
	back     uint64  // states in the horizon
	channels []channel.Channel
	start    int64 // ns, the first state
	any      bool

	t       []float64 // n, s of the flight
	checks  [][]check // n×K
	amounts []learnedAt
}

// check is a measurement beside what was predicted of it.
type check struct {
	error, half, scaled float64 // halves of the 95 % interval, and of that with the published factor
}

// learnedAt is what a status reports as learned.
type learnedAt struct {
	t       float64 // s of the flight
	amounts []wire.Amount
}

// newChange returns nil where the robot does not change.
func newChange(sc *scene, times []float64) *change {
	at, ok := sc.flown.Onset()
	if !ok {
		return nil
	}
	horizon := times[len(times)-1]
	back := uint64(math.Round(horizon / sc.period().Seconds()))
	return &change{at: at, horizon: horizon, back: back, channels: sc.robot.Plant.States}
}

// state compares a state with what was predicted of it one horizon before.
func (c *change) state(s *wire.State, j *judge.Judge) {
	if c == nil {
		return
	}
	if !c.any {
		c.any, c.start = true, s.T
	}
	m := j.At(s.Seq - c.back)
	if m == nil || !m.Answered || len(m.Factor) != len(m.Mean) {
		return
	}
	checks := make([]check, len(s.X))
	for k, x := range s.X {
		at := len(m.Mean) - len(s.X) + k
		half := judge.Z95 * m.ObsStd[at]
		checks[k] = check{x - m.Mean[at], half, half * m.Factor[at]}
	}
	c.t, c.checks = append(c.t, float64(s.T-c.start)*1e-9), append(c.checks, checks)
}

// learned keeps what a status reports.
func (c *change) learned(s *wire.Status) {
	if c != nil && c.any && len(c.t) > 0 {
		c.amounts = append(c.amounts, learnedAt{c.t[len(c.t)-1], slices.Clone(s.Amounts)})
	}
}

// note describes the present of the flight.
func (c *change) note(t float64, s *wire.Status) string {
	text := fmt.Sprintf("the robot changes at %g s", c.at)
	if t >= c.at {
		text = fmt.Sprintf("the robot changed %.0f s ago", t-c.at)
	}
	if learned := s.Changes(); learned != "" {
		text += ", learned: " + learned
	}
	return text
}

// phase is a part of the flight.
type phase struct {
	name     string
	from, to float64 // s
}

func (c *change) phases() []phase {
	return []phase{
		{"before the change", settling, c.at},
		{fmt.Sprintf("the first %g s after it", learning), c.at, c.at + learning},
		{fmt.Sprintf("from %g s after it on", recovered), c.at + recovered, math.Inf(1)},
	}
}

// in returns root mean square error and mean half intervals of channel k in a phase, and the
// shares of measurements within them.
func (c *change) in(p phase, k int) (mean check, covered, scaledCovered float64) {
	n, squares := 0.0, 0.0
	for i, t := range c.t {
		if t < p.from || t >= p.to {
			continue
		}
		v := c.checks[i][k]
		n, squares, mean.half, mean.scaled = n+1, squares+v.error*v.error, mean.half+v.half, mean.scaled+v.scaled
		if math.Abs(v.error) <= v.half {
			covered++
		}
		if math.Abs(v.error) <= v.scaled {
			scaledCovered++
		}
	}
	return check{math.Sqrt(squares / n), mean.half / n, mean.scaled / n}, covered / n, scaledCovered / n
}

// most returns the channel whose error grows most with the change.
func (c *change) most() (channel int) {
	phases, most := c.phases(), 0.0
	for k := range c.channels {
		before, _, _ := c.in(phases[0], k)
		after, _, _ := c.in(phases[1], k)
		if ratio := after.error / before.error; ratio > most {
			channel, most = k, ratio
		}
	}
	return channel
}

// showChange describes the change that was flown, and draws it.
func (p *planner) showChange(w io.Writer, out *output) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	c := p.change
	if c == nil || len(c.t) == 0 || c.t[len(c.t)-1] < c.at+recovered {
		return nil
	}
	k := c.most()
	name := c.channels[k].Name
	fmt.Fprintf(w, "\nThe robot changed at %g s. Of %s, %g s ahead:\n", c.at, name, c.horizon)
	for _, ph := range c.phases() {
		mean, covered, scaled := c.in(ph, k)
		fmt.Fprintf(w, "  %-24s error %.3g %s; 95 %% intervals ± %.3g cover %.0f %%, with the factor ± %.3g cover %.0f %%\n",
			ph.name, mean.error, c.channels[k].Unit, mean.half, 100*covered, mean.scaled, 100*scaled)
	}
	if learned := p.status.Changes(); learned != "" {
		fmt.Fprintf(w, "Learned in flight: %s.\n", learned)
	}
	sheet, err := c.draw(k)
	if err != nil {
		return err
	}
	if err := os.WriteFile(out.path(changeName), sheet, 0o666); err != nil {
		return err
	}
	out.wrote(changeName, "error and interval before and after the change")
	return nil
}

// draw draws error and interval of channel k over the flight, and the amount that was learned
// with most certainty.
func (c *change) draw(k int) ([]byte, error) {
	name, unit := c.channels[k].Name, c.channels[k].Unit
	first := plot.Chart{
		Title: fmt.Sprintf("error of %s, predicted %g s ahead", name, c.horizon), XLabel: "time of flight, s", YLabel: plot.WithUnit("measured − predicted", unit),
		Description: "Errors of predictions and their intervals of 95 % before a change of the robot, after it, and after it was learned.",
	}
	var t, e []float64
	var edges [2][2][]float64 // without and with the factor, low and high
	most := 0.0
	for i, at := range c.t {
		if at < settling || i%drawEvery != 0 {
			continue
		}
		v := c.checks[i][k]
		t, e, most = append(t, at), append(e, v.error), max(most, math.Abs(v.error), v.scaled)
		for j, half := range [...]float64{v.half, v.scaled} {
			edges[j][0], edges[j][1] = append(edges[j][0], -half), append(edges[j][1], half)
		}
	}
	first.YMin, first.YMax = -1.05*most, 1.05*most
	first.Ribbons = []plot.Ribbon{
		{Name: "95 % × live trust", X: t, Low: edges[1][0], High: edges[1][1], Color: plot.Model, Opacity: 0.14},
		{Name: "95 %", X: t, Low: edges[0][0], High: edges[0][1], Color: plot.Model, Opacity: 0.28},
	}
	first.Lines = []plot.Line{{Name: "error", X: t, Y: e, Color: plot.Measured, Width: 1.2}, c.onset(first.YMin, first.YMax)}
	row := []plot.Chart{first}
	if chart, ok := c.amountChart(); ok {
		row = append(row, chart)
	}
	return plot.Sheet("", "", [][]plot.Chart{row})
}

func (c *change) onset(low, high float64) plot.Line {
	return plot.Line{Name: "the robot changes", X: []float64{c.at, c.at}, Y: []float64{low, high}, Color: plot.Alert, Dash: "5 3"}
}

// amountChart draws the amount that was learned with most certainty over the flight; ok is
// false where none was.
func (c *change) amountChart() (chart plot.Chart, ok bool) {
	if len(c.amounts) == 0 {
		return chart, false
	}
	last := c.amounts[len(c.amounts)-1].amounts
	best, ratio := -1, 0.0
	for i := range last {
		if a := &last[i]; a.Significant() && math.Abs(a.Value)/a.Std > ratio {
			best, ratio = i, math.Abs(a.Value)/a.Std
		}
	}
	if best < 0 {
		return chart, false
	}
	var t, value, low, high []float64
	for _, s := range c.amounts {
		if len(s.amounts) > best {
			a := s.amounts[best]
			t, value, low, high = append(t, s.t), append(value, a.Value), append(low, a.Value-judge.Z95*a.Std), append(high, a.Value+judge.Z95*a.Std)
		}
	}
	a := last[best]
	from, to := slices.Min(low), slices.Max(high)
	return plot.Chart{
		Title: "learned in flight: " + a.Name, XLabel: "time of flight, s", YLabel: plot.WithUnit(strings.Fields(a.Name)[0], a.Unit), YMin: from, YMax: to,
		Ribbons:     []plot.Ribbon{{Name: "95 %", X: t, Low: low, High: high, Color: plot.Linear, Opacity: 0.2}},
		Lines:       []plot.Line{{Name: a.Name, X: t, Y: value, Color: plot.Linear}, c.onset(from, to)},
		Description: "What the estimator has learned about the robot over the flight.",
	}, true
}
