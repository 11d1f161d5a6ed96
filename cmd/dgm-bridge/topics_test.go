package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/dgm-robotics/dgm/bridge/importer"
	"github.com/dgm-robotics/dgm/bridge/mcap"
	"github.com/dgm-robotics/dgm/bridge/telemetry"
	"github.com/dgm-robotics/dgm/bridge/ulog"
	"github.com/dgm-robotics/dgm/cmd/internal/cli"
)

// writeULog appends a record of ULog: strings as they are, numbers little-endian.
func writeULog(b *bytes.Buffer, kind byte, parts ...any) {
	var c bytes.Buffer
	for _, p := range parts {
		if s, ok := p.(string); ok {
			c.WriteString(s)
		} else if err := binary.Write(&c, binary.LittleEndian, p); err != nil {
			panic(err)
		}
	}
	b.Write(binary.LittleEndian.AppendUint16(nil, uint16(c.Len())))
	b.WriteByte(kind)
	b.Write(c.Bytes())
}

// smallULog is a PX4 log of 5 s: an angle at 100 Hz, its rate, and an input at 10 Hz.
// The last bytes are cut off.
func smallULog() []byte {
	var b bytes.Buffer
	record := func(kind byte, parts ...any) { writeULog(&b, kind, parts...) }
	b.Write(ulog.Magic)
	b.Write(make([]byte, 9))
	record('F', "joint:uint64_t timestamp;float[2] q;")
	record('F', "motor:uint64_t timestamp;float u;")
	record('A', uint8(0), uint16(1), "joint")
	record('A', uint8(1), uint16(2), "motor")
	for i := range 500 {
		s := 0.01 * float64(i)
		record('D', uint16(1), uint64(10000*(i+1)), float32(math.Sin(s)), float32(math.Cos(s)))
		if i%10 == 0 {
			record('D', uint16(2), uint64(10000*(i+1)), float32(i))
		}
	}
	record('D', uint16(1), uint64(5e6+1e4), float32(0), float32(0))
	return b.Bytes()[:b.Len()-5]
}

const jointMap = `
vehicle = "arm"
[[channel]]
names = ["q", "dq"]
topic = "joint"
fields = ["q[0]", "q[1]"]
role = "state"
[[channel]]
name = "u"
topic = "motor"
field = "u"
role = "input"
`

