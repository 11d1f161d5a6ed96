package flightlog_test

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/dgm-robotics/dgm/estimator/flightlog"
)

// boundaries returns where each record of a log ends, the header's copy first,
// and where its header ends.
func boundaries(t testing.TB, raw []byte) (headerEnd int, ends []int) {
	t.Helper()
	copyAt := bytes.Index(raw, []byte{0x93, byte(flightlog.KindHeader), 0xce})
	if copyAt < 0 {
		t.Fatal("no copy of the header")
	}
	r, err := flightlog.NewReader(bytes.NewReader(raw), "log")
	if err != nil {
		t.Fatal(err)
	}
	// The payload of the copy is the header.
	ends = []int{copyAt + 2 + 5 + 3 + copyAt}
	for {
		if _, err := r.Next(); errors.Is(err, io.EOF) {
			return copyAt, ends
		} else if err != nil {
			t.Fatal(err)
		}
		ends = append(ends, int(r.Offset()))
	}
}

// drain reads a log to its end and returns how many records and which damage it
// met.
func drain(t testing.TB, raw []byte) (records int, damage []*flightlog.DamageError) {
	t.Helper()
	r, err := flightlog.NewReader(bytes.NewReader(raw), "log")
	if err != nil {
		t.Fatal(err)
	}
	skipped := func(err error) {
		var d *flightlog.DamageError
		if !errors.As(err, &d) {
			t.Fatal(err)
		}
		damage = append(damage, d)
	}
	for _, err := range r.Records(skipped) {
		if err != nil {
			t.Fatal(err)
		}
		records++
	}
	return records, damage
}

// A log cut at any byte reads up to its last whole record and reports the rest.
func TestCutAtEveryByte(t *testing.T) {
	raw := golden(t)
	headerEnd, ends := boundaries(t, raw)
	for n := range len(raw) {
		if n < headerEnd {
			_, err := flightlog.NewReader(bytes.NewReader(raw[:n]), "cut.msgpack")
			var e *flightlog.FormatError
			if !errors.As(err, &e) || !strings.HasPrefix(err.Error(), "cut.msgpack: ") {
				t.Fatalf("cut at %d, in the header: %v", n, err)
			}
			if (n == 0) != errors.Is(err, flightlog.ErrEmpty) || (n > 0) != errors.Is(err, io.ErrUnexpectedEOF) {
				t.Fatalf("cut at %d, in the header: %v", n, err)
			}
			continue
		}
		whole, end := 0, headerEnd
		for _, e := range ends {
			if e <= n {
				whole, end = whole+1, e
			}
		}
		records, damage := drain(t, raw[:n])
		if records != max(0, whole-1) {
			t.Fatalf("cut at %d: %d records read, %d are whole", n, records, whole-1)
		}
		if n == end {
			if len(damage) != 0 {
				t.Fatalf("cut at %d, between records: %v", n, damage[0])
			}
			continue
		}
		if len(damage) != 1 || !damage[0].Tail || damage[0].Offset != int64(end) || damage[0].End != int64(n) ||
			damage[0].Record != whole || !errors.Is(damage[0], io.ErrUnexpectedEOF) {
			t.Fatalf("cut at %d, last whole record ends at %d: damage %+v", n, end, damage)
		}
		log, err := flightlog.ReadFile(onDisk(t, raw[:n]))
		if whole <= 1 {
			var d *flightlog.DamageError
			if !errors.As(err, &d) {
				t.Fatalf("cut at %d: nothing can be read, and the error is %v", n, err)
			}
			continue
		}
		if err != nil || log.Damage == nil {
			t.Fatalf("cut at %d: %v, damage %v", n, err, log.Damage)
		}
	}
}

// After a power cut many file systems leave zeros in place of the last data.
func TestZeroFilledTail(t *testing.T) {
	raw := golden(t)
	headerEnd, ends := boundaries(t, raw)
	for n := headerEnd; n < len(raw); n++ {
		for _, zeros := range []int{1, 7, 4096} {
			b := append(append([]byte{}, raw[:n]...), make([]byte, zeros)...)
			whole, end := 0, headerEnd
			for _, e := range ends {
				// Zeros may happen to be the missing bytes of a record.
				if e <= n || (e <= len(b) && bytes.Equal(b[n:e], raw[n:e])) {
					whole, end = whole+1, e
				}
			}
			records, damage := drain(t, b)
			if records != max(0, whole-1) {
				t.Fatalf("zeros from %d: %d records read, %d are whole", n, records, whole-1)
			}
			if end == len(b) {
				continue
			}
			if len(damage) != 1 || !damage[0].Tail || damage[0].Offset != int64(end) {
				t.Fatalf("zeros from %d: damage %+v", n, damage)
			}
			if end == n && !strings.Contains(damage[0].Error(), "only zeros") {
				t.Fatalf("zeros from %d: %v", n, damage[0])
			}
		}
	}
}

