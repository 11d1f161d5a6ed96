package main

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"

	"github.com/dgm-robotics/dgm/bridge/ardupilot"
	"github.com/dgm-robotics/dgm/bridge/bag"
	"github.com/dgm-robotics/dgm/bridge/blackbox"
	"github.com/dgm-robotics/dgm/bridge/crazyflie"
	"github.com/dgm-robotics/dgm/bridge/csv"
	"github.com/dgm-robotics/dgm/bridge/db3"
	"github.com/dgm-robotics/dgm/bridge/input"
	"github.com/dgm-robotics/dgm/bridge/mat"
	"github.com/dgm-robotics/dgm/bridge/mavlink"
	"github.com/dgm-robotics/dgm/bridge/mcap"
	"github.com/dgm-robotics/dgm/bridge/npz"
	"github.com/dgm-robotics/dgm/bridge/parquet"
	"github.com/dgm-robotics/dgm/bridge/telemetry"
	"github.com/dgm-robotics/dgm/bridge/ulog"
	"github.com/dgm-robotics/dgm/cmd/internal/logs"
)

// format is one kind of log.
type format struct {
	name  string // of the subcommand of import
	what  string // a file of it, for usage
	short string
	open  telemetry.Opener       // nil for tables
	magic func(head []byte) bool // reports whether a file that begins like this is one
}

// tables are the formats of tables, which are distinguished by what they begin with.
var tables = []format{
	{name: "csv", what: "FILE.csv", short: "Convert text tables (commas, semicolons, tabs, bars or spaces; also .gz and .zst) to a flight log"},
	{name: "parquet", what: "FILE.parquet", short: "Convert tables in Apache Parquet to a flight log"},
	{name: "npz", what: "FILE.npz", short: "Convert NumPy archives (.npz) to a flight log"},
	{name: "mat", what: "FILE.mat", short: "Convert files of MATLAB (save -v6 and -v7) to a flight log"},
}

// openRows opens a table that is not of text; nil where it is.
func openRows(path string) (csv.Rows, error) {
	head, err := headOf(path)
	if err != nil {
		return nil, err
	}
	switch {
	case bytes.HasPrefix(head, parquet.Magic):
		return rows(parquet.Open(path))
	case bytes.HasPrefix(head, npz.Magic) && !isWorkbook(head) && !isArchive(head):
		return rows(npz.Open(path))
	case bytes.HasPrefix(head, mat.Magic):
		return rows(mat.Open(path))
	}
	return nil, refuseOthers(path, head)
}

// headOf returns the first bytes of a file.
func headOf(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	head := make([]byte, 4096)
	n, err := io.ReadFull(file, head)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = nil
	}
	return head[:n], errors.Join(err, file.Close())
}

// rows returns a table as it is, and not as an interface of a nil one.
func rows[T csv.Rows](t T, err error) (csv.Rows, error) {
	if err != nil {
		return nil, err
	}
	return t, nil
}

// refuseOthers returns the error of a file that is not read, with the command that converts it.
func refuseOthers(path string, head []byte) error {
	for _, o := range others {
		if o.is(head) {
			return fmt.Errorf("%s: this is %s, which is not read: %s", path, o.what, fmt.Sprintf(o.remedy, path))
		}
	}
	return nil
}

// table reports whether f is the format of tables.
func (f *format) table() bool { return f.open == nil }

// formats are the logs of topics that can be read. Where none is named it is the
// first whose magic fits.
var formats = []format{
	{"ulog", "FILE.ulg", "Convert PX4 logs (.ulg) to a flight log", telemetry.Opens(ulog.Open), begins(ulog.Magic)},
	{"ardupilot", "FILE.BIN", "Convert ArduPilot's onboard logs (DataFlash, .BIN or .log) to a flight log", ardupilot.OpenAny, func(head []byte) bool { return begins(ardupilot.Magic)(head) || begins(ardupilot.TextMagic)(head) }},
	{"mavlink", "FILE.tlog", "Convert MAVLink telemetry logs (.tlog) to a flight log", telemetry.Opens(mavlink.Open), mavlink.IsTlog},
	{"mcap", "FILE.mcap", "Convert MCAP files of ROS 2 to a flight log", telemetry.Opens(mcap.Open), begins(mcap.Magic)},
	{"db3", "FILE.db3", "Convert bags of ROS 2 in SQLite (.db3) to a flight log", unpacked(telemetry.Opens(db3.Open)), begins(db3.Magic)},
	{"bag", "FILE.bag", "Convert bags of ROS 1 (.bag) to a flight log", telemetry.Opens(bag.Open), begins(bag.Magic)},
	{"crazyflie", "LOG", "Convert logs of a Crazyflie's micro-SD card to a flight log", telemetry.Opens(crazyflie.Open), crazyflie.Is},
	{"blackbox", "FILE.bbl", "Convert blackbox logs of Betaflight and INAV (.bbl, .bfl, .txt) to a flight log", telemetry.Opens(blackbox.Open), begins(blackbox.Magic)},
}

