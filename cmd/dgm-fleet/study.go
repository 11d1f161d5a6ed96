package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/dgm-robotics/dgm/bridge/fleet"
	"github.com/dgm-robotics/dgm/cmd/dgm-bench/paper"
	"github.com/dgm-robotics/dgm/cmd/dgm-bench/study"
	"github.com/dgm-robotics/dgm/cmd/internal/cli"
	"github.com/dgm-robotics/dgm/cmd/internal/link"
)

func studyCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "study", Short: "Queue studies of dgm-bench, which workers run"}
	cmd.AddCommand(paperCommand())
	return cmd
}

func paperCommand() *cobra.Command {
	var server link.Flags
	var sets []string
	var seeds span
	var again bool
	cmd := &cobra.Command{
		Use:   "paper STUDY --seeds 1-100",
		Short: "Queue a study of dgm-bench paper: one job for each set and seed",
		Long: `Queue a study of dgm-bench paper for the workers: one job for each set and seed, with all variants. A job with the same
study, set, seed, flags and version exists once. dgm-fleet fetch --study gathers the rows in a folder that dgm-bench reads. Flags of the study
itself follow --.`,
		Example: "  dgm-fleet study paper single --seeds 1-100\n  dgm-fleet study paper lambda --sets lv1,lo1 --seeds 0-2 -- --steps 500",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := studyOf(args[0])
			if err != nil {
				return err
			}
			if !cmd.Flags().Changed("sets") {
				if sets = s.Usual; sets == nil {
					sets = s.Sets
				}
			} else if sets, err = study.Chosen("--sets", sets, s.Sets); err != nil {
				return err
			}
			if err := checkFlags(s, args[1:]); err != nil {
				return err
			}
			return with(cmd, &server, func(ctx context.Context, c client) error {
				states := map[fleet.State]int{}
				for seed := seeds.from; seed <= seeds.to; seed++ {
					for _, set := range sets {
						job := fleet.NewStudyJob(fleet.Unit{Study: s.Name, Set: set, Seed: seed}, strings.Join(args[1:], " "), cli.Version())
						j, err := c.queue.Submit(ctx, job, again)
						if err != nil {
							return err
						}
						states[j.State]++
					}
				}
				_, err := fmt.Fprintf(cmd.OutOrStdout(), "%s of %s: %s\n", cli.Count(len(sets)*(seeds.to-seeds.from+1), "job"), s.Name, counted(states))
				return err
			})
		},
	}
	f := cmd.Flags()
	f.StringSliceVar(&sets, "sets", nil, "data sets, separated by commas (default: the study's)")
	f.Var(&seeds, "seeds", "seeds, such as 1-100 or 7")
	f.BoolVar(&again, "again", false, "queue jobs again that have failed or were cancelled")
	server.Add(f)
	cli.Require(cmd, "seeds")
	return cmd
}

// counted lists how many jobs have each state.
func counted(states map[fleet.State]int) string {
	var parts []string
	for _, s := range []fleet.State{fleet.Queued, fleet.Running, fleet.Done, fleet.Failed, fleet.Cancelled} {
		if n := states[s]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, s))
		}
	}
	return strings.Join(parts, ", ")
}

// studyOf returns a study whose rows are all of its result.
func studyOf(name string) (*study.Study, error) {
	var names []string
	for _, s := range paper.Studies() {
		if s.Units != nil || s.Run == nil || s.Whole != nil { // no sets and seeds, nothing to run, or pictures beside the rows
			continue
		}
		if s.Name == name {
			return s, nil
		}
		names = append(names, s.Name)
	}
	return nil, cli.Usage("%.80q is no study that workers run; these are %s", name, strings.Join(names, ", "))
}

// checkFlags returns what is wrong with further flags of a study.
func checkFlags(s *study.Study, flags []string) error {
	c := s.Command()
	if err := c.ParseFlags(flags); err != nil {
		return cli.Usage("flags of %s: %v", s.Name, err)
	}
	if c.Flags().NArg() > 0 {
		return cli.Usage("flags of %s: %q is none", s.Name, c.Flags().Arg(0))
	}
	for _, name := range []string{"sets", "seeds", "first-seed", "out"} {
		if c.Flags().Changed(name) {
			return cli.Usage("--%s is not for the study itself: write it before --", name)
		}
	}
	return nil
}

