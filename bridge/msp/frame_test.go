package msp_test

import (
	"bytes"
	"encoding/hex"
	"slices"
	"testing"

	"github.com/dgm-robotics/dgm/bridge/msp"
)

// frames of the protocol's page (https://github.com/iNavFlight/inav/wiki/MSP-V2), and of Betaflight 4.6.
var frames = []struct {
	bytes string
	want  msp.Frame
}{
	{"244d3c006464", msp.Frame{Command: 100, Kind: msp.Request}},
	{"24583ea54242120048656c6c6f20666c79696e6720776f726c6482", msp.Frame{Command: 0x4242, Kind: msp.Reply, Payload: []byte("Hello flying world")}},
	{"244d3e030100012f2c", msp.Frame{Command: 1, Kind: msp.Reply, Payload: []byte{0, 1, 47}}},
	{"244d3e04024254464c1a", msp.Frame{Command: 2, Kind: msp.Reply, Payload: []byte("BTFL")}},
	{"244d21006767", msp.Frame{Command: 103, Kind: msp.Unknown}},
	{"24583c0003100e007468726f74746c655f69646c6500a5", msp.Frame{Command: 0x1003, Kind: msp.Request, Payload: []byte("throttle_idle\x00")}},
	{"2458210003100000d6", msp.Frame{Command: 0x1003, Kind: msp.Unknown}},
	{"24583e0066001200000000000000000000000000000000000000f9", msp.Frame{Command: 102, Kind: msp.Reply, Payload: make([]byte, 18)}},
}

func fromHex(t testing.TB, text string) []byte {
	t.Helper()
	b, err := hex.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// all returns the frames among bytes, which come in parts of n.
func all(b []byte, n int, r *msp.Reader) (out []msp.Frame) {
	for part := range slices.Chunk(b, n) {
		r.Add(part)
		for f, ok := r.Next(); ok; f, ok = r.Next() {
			f.Payload = bytes.Clone(f.Payload)
			out = append(out, f)
		}
	}
	return out
}

func same(a, b msp.Frame) bool {
	return a.Command == b.Command && a.Kind == b.Kind && bytes.Equal(a.Payload, b.Payload)
}

func TestFrames(t *testing.T) {
	for _, c := range frames {
		b := fromHex(t, c.bytes)
		for _, n := range []int{1, 7, len(b)} {
			if got := all(b, n, &msp.Reader{}); len(got) != 1 || !same(got[0], c.want) {
				t.Errorf("%s: %+v, want %+v", c.bytes, got, c.want)
			}
		}
		if c.want.Command > 255 && b[3] != 0 || c.want.Command < 255 && b[1] == 'X' {
			continue // with a flag, or of version 2 though it fits into 1
		}
		if got := c.want.Append(nil); !bytes.Equal(got, b) {
			t.Errorf("%+v is written as %x, want %s", c.want, got, c.bytes)
		}
	}
}

// A reply of 255 bytes or more has its length behind the command.
func TestJumboFrames(t *testing.T) {
	for _, n := range []int{254, 255, 300, 4096} {
		f := msp.Frame{Command: 116, Kind: msp.Reply, Payload: bytes.Repeat([]byte{'$'}, n)}
		b := f.Append(nil)
		if head := len(b) - n; head != map[bool]int{true: 6, false: 8}[n < 255] {
			t.Errorf("%d bytes around %d", head, n)
		}
		if got := all(append(b, b...), 100, &msp.Reader{}); len(got) != 2 || !same(got[1], f) {
			t.Errorf("%d bytes: %d frames", n, len(got))
		}
	}
	if r := (&msp.Reader{}); len(all((&msp.Frame{Command: 116, Kind: msp.Reply, Payload: make([]byte, 4097)}).Append(nil), 5000, r)) > 0 || r.Damaged != 1 {
		t.Error("a reply of 4,097 bytes was waited for")
	}
}

// What follows damage is read: garbage, a frame that was torn, a wrong byte, a frame in the payload of a damaged one.
func TestDamageCostsOneFrame(t *testing.T) {
	good := msp.Frame{Command: 108, Kind: msp.Reply, Payload: []byte{1, 2, 3, 4, 5, 6}}
	b := good.Append(nil)
	wrong := bytes.Clone(b)
	wrong[7]++
	around := (&msp.Frame{Command: 9, Kind: msp.Reply, Payload: append(bytes.Clone(b), b...)}).Append(nil)
	around[len(around)-1]++
	for name, c := range map[string]struct {
		first               []byte
		more, lost, damaged int
	}{
		"garbage":                   {[]byte("R$$M$X$M?\x00\xff$M"), 0, 0, 0},
		"torn":                      {b[:9], 0, 0, 1},
		"a wrong byte":              {wrong, 0, 0, 1},
		"a frame in a damaged one":  {around, 2, 0, 1},
		"a length that is too much": {[]byte{'$', 'X', '>', 0, 1, 0, 0xff, 0xff}, 0, 0, 1},
	} {
		for _, n := range []int{1, 5, 100} {
			r := &msp.Reader{}
			got := all(slices.Concat(c.first, b, b, b, b, b), n, r)
			for i := range got {
				if !same(got[i], good) {
					t.Errorf("%s, in parts of %d: %+v", name, n, got[i])
				}
			}
			lost := 5 + c.more - len(got)
			if lost != c.lost || r.Damaged < c.damaged || r.Skipped == 0 {
				t.Errorf("%s, in parts of %d: %d frames, %d damaged, %d bytes skipped", name, n, len(got), r.Damaged, r.Skipped)
			}
		}
	}
	r := &msp.Reader{}
	if got := all(b[:9], 9, r); len(got) > 0 {
		t.Fatal(got)
	}
	r.Resync()
	if got := all(b, 4, r); len(got) != 1 || !same(got[0], good) || r.Damaged != 0 {
		t.Errorf("after the rest of a frame was given up: %+v", got)
	}
}

// However bytes are cut into parts, the same frames come of them, and a frame that is written is read.
func FuzzReader(f *testing.F) {
	for _, c := range frames {
		f.Add(fromHex(f, c.bytes), uint8(3))
	}
	f.Add((&msp.Frame{Command: 116, Kind: msp.Reply, Payload: make([]byte, 300)}).Append([]byte("garbage$M>")), uint8(50))
	f.Fuzz(func(t *testing.T, b []byte, n uint8) {
		whole, parts := &msp.Reader{}, &msp.Reader{}
		want, got := all(b, max(1, len(b)), whole), all(b, 1+int(n), parts)
		if !slices.EqualFunc(want, got, same) || whole.Damaged != parts.Damaged || whole.Skipped != parts.Skipped {
			t.Fatalf("whole %v, %d damaged; in parts %v, %d damaged", want, whole.Damaged, got, parts.Damaged)
		}
		for _, one := range got {
			if again := all(one.Append(nil), 16, &msp.Reader{}); len(again) != 1 || !same(again[0], one) {
				t.Fatalf("%+v is read as %+v", one, again)
			}
		}
	})
}
