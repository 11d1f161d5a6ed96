package predictors

import (
	"context"
	"os"
	"reflect"
	"slices"
	"testing"

	"github.com/dgm-robotics/dgm/cmd/dgm-bench/study"
	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/flightlog"
	"github.com/dgm-robotics/dgm/trainer"
)

// Each part changes something, and the last but one is the whole recipe.
func TestPartsOfTheRecipe(t *testing.T) {
	var before trainer.Config
	for _, p := range parts {
		c := worthSettings(trainer.Default(), p.name)
		if reflect.DeepEqual(c, before) {
			t.Errorf("%s changes nothing", p.name)
		}
		if err := c.Check(); err != nil {
			t.Error(err)
		}
		before = c
	}
	whole, want := worthSettings(trainer.Default(), "history"), trainer.Default()
	want.Holdout, want.Members, want.Budget = whole.Holdout, whole.Members, whole.Budget
	want.Dynamics = whole.Dynamics
	if !reflect.DeepEqual(whole, want) || whole.Dynamics.Members != 1 || !want.Folds.ScaleFactor {
		t.Errorf("the whole recipe is %+v", whole)
	}
}

func TestConditionsLeaveSamplesOut(t *testing.T) {
	make := func() *flightlog.Log {
		log := &flightlog.Log{Header: flightlog.Header{Channels: []channel.Channel{
			{Name: "q1", Role: channel.State, Derivative: "w1"}, {Name: "w1", Role: channel.State}, {Name: "u", Role: channel.Input},
		}}}
		seg := flightlog.Segment{}
		for i := range 1000 {
			seg.T, seg.X, seg.U = append(seg.T, int64(i)*5e6), append(seg.X, float64(i), -float64(i)), append(seg.U, float64(i))
		}
		log.Segments = append(log.Segments, seg)
		return log
	}
	for _, want := range []struct {
		name    string
		samples [2]int // at least, at most
		last    float64
		width   int
	}{
		{"all", [2]int{1000, 1000}, 999, 2}, {"half", [2]int{500, 500}, 499, 2}, {"quarter", [2]int{250, 250}, 249, 2},
		{"20hz", [2]int{100, 100}, 990, 2}, {"irregular", [2]int{450, 550}, -1, 2}, {"positions", [2]int{1000, 1000}, 999, 1},
	} {
		c := &conditions[slices.IndexFunc(conditions, func(c condition) bool { return c.name == want.name })]
		train, test := make(), make()
		c.apply(train, test, 1)
		seg := &train.Segments[0]
		n := len(seg.T)
		if n < want.samples[0] || n > want.samples[1] || len(seg.X) != n*want.width || len(seg.U) != n {
			t.Errorf("%s: %d samples, %d states, %d inputs", want.name, n, len(seg.X), len(seg.U))
		}
		if last := seg.U[n-1]; want.last >= 0 && last != want.last || last != seg.X[(n-1)*want.width] || float64(seg.T[n-1]) != 5e6*last {
			t.Errorf("%s: the last sample is %v", want.name, last)
		}
		if n := len(test.Segments[0].T); n != 1000 || len(test.Segments[0].X) != n*want.width {
			t.Errorf("%s: %d test samples", want.name, n)
		}
		if c.positions && (len(train.Channels) != 2 || len(test.Channels) != 2 || train.Channels[0].Derivative != "") {
			t.Errorf("channels %+v", train.Channels)
		}
	}
}

// Nets alone: both kinds of training are better than the linear equation.
func TestNetsAlone(t *testing.T) {
	r := named(t, "single")
	if path := here.missing(r); path != "" || os.Getenv("DGM_SLOW") == "" {
		t.Skip("trains two nets on a recording, where it is here: ", path, "; DGM_SLOW=1 runs it")
	}
	d, err := here.load(context.Background(), r, 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, steps := range [][2]int{{400, 0}, {0, 60}} {
		p, err := nets(context.Background(), d, steps[0], steps[1])
		if err != nil {
			t.Fatal(err)
		}
		row := study.NewRow(study.Key{Set: r.name})
		if err := measure(row, d, &p); err != nil {
			t.Fatal(err)
		}
		if geo := row.Number("geo"); !(geo < 0.05) {
			t.Errorf("%s: error %v", p.name, geo)
		}
	}
}

func TestTablesOfWorth(t *testing.T) {
	row := func(set, variant string, geo float64) *study.Row {
		return study.NewRow(study.Key{Set: set, Variant: variant, Seed: 1}).Put("geo", geo).Put("crps", geo/2).
			Put("coverage95_by_horizon", []float64{0.95}).Put("worst_coverage95", 0.9).Put("worst", "x, 1 s").Put("seconds", 3.0)
	}
	all, err := worthTables(nil, []*study.Row{
		row("single", "matching", 0.2), row("single", "prior", 0.4), row("single", "half:nets-both", 0.1), row("single", "half:matching", 0.3),
		row("single", "all:nets-shot", 0.5), study.NewRow(study.Key{Set: "single", Variant: "half:nets-shot", Seed: 1}).Put("failed", "too few"),
	})
	if err != nil || len(all) != 2 {
		t.Fatal(all, err)
	}
	parts, less := all[0].Lines(), all[1].Lines()
	if len(parts) != 3 || parts[1][1] != "equations and constant velocity" || parts[2][3] != "0.2000" {
		t.Errorf("parts %q", parts)
	}
	if len(less) != 3 || less[1][1] != "all data" || !slices.Contains(less[1], "0.5000") || !slices.Contains(less[1], "0.2000") ||
		less[2][1] != "half of the data" || !slices.Contains(less[2], "none") || !slices.Contains(less[2], "0.1000") || !slices.Contains(less[2], "0.3000") {
		t.Errorf("less %q", less)
	}
}