// runStudy runs the unit of a job and writes its rows.
func runStudy(ctx context.Context, t fleet.Training) error {
	u, flags := t.Job.Study, strings.Fields(t.Job.Settings)
	s, err := studyOf(u.Study)
	if err != nil {
		return err
	}
	if err := checkFlags(s, flags); err != nil { // others than this program can have queued the job
		return err
	}
	dir := filepath.Join(filepath.Dir(t.Out), "rows")
	report := &reported{log: t.Log}
	c := paper.Command()
	c.SetArgs(append([]string{s.Name, "--sets", u.Set, "--seeds", "1", "--first-seed", strconv.Itoa(u.Seed), "--out", dir}, flags...))
	c.SetOut(io.Discard)
	c.SetErr(report)
	c.SilenceErrors, c.SilenceUsage = true, true
	if err := c.ExecuteContext(ctx); err != nil {
		return err
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.jsonl"))
	if err == nil && len(files) != 1 {
		err = fmt.Errorf("%s has left %s of rows", t.Job.Title(), cli.Count(len(files), "file"))
	}
	if err != nil {
		return err
	}
	return os.Rename(files[0], t.Out)
}

// reported logs what a study prints, line by line.
type reported struct {
	log  func(format string, values ...any)
	line []byte
}

// Write implements io.Writer.
func (r *reported) Write(b []byte) (int, error) {
	r.line = append(r.line, b...)
	for {
		line, rest, ok := bytes.Cut(r.line, []byte("\n"))
		if !ok {
			return len(b), nil
		}
		r.log("%s", line)
		r.line = rest
	}
}

// fetchRows adds the rows of a study to a folder of results.
func fetchRows(ctx context.Context, c client, name, dir string, out io.Writer) error {
	s, err := studyOf(name)
	if err != nil {
		return err
	}
	jobs, _, err := c.queue.List(ctx)
	if err != nil {
		return err
	}
	all, unreadable, err := c.studies.List(ctx)
	if err != nil {
		return err
	}
	store, err := study.Open(dir)
	if err != nil {
		return err
	}
	states, added := map[fleet.State]int{}, 0
	for _, j := range jobs {
		if j.Study != nil && j.Study.Study == name {
			states[j.State]++
		}
	}
	for _, r := range all {
		if r.Job.Study.Study != name {
			continue
		}
		n, err := s.Merge(store, []byte(r.Text))
		if err != nil {
			unreadable = append(unreadable, fmt.Sprintf("rows of job %s by worker %.80q: %v", r.Job.ID, r.Worker, err))
		}
		added += n
	}
	for _, u := range unreadable {
		fmt.Fprintf(out, "skipped: %q\n", u)
	}
	_, err = fmt.Fprintf(out, "%s added to %s; jobs: %s\n", cli.Count(added, "row"), dir, counted(states))
	return err
}

// span is a flag of whole numbers from one to another: 1-100, 7.
type span struct{ from, to int }

// mostSeeds bounds the jobs of one command for each set.
const mostSeeds = 10_000

// Set implements pflag.Value.
func (s *span) Set(text string) error {
	from, to, ok := strings.Cut(text, "-")
	if !ok {
		to = from
	}
	a, e1 := strconv.ParseUint(from, 10, 30)
	b, e2 := strconv.ParseUint(to, 10, 30)
	if errors.Join(e1, e2) != nil || b < a || b-a >= mostSeeds {
		return fmt.Errorf("is not a span of at most %d seeds such as 1-100", mostSeeds)
	}
	s.from, s.to = int(a), int(b)
	return nil
}

// String implements pflag.Value.
func (s *span) String() string {
	if *s == (span{}) {
		return ""
	}
	return fmt.Sprintf("%d-%d", s.from, s.to)
}

// Type implements pflag.Value.
func (s *span) Type() string { return "seeds" }
