package architecture

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// decodes matches the calls with which a file decodes bytes from outside.
var decodes = regexp.MustCompile(`mapfile\.Parse\(|toml\.Decode\(|json\.(Unmarshal|NewDecoder)\(|msgbin\.New(Reader|Stream)\(|pem\.Decode\(|hex\.DecodeString\(|(gzip|zstd|csv)\.NewReader\(|mcap\.NewLexer\(|&gomavlib\.Node\{|(Little|Big)Endian\.Uint(16|32|64)\(|binary\.(Decode|Read)\(`)

// decodedElsewhere are folders that decode without a fuzz target of their own, and why.
var decodedElsewhere = map[string]string{
	"bridge/codegen/c99":        "the document that it writes was made by this process: nothing is from outside",
	"bridge/internal/number":    "every importer's target reads its values with it: see bridge/ulog",
	"bridge/internal/reference": "only tests may read values of other implementations with it",
	"bridge/onnx":               "times and means of a document that this process has made",
	"cmd/dgm-bridge":            "the scores in a model that was decoded: what is wrong in them is left out",
	"cmd/dgm-fleet":             "the keys that it has revoked itself, in the folder of its keys",
	"cmd/dgm-fleet/chaos":       "the description of a process, by its parent",
	"cmd/dgm-eval":              "the scores in a model that was decoded: what is wrong in them is left out",
	"estimator":                 "answers to the reference models, which are part of the program",
	"trainer":                   "settings of a training: see the target of cmd/dgm-train, which reads them",
}

// Every folder that decodes bytes from outside has a fuzz target.
func TestEveryDecoderHasAFuzzTarget(t *testing.T) {
	decoders, targets := map[string]string{}, map[string]bool{}
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && name != root && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata"):
			return fs.SkipDir
		case d.IsDir() || filepath.Ext(name) != ".go":
			return nil
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		folder, err := filepath.Rel(root, filepath.Dir(name))
		folder = filepath.ToSlash(folder)
		switch {
		case strings.HasSuffix(name, "_test.go"):
			targets[folder] = targets[folder] || strings.Contains(string(text), "\nfunc Fuzz")
		case decodes.Match(text):
			decoders[folder] = filepath.Base(name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(decoders) < 15 {
		t.Fatalf("only %d folders decode bytes: is this the whole repository?", len(decoders))
	}
	for _, folder := range slices.Sorted(maps.Keys(decoders)) {
		if why, listed := decodedElsewhere[folder]; !targets[folder] && !listed {
			t.Errorf("%s/%s decodes bytes from outside, and no test of the folder is a fuzz target: write one, or list the folder with the reason for none", folder, decoders[folder])
		} else if targets[folder] && listed {
			t.Errorf("%s has a fuzz target and is listed without: %q", folder, why)
		}
	}
	for folder, why := range decodedElsewhere {
		if decoders[folder] == "" {
			t.Errorf("%s decodes nothing and is listed: %q", folder, why)
		}
	}
}