func begins(magic []byte) func([]byte) bool {
	return func(head []byte) bool { return bytes.HasPrefix(head, magic) }
}

// formatOf returns the format of a name, or else that of the file.
func formatOf(name, path string) (*format, error) {
	var names []string
	for i := range formats {
		if formats[i].name == name {
			return &formats[i], nil
		}
		names = append(names, formats[i].name)
	}
	if name != "" {
		return nil, fmt.Errorf("format %q is not known; there are: %s", name, strings.Join(names, ", "))
	}
	f, err := input.Open(path)
	if err != nil {
		return nil, err
	}
	w := input.NewWindow(f, 4096)
	head := bytes.Clone(w.Peek(4096))
	if err := errors.Join(w.Err(), f.Close()); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if len(head) == 0 {
		return nil, fmt.Errorf("%s: the file is empty; copy it again, or record again", path)
	}
	for i := range formats {
		if formats[i].magic(head) {
			return &formats[i], nil
		}
	}
	if what := logs.Own(head); what != "" {
		return nil, fmt.Errorf("%s: this is %s", path, what)
	}
	if err := refuseOthers(path, head); err != nil {
		return nil, err
	}
	return nil, &unknownFormat{path, names}
}

// others are files that are not read, with the command that converts each.
var others = []struct {
	is           func(head []byte) bool
	what, remedy string
}{
	{begins([]byte("\x89HDF\r\n\x1a\n")), "a file in HDF5", "in Python: import h5py, numpy; f = h5py.File('%s'); numpy.savez('log.npz', **{k: f[k][()] for k in f if hasattr(f[k], 'shape')})"},
	{begins([]byte("MATLAB 7.3 MAT-file")), "a file of MATLAB in HDF5", saveAgain},
	{mat.IsLevel4, "a file of MATLAB, level 4 (save -v4)", saveAgain},
	{begins([]byte("ULogEnc")), "an encrypted log of PX4", "decrypt %s first, with the key and the tool of PX4"},
	{begins([]byte("BZh")), "a file packed with bzip2", "bunzip2 -k %s"},
	{begins([]byte("\xfd7zXZ\x00")), "a file packed with xz", "xz -dk %s"},
	{begins([]byte("7z\xbc\xaf\x27\x1c")), "an archive (7z)", "7z x %s"},
	{begins([]byte("\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1")), "a workbook of a spreadsheet (.xls)", "save each sheet as CSV; or in Python: import pandas; pandas.read_excel('%s').to_csv('log.csv')"},
	{begins([]byte("MDF     ")), "a measurement in MDF", "in Python: import asammdf; asammdf.MDF('%s').to_dataframe().to_csv('log.csv')"},
	{begins([]byte("TDSm")), "a file of LabVIEW in TDMS", "in Python: import nptdms; nptdms.TdmsFile.read('%s').as_dataframe(time_index=True).to_csv('log.csv')"},
	{regexp.MustCompile(`^[\x02-\x0f]\x50`).Match, "a recording of motion capture in C3D", "export %s as a table of text"},
	{regexp.MustCompile(`^[$!][A-Z]{4,6},`).Match, "sentences of NMEA", "gpsbabel -i nmea -f %s -o unicsv -F log.csv"},
	{regexp.MustCompile(`^(\(\d+\.\d+\) \w+ [0-9A-Fa-f]+#|date [^\n]*\nbase (hex|dec))`).Match, "frames of a CAN bus", "decode %s with the database of its messages, and write their signals as columns, for example by cantools"},
	{regexp.MustCompile(`^\w+(,\w+=[^ \n]+)* \w+=[^ \n]+ \d{10,19}\r?\n`).Match, "lines of InfluxDB", "query the database for a table, with a column for each field, in place of %s"},
	{regexp.MustCompile(`^(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d+: )\w+ \{\w+ : `).Match, "text that mavlogdump.py prints of a log", "give the .BIN or .tlog that it was made of in place of %s; or write a table of each message from that: mavlogdump.py --format csv --types ATT LOG.BIN > ATT.csv"},
	{isWorkbook, "a workbook of a spreadsheet", "save each sheet as CSV; or in Python: import pandas; pandas.read_excel('%s').to_csv('log.csv')"},
	{isArchive, "an archive (zip)", "unzip %s, and give what is in it"},
	{begins([]byte("ARROW1")), "a table of Apache Arrow (Feather)", "in Python: import pandas; pandas.read_feather('%s').to_parquet('log.parquet')"},
	{begins([]byte("\x93NUMPY")), "one array of NumPy (.npy)", "in Python: import numpy; numpy.savez('log.npz', x=numpy.load('%s')), with the times in an array of their own"},
	{isPickle, "a pickle of Python", "in Python: import pandas; pandas.read_pickle('%s').to_csv('log.csv')"},
	{regexp.MustCompile(`^\{[^\n]*\}\s*\n\s*\{`).Match, "JSON", "in Python: import pandas; pandas.read_json('%s', lines=True).to_csv('log.csv')"},
	{regexp.MustCompile(`^(\{|\[\s*[{\[])`).Match, "JSON", "in Python: import pandas; pandas.read_json('%s').to_csv('log.csv')"},
	{regexp.MustCompile(`(?i)^\s*<(!doctype )?html`).Match, "a web page", "%s was perhaps saved in place of the file that it links to: download that"},
	{begins([]byte("<?xml")), "XML", "export %s as a table of text"},
	{begins([]byte("version https://git-lfs")), "a pointer of Git LFS to a file", "git lfs pull --include %s"},
	{isYAML, "text in YAML, as ros2 topic echo prints it", "record the topics (ros2 bag record -s mcap), or print them as a table (ros2 topic echo --csv TOPIC > log.csv) in place of %s"},
}

