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

// The kinds of records that tell of others.
const (
	aChunk, aMessageIndex, aChunkIndex, anAttachment, anAttachmentIndex, theStatistics, someMetadata, aMetadataIndex, aSummaryOffset, theDataEnd, theFooter = 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 2
)

// standing returns where the records of a kind stand, outside of chunks.
func standing(log []byte, kind byte) (at []int) {
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

// A figure of an index that disagrees with what is read is told by the place of its
// record, and costs no message.
func TestDamagedIndex(t *testing.T) {
	for _, way := range []string{"lz4", "zstd", "plain"} {
		whole := withPieces(t, ways[way])
		if g := read(t, whole); len(g.problems) > 0 || g.counts["/odom"] != 100 {
			t.Fatalf("%s: whole: %v, %v", way, g.counts, g.problems)
		}
		for _, c := range []struct {
			kind   byte
			which  int // of its kind
			byte   int // of its content
			record string
			want   string
		}{
			{aMessageIndex, 1, 0, "message index", "is no message of channel 2"},
			{aMessageIndex, 1, 2, "message index", "its length does not fit its content"},
			{aMessageIndex, 1, 6 + 16, "message index", "its entry 1, byte"},
			{aMessageIndex, 1, 6 + 16 + 8, "message index", "its entry 1, byte"},
			{aMessageIndex, 1, 6 + 15, "message index", "its entry 0, byte 72057594037927"}, // a place beyond all
			{aChunkIndex, 0, 0, "chunk index", "ns as its first time and not 1700000000005000000"},
			{aChunkIndex, 0, 8, "chunk index", "ns as its last time and not"},
			{aChunkIndex, 0, 16, "chunk index", "where none stands"},
			{aChunkIndex, 0, 16 + 7, "chunk index", "where none stands"}, // far behind the end
			{aChunkIndex, 1, 24, "chunk index", "bytes and not"},
			{aChunkIndex, 1, 24 + 8, "chunk index", "its length does not fit its content"},
			{aChunkIndex, 1, 24 + 8 + 4, "chunk index", "other places of its message indexes"},
			{aChunkIndex, 1, 24 + 8 + 4 + 2, "chunk index", "other places of its message indexes"},
			{aChunkIndex, 1, 24 + 8 + 4 + 10, "chunk index", "bytes of message indexes and not"},
			{aChunkIndex, 1, 24 + 8 + 4 + 10 + 8 + 4 + len(way)%5, "chunk index", "and not"}, // a plain file says the size there
			{anAttachmentIndex, 0, 0, "attachment index", "no record of that kind stands there"},
			{anAttachmentIndex, 0, 8, "attachment index", "bytes and not"},
			{aMetadataIndex, 0, 0, "metadata index", "no record of that kind stands there"},
			{aMetadataIndex, 0, 8, "metadata index", "bytes and not"},
			{theStatistics, 0, 0, "statistics", "messages and not 100, of what was read"},
			{theStatistics, 0, 8, "statistics", "schemas and not 1"},
			{theStatistics, 0, 10, "statistics", "channels and not 1"},
			{theStatistics, 0, 14, "statistics", "attachments and not 1"},
			{theStatistics, 0, 18, "statistics", "metadata and not 1"},
			{theStatistics, 0, 22, "statistics", "chunks and not"},
			{theStatistics, 0, 26, "statistics", "ns as the first time and not 1700000000005000000"},
			{theStatistics, 0, 34, "statistics", "ns as the last time and not"},
			{theStatistics, 0, 42, "statistics", "its length does not fit its content"},
			{theStatistics, 0, 48, "statistics", "messages of channel 3 and not 100"},
			{aSummaryOffset, 0, 0, "summary offset", "and not at"},
			{aSummaryOffset, 0, 1, "summary offset", "and not at"},
			{aSummaryOffset, 1, 9, "summary offset", "long, and not at"},
			{theFooter, 0, 0, "footer", "as the byte where the summary begins and not"},
			{theFooter, 0, 8, "footer", "as the byte where the summary offsets begin and not"},
			{theFooter, 0, 16, "footer", "does not fit, it has"},
			{theDataEnd, 0, 0, "data end", "does not fit, they have"},
		} {
			b := bytes.Clone(whole)
			all := standing(b, c.kind)
			if len(all) <= c.which {
				t.Fatalf("%s: %d records of kind %d", way, len(all), c.kind)
			}
			at := all[c.which]
			b[at+9+c.byte] ^= 1
			g := read(t, b)
			if g.err != nil || g.counts["/odom"] != 100 || g.x[99] != read(t, whole).x[99] {
				t.Errorf("%s, %s %d: %v, %v", way, c.record, c.byte, g.counts, g.err)
			}
			if reasons := reasonsOf(g.problems, c.record, at); len(reasons) == 0 || !strings.Contains(reasons[0], c.want) {
				t.Errorf("%s, byte %d of %s at byte %d: %v, want %q", way, c.byte, c.record, at, g.problems, c.want)
			}
			// Nothing else is blamed but the sums over what was changed, and the index of what is no longer named.
			for _, p := range g.problems {
				if p.Offset != int64(at) && p.Record != "data end" && p.Record != "footer" && p.Record != "chunk index" && !(c.kind == aMessageIndex && p.Record == "message index") {
					t.Errorf("%s, byte %d of %s: blames %v", way, c.byte, c.record, p)
				}
			}
		}
	}
}

// What is cut off or added behind the data is told, too.
func TestDamagedEnd(t *testing.T) {
	whole := withPieces(t, ways["zstd"])
	end, footer := standing(whole, theDataEnd)[0], standing(whole, theFooter)[0]
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
		"more behind":      {append(bytes.Clone(whole), whole...), len(whole), "file", "goes on behind its end"},
		"no end of data":   {append(bytes.Clone(whole[:end]), whole[end+13:]...), footer - 13, "footer", "the record that ends the data is missing before it"},
		"data behind data": {append(bytes.Clone(whole[:end+13]), whole[standing(whole, aChunk)[0]:]...), end + 13, "chunk", "stands behind the end of the data; it is read all the same"},
	} {
		g := read(t, c.log)
		if reasons := reasonsOf(g.problems, c.record, c.at); g.counts["/odom"] < 100 || len(reasons) == 0 || !strings.Contains(reasons[0], c.want) {
			t.Errorf("%s: %v, %v, want %s at byte %d", what, g.counts, g.problems, c.want, c.at)
		}
	}
	// A chunk whose kind became that of the end of the data ends nothing.
	b := bytes.Clone(whole)
	chunks := standing(b, aChunk)
	b[chunks[1]] = theDataEnd
	if g := read(t, b); g.counts["/odom"] < 70 || g.counts["/odom"] == 100 || len(reasonsOf(g.problems, "data end", chunks[1])) == 0 {
		t.Errorf("a chunk called the end of the data: %v, %v", g.counts, g.problems)
	}
}

