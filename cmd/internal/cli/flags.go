package cli

import (
	"errors"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// plainDefaults formats the defaults of lists in --help: nothing for an empty list, and
// numbers without trailing zeros.
func plainDefaults(cmd *cobra.Command) {
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if t := f.Value.Type(); t != "durationSlice" && t != "float64Slice" {
			return
		}
		parts := strings.Split(strings.Trim(f.DefValue, "[]"), ",")
		for i, p := range parts {
			if v, err := strconv.ParseFloat(p, 64); err == nil {
				parts[i] = strconv.FormatFloat(v, 'g', -1, 64)
			}
		}
		f.DefValue = strings.Join(parts, ",")
	})
}

// expected describes the values of a flag by its type.
var expected = map[string]string{
	"uint64":        "a whole number from 0 on",
	"int":           "a whole number",
	"float64":       "a number",
	"bool":          "true or false",
	"duration":      "a duration such as 500ms, 2s or 1m30s",
	"durationSlice": "durations separated by commas, such as 100ms,0.5s",
	"float64Slice":  "numbers separated by commas, such as 100,500",
}

// fileFlags are the flags for files of an extension.
var fileFlags = map[string]string{".msgpack": "log", ".csv": "log", ".dgm": "model"}

// flagOf is a question behind the message about a word without a flag, "" where no flag is
// near: the flag of that name, or the one for such a file.
func flagOf(cmd *cobra.Command, word string) string {
	if name := fileFlags[filepath.Ext(word)]; name != "" && cmd.Flags().Lookup(name) != nil {
		return "; did you mean --" + name + " " + word + "?"
	}
	return didYouMean(word, "--", flagNames(cmd))
}

// flagNames returns the names of the flags that --help shows.
func flagNames(cmd *cobra.Command) (names []string) {
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			names = append(names, f.Name)
		}
	})
	return names
}

// flagError describes a wrong value of a flag in terms of the user, not of the library, and
// names the flag that is most like one that does not exist.
func flagError(cmd *cobra.Command, err error) error {
	unknown, ok := errors.AsType[*pflag.NotExistError](err)
	if words := cmd.Flags().Args(); ok && len(words) > 0 && cmd.HasSubCommands() { // the flag may be one of the command that is meant
		return unexpected(cmd, words[0])
	}
	if ok && len(unknown.GetSpecifiedName()) > 1 {
		return Usage("%v%s", err, didYouMean(unknown.GetSpecifiedName(), "--", flagNames(cmd)))
	}
	var invalid *pflag.InvalidValueError
	if !errors.As(err, &invalid) {
		return err
	}
	f := invalid.GetFlag()
	want, ok := expected[f.Value.Type()]
	if !ok {
		return err
	}
	if errors.Is(err, strconv.ErrRange) {
		return Usage("--%s %s is out of range", f.Name, invalid.GetValue())
	}
	return Usage("--%s %s is not %s", f.Name, invalid.GetValue(), want)
}

// subcommands returns the names that may follow the name of a command.
func subcommands(cmd *cobra.Command) (names []string) {
	for _, sub := range cmd.Commands() {
		if sub.IsAvailableCommand() && sub.Name() != "help" {
			names = append(names, sub.Name())
		}
	}
	return names
}

// unexpected returns the error for a word in a place where a command has no argument.
func unexpected(cmd *cobra.Command, word string) error {
	names := subcommands(cmd)
	if len(names) == 0 {
		return Usage("unexpected argument %q: files and values are given by flags%s", word, flagOf(cmd, word))
	}
	return Usage("unknown command %q, expected one of %s%s", word, strings.Join(names, ", "), didYouMean(word, "", names))
}

// Require marks flags as ones that must be given.
func Require(cmd *cobra.Command, names ...string) {
	for _, name := range names {
		if err := cmd.MarkFlagRequired(name); err != nil {
			panic(err) // it is not defined
		}
	}
}

// Given returns the flags that are given, with their values as text.
func Given(cmd *cobra.Command) map[string]string {
	given := map[string]string{}
	cmd.Flags().Visit(func(f *pflag.Flag) { given[f.Name] = f.Value.String() })
	return given
}
