package predictors

import (
	"context"
	"fmt"
	"slices"

	"github.com/dgm-robotics/dgm/trainer"
	"github.com/dgm-robotics/dgm/trainer/window"
)

// Flights are those of a recording, imported and checked: what is trained on with settings,
// and others.
type Flights struct {
	Title    string
	Settings trainer.Config // with the horizon
	Train    *trainer.Data
	Test     []window.Flight
}

// later returns the recordings of a robot that flies later than those trained on: the robot
// of today.
func later() []recording {
	out := []recording{crazyflie("crazyflie-oval", "Crazyflie: oval (B7), 2.7 % more thrust, after circle, figure of eight and helix", "oval-medium-3", "circle-fast-3", "figure8-fast-2", "helix-fast-3")}
	for _, r := range recordings() {
		if slices.Contains([]string{"double", "single", "driven"}, r.name) || slices.ContainsFunc(crazyflies, func(c struct{ name, file, title string }) bool { return c.name == r.name }) {
			out = append(out, r)
		}
	}
	return out
}

// Later returns the names of the recordings of a robot that flies later than those trained on.
func Later() []string { return names(later()) }

// Flights imports one of Later; nil where its files are not there.
func (d Folders) Flights(ctx context.Context, name string, seed uint64) (*Flights, error) {
	all := later()
	i := slices.IndexFunc(all, func(r recording) bool { return r.name == name })
	if i < 0 {
		return nil, fmt.Errorf("there is no recording %q", name)
	}
	if d.missing(&all[i]) != "" {
		return nil, nil
	}
	in, err := d.load(ctx, &all[i], seed)
	if err != nil {
		return nil, err
	}
	return &Flights{Title: all[i].title, Settings: in.settings, Train: in.train, Test: in.test}, nil
}
