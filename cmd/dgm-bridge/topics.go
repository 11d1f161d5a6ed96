package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"math"

	"github.com/spf13/cobra"

	"github.com/dgm-robotics/dgm/bridge/importer"
	"github.com/dgm-robotics/dgm/bridge/telemetry"
	"github.com/dgm-robotics/dgm/cmd/internal/cli"
	"github.com/dgm-robotics/dgm/cmd/internal/logs"
)

// topicsReport is what topics --json writes.
type topicsReport struct {
	Topics   []topicReport       `json:"topics"`
	Problems []telemetry.Problem `json:"problems"`
}

type topicReport struct {
	Name     string  `json:"name"`
	Instance int     `json:"instance"`
	Count    int     `json:"count"`
	RateHz   float64 `json:"rate_hz"`

	Sender importer.Where `json:"sender,omitempty"` // of topics of one name: the texts in which their senders differ
	Unread string         `json:"unread,omitempty"` // why none of its fields can be read

	fields []telemetry.Field
}

func topics() *cobra.Command {
	var asJSON, fields, suggest bool
	var kind string
	cmd := &cobra.Command{
		Use:   "topics FILE",
		Short: "List the topics of a log, their messages, and unreadable data; the columns of a table",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if suggest {
				return suggestMap(cmd, kind, args[0])
			}
			f, err := formatOf(kind, args[0])
			if other, ok := errors.AsType[*unknownFormat](err); ok {
				return writeColumns(cmd, other, asJSON)
			}
			if err != nil {
				return err
			}
			s, err := f.open(args[0], telemetry.Wants{})
			if err != nil {
				return err
			}
			defer s.Close()
			show, done := progress()
			counts, err := telemetry.Survey(cmd.Context(), s, show, nil)
			done()
			if err != nil {
				return err
			}
			r := topicsReport{Topics: []topicReport{}, Problems: []telemetry.Problem{}}
			r.Problems = append(r.Problems, s.Problems().All()...)
			for i, c := range counts {
				// Three digits behind the point are enough for people and scripts.
				t := topicReport{Name: c.Topic.Name, Instance: c.Topic.Instance, Count: c.N, RateHz: math.Round(1000*c.Rate()) / 1000}
				if c.Topic.Unread != nil {
					t.Unread = c.Topic.Unread.Error()
				}
				if t.Sender = senderOf(counts, i); fields {
					t.fields = c.Topic.Fields()
				}
				r.Topics = append(r.Topics, t)
			}
			if asJSON {
				return cli.WriteJSON(cmd.OutOrStdout(), r)
			}
			return r.writeText(cmd, f.name)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "write one JSON document")
	cmd.Flags().BoolVar(&fields, "fields", false, "list the fields of each topic, too")
	cmd.Flags().StringVar(&kind, "format", "", "format of the file (default: by what it begins with)")
	cmd.Flags().BoolVar(&suggest, "suggest", false, "write a commented map of the file's contents, for tables too")
	cmd.MarkFlagsMutuallyExclusive("json", "fields", "suggest")
	return cmd
}

// suggestMap writes a map to begin with.
func suggestMap(cmd *cobra.Command, kind, path string) error {
	f, err := formatOf(kind, path)
	if _, ok := errors.AsType[*unknownFormat](err); ok {
		f, err = &tables[0], nil
	}
	if err != nil {
		return err
	}
	show, done := progress()
	defer done()
	var text bytes.Buffer
	if f.table() {
		err = importer.SuggestTable(&text, path, openRows)
	} else {
		err = importer.Suggest(cmd.Context(), &text, path, f.open, show)
	}
	if err != nil {
		return err
	}
	_, err = text.WriteTo(cmd.OutOrStdout())
	return err
}

// senderOf returns what distinguishes a topic from others of its name, as where of a map selects it; nil
// where there are none.
func senderOf(counts []*telemetry.Count, i int) importer.Where {
	var same []*telemetry.Count
	at := 0
	for k, c := range counts {
		if c.Topic.String() == counts[i].Topic.String() {
			if k == i {
				at = len(same)
			}
			same = append(same, c)
		}
	}
	if len(same) < 2 {
		return nil
	}
	return importer.Differing(same)[at]
}

func (r *topicsReport) writeText(cmd *cobra.Command, kind string) error {
	w := cmd.OutOrStdout()
	_, err := fmt.Fprintf(w, "%s, %s\n%10s %10s  topic\n", kind, cli.Count(len(r.Topics), "topic"), "messages", "Hz")
	for _, t := range r.Topics {
		name := (&telemetry.Topic{Name: t.Name, Instance: t.Instance}).String()
		if len(t.Sender) > 0 {
			name += " " + t.Sender.String()
		}
		fmt.Fprintf(w, "%10d %10.4g  %s\n", t.Count, t.RateHz, name)
		if t.Unread != "" {
			fmt.Fprintf(w, "%21s    cannot be read: %s\n", "", t.Unread)
		}
		for _, f := range t.fields {
			fmt.Fprintf(w, "%21s    %s %s\n", "", cmp.Or(f.Named, f.Path), f.Unit)
		}
	}
	for _, p := range r.Problems {
		fmt.Fprintf(w, "problem at %s\n", p)
	}
	return err
}

func info() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "info flight.msgpack | flight.dgm",
		Short: "Print the contents of a flight log (channels, segments, rates, gaps, damage) or a model (verdict, horizon, origin)",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if isModel(args[0]) {
				m, err := describeModel(args[0])
				if err != nil {
					return err
				}
				if asJSON {
					return cli.WriteJSON(cmd.OutOrStdout(), m)
				}
				return m.writeText(cmd.OutOrStdout())
			}
			r, err := logs.Inspect(args[0])
			if err != nil {
				return err
			}
			if !asJSON {
				return r.WriteText(cmd.OutOrStdout())
			}
			return cli.WriteJSON(cmd.OutOrStdout(), r)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "write one JSON document")
	return cmd
}
