package flightlog_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"testing"

	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/flightlog"
)

// A quadrotor's log: 12 states, 4 inputs, 10,000 samples. One operation is the
// whole log.
func BenchmarkLog(b *testing.B) {
	h := flightlog.Header{Vehicle: "q1"}
	for i := range 16 {
		c := channel.Channel{Name: fmt.Sprintf("c%d", i), Role: channel.State}
		if i >= 12 {
			c.Role = channel.Input
		}
		h.Channels = append(h.Channels, c)
	}
	x, u := make([]float64, 12), make([]float64, 4)
	write := func(out io.Writer) error {
		w, err := flightlog.NewWriter(out, h)
		for i := range 10000 {
			if err == nil {
				err = w.Sample(1772682400399326324+int64(i)*5_000_000, x, u, nil)
			}
		}
		return errors.Join(err, w.Flush())
	}
	var buf bytes.Buffer
	if err := write(&buf); err != nil {
		b.Fatal(err)
	}
	b.Run("write", func(b *testing.B) {
		b.SetBytes(int64(buf.Len()))
		for b.Loop() {
			if err := write(io.Discard); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("read", func(b *testing.B) {
		b.SetBytes(int64(buf.Len()))
		for b.Loop() {
			r, err := flightlog.NewReader(bytes.NewReader(buf.Bytes()), "log")
			n := 0
			for ; err == nil; n++ {
				_, err = r.Next()
			}
			if !errors.Is(err, io.EOF) || n != 10001 {
				b.Fatal(n, err)
			}
		}
	})
	// Zeros with the first byte of a record in them: every fourth byte is a candidate.
	b.Run("resync", func(b *testing.B) {
		damaged := append(bytes.Clone(buf.Bytes()[:5000]), bytes.Repeat([]byte{0x93, 3, 0xce, 0}, 250_000)...)
		b.SetBytes(int64(len(damaged)))
		for b.Loop() {
			r, err := flightlog.NewReader(bytes.NewReader(damaged), "log")
			for err == nil || !errors.Is(err, io.EOF) {
				_, err = r.Next()
			}
		}
	})
}
