package model

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/dgm-robotics/dgm/estimator/msgbin"
)

// coder writes or reads one map. A type lists its fields once, for both
// directions, so that writer and reader cannot drift apart. Reading takes fields
// in any order and leaves out what it does not know.
type coder struct {
	reading bool
	path    string            // where we are, for errors
	out     []byte            // writing: the pairs so far
	pairs   int               //
	in      map[string][]byte // reading: key → its value's bytes
	err     error
}

// limits of a model file, checked before anything is taken.
const (
	maxFile   = 256 << 20
	maxFields = 256
	maxKey    = 64
	maxText   = 1 << 20
	maxList   = 4096
	maxFloats = maxFile / 8
)

// open reads the map in b and returns a coder over its fields.
func open(b []byte, path string) *coder {
	c := &coder{reading: true, path: path, in: map[string][]byte{}}
	r := msgbin.NewReader(b)
	n, err := r.Map(maxFields)
	for i := 0; err == nil && i < n; i++ {
		var key string
		if key, err = r.String(maxKey); err != nil {
			break
		}
		from := r.Offset()
		if err = r.Skip(); err == nil {
			if _, twice := c.in[key]; twice {
				c.fail(key, "appears twice")
			}
			c.in[key] = b[from:r.Offset()]
		}
	}
	if err == nil && r.Left() > 0 {
		err = fmt.Errorf("%d bytes after its end", r.Left())
	}
	if err != nil {
		c.fail("", err.Error())
	}
	return c
}

func (c *coder) fail(key, why string) {
	if c.err == nil {
		c.err = &FieldError{Field: c.at(key), Reason: why}
	}
}

// at returns the path of a field, of the map itself where key is empty.
func (c *coder) at(key string) string {
	switch {
	case key == "" && c.path == "":
		return "body"
	case key == "":
		return c.path
	case c.path == "":
		return key
	}
	return c.path + "." + key
}

// value returns a reader of the field, or ok = false when writing or after an
// error, which an absent field is: writers leave out nothing.
func (c *coder) value(key string) (r msgbin.Reader, ok bool) {
	if !c.reading || c.err != nil {
		return r, false
	}
	b, ok := c.in[key]
	if !ok {
		c.fail(key, "is missing")
	}
	return msgbin.NewReader(b), ok
}

func (c *coder) write(key string, append func([]byte) []byte) {
	if c.reading {
		return
	}
	c.out = append(msgbin.AppendString(c.out, key))
	c.pairs++
}

// field handles a scalar: its way out and its way in.
func field[T any](c *coder, key string, v *T, put func([]byte, T) []byte, get func(*msgbin.Reader) (T, error)) {
	c.write(key, func(b []byte) []byte { return put(b, *v) })
	if r, ok := c.value(key); ok {
		got, err := get(&r)
		if err != nil {
			c.fail(key, err.Error())
			return
		}
		*v = got
	}
}

func (c *coder) text(key string, v *string) {
	field(c, key, v, msgbin.AppendString, func(r *msgbin.Reader) (string, error) { return r.String(maxText) })
}

func (c *coder) float(key string, v *float64) {
	field(c, key, v, msgbin.AppendFloat64, (*msgbin.Reader).Float64)
}

func (c *coder) flag(key string, v *bool) {
	field(c, key, v, msgbin.AppendBool, (*msgbin.Reader).Bool)
}

func (c *coder) int(key string, v *int) {
	field(c, key, v, func(b []byte, i int) []byte { return msgbin.AppendInt(b, int64(i)) }, func(r *msgbin.Reader) (int, error) {
		i, err := r.Int64()
		if err == nil && (i < 0 || i > maxFloats) {
			return 0, fmt.Errorf("%d is outside 0…%d", i, maxFloats)
		}
		return int(i), err
	})
}

// choice is one of the numbered choices 0…last.
func choice[T ~uint8](c *coder, key string, v *T, last T) {
	field(c, key, v, func(b []byte, x T) []byte { return msgbin.AppendUint(b, uint64(x)) }, func(r *msgbin.Reader) (T, error) {
		x, err := r.Uint64()
		if err == nil && x > uint64(last) {
			err = fmt.Errorf("%d is outside 0…%d", x, last)
		}
		return T(x), err
	})
}