// A flipped bit costs the record it is in and nothing else. In the header it
// costs nothing.
func TestFlipEveryBit(t *testing.T) {
	raw := golden(t)
	headerEnd, ends := boundaries(t, raw)
	b := append([]byte{}, raw...)
	for bit := range 8 * len(raw) {
		at := bit / 8
		b[at] ^= 1 << (bit % 8)
		records, damage := drain(t, b)
		b[at] = raw[at]
		wantRecords := len(ends) - 1
		if at >= ends[0] {
			wantRecords--
		}
		if records != wantRecords {
			t.Fatalf("bit %d of byte %d: %d records read, want %d", bit%8, at, records, wantRecords)
		}
		start, end := 0, headerEnd
		for i := range ends {
			if at >= end {
				start, end = end, ends[i]
			}
		}
		if len(damage) != 1 || damage[0].Offset != int64(start) || damage[0].End != int64(end) || damage[0].Tail != (end == len(raw)) {
			t.Fatalf("bit %d of byte %d: damage %+v, want from %d to %d", bit%8, at, damage, start, end)
		}
	}
}

// A header that reads well but differs from its copy is not used.
func TestDamagedHeaderIsTakenFromItsCopy(t *testing.T) {
	raw := golden(t)
	at := bytes.Index(raw, []byte("rad/s"))
	raw[at] = 's'
	log, err := flightlog.ReadFile(onDisk(t, raw))
	if err != nil {
		t.Fatal(err)
	}
	if diff := same(&want, log); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if log.Damage == nil || !strings.Contains(log.Damage.Error(), "the header is damaged (it differs from its copy)") {
		t.Errorf("damage %v", log.Damage)
	}
}

// After damage the segment goes on as another: what is missing may be anything.
func TestDamageSplitsASegment(t *testing.T) {
	var buf bytes.Buffer
	w, err := flightlog.NewWriter(&buf, header)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.BeginSegment("only", []float64{1, 2, 3}); err != nil {
		t.Fatal(err)
	}
	for i := range 10 {
		if err := w.Sample(int64(i), []float64{1, 2, 3}, []float64{4}, []float64{5}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	_, ends := boundaries(t, buf.Bytes())
	raw := buf.Bytes()
	raw[ends[4]+20] ^= 1 // sample 3
	raw[ends[8]+20] ^= 1 // sample 7
	log, err := flightlog.ReadFile(onDisk(t, raw))
	if err != nil {
		t.Fatal(err)
	}
	if len(log.Segments) != 3 || len(log.Segments[0].T) != 3 || len(log.Segments[1].T) != 3 || len(log.Segments[2].T) != 2 {
		t.Fatalf("segments %+v", log.Segments)
	}
	for i, s := range log.Segments {
		if s.Name != "only" || (s.X0 != nil) != (i == 0) {
			t.Errorf("segment %d: name %q, x0 %v", i, s.Name, s.X0)
		}
	}
	if len(log.Damages) != 2 || log.Damage != log.Damages[0] || log.Damage.Record != 5 || log.Damage.Tail {
		t.Errorf("damage %+v", log.Damages)
	}
	if !strings.Contains(log.Damage.Error(), "the log continues after that") {
		t.Errorf("%v", log.Damage)
	}
}

// Bytes made to look like the start of a megabyte at every step must not make
// the search for the next record quadratic.
func TestResyncIsLinear(t *testing.T) {
	raw := golden(t)
	_, ends := boundaries(t, raw)
	bait := []byte{0x93, 3, 0xce, 1, 2, 3, 4, 0xc6, 0, 0x10, 0, 0}
	evil := append([]byte{}, raw[:ends[2]]...)
	evil = append(evil, bytes.Repeat(bait, 4<<20/len(bait))...)
	evil = append(evil, raw[ends[2]:]...)
	done := make(chan int, 1)
	go func() {
		n, _ := drain(t, evil)
		done <- n
	}()
	select {
	case n := <-done:
		if n != len(ends)-1 {
			t.Errorf("%d records read, want %d", n, len(ends)-1)
		}
	case <-time.After(30 * time.Second): // 4 MiB; unbounded it takes the better part of an hour
		t.Fatal("still searching")
	}
}

// Damage of a megabyte and more, through which the reader's window must move.
func TestLongDamage(t *testing.T) {
	raw := golden(t)
	_, ends := boundaries(t, raw)
	noise := make([]byte, 3<<20)
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range noise {
		noise[i] = byte(rng.Uint32())
	}
	b := append(append(append([]byte{}, raw[:ends[3]]...), noise...), raw[ends[3]:]...)
	records, damage := drain(t, b)
	if records != len(ends)-1 || len(damage) != 1 || damage[0].End-damage[0].Offset != int64(len(noise)) {
		t.Errorf("%d records, damage %v", records, damage)
	}
}
