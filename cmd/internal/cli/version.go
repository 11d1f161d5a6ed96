package cli

import (
	_ "embed"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"
)

// number is the version of all programs, of the Python package and of the ROS package, which read this file or are compared with it.
//
//go:embed VERSION
var number string

// Number returns the version of this program, such as 0.9.0.
func Number() string { return strings.TrimSpace(number) }

// errVersion ends a run that only asks for the version.
var errVersion = errors.New("version")

// versionFlag adds --version to the root of a tree of commands; a run with it ends
// by errVersion.
//
// Cobra's own flag prints by a template, and in a program that links text/template
// the linker keeps every exported method of every type: 2.8 MB of dgm-estimator.
func versionFlag(root *cobra.Command) {
	short := "v"
	if root.Flags().ShorthandLookup(short) != nil || root.PersistentFlags().ShorthandLookup(short) != nil {
		short = ""
	}
	asked := root.Flags().BoolP("version", short, false, "version for "+root.Name())
	args := root.Args
	root.Args = func(cmd *cobra.Command, words []string) error {
		if *asked {
			return errVersion
		}
		if args == nil {
			return nil
		}
		return args(cmd, words)
	}
}

// Version returns the build of this program: its number, revision of the
// source where the build recorded it, toolchain and platform.
func Version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = &debug.BuildInfo{}
	}
	return version(info)
}

func version(info *debug.BuildInfo) string {
	text := "v" + Number()
	set := map[string]string{}
	for _, s := range info.Settings {
		set[s.Key] = s.Value
	}
	if r := set["vcs.revision"]; r != "" {
		text += ", revision " + r[:min(12, len(r))]
		if t := set["vcs.time"]; t != "" {
			text += " of " + t
		}
		if set["vcs.modified"] == "true" {
			text += ", modified"
		}
	}
	return fmt.Sprintf("%s, %s %s/%s", text, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}
