package program_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"math/rand/v2"
	"testing"

	"github.com/vmihailenco/msgpack/v5"

	"github.com/dgm-robotics/dgm/estimator/program"
)

// The document of a program of all operations: what it reads is in the format's page, so a change of it is one of the format.
func TestDocument(t *testing.T) {
	p := sample(rand.New(rand.NewPCG(5, 6)), 4)
	d := program.Document{About: map[string]any{"model": "m"}, Programs: []program.Named{{Name: "plan", Program: p}, {Name: "hold", Program: p}}}
	b := d.Encode()
	const want = "41b719dd2ad15f90"
	if sum := sha256.Sum256(b); hex.EncodeToString(sum[:8]) != want {
		t.Errorf("the document has the hash %x, expected %s: a new version of the format, with a line in its table of changes", sum[:8], want)
	}
	var raw struct {
		Magic    string `msgpack:"magic"`
		Programs []struct {
			Program struct {
				Registers [][]int
				Ops       []struct {
					Op string `msgpack:"op"`
				} `msgpack:"ops"`
			} `msgpack:"program"`
		} `msgpack:"programs"`
	}
	if err := msgpack.NewDecoder(bytes.NewReader(b)).Decode(&raw); err != nil {
		t.Fatal(err)
	}
	if raw.Magic != program.Magic || len(raw.Programs) != 2 || len(raw.Programs[1].Program.Ops) != len(p.Ops) {
		t.Errorf("%q with %d programs", raw.Magic, len(raw.Programs))
	}
}
