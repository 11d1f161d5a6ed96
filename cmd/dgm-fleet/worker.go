package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/spf13/cobra"

	"github.com/dgm-robotics/dgm/bridge/fleet"
	"github.com/dgm-robotics/dgm/cmd/internal/cli"
	"github.com/dgm-robotics/dgm/cmd/internal/link"
	"github.com/dgm-robotics/dgm/cmd/internal/logs"
	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/flightlog"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/trainer"
	"github.com/dgm-robotics/dgm/trainer/window"
)

func workerCommand() *cobra.Command {
	var server link.Flags
	var name, dir string
	longest := 12 * time.Hour
	cmd := &cobra.Command{
		Use:   "worker",
		Short: "Do the jobs of a fleet, one at a time, until interrupted",
		Long: `Do the jobs of a fleet, one at a time, until interrupted; the current job then returns to the
queue. Any number of workers may run on any machines. Another worker takes the job of a worker that disappears
within two minutes. A job that fails is tried three times.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if dir != "" { // without it every job would fail here, three times
				if err := os.MkdirAll(dir, 0o700); err != nil {
					return err
				}
			}
			return with(cmd, &server, func(ctx context.Context, c client) error {
				w := newWorker(c, name, func(line string) { fmt.Fprintf(cmd.ErrOrStderr(), "dgm-fleet: %s\n", line) })
				w.Dir, w.Longest = dir, longest
				return w.Run(ctx)
			})
		},
	}
	host, _ := os.Hostname() // empty where it is not known
	f := cmd.Flags()
	f.StringVar(&name, "name", host, "name of the worker; a random part is added")
	f.DurationVar(&longest, "longest", longest, "time limit of a job, after which it has failed")
	f.StringVar(&dir, "dir", "", "folder for temporary files (default: that of the system)")
	server.Add(f)
	return cmd
}

// newWorker returns a worker that trains as dgm-train does.
func newWorker(c client, name string, log func(string)) *fleet.Worker {
	unique := nats.NewInbox()
	return &fleet.Worker{
		Name: name + "-" + unique[len(unique)-6:], Version: cli.Version(),
		Logs: c.logs, Queue: c.queue, Models: c.models, Log: log,
		Train: train,
	}
}

// readable returns the logs of a job that can be trained on, each tried alone: what is wrong with one is a line of the job, and costs that
// one. Without any it returns what is wrong with the last.
func readable(t fleet.Training, cfg trainer.Config) (all []*flightlog.Log, err error) {
	for _, path := range t.Logs {
		log, failed := logs.Read(path)
		if failed == nil && log.Vehicle != t.Job.Vehicle {
			failed = fmt.Errorf("%s is a log of %s, the job is of %s", path, log.Vehicle, t.Job.Vehicle)
		}
		if failed == nil && len(t.Logs) > 1 {
			_, failed = trainer.Load([]*flightlog.Log{log}, cfg)
		}
		if failed != nil {
			t.Log("left out: %v", failed)
			err = failed
			continue
		}
		if log.Damage != nil {
			t.Log("%v", log.Damage)
		}
		all = append(all, log)
	}
	if len(all) > 0 {
		return together(t, all), nil
	}
	return nil, err
}

// together returns the logs that can be trained on together: those with the channels and kinematics that most of them have, each recording once. What is
// wrong with another one is a line of the job.
func together(t fleet.Training, all []*flightlog.Log) (out []*flightlog.Log) {
	var groups [][]*flightlog.Log // of logs that are alike
	for _, log := range all {
		i := slices.IndexFunc(groups, func(g []*flightlog.Log) bool { return trainer.Alike(g[0], log) == nil })
		if i < 0 {
			i, groups = len(groups), append(groups, nil)
		}
		groups[i] = append(groups[i], log)
	}
	first := slices.MaxFunc(groups, func(a, b []*flightlog.Log) int { return cmp.Compare(len(a), len(b)) })[0]
	recordings := window.Recordings{}
	for _, log := range all {
		err := trainer.Alike(first, log)
		if err == nil {
			err = recordings.Add(log)
		}
		if err != nil {
			t.Log("left out: %v", err)
			continue
		}
		out = append(out, log)
	}
	return out
}

// mostTable is the size of a table of scores that an entry of the registry holds, bytes.
const mostTable = 64 << 10

// train trains the model of a job.
func train(ctx context.Context, t fleet.Training) (e fleet.Model, err error) {
	cfg, err := trainer.Config{}.Parse(strings.NewReader(t.Job.Settings), "settings of the job")
	if err != nil {
		return e, err
	}
	all, err := readable(t, cfg)
	if err != nil {
		return e, err
	}
	data, err := trainer.Load(all, cfg)
	if data != nil {
		t.Log("data check: %s", cli.Count(len(data.Problems), "finding"))
	}
	if err != nil {
		return e, err
	}
	res, err := trainer.Train(ctx, data, cfg, func(p trainer.Progress) { t.Progress(p.Phase, p.Done) })
	if err != nil || ctx.Err() != nil { // what an interrupted training returns is partial
		return e, err
	}
	// It is signed when it is promoted, by the operator: a worker holds no key.
	if err := model.WriteSigned(t.Out, res.Model, nil, model.Statement{}); err != nil {
		return e, err
	}
	t.Log("trained in %v: %s", res.Elapsed.Round(time.Second), res.Verdict.Line())
	e.ID, e.HeldOut = res.Model.ID, fleet.HeldOut{Verdict: res.Verdict.Line(), Partial: res.Partial}
	if table := res.Table; table != nil && table.Windows > 0 {
		e.HeldOut.Windows, e.HeldOut.LogLik = table.Windows, table.LogLik()
		e.HeldOut.Cover95[0], e.HeldOut.Cover95[1] = table.CoverageRange()
		if text := res.Model.Provenance.Scores; len(text) <= mostTable {
			e.HeldOut.Table = json.RawMessage(text)
		}
	}
	for _, c := range res.Model.Channels[:res.Model.K] {
		e.Units = append(e.Units, channel.CanonicalUnit(c.Unit))
	}
	return e, nil
}