func (c *coder) uint(key string, v *uint64) {
	field(c, key, v, msgbin.AppendUint, (*msgbin.Reader).Uint64)
}

// precision is how the numbers of a vector are stored.
type precision struct {
	put func([]byte, []float64) []byte
	get func(*msgbin.Reader) ([]float64, error)
}

// single is for the factors of random features, which are most of a file and
// lose nothing by it. Everything else is double.
var (
	double = precision{msgbin.AppendFloats, func(r *msgbin.Reader) ([]float64, error) { return r.AppendFloats(nil, maxFloats) }}
	single = precision{msgbin.AppendRounded, readSingles}
)

func readSingles(r *msgbin.Reader) ([]float64, error) {
	raw, err := r.Bin(maxFile)
	if err != nil {
		return nil, err
	}
	if len(raw)%4 != 0 {
		return nil, fmt.Errorf("%d bytes are no whole number of float32", len(raw))
	}
	out := make([]float64, len(raw)/4)
	for i := range out {
		out[i] = float64(math.Float32frombits(binary.LittleEndian.Uint32(raw[4*i:])))
	}
	return out, nil
}

func (c *coder) floats(key string, v *[]float64) { field(c, key, v, double.put, double.get) }

// matrix handles a list of vectors.
func (c *coder) matrix(key string, v *[][]float64, p precision) {
	field(c, key, v, func(b []byte, rows [][]float64) []byte {
		b = msgbin.AppendArrayHeader(b, len(rows))
		for _, row := range rows {
			b = p.put(b, row)
		}
		return b
	}, func(r *msgbin.Reader) (rows [][]float64, err error) {
		n, err := r.Array(maxList)
		for i := 0; err == nil && i < n; i++ {
			var row []float64
			if row, err = p.get(r); err != nil {
				return nil, fmt.Errorf("row %d: %w", i, err)
			}
			rows = append(rows, row)
		}
		return rows, err
	})
}

func (c *coder) ints(key string, v *[]int, last int) {
	c.write(key, func(b []byte) []byte {
		b = msgbin.AppendArrayHeader(b, len(*v))
		for _, i := range *v {
			b = msgbin.AppendInt(b, int64(i))
		}
		return b
	})
	if r, ok := c.value(key); ok {
		n, err := r.Array(maxList)
		out := make([]int, 0, n)
		for i := 0; err == nil && i < n; i++ {
			var x int64
			x, err = r.Int64()
			if err == nil && (x < 0 || x > int64(last)) {
				err = fmt.Errorf("element %d: %d is outside 0…%d", i, x, last)
			}
			out = append(out, int(x))
		}
		if err != nil {
			c.fail(key, err.Error())
			return
		}
		*v = out
	}
}

// object handles a nested map.
func (c *coder) object(key string, fields func(*coder)) {
	c.write(key, func(b []byte) []byte {
		inner := &coder{}
		fields(inner)
		return inner.finish(b)
	})
	if _, ok := c.value(key); ok {
		c.inner(key, c.in[key], fields)
	}
}

func (c *coder) inner(key string, b []byte, fields func(*coder)) {
	o := open(b, c.at(key))
	if o.err == nil {
		fields(o)
	}
	if o.err != nil && c.err == nil {
		c.err = o.err
	}
}

func (c *coder) finish(dst []byte) []byte {
	return append(msgbin.AppendMapHeader(dst, c.pairs), c.out...)
}

// list handles an array of maps.
func list[T any](c *coder, key string, v *[]T, fields func(*T, *coder)) {
	c.write(key, func(b []byte) []byte {
		b = msgbin.AppendArrayHeader(b, len(*v))
		for i := range *v {
			inner := &coder{}
			fields(&(*v)[i], inner)
			b = inner.finish(b)
		}
		return b
	})
	r, ok := c.value(key)
	if !ok {
		return
	}
	b := c.in[key]
	n, err := r.Array(maxList)
	for i := 0; err == nil && i < n; i++ {
		from := r.Offset()
		if err = r.Skip(); err != nil {
			break
		}
		var item T
		c.inner(fmt.Sprintf("%s[%d]", key, i), b[from:r.Offset()], func(o *coder) { fields(&item, o) })
		if c.err != nil {
			return
		}
		*v = append(*v, item)
	}
	if err != nil {
		c.fail(key, err.Error())
	}
}
