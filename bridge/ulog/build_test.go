package ulog_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"testing"

	"github.com/dgm-robotics/dgm/bridge/telemetry"
	"github.com/dgm-robotics/dgm/bridge/ulog"
)

// builder makes logs by the published description of the format.
type builder struct{ bytes.Buffer }

func newLog() *builder {
	b := &builder{}
	b.Write(ulog.Magic)
	b.WriteByte(1)
	b.Write(le64(1000)) // µs
	return b
}

func (b *builder) record(kind byte, content ...[]byte) *builder {
	all := bytes.Join(content, nil)
	b.Write(binary.LittleEndian.AppendUint16(nil, uint16(len(all))))
	b.WriteByte(kind)
	b.Write(all)
	return b
}

func (b *builder) format(text string) *builder { return b.record('F', []byte(text)) }

func (b *builder) subscribe(id uint16, multi byte, name string) *builder {
	return b.record('A', []byte{multi}, binary.LittleEndian.AppendUint16(nil, id), []byte(name))
}

func (b *builder) data(id uint16, content ...[]byte) *builder {
	return b.record('D', append([][]byte{binary.LittleEndian.AppendUint16(nil, id)}, content...)...)
}

func le64(v uint64) []byte   { return binary.LittleEndian.AppendUint64(nil, v) }
func le32f(v float32) []byte { return binary.LittleEndian.AppendUint32(nil, math.Float32bits(v)) }
func le64f(v float64) []byte { return le64(math.Float64bits(v)) }

// got is what a reader gave.
type got struct {
	topics   []string
	times    []int64
	values   [][]float64
	problems []telemetry.Problem
	err      error // other than io.EOF
}

// everything selects all fields.
func everything(t *telemetry.Topic) (paths []string) {
	for _, f := range t.Fields() {
		paths = append(paths, f.Path)
	}
	return paths
}

func read(t testing.TB, log []byte) got {
	t.Helper()
	r := ulog.NewReader("a.ulg", bytes.NewReader(log), telemetry.Wants{Select: everything})
	var g got
	for {
		m, err := r.Next()
		if err != nil {
			if !errors.Is(err, io.EOF) {
				g.err = err
			}
			break
		}
		g.topics = append(g.topics, m.Topic.String())
		g.times = append(g.times, m.Time)
		g.values = append(g.values, append([]float64(nil), m.Values...))
	}
	g.problems = r.Problems().All()
	return g
}
