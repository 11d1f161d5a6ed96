package flightlog_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/dgm-robotics/dgm/estimator/flightlog"
)

// Records of a kind that a newer program wrote, and what it put behind the known
// elements and fields, are passed over.
func TestExtensionsAreSkipped(t *testing.T) {
	raw := golden(t)
	_, ends := boundaries(t, raw)
	unknown := frameOf(99, []byte{0xc0})
	longer := frameOf(byte(flightlog.KindNote), []byte{0x93, 7, 0xa1, 'n', 0x81, 0xa1, 'k', 0xc3})
	b := append([]byte{}, raw[:ends[2]]...)
	b = append(append(append(b, unknown...), longer...), raw[ends[2]:]...)
	// A header field that is not known: source becomes sourse, in both places.
	b = bytes.Replace(b, []byte("\xa6source\xa6golden"), []byte("\xa6sourse\xa6golden"), 1)
	log, err := flightlog.ReadFile(onDisk(t, b))
	if err != nil {
		t.Fatal(err)
	}
	if log.Unknown != 1 || len(log.Notes) != 2 || log.Notes[0] != (flightlog.Note{T: 7, Text: "n"}) {
		t.Errorf("unknown %d, notes %v", log.Unknown, log.Notes)
	}
}

func TestOtherFilesAreRefused(t *testing.T) {
	raw := golden(t)
	newer := bytes.ReplaceAll(raw, []byte("version\x01"), []byte("version\x02"))
	headerEnd, _ := boundaries(t, raw)
	// The copy's checksum must fit, else the older copy wins, and rightly so.
	newer = append(newer[:headerEnd:headerEnd], frameOf(byte(flightlog.KindHeader), newer[:headerEnd])...)
	cases := map[string]struct {
		raw  []byte
		is   error
		text string
	}{
		"empty":       {nil, flightlog.ErrEmpty, "the file is empty; the recording stopped before it began"},
		"text":        {[]byte("time,theta\n0,1\n"), flightlog.ErrNotLog, "name a log made by a recorder"},
		"zeros":       {make([]byte, 5000), flightlog.ErrNotLog, "not a flight log"},
		"other map":   {[]byte("\x81\xa5magic\xa9something"), flightlog.ErrNotLog, `it begins with "something"`},
		"newer":       {newer, flightlog.ErrVersion, "2, and 1 is read here; update this program"},
		"2 GB header": {append(raw[:21:21], 0xdb, 0x7f, 0xff, 0xff, 0xff), nil, "2147483647 bytes, more than the limit of 256"},
		"2 GB array":  {append(raw[:30:30], append([]byte("\xa8channels"), 0xdd, 0x7f, 0xff, 0xff, 0xff)...), nil, "channels: byte 39: an array of 2147483647 entries, more than the limit of 1024"},
	}
	for name, c := range cases {
		path := onDisk(t, c.raw)
		_, err := flightlog.ReadFile(path)
		var e *flightlog.FormatError
		if !errors.As(err, &e) || !strings.HasPrefix(err.Error(), path+": ") || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%s: %v", name, err)
		}
		if c.is != nil && !errors.Is(err, c.is) {
			t.Errorf("%s: the cause of %v is not %v", name, err, c.is)
		}
	}
	if _, err := flightlog.ReadFile("missing.msgpack"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("missing file: %v", err)
	}
}

// A record that claims gigabytes is damage, and costs no memory.
func TestRecordThatClaimsGigabytes(t *testing.T) {
	raw := golden(t)
	_, ends := boundaries(t, raw)
	b := append([]byte{}, raw[:ends[2]]...)
	b = append(b, 0x93, 3, 0xce, 0, 0, 0, 0, 0xc6, 0x7f, 0xff, 0xff, 0xff)
	b = append(b, raw[ends[2]:]...)
	records, damage := drain(t, b)
	if records != len(ends)-1 || len(damage) != 1 || damage[0].End-damage[0].Offset != 12 {
		t.Errorf("%d records, damage %v", records, damage)
	}
	if got := testing.AllocsPerRun(5, func() { drain(t, b) }); got > 100 {
		t.Errorf("%v allocations", got)
	}
}

// The error of an intact record with impossible content names its field.
func TestRecordsOfAWrongShape(t *testing.T) {
	raw := golden(t)
	_, ends := boundaries(t, raw)
	floats := func(n int) []byte {
		b := []byte{0xc4, byte(8 * n)}
		return append(b, make([]byte, 8*n)...)
	}
	join := func(parts ...[]byte) []byte { return bytes.Join(parts, nil) }
	cases := map[string][]byte{
		"sample field x: byte 2: a vector of 16 bytes, expected 3": frameOf(3, join([]byte{0x94, 7}, floats(2), floats(1), floats(1))),
		"sample field u":             frameOf(3, join([]byte{0x94, 7}, floats(3), floats(2), floats(1))),
		"sample field t":             frameOf(3, join([]byte{0x94, 0xa1, 'x'}, floats(3), floats(1), floats(1))),
		"sample field payload":       frameOf(3, []byte{7}),
		"sample field u: is missing": frameOf(3, join([]byte{0x92, 7}, floats(3))),
		"segment field x0":           frameOf(2, join([]byte{0x92, 0xa0}, floats(2))),
		"plan field rows: 0 rows":    frameOf(4, join([]byte{0x94, 7, 7, 0}, floats(0))),
		"plan field rows: 9999999":   frameOf(4, join([]byte{0x94, 7, 7, 0xce, 0, 0x98, 0x96, 0x7f}, floats(0))),
		"plan field step: -1 ns":     frameOf(4, join([]byte{0x94, 7, 0xff, 1}, floats(1))),
		"note field text":            frameOf(5, []byte{0x92, 7, 0xdb, 0x7f, 0xff, 0xff, 0xff}),
	}
	for want, record := range cases {
		b := append(append(append([]byte{}, raw[:ends[2]]...), record...), raw[ends[2]:]...)
		path := onDisk(t, b)
		_, err := flightlog.ReadFile(path)
		var e *flightlog.FormatError
		if !errors.As(err, &e) || e.Record != 3 || e.Offset != int64(ends[2]) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
		// A stream can go on behind it.
		r, err := flightlog.NewReader(bytes.NewReader(b), "log")
		if err != nil {
			t.Fatal(err)
		}
		good, bad := 0, 0
		for {
			_, err := r.Next()
			if errors.Is(err, io.EOF) {
				break
			}
			if err == nil {
				good++
			} else {
				bad++
			}
		}
		if good != len(ends)-1 || bad != 1 {
			t.Errorf("%s: %d good and %d bad records", want, good, bad)
		}
	}
}

// frameOf frames a payload as FORMAT.md defines.
func frameOf(kind byte, payload []byte) []byte {
	crc := crc32c(append([]byte{kind}, payload...))
	b := append([]byte{0x93, kind}, 0xce)
	b = binary.BigEndian.AppendUint32(b, crc)
	b = append(b, 0xc6)
	b = binary.BigEndian.AppendUint32(b, uint32(len(payload)))
	return append(b, payload...)
}

// crc32c is the checksum by its definition, bit by bit.
func crc32c(b []byte) uint32 {
	crc := ^uint32(0)
	for _, v := range b {
		crc ^= uint32(v)
		for range 8 {
			if crc&1 != 0 {
				crc = crc>>1 ^ 0x82f63b78
			} else {
				crc >>= 1
			}
		}
	}
	return ^crc
}