func TestTopicsAndImportULog(t *testing.T) {
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	for name, data := range map[string][]byte{"a.ulg": smallULog(), "map.toml": []byte(jointMap), "empty.ulg": nil, "a.csv": []byte("t,x\n1,2\n"), "notes.txt": []byte("a \"note\", of\nwords, and \"words\"\n")} {
		if err := os.WriteFile(in(name), data, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	code, out, errs := run("topics", in("a.ulg"), "--json")
	if code != cli.Done || errs != "" {
		t.Fatalf("exit %d: %s", code, errs)
	}
	var rep map[string]any
	if err := json.Unmarshal([]byte(out), &rep); err != nil {
		t.Fatal(err)
	}
	list := rep["topics"].([]any)
	first := list[0].(map[string]any)
	if len(list) != 2 || first["name"] != "joint" || first["instance"] != 0.0 || first["count"] != 500.0 || first["rate_hz"] != 100.0 || len(first) != 4 {
		t.Errorf("topics %v", list)
	}
	if second := list[1].(map[string]any); second["name"] != "motor" || second["instance"] != 1.0 || second["count"] != 50.0 {
		t.Errorf("topics %v", list)
	}
	problems := rep["problems"].([]any)
	if p := problems[0].(map[string]any); len(problems) != 1 || len(p) != 3 || p["offset"].(float64) < 1000 || p["record"] != "file" || !strings.Contains(p["reason"].(string), "cut off") {
		t.Errorf("problems %v", problems)
	}
	if _, out, _ = run("topics", in("a.ulg"), "--fields"); !strings.Contains(out, "motor#1") || !strings.Contains(out, "q[1]") || !strings.Contains(out, "problem at byte") {
		t.Error(out)
	}
	code, out, errs = run("import", "ulog", "--map", in("map.toml"), in("a.ulg"), "--out", in("f.msgpack"), "--vehicle", "arm2")
	for _, want := range []string{"wrote " + in("f.msgpack") + ": vehicle arm2, 500 rows in 1 segment, 4.99 s\n", "derivative of q is dq, by the data", "u: from motor#1, 10 Hz, held in 450 of 500 rows, 0.09 s at most", "not read: a.ulg: byte "} {
		if code != cli.Done || errs != "" || !strings.Contains(out, want) {
			t.Errorf("exit %d, %q, no %q in %q", code, errs, want, out)
		}
	}
	if code, out, errs = run("import", "ulog", "--map", in("map.toml"), in("a.ulg"), "--out", in("cut.msgpack"), "--from", "1s", "--to", "3s"); code != cli.Done || !strings.Contains(out, " rows in 1 segment, 2 s\n") {
		t.Errorf("cut: exit %d, %q, %q", code, errs, out)
	}
	for _, name := range importer.Presets() {
		code, out, _ := run("import", "ulog", "--preset", name, "--print-map")
		if _, err := importer.ParseMap(name, []byte(out)); code != cli.Done || err != nil {
			t.Errorf("%s: exit %d, %v", name, code, err)
		}
	}
	for _, c := range []struct {
		code int
		line string
		args []string
	}{
		{cli.Failed, "this is none of the logs of topics (ulog, ardupilot, mavlink, mcap, db3, bag, crazyflie, blackbox); of a table dgm-bridge topics " + in("notes.txt") + " --suggest > map.toml writes a map; another file: name its format with --format; it is no table either: ", []string{"topics", in("notes.txt")}},
		{cli.Failed, "empty.ulg: the file is empty", []string{"topics", in("empty.ulg")}},
		{cli.Failed, `format "xls" is not known`, []string{"topics", in("a.ulg"), "--format", "xls"}},
		{cli.Failed, "this is not a ULog", []string{"topics", in("a.csv"), "--format", "ulog"}},
		{cli.Failed, "no such file", []string{"topics", in("nix")}},
		{cli.Failed, "topic vehicle_local_position is not in a.ulg", []string{"import", "ulog", "--preset", "px4-quadrotor", in("a.ulg"), "--out", in("g.msgpack")}},
		{cli.Failed, `there is no preset "px5"`, []string{"import", "ulog", "--preset", "px5", in("a.ulg"), "--out", in("g.msgpack")}},
		{cli.Failed, "cannot be written", []string{"import", "ulog", "--map", in("map.toml"), in("a.ulg"), "--out", in("nix/g.msgpack")}},
		{cli.Failed, "topic nix is not in a.ulg", []string{"import", "ulog", "--map", in("map.toml"), in("a.ulg"), "--out", in("g.msgpack"), "--base", "nix"}},
		{cli.Wrong, "one of --map and --preset is needed", []string{"import", "ulog", in("a.ulg"), "--out", in("g.msgpack")}},
		{cli.Wrong, "one of --map and --preset is needed", []string{"import", "ulog", "--map", in("map.toml"), "--preset", "px4-quadrotor", in("a.ulg"), "--out", in("g.msgpack")}},
		{cli.Wrong, "map.toml is read and would be replaced", []string{"import", "ulog", "--map", in("map.toml"), in("a.ulg"), "--out", in("map.toml")}},
		{cli.Wrong, "--from -1s is negative", []string{"import", "ulog", "--map", in("map.toml"), in("a.ulg"), "--out", in("g.msgpack"), "--from", "-1s"}},
		{cli.Wrong, "--to 1s is not after --from 2s", []string{"import", "ulog", "--map", in("map.toml"), in("a.ulg"), "--out", in("g.msgpack"), "--from", "2s", "--to", "1s"}},
		{cli.Wrong, "name one log or several", []string{"import", "ulog", "--map", in("map.toml"), "--out", in("g.msgpack")}},
		{cli.Wrong, `"out" not set`, []string{"import", "ulog", "--map", in("map.toml"), in("a.ulg")}},
	} {
		code, out, errs := run(c.args...)
		if code != c.code || !strings.Contains(errs, c.line) || strings.Count(errs, "\n") != 1 || out != "" {
			t.Errorf("%v: exit %d, %q, %q; want %d, %q", c.args, code, out, errs, c.code, c.line)
		}
	}
	if _, err := os.Stat(in("g.msgpack")); err == nil {
		t.Error("a failed import left a log")
	}
}

// A suggestion is a map, and one by which the log it was made from is imported.
func TestSuggest(t *testing.T) {
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	table := "time,theta,note,torque,still\n"
	for i := range 50 {
		table += fmt.Sprintf("%d,%.3f,x,%d,7\n", 5*i, math.Sin(float64(i)), i%3)
	}
	for name, data := range map[string]string{"a.ulg": string(smallULog()), "a.csv": table, "empty.csv": "", "text.csv": "a,b\nx,y\n"} {
		if err := os.WriteFile(in(name), []byte(data), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct{ format, file, rows, want string }{
		{"ulog", "a.ulg", "500 rows", "field = \"q[0]\" # -1 to 1\n"},
		{"csv", "a.csv", "50 rows", "unit = \"ms\" # s, ms, us, ns, min, h or d: guessed from the step: gives rows at 200 Hz\n# max_gap = \"1s\" # "},
	} {
		code, out, errs := run("topics", in(c.file), "--suggest")
		if code != cli.Done || errs != "" || !strings.Contains(out, c.want) {
			t.Fatalf("%s: exit %d, %s, no %q in\n%s", c.file, code, errs, c.want, out)
		}
		if err := os.WriteFile(in("map.toml"), []byte(out), 0o666); err != nil {
			t.Fatal(err)
		}
		code, report, errs := run("import", c.format, "--map", in("map.toml"), in(c.file), "--out", in("f.msgpack"))
		if code != cli.Done || !strings.Contains(report, c.rows) {
			t.Errorf("%s: exit %d, %s%s by\n%s", c.file, code, errs, report, out)
		}
	}
	if code, out, errs := run("topics", in("a.csv")); code != cli.Done || errs != "" || !strings.Contains(out, "in the first 50 rows") || !strings.Contains(out, ", ms: looks like the time\n") {
		t.Errorf("exit %d, %q, %q", code, out, errs)
	}
	if code, out, _ := run("topics", in("a.csv"), "--json"); code != cli.Done || !strings.Contains(out, `"rows": 50`) || !strings.Contains(out, `"time": true`) {
		t.Errorf("exit %d, %q", code, out)
	}
	if _, out, _ := run("topics", in("a.csv"), "--suggest"); !strings.Contains(out, "name = \"torque\"\ncolumn = \"torque\"\nrole = \"input\"") || !strings.Contains(out, "[[channel]] # 7 throughout\nname = \"still\"\ncolumn = \"still\"\nvaries = true") || !strings.Contains(out, "# [[channel]] # text") {
		t.Error(out)
	}
	for file, want := range map[string]string{"empty.csv": "the file is empty", "text.csv": "no column of it looks like a time"} {
		if code, _, errs := run("topics", in(file), "--suggest"); code != cli.Failed || !strings.Contains(errs, want) {
			t.Errorf("%s: exit %d, %s", file, code, errs)
		}
	}
}

// The map in the help text is one.
func TestTopicMapInHelp(t *testing.T) {
	_, text, _ := strings.Cut(topicHelp, "looks like this:")
	m, err := importer.ParseMap("help", []byte(text+"\n[[channel]]\nnames=[\"vx\",\"vy\",\"vz\"]\ntopic=\"a\"\nfields=[\"a\",\"b\",\"c\"]\nrole=\"state\"\n"))
	if err != nil || m.Vehicle != "quad1" || len(m.Channels[0].Or) != 1 {
		t.Errorf("%+v, %v", m, err)
	}
}

// Reading ends when it is interrupted, also where no message comes for long.
func TestInterruptedWithinDamage(t *testing.T) {
	long := make([]byte, 8<<20)
	for name, head := range map[string][]byte{"ulog": append(bytes.Clone(ulog.Magic), make([]byte, 9)...), "mcap": mcap.Magic} {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, append(bytes.Clone(head), long...), 0o666); err != nil {
			t.Fatal(err)
		}
		f, err := formatOf("", path)
		if err != nil {
			t.Fatal(err)
		}
		s, err := f.open(path, telemetry.Wants{})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(context.Background())
		// The first report of progress comes before anything is read.
		_, err = telemetry.Survey(ctx, s, func(float64) { cancel() }, nil)
		if !errors.Is(err, context.Canceled) || s.Consumed() > 2<<20 {
			t.Errorf("%s: %v, %d bytes read", name, err, s.Consumed())
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	dir := t.TempDir()
	table := filepath.Join(dir, "a.csv")
	if err := os.WriteFile(table, append([]byte("t,theta,omega\n0,1,2\n1,2,3\n"), bytes.Repeat([]byte("\n"), len(long))...), 0o666); err != nil {
		t.Fatal(err)
	}
	m, err := importer.ParseMap("map.toml", []byte(mapText))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	if _, err := importer.Import(ctx, importer.Job{Format: "csv", Map: m, Inputs: []string{table}, Out: filepath.Join(dir, "f.msgpack"), Progress: func(float64) { cancel() }}); !errors.Is(err, context.Canceled) {
		t.Error("table:", err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
		t.Error("an interrupted import left", left, err)
	}
}

// What is not read is refused with the command that converts it.
func TestFilesToConvert(t *testing.T) {
	dir := t.TempDir()
	level4 := append([]byte{0, 0, 0, 0, 100, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 't', 0}, make([]byte, 800)...)
	for name, c := range map[string]struct {
		data []byte
		want string
	}{
		"a.mat":      {level4, "this is a file of MATLAB, level 4 (save -v4), which is not read: in MATLAB: s = load('" + filepath.Join(dir, "a.mat") + "'); save("},
		"a.db3.zstd": {packed(t, append([]byte("SQLite format 3\x00"), make([]byte, 100)...)), "it is packed with zstd and is read unpacked only: zstd -d " + filepath.Join(dir, "a.db3.zstd")},
		"a.json":     {[]byte("[{\"t\":0,\"x\":1}]\n"), "this is JSON, which is not read: in Python: import pandas; pandas.read_json('" + filepath.Join(dir, "a.json") + "').to_csv("},
		"a.h5":       {[]byte("\x89HDF\r\n\x1a\n\x00"), "this is a file in HDF5, which is not read: in Python: import h5py, numpy"},
		"a.xls":      {[]byte("\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1\x00"), "this is a workbook of a spreadsheet (.xls), which is not read"},
		"a.mf4":      {[]byte("MDF     4.10    \x00"), "this is a measurement in MDF, which is not read: in Python: import asammdf"},
		"a.tdms":     {[]byte("TDSm\x0e\x00\x00\x00"), "this is a file of LabVIEW in TDMS, which is not read"},
		"a.c3d":      {[]byte("\x02\x50\x00\x01"), "this is a recording of motion capture in C3D, which is not read"},
		"a.nmea":     {[]byte("$GPRMC,100000.00,A,4730.0,N\r\n"), "this is sentences of NMEA, which is not read: gpsbabel -i nmea"},
		"can.log":    {[]byte("(1700000000.000000) can0 123#0011\n"), "this is frames of a CAN bus, which is not read: decode"},
		"a.asc":      {[]byte("date Tue Mar 5 10:00:00 am 2024\nbase hex  timestamps absolute\n"), "this is frames of a CAN bus, which is not read"},
		"influx.txt": {[]byte("pend,robot=r1 theta=0.1,omega=1.8 1700000000000000000\n"), "this is lines of InfluxDB, which is not read"},
		"mav.txt":    {[]byte("2024-01-02 03:04:05.01: ATT {TimeUS : 5010000, DesRoll : 0.0, Roll : 0.5}\n"), "this is text that mavlogdump.py prints of a log, which is not read: give the .BIN or .tlog"},
		"flow.yaml":  {[]byte("- {t: 0.0, x: 1.0}\n- {t: 0.02, x: 1.1}\n"), "this is text in YAML"},
		"a.ulge":     {[]byte("ULogEnc\x01\x00"), "this is an encrypted log of PX4, which is not read: decrypt"},
		"l.json":     {[]byte("{\"t\":0,\"x\":1}\n{\"t\":1,\"x\":1}\n"), "read_json('" + filepath.Join(dir, "l.json") + "', lines=True)"},
		"c.json":     {[]byte("{\n\"t\":{\"0\":0.0,\n\"1\":1}}\n"), "read_json('" + filepath.Join(dir, "c.json") + "').to_csv("},
		"a.bag":      {[]byte("version https://git-lfs.github.com/spec/v1\noid sha256:1\n"), "this is a pointer of Git LFS to a file, which is not read: git lfs pull --include " + filepath.Join(dir, "a.bag")},
		"a.csv":      {[]byte("<!DOCTYPE html>\n<p>a,b"), "this is a web page, which is not read"},
		"a.xlsx":     {slices.Concat([]byte("PK\x03\x04"), make([]byte, 22), []byte{16, 0, 0, 0}, []byte("docProps/app.xml"), make([]byte, 20)), "this is a workbook of a spreadsheet, which is not read"},
	} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, c.data, 0o666); err != nil {
			t.Fatal(err)
		}
		for _, args := range [][]string{{"topics", path}, {"topics", path, "--suggest"}} {
			if code, _, errs := run(args...); code != cli.Failed || strings.Count(errs, path+": ") != 1 || !strings.Contains(errs, c.want) {
				t.Errorf("%v: exit %d, %s", args, code, errs)
			}
		}
	}
}

// An importer of another format names the one that reads a file.
func TestFilesOfAnotherImporter(t *testing.T) {
	dir := t.TempDir()
	for name, c := range map[string]struct{ data, by, want string }{
		"a.mcap": {"#ROSBAG V2.0\n" + strings.Repeat("x", 100), "mcap", "this is a file for dgm-bridge import bag"},
		"b.bag":  {"version https://git-lfs.github.com/spec/v1\noid sha256:1\n", "bag", "this is a pointer of Git LFS to a file"},
		"c.mcap": {"", "mcap", "the file is empty"},
		"d.bag":  {"nothing\n", "bag", "this is no bag of ROS 1"},
	} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(c.data), 0o666); err != nil {
			t.Fatal(err)
		}
		if code, _, errs := run("import", c.by, "--preset", "ros2-odometry", path, "--out", filepath.Join(dir, "o.msgpack")); code != cli.Failed || !strings.Contains(errs, path+": ") || !strings.Contains(errs, c.want) {
			t.Errorf("%s: exit %d, %s", name, code, errs)
		}
	}
}

// packed packs with zstd.
func packed(t *testing.T, data []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	z, err := zstd.NewWriter(&b)
	if err == nil {
		_, err = z.Write(data)
	}
	if err != nil || z.Close() != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// Fields of one name, of several topics, are suggested as channels of different names.
func TestSuggestedNamesDiffer(t *testing.T) {
	var b bytes.Buffer
	b.Write(ulog.Magic)
	b.Write(make([]byte, 9))
	writeULog(&b, 'F', "joint:uint64_t timestamp;float[2] q;")
	writeULog(&b, 'F', "motor_cmd:uint64_t timestamp;float u;")
	writeULog(&b, 'F', "motor_cmd_nav:uint64_t timestamp;float u;")
	for i, name := range []string{"joint", "motor_cmd", "motor_cmd_nav"} {
		writeULog(&b, 'A', uint8(0), uint16(i), name)
	}
	writeULog(&b, 'A', uint8(1), uint16(3), "motor_cmd")
	for i := range 500 {
		at := uint64(10000 * (i + 1))
		writeULog(&b, 'D', uint16(0), at, float32(math.Sin(0.01*float64(i))), float32(math.Cos(0.01*float64(i))))
		for id := range uint16(3) {
			writeULog(&b, 'D', id+1, at, float32(i%(7+int(id))))
		}
	}
	dir := t.TempDir()
	in, m := filepath.Join(dir, "a.ulg"), filepath.Join(dir, "map.toml")
	if err := os.WriteFile(in, b.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	_, text, errs := run("topics", in, "--suggest")
	if err := os.WriteFile(m, []byte(text), 0o666); err != nil || errs != "" {
		t.Fatal(err, errs)
	}
	_, d := imported(t, "ulog", "--map", m, in, "--out", filepath.Join(dir, "out"))
	var names []string
	for _, c := range d.Channels {
		names = append(names, c.Name)
	}
	if got := strings.Join(names, " "); got != "q_0 q_1 u motor_cmd_1_u motor_cmd_nav_u" {
		t.Errorf("%s\n%s", got, text)
	}
}
