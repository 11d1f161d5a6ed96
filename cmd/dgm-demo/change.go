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
)

const changeName = "change.svg"

// change compares the predictions of the end of the horizon with what is measured, before and
// after the robot changes.
type change struct {
	at       float64 // s of the flight
	horizon  float64 // s
	row      int     // of the times
	back     uint64  // states in the horizon
	channels []channel.Channel
	start    int64 // ns, the first state
	any      bool

	t            []float64   // n, s of the flight
	errors, half [][]float64 // n×K, error and half of the 95 % interval
	amounts      []learnedAt
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
	row := len(times) - 1
	return &change{at: at, horizon: times[row], row: row, back: uint64(math.Round(times[row] / sc.period().Seconds())), channels: sc.robot.Plant.States}
}

// state compares a state with what was predicted of it one horizon before.
func (c *change) state(j *judge.Judge, s *wire.State) {
	if c == nil {
		return
	}
	if !c.any {
		c.any, c.start = true, s.T
	}
	if s.Seq < c.back {
		return
	}
	m, K := j.At(s.Seq-c.back), len(s.X)
	if m == nil || !m.Answered {
		return
	}
	e, half := make([]float64, K), make([]float64, K)
	for k := range K {
		e[k], half[k] = s.X[k]-m.Mean[c.row*K+k], judge.Z95*m.ObsStd[c.row*K+k]
	}
	c.t, c.errors, c.half = append(c.t, float64(s.T-c.start)*1e-9), append(c.errors, e), append(c.half, half)
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

// in returns root mean square error, mean half interval and coverage of channel k in a phase.
func (c *change) in(p phase, k int) (rmse, half, coverage float64) {
	n := 0.0
	for i, t := range c.t {
		if t < p.from || t >= p.to {
			continue
		}
		e, h := c.errors[i][k], c.half[i][k]
		n, rmse, half = n+1, rmse+e*e, half+h
		if math.Abs(e) <= h {
			coverage++
		}
	}
	return math.Sqrt(rmse / n), half / n, coverage / n
}

// most returns the channel whose error grows most with the change.
func (c *change) most() (channel int) {
	phases, most := c.phases(), 0.0
	for k := range c.channels {
		before, _, _ := c.in(phases[0], k)
		if after, _, _ := c.in(phases[1], k); after/before > most {
			channel, most = k, after/before
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
		rmse, half, coverage := c.in(ph, k)
		fmt.Fprintf(w, "  %-24s error %.3g, 95 %% interval ± %.3g %s, covered %.0f %%\n", ph.name, rmse, half, c.channels[k].Unit, 100*coverage)
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
	var t, e, low, high []float64
	most := 0.0
	for i, at := range c.t {
		if at < settling {
			continue
		}
		t, e, low, high = append(t, at), append(e, c.errors[i][k]), append(low, -c.half[i][k]), append(high, c.half[i][k])
		most = max(most, math.Abs(c.errors[i][k]), c.half[i][k])
	}
	first.YMin, first.YMax = -1.05*most, 1.05*most
	first.Ribbons = []plot.Ribbon{{Name: "95 % interval", X: t, Low: low, High: high, Color: plot.Model, Opacity: 0.2}}
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
