package main

import (
	"cmp"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/dgm-robotics/dgm/bridge/importer"
	"github.com/dgm-robotics/dgm/bridge/mapfile"
	"github.com/dgm-robotics/dgm/cmd/internal/cli"
)

// tableHelp and topicHelp describe the maps of tables and of logs of topics.
var (
	//go:embed import-tables.txt
	tableHelp string
	//go:embed import-topics.txt
	topicHelp string
)

// importOptions are the flags of an import.
type importOptions struct {
	mapFile, preset, out  string
	vehicle, base, frames string // in place of the map's
	gap, from, to         time.Duration
	all, printMap         bool
	allowLoss, json       bool
	where                 map[string]string
	topics                []string
}

func importCommand(f *format) *cobra.Command {
	o := &importOptions{}
	cmd := &cobra.Command{Short: f.short, RunE: func(cmd *cobra.Command, inputs []string) error { return o.run(cmd, f, inputs) }}
	flags := cmd.Flags()
	if f.table() {
		cmd.Use = f.name + " --map map.toml --out flight.msgpack " + f.what + " ..."
		cmd.Long = tableHelp
		flags.StringVar(&o.mapFile, "map", "", "map of the columns (toml)")
	} else {
		cmd.Use = f.name + " (--preset NAME | --map map.toml) --out flight.msgpack " + f.what + " ..."
		cmd.Long = f.short + ".\nPresets: " + strings.Join(importer.Presets(), ", ") + "." + topicHelp
		flags.StringVar(&o.mapFile, "map", "", "map of the topics (toml)")
		flags.StringVar(&o.preset, "preset", "", "a map that comes with the program: "+strings.Join(importer.Presets(), ", "))
		flags.StringVar(&o.base, "base", "", "topic whose time stamps are those of the rows, instead of the map's")
		flags.StringSliceVar(&o.topics, "topic", nil, "topic to read, of several of a type that the map names")
		flags.StringToStringVar(&o.where, "where", nil, "select one of several senders of a topic by a text in its messages, as in child_frame_id=base_link")
		flags.BoolVar(&o.all, "all", false, "ignore the map's phases: keep the time on the ground, too")
		flags.BoolVar(&o.printMap, "print-map", false, "write the preset's map to standard output, and nothing else")
	}
	flags.StringVar(&o.out, "out", "", "flight log to write")
	flags.BoolVar(&o.allowLoss, "allow-loss", false, "write the log although most rows, all inputs or a channel of the map are left out (else exit code 3)")
	flags.BoolVar(&o.json, "json", false, "report in one JSON document: rows, segments, channels, remarks, clocks")
	flags.StringVar(&o.vehicle, "vehicle", "", "name of the robot, in place of the map's")
	flags.StringVar(&o.frames, "frames", "", "axes of the flight log, ned-frd or enu-flu, in place of the map's")
	flags.DurationVar(&o.gap, "max-gap", 0, "gap that starts a segment, in place of the map's")
	flags.DurationVar(&o.from, "from", 0, "cut, from the file's first sample, in place of the map's")
	flags.DurationVar(&o.to, "to", 0, "cut, from the file's first sample, in place of the map's")
	return cmd
}

func (o *importOptions) run(cmd *cobra.Command, f *format, inputs []string) error {
	if o.printMap && o.preset != "" {
		text, err := importer.PresetText(o.preset)
		if err == nil {
			_, err = io.WriteString(cmd.OutOrStdout(), text)
		}
		return err
	}
	if err := o.check(f, inputs); err != nil {
		return err
	}
	var m *importer.Map
	var err error
	if o.mapFile != "" {
		m, err = importer.ReadMap(o.mapFile)
	} else {
		m, err = importer.Preset(o.preset)
	}
	if err != nil {
		return err
	}
	if m.IsTable() != f.table() {
		return cli.Usage("%s describes %s: import it with another format", o.mapFile, map[bool]string{true: "the columns of a table", false: "topics"}[m.IsTable()])
	}
	if err := o.override(m); err != nil {
		return err
	}
	show, done := progress()
	s, err := importer.Import(cmd.Context(), importer.Job{
		Format: f.name, Open: f.open, Rows: openRows, Map: m, Inputs: unfolded(f, inputs), Out: o.out, All: o.all, AllowLoss: o.allowLoss, Progress: show,
	})
	done()
	if s == nil {
		return cmp.Or(ofAnother(f, inputs), err)
	}
	if o.json {
		err = errors.Join(refusal(err), cli.WriteJSON(cmd.OutOrStdout(), newImportReport(s)))
	} else {
		err = errors.Join(refusal(err), report(cmd.OutOrStdout(), s, err == nil))
	}
	return err
}

