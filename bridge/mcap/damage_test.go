package mcap_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	foxglove "github.com/foxglove/mcap/go/mcap"

	"github.com/dgm-robotics/dgm/bridge/telemetry"
)

// The kinds of records that end the data and the file, and of chunks.
const aChunk, theDataEnd, theFooter = 6, 15, 2

// offsets returns where the records of a kind are, outside of chunks.
func offsets(log []byte, kind byte) (at []int) {
	for i := 8; i+9 <= len(log)-8; i += 9 + int(binary.LittleEndian.Uint64(log[i+1:])) {
		if log[i] == kind {
			at = append(at, i)
		}
	}
	return at
}

// reasonsOf returns the problems of a kind of record at a place.
func reasonsOf(problems []telemetry.Problem, record string, at int) (reasons []string) {
	for _, p := range problems {
		if p.Record == record && p.Offset == int64(at) {
			reasons = append(reasons, p.Reason)
		}
	}
	return reasons
}

// withPieces is a drive with an attachment and metadata.
func withPieces(t testing.TB, o foxglove.WriterOptions) []byte {
	var b bytes.Buffer
	w, err := foxglove.NewWriter(&b, &o)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(err)
	must(w.WriteHeader(&foxglove.Header{}))
	must(w.WriteSchema(&foxglove.Schema{ID: 1, Name: "nav_msgs/msg/Odometry", Encoding: "ros2msg", Data: []byte(odometryMsg)}))
	must(w.WriteChannel(&foxglove.Channel{ID: 3, SchemaID: 1, Topic: "/odom", MessageEncoding: "cdr"}))
	must(w.WriteAttachment(&foxglove.Attachment{Name: "notes", MediaType: "text/plain", DataSize: 5, Data: strings.NewReader("windy")}))
	must(w.WriteMetadata(&foxglove.Metadata{Name: "robot", Metadata: map[string]string{"id": "7"}}))
	for i := range 100 {
		ns := uint64(1.7e18) + uint64(i)*20e6
		must(w.WriteMessage(&foxglove.Message{ChannelID: 3, LogTime: ns + 5e6, PublishTime: ns, Data: odometry(i)}))
	}
	must(w.Close())
	return b.Bytes()
}

// What is cut off or added behind the data is reported, too.
func TestDamagedEnd(t *testing.T) {
	whole := withPieces(t, ways["zstd"])
	end, footer := offsets(whole, theDataEnd)[0], offsets(whole, theFooter)[0]
	for what, c := range map[string]struct {
		log    []byte
		at     int
		record string
		want   string
	}{
		"no summary":       {whole[:end+13], end + 13, "file", "cut off: the footer is missing"},
		"half a summary":   {whole[:end+40], end + 13, "file", "cut off within a record"},
		"half a footer":    {whole[:footer+12], footer, "file", "cut off within a record"},
		"no end":           {whole[:len(whole)-3], footer + 29, "file", "does not end with what an MCAP file ends with"},
		"more behind":      {append(bytes.Clone(whole), whole...), len(whole), "file", "continues behind its end"},
		"no end of data":   {append(bytes.Clone(whole[:end]), whole[end+13:]...), footer - 13, "footer", "the record that ends the data is missing before it"},
		"data behind data": {append(bytes.Clone(whole[:end+13]), whole[offsets(whole, aChunk)[0]:]...), end + 13, "chunk", "is behind the end of the data; it is read all the same"},
	} {
		g := read(t, c.log)
		if reasons := reasonsOf(g.problems, c.record, c.at); g.counts["/odom"] < 100 || len(reasons) == 0 || !strings.Contains(reasons[0], c.want) {
			t.Errorf("%s: %v, %v, want %s at byte %d", what, g.counts, g.problems, c.want, c.at)
		}
	}
	// A chunk whose kind became that of the end of the data ends nothing.
	b := bytes.Clone(whole)
	chunks := offsets(b, aChunk)
	b[chunks[1]] = theDataEnd
	if g := read(t, b); g.counts["/odom"] < 70 || g.counts["/odom"] == 100 || len(reasonsOf(g.problems, "data end", chunks[1])) == 0 {
		t.Errorf("a chunk called the end of the data: %v, %v", g.counts, g.problems)
	}
}

// What a chunk holds that is no record is reported and not read.
func TestDamagedRecordsOfAChunk(t *testing.T) {
	whole := withPieces(t, ways["plain"])
	// Zeros within a chunk, where records were.
	b := bytes.Clone(whole)
	chunk := offsets(b, aChunk)[1]
	size := int(binary.LittleEndian.Uint64(b[chunk+1:]))
	clear(b[chunk+9+40+5000 : chunk+9+size])         // 40 bytes precede the records
	binary.LittleEndian.PutUint32(b[chunk+9+24:], 0) // no checksum
	g := read(t, b)
	if reasons := reasonsOf(g.problems, "chunk", chunk); g.counts["/odom"] < 75 || g.counts["/odom"] > 95 || len(reasons) != 1 || !strings.Contains(reasons[0], "bytes are no whole record") {
		t.Errorf("zeros: %v, %v", g.counts, g.problems)
	}
	// One record of another kind costs that one.
	b = bytes.Clone(whole)
	second := chunk + 9 + 40 + 9 + int(binary.LittleEndian.Uint64(b[chunk+9+40+1:]))
	b[second] = 0x55
	binary.LittleEndian.PutUint32(b[chunk+9+24:], 0)
	g = read(t, b)
	if reasons := reasonsOf(g.problems, "chunk", chunk); g.counts["/odom"] != 99 || len(reasons) != 1 || !strings.Contains(reasons[0], fmt.Sprintf("byte %d of it: records of kind 0x55 are not known", second-chunk-9-40)) {
		t.Errorf("another kind: %v, %v", g.counts, g.problems)
	}
}
