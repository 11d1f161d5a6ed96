package main

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	foxglove "github.com/foxglove/mcap/go/mcap"

	"github.com/dgm-robotics/dgm/bridge/cdr/cdrtest"
	"github.com/dgm-robotics/dgm/cmd/internal/cli"
)

// newRecording returns a recording of ROS 2 with a type, whose schema has the number 1, the buffer that it is written to, and what ends a test by an error.
func newRecording(t *testing.T, kind, definition string) (b *bytes.Buffer, w *foxglove.Writer, must func(error)) {
	must = func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	b = &bytes.Buffer{}
	w, err := foxglove.NewWriter(b, &foxglove.WriterOptions{})
	must(err)
	must(w.WriteHeader(&foxglove.Header{Profile: "ros2"}))
	must(w.WriteSchema(&foxglove.Schema{ID: 1, Name: kind, Encoding: "ros2msg", Data: []byte(definition)}))
	return b, w, must
}

// Senders of one topic are lines of their own, each with what selects it in a map: here by the
// frame that the messages name and by the node that the recording names.
func TestTopicsShowSenders(t *testing.T) {
	b, w, must := newRecording(t, "a/msg/Range", "string name\nfloat64 range\n")
	for id, node := range []string{"/left", "/right"} {
		must(w.WriteChannel(&foxglove.Channel{ID: uint16(id), SchemaID: 1, Topic: "/range", MessageEncoding: "cdr", Metadata: map[string]string{"callerid": node}}))
	}
	must(w.WriteChannel(&foxglove.Channel{ID: 2, SchemaID: 1, Topic: "/front", MessageEncoding: "cdr"}))
	for i := range 60 {
		at := uint64(1e18) + uint64(i)*20e6
		name := []string{"low", "high"}[i/3%2]
		must(w.WriteMessage(&foxglove.Message{ChannelID: uint16(i % 3), LogTime: at, PublishTime: at, Data: cdrtest.New().Text(name).F64(1).B}))
	}
	must(w.Close())
	path := filepath.Join(t.TempDir(), "a.mcap")
	must(os.WriteFile(path, b.Bytes(), 0o666))
	code, text, errs := run("topics", path)
	for _, want := range []string{
		`8.333  /range { "callerid" = "/left", "name" = "low" }`, `8.333  /range { "callerid" = "/right", "name" = "high" }`,
		`8.333  /front { "name" = "low" }`, `8.333  /front { "name" = "high" }`,
	} {
		if code != cli.Done || !strings.Contains(text, want) {
			t.Errorf("no %s in\n%s%s", want, text, errs)
		}
	}
	_, text, _ = run("topics", path, "--json")
	var all topicsReport
	must(json.Unmarshal([]byte(text), &all))
	if len(all.Topics) != 6 || all.Topics[0].Name != "/front" || len(all.Topics[0].Sender) != 1 || len(all.Topics[2].Sender) != 2 {
		t.Errorf("%+v", all.Topics)
	}
}

// Motors that take turns on one topic, with their number in each message: the suggested map has the channels of each, and a map that
// selects none is refused with their list.
func TestSendersByNumber(t *testing.T) {
	b, w, must := newRecording(t, "a/msg/Drive", "uint8 motor_id\nfloat64 angle\n")
	must(w.WriteChannel(&foxglove.Channel{ID: 0, SchemaID: 1, Topic: "/drives", MessageEncoding: "cdr"}))
	for i := range 600 {
		at := uint64(1e18) + uint64(i)*10e6
		angle := math.Sin(0.02 * float64(i))
		if i%2 == 1 {
			angle = 5 + math.Cos(0.03*float64(i))
		}
		must(w.WriteMessage(&foxglove.Message{LogTime: at, PublishTime: at, Data: cdrtest.New().U8(uint8(3 + i%2)).F64(angle).B}))
	}
	must(w.Close())
	dir := t.TempDir()
	path, suggested, plain, out := filepath.Join(dir, "a.mcap"), filepath.Join(dir, "s.toml"), filepath.Join(dir, "p.toml"), filepath.Join(dir, "o.msgpack")
	must(os.WriteFile(path, b.Bytes(), 0o666))
	code, text, errs := run("topics", path, "--suggest")
	must(os.WriteFile(suggested, []byte(text), 0o666))
	if code != cli.Done || !strings.Contains(text, `where = { "motor_id" = "3" }`) || !strings.Contains(text, `where = { "motor_id" = "4" }`) {
		t.Fatalf("%s%s", text, errs)
	}
	if code, text, errs = run("import", "mcap", "--map", suggested, path, "--out", out); code != cli.Done || !strings.Contains(text, "300 rows") || strings.Contains(text, "alternate") {
		t.Errorf("%s%s", text, errs)
	}
	must(os.WriteFile(plain, []byte("vehicle = \"v\"\n[[channel]]\nname = \"angle\"\ntopic = \"/drives\"\nfield = \"angle\"\nrole = \"state\"\n"), 0o666))
	if code, _, errs = run("import", "mcap", "--map", plain, path, "--out", out); code == cli.Done || !strings.Contains(errs, `select one, as in where = { "motor_id" = "3" }`) {
		t.Errorf("%d %s", code, errs)
	}
	if code, text, errs = run("import", "mcap", "--map", plain, "--where", "motor_id=4", path, "--out", out); code != cli.Done || !strings.Contains(text, "300 rows") {
		t.Errorf("%s%s", text, errs)
	}
}