// ofAnother returns which importer reads a file that is none of a format, or what converts it; nil where that is not known.
func ofAnother(f *format, inputs []string) error {
	for _, path := range inputs {
		head, err := headOf(path)
		if err != nil || f.magic != nil && f.magic(head) {
			continue
		}
		switch other, err := formatOf("", path); {
		case err == nil && other.name != f.name:
			return fmt.Errorf("%s: this is a file for dgm-bridge import %s", path, other.name)
		case err != nil:
			if _, unknown := errors.AsType[*unknownFormat](err); !unknown {
				return err
			}
		}
	}
	return nil
}

// unfolded returns inputs with the files of each folder that ROS 2's recorder has written in place of it, in the order of their numbers.
func unfolded(f *format, inputs []string) (all []string) {
	for _, path := range inputs {
		files, err := filepath.Glob(filepath.Join(path, "*."+f.name))
		if info, bad := os.Stat(path); err != nil || bad != nil || !info.IsDir() || len(files) == 0 || f.name != "mcap" && f.name != "db3" {
			files = []string{path}
		}
		slices.SortStableFunc(files, func(a, b string) int { return len(a) - len(b) }) // _2 is ahead of _10
		all = append(all, files...)
	}
	return all
}

// refusal marks the error of an import that is refused.
func refusal(err error) error {
	if err == nil {
		return nil
	}
	return cli.Refusal(err)
}

// check reports what is missing on the command line.
func (o *importOptions) check(f *format, inputs []string) error {
	switch {
	case f.table() && o.mapFile == "":
		return cli.Usage(`required flag "map" not set: dgm-bridge topics FILE --suggest > map.toml writes one of a file`)
	case !f.table() && (o.mapFile == "") == (o.preset == ""):
		return cli.Usage("one of --map and --preset is needed; presets: %s", strings.Join(importer.Presets(), ", "))
	case len(inputs) == 0:
		return cli.Usage("name one log or several")
	case o.out == "":
		return cli.Usage(`required flag "out" not set`)
	}
	return cli.Outputs("--out", append([]string{o.mapFile}, inputs...), []string{o.out})
}

// override puts the values of the flags into a map.
func (o *importOptions) override(m *importer.Map) error {
	if o.vehicle != "" {
		m.Vehicle = o.vehicle
	}
	if len(o.where) > 0 {
		m.Where = o.where
	}
	m.Topics = o.topics
	if o.base != "" {
		name, instance, err := splitTopic(o.base)
		if err != nil {
			return err
		}
		m.Time.Base, m.Time.Instance = name, instance
	}
	if o.frames != "" {
		m.Frames = o.frames
	}
	for _, f := range []struct {
		name  string
		value time.Duration
		into  *mapfile.Duration
	}{{"max-gap", o.gap, &m.Time.MaxGap}, {"from", o.from, &m.Time.From}, {"to", o.to, &m.Time.To}} {
		if f.value < 0 {
			return cli.Usage("--%s %v is negative", f.name, f.value)
		}
		if f.value > 0 {
			*f.into = mapfile.Duration(f.value)
		}
	}
	if m.Time.To != 0 && m.Time.To <= m.Time.From {
		return cli.Usage("--to %v is not after --from %v", time.Duration(m.Time.To), time.Duration(m.Time.From))
	}
	return m.Check()
}

// splitTopic splits "name#instance" as topics are named in messages.
func splitTopic(text string) (name string, instance *int, err error) {
	name, number, ok := strings.Cut(text, "#")
	if !ok {
		return text, nil, nil
	}
	instance = new(int)
	if _, err := fmt.Sscanf(number, "%d", instance); err != nil {
		return "", nil, cli.Usage("--base %q: %q is not the number of an instance", text, number)
	}
	return name, instance, nil
}

// progress shows the share that is done on standard error where that is a
// terminal. done clears the line.
func progress() (show func(float64), done func()) {
	if !cli.Terminal(os.Stderr) {
		return nil, func() {}
	}
	last := -1
	show = func(share float64) {
		if percent := int(100 * share); percent != last {
			last = percent
			fmt.Fprintf(os.Stderr, "\rreading %3d %%", percent)
		}
	}
	return show, func() { fmt.Fprint(os.Stderr, "\r\x1b[K") }
}