// A file of another index than its own: each record tells for itself.
func TestIndexOfAnotherFile(t *testing.T) {
	one, other := drive(t, 500, ways["lz4"], "ros2msg"), drive(t, 300, ways["lz4"], "ros2msg")
	b := append(bytes.Clone(one[:standing(one, theDataEnd)[0]]), other[standing(other, theDataEnd)[0]:]...)
	g := read(t, b)
	kinds := map[string]int{}
	for _, p := range g.problems {
		kinds[p.Record]++
	}
	if g.counts["/odom"] != 500 || kinds["statistics"] != 1 || kinds["footer"] == 0 || kinds["summary offset"] == 0 || kinds["data end"] != 1 || kinds["chunk index"] == 0 {
		t.Errorf("%v, %v", g.counts, g.problems)
	}
	if want := fmt.Sprintf("say %d messages and not 1100, ", 660); !strings.HasPrefix(reasonsOf(g.problems, "statistics", standing(b, theStatistics)[0])[0], want) {
		t.Errorf("%v, want %s", g.problems, want)
	}
}

// Writers may say where records of a kind would stand of which there are none.
func TestSummaryOffsetOfNone(t *testing.T) {
	b := withPieces(t, ways["plain"])
	at := standing(b, aSummaryOffset)[0]
	b[at+9] = aMessageIndex
	if reasons := reasonsOf(read(t, b).problems, "summary offset", at); len(reasons) != 1 {
		t.Errorf("some: %v", reasons)
	}
	clear(b[at+9+1+8:][:8])
	if reasons := reasonsOf(read(t, b).problems, "summary offset", at); len(reasons) != 0 {
		t.Errorf("none: %v", reasons)
	}
}

// What a hostile index lists without end is told in one line; what no index can be is
// passed; and what a chunk holds that is no record is told and not taken apart.
func TestHostileIndex(t *testing.T) {
	whole := withPieces(t, ways["plain"])
	statistics, footer := standing(whole, theStatistics)[0], standing(whole, theFooter)[0]
	with := func(kind byte, content []byte) []byte {
		record := append(binary.LittleEndian.AppendUint64([]byte{kind}, uint64(len(content))), content...)
		return append(append(bytes.Clone(whole[:footer]), record...), whole[footer:]...)
	}
	list := bytes.Clone(whole[statistics+9:][:42])
	list = binary.LittleEndian.AppendUint32(list, 10*60_000)
	for i := range 60_000 {
		list = binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint16(list, uint16(i)), 7)
	}
	for what, c := range map[string]struct {
		log    []byte
		record string
		want   string
	}{
		"many channels": {with(theStatistics, list), "statistics", "and 59995 more that differ, of what was read"},
		"too many":      {with(theStatistics, make([]byte, 2<<20)), "statistics", "has 2097152 bytes, more than the limit of 1048576; passed"},
	} {
		g := read(t, c.log)
		if reasons := reasonsOf(g.problems, c.record, footer); g.counts["/odom"] != 100 || len(reasons) != 1 || !strings.HasSuffix(reasons[0], c.want) || len(reasons[0]) > 1000 {
			t.Errorf("%s: %v, %v", what, g.counts, g.problems)
		}
	}
	// Zeros within a chunk, where records were.
	b := bytes.Clone(whole)
	chunk := standing(b, aChunk)[1]
	size := int(binary.LittleEndian.Uint64(b[chunk+1:]))
	clear(b[chunk+9+40+5000 : chunk+9+size])         // 40 bytes stand before the records
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