// isYAML reports whether text begins with keys that have others below them, or a list.
var isYAML = regexp.MustCompile(`^(---\s+)?(\w+:\s*\n(- |  )\S|- (\{|\w+: ))`).Match

// entryAt is where the name of the first file of an archive stands, whose length is entryLengthAt.
const entryLengthAt, entryAt = 26, 30

// firstEntry returns the name of the first file of an archive; "" of what is none.
func firstEntry(head []byte) string {
	if !bytes.HasPrefix(head, npz.Magic) || len(head) < entryAt {
		return ""
	}
	return string(head[entryAt:min(len(head), entryAt+int(binary.LittleEndian.Uint16(head[entryLengthAt:])))])
}

func isWorkbook(head []byte) bool {
	name := firstEntry(head)
	return name == "[Content_Types].xml" || strings.HasPrefix(name, "xl/") || strings.HasPrefix(name, "docProps/") || name == "_rels/.rels" || name == "mimetype"
}

// isArchive reports whether a file is an archive of other files than arrays. A long name is cut off.
func isArchive(head []byte) bool {
	name := firstEntry(head)
	return name != "" && !strings.HasSuffix(name, ".npy") && entryAt+len(name) < len(head)
}

// isPickle reports whether a file begins as Python's protocols 2 to 5 do.
func isPickle(head []byte) bool {
	return len(head) > 2 && head[0] == 0x80 && head[1] >= 2 && head[1] <= 5
}

const saveAgain = `in MATLAB: s = load('%s'); save('log.mat', '-struct', 's', '-v7'), then dgm-bridge topics log.mat --suggest`

// unpacked returns an opener of files that are read in place, and so are not read while they
// are packed.
func unpacked(open telemetry.Opener) telemetry.Opener {
	return func(path string, wants telemetry.Wants) (telemetry.Source, error) {
		head, err := headOf(path)
		if err != nil {
			return nil, err
		}
		for packing, magic := range map[string]string{"zstd": "\x28\xb5\x2f\xfd", "gzip": "\x1f\x8b"} {
			if bytes.HasPrefix(head, []byte(magic)) {
				return nil, fmt.Errorf("%s: it is packed with %s and is read unpacked only: %s -d %s", path, packing, packing, path)
			}
		}
		return open(path, wants)
	}
}

// unknownFormat reports that a file is no log of topics.
type unknownFormat struct {
	path  string
	names []string
}

func (e *unknownFormat) Error() string {
	return fmt.Sprintf("%s: this is none of the logs of topics (%s); of a table dgm-bridge topics %s --suggest > map.toml writes a map; another file: name its format with --format", e.path, strings.Join(e.names, ", "), e.path)
}
