package cli

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// writers say what writes the files that flags name, and those of an extension.
var (
	flagWriters = map[string]string{
		"model":  models,
		"log":    flightLogs,
		"like":   flightLogs,
		"truth":  "dgm-sim record --truth writes an exact log",
		"map":    "dgm-bridge topics FILE --suggest > map.toml writes a map",
		"sign":   "openssl genpkey -algorithm ed25519 -out private.pem writes a key",
		"config": "--print-config writes settings",
	}
	extensionWriters = map[string]string{".dgm": models, ".msgpack": flightLogs}
)

const (
	models     = "dgm-train writes models"
	flightLogs = "dgm-bridge import, dgm-bridge record and dgm-sim record write flight logs"
)

// remedied adds to the text of an error which ends with that of a file what to do: the file
// is missing, is a folder, or must not be read. A text that goes on has a remedy of its own.
func remedied(cmd *cobra.Command, err error, text string) string {
	file, ok := errors.AsType[*fs.PathError](err)
	if !ok || !strings.HasSuffix(text, oneLine(file.Error())) {
		return text
	}
	switch {
	case errors.Is(file, fs.ErrNotExist):
		return text + missing(cmd, file.Path)
	case errors.Is(file, syscall.EISDIR):
		return text + "; name a file in it"
	case errors.Is(file, fs.ErrPermission):
		return text + "; permit this user to use the file and the folders above it, or name another file"
	}
	return text
}

// missing says what to check about a file that is not there, and what writes such files.
func missing(cmd *cobra.Command, path string) string {
	flag, writer := "", extensionWriters[filepath.Ext(path)]
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		values := []string{f.Value.String()}
		if list, ok := f.Value.(pflag.SliceValue); ok {
			values = list.GetSlice()
		}
		if f.Changed && slices.Contains(values, path) {
			flag = f.Name
		}
	})
	check := "check the path"
	if flag != "" {
		check = "check --" + flag
	}
	if w := flagWriters[flag]; w != "" && (flag != "config" || cmd.Flags().Lookup("print-config") != nil) {
		writer = w
	}
	if folder := filepath.Dir(path); !isFolder(folder) {
		check += ": there is no folder " + folder
	} else if near := neighbour(folder, filepath.Base(path)); near != "" {
		check += ": did you mean " + near + "?"
	}
	if writer != "" {
		check += " (" + writer + ")"
	}
	return "; " + check
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// neighbour returns the file of a folder whose name is most like one that is not there, ""
// where none is.
func neighbour(folder, name string) string {
	f, err := os.Open(folder)
	if err != nil {
		return ""
	}
	defer f.Close()
	const most = 1000 // names; more are not looked at
	names, _ := f.Readdirnames(most)
	slices.Sort(names)
	near := nearest(name, slices.DeleteFunc(names, func(n string) bool { return filepath.Ext(n) != filepath.Ext(name) }))
	if near == "" {
		return ""
	}
	return filepath.Join(folder, near)
}
