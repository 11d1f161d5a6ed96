package main

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dgm-robotics/dgm/cmd/dgm-view/page"
	"github.com/dgm-robotics/dgm/estimator/wire"
)

// newFiltered returns a robot whose rate nothing measures, and what its filter makes of the angle at a time, s.
func newFiltered(name string) (*robot, func(t float64) wire.Estimate) {
	r := newRobot(name, 2, 20)
	p := &r.prediction
	p.Channels, p.Units = []string{"theta", "theta_rate"}, []string{"rad", "rad/s"}
	r.status.Channels, r.status.NIS, r.status.FilterResets = p.Channels, 0.97, 2
	return r, func(t float64) wire.Estimate {
		return wire.Estimate{
			Vehicle: name, Model: p.Model, Instance: "one", Seq: r.state.Seq, T: int64(t * 1e9), Channels: p.Channels, Units: p.Units, Settled: true,
			X: []float64{math.Sin(t), math.Cos(t)}, P: []float64{1e-4, 0, 0, 0.0025}, Innovation: []float64{0.01, math.NaN()}, Ratio: []float64{0.04, math.NaN()},
			NIS: 0.97, Rejected: r.status.Rejected, Sensors: []string{"theta"},
		}
	}
}

// shown reports what the page keeps.
type shown struct {
	States, Unreadable, Predictions, Vehicles int
	Estimates                                 []int // of each run without a gap
}

// The state of a robot that measures angles alone is shown as it is estimated, with NIS, its bound and outliers.
func TestShowsWhatAFilterEstimates(t *testing.T) {
	t.Parallel()
	b := openBrowser(t, 1280, 1400)
	s := openSite(t)
	b.open(s.url)
	r, estimate := newFiltered("one")
	n, report, settled := uint64(0), shown{}, true
	publish := func(x []float64, sensor string, late time.Duration) {
		time.Sleep(5 * time.Millisecond)
		at := float64(n) / 100
		r.fly(at, n)
		sent, e := r.state, estimate(at)
		sent.X, sent.T, e.Sensors, e.Settled = x, sent.T-late.Nanoseconds(), []string{sensor}, settled
		s.publish(wire.StateSubject(r.name), sent.Append(nil))
		s.publish(wire.EstimateSubject(r.name), e.Append(nil))
		s.publish(wire.PredictSubject(r.name), r.prediction.Append(nil))
		if n%20 == 0 {
			s.publish(wire.StatusSubject(r.name), r.status.Append(nil))
		}
		n++
	}
	angle := func() float64 { return math.Sin(float64(n) / 100) }
	b.await("measured and estimated angles", func() bool {
		for range 10 {
			publish([]float64{angle()}, "theta", 0)
		}
		b.run("dgmView()", &report)
		return report.States > 200 && len(report.Estimates) == 1 && report.Estimates[0] > 50
	})
	r.status.Rejected = 3
	for selector, want := range map[string]string{
		"#nis": "0.97", "#bound": "0.88 to 1.12", "#charts figure:nth-child(1) i + i": "", "#charts figure:nth-child(2) i + i": "no sensor",
	} {
		b.await(fmt.Sprintf("%s to show %q", selector, want), func() bool {
			publish([]float64{angle()}, "theta", 0)
			return b.text(selector) == want
		})
	}
	b.await("the outliers", func() bool {
		publish([]float64{angle()}, "theta", 0)
		text := b.text("#filtered")
		return strings.HasPrefix(text, "No sensor gives theta_rate. 3 outliers were not used, the last ") && strings.HasSuffix(text, " ago; the filter began again 2 times.")
	})
	b.await("the estimated rate with its interval", func() bool {
		n-- // the same again: the page takes some of the messages
		publish([]float64{angle()}, "theta", 0)
		want := minus(fmt.Sprintf("%.3f ± 0.098 → ", math.Cos(float64(n-1)/100)))
		return strings.HasPrefix(b.text("#charts figure:nth-child(2) .reading"), want)
	})
	b.picture("filter-light", false)
	b.colours("dark")
	b.picture("filter-dark", false)
	settled = false
	b.await("the filter to begin again", func() bool {
		publish([]float64{angle()}, "theta", 0)
		return strings.Contains(b.text("#filtered"), "Its estimate does not count yet.")
	})
	settled = true
	b.await("estimates after a gap", func() bool {
		publish([]float64{angle()}, "theta", 0)
		b.run("dgmView()", &report)
		return len(report.Estimates) == 2 && report.Estimates[1] > 1
	})
	// Another sensor gives the rate, in messages of its own that come late.
	b.await("the states of both sensors, three seconds at 100 Hz", func() bool {
		for range 200 {
			publish([]float64{angle(), math.NaN()}, "theta", 0)
			publish([]float64{math.NaN(), 1}, "theta_rate", 55*time.Millisecond)
		}
		b.run("dgmView()", &report)
		return report.States > 280 && strings.HasPrefix(b.text("#filtered"), "Sensors give all states.") && b.text("#charts figure:nth-child(2) i + i") == ""
	})
	if report.Unreadable > 0 {
		t.Errorf("%d messages were not read", report.Unreadable)
	}
	wrong := estimate(1)
	wrong.P[3] = -1
	b.await("an estimate of negative variance to be refused", func() bool {
		s.publish(wire.EstimateSubject(r.name), wrong.Append(nil))
		b.run("dgmView()", &report)
		return report.Unreadable > 0
	})
}

// Predictions are shown where estimates may not be read, and the section of the filter only where there is one.
func TestEstimatesThatMayNotBeRead(t *testing.T) {
	t.Parallel()
	b := openBrowser(t, 1280, 900)
	s := openSite(t, slices.DeleteFunc(slices.Clone(page.Reads), func(r string) bool { return strings.HasPrefix(r, "dgm.estimate") })...)
	b.open(s.url)
	filtered, _ := newFiltered("one")
	s.flight(50, filtered, newRobot("two", 2, 5))
	var report shown
	b.await("predictions, states and the reason", func() bool {
		b.run("dgmView()", &report)
		return report.Vehicles == 2 && report.Predictions > 20 && report.States > 20 && strings.HasPrefix(b.text("#filtered"), "No estimate has come") && strings.Contains(b.text("#link"), "dgm.estimate.one")
	})
	if len(report.Estimates) > 0 || b.text("#nis") != "0.97" {
		t.Errorf("%v estimates, NIS %q", report.Estimates, b.text("#nis"))
	}
	b.run("document.dispatchEvent(new KeyboardEvent('keydown', {key: 'j'}))", nil)
	b.await("a vehicle without a filter to have no section of one", func() bool {
		var hidden bool
		b.run("document.getElementById('filter').hidden && document.getElementById('estimatedKey').hidden", &hidden)
		return hidden && b.text("#name") == "two"
	})
}
