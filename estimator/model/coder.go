package model

import (
	"fmt"

	"github.com/dgm-robotics/dgm/estimator/internal/msgbin"
)

// coder writes or reads one map. A type lists its fields once, for both
// directions, so that writer and reader cannot differ. Reading takes fields in any
// order and leaves out what it does not know.
type coder struct {
	path  string                // of the map in the file, for errors
	out   *msgbin.Writer        // writing: the pairs so far; nil = reading
	pairs int                   // writing
	in    map[string]msgbin.Raw // reading: the value of each key
	r     *msgbin.Reader        // reading
	err   error                 // the first, a *FieldError
}

// MaxFile is the most bytes that a model file has. In memory numbers take up to 2⅔ times the
// place that they have in the file.
const MaxFile = 32 << 20

// limits of a model file, checked before memory is allocated.
const (
	maxFields = 256
	maxKey    = 64
	maxText   = 1 << 20
	maxList   = 4096
	maxFloats = MaxFile / 8
)

func encodeMap(fields func(*coder)) []byte {
	c := &coder{out: msgbin.NewWriter(nil)}
	fields(c)
	return msgbin.Append(nil, func(w *msgbin.Writer) {
		w.Map(c.pairs)
		w.Raw(c.out.Bytes())
	})
}

// decodeMap reads the map that is the whole value. The error is a *FieldError.
func decodeMap(value msgbin.Raw, path string, fields func(*coder)) error {
	c := &coder{path: path, in: map[string]msgbin.Raw{}, r: msgbin.AcquireReader(nil)}
	defer c.r.Release()
	c.r.ResetRaw(value)
	n, err := c.r.Map(maxFields)
	for i := 0; err == nil && i < n; i++ {
		var key string
		if key, err = c.r.String(maxKey); err != nil {
			break
		}
		if _, twice := c.in[key]; twice {
			c.fail(key, "appears twice")
		}
		c.in[key], err = next(c.r, value)
	}
	if err == nil && c.r.Left() > 0 {
		err = fmt.Errorf("%d bytes after its end", c.r.Left())
	}
	if err != nil {
		c.fail("", err.Error())
	}
	if c.err == nil {
		fields(c)
	}
	return c.err
}

// next reads past the next part of a value and returns it.
func next(r *msgbin.Reader, value msgbin.Raw) (msgbin.Raw, error) {
	from := r.Offset()
	err := r.Skip()
	return msgbin.Raw{Bytes: value.Bytes[from:r.Offset()], Offset: value.Offset + from}, err
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

// value moves the Reader to the value of a field. It returns ok = false when
// writing and after an error, which an absent field is: writers leave out nothing.
func (c *coder) value(key string) (raw msgbin.Raw, ok bool) {
	if c.out != nil || c.err != nil {
		return raw, false
	}
	raw, ok = c.in[key]
	if !ok {
		c.fail(key, "is missing")
	}
	c.r.ResetRaw(raw)
	return raw, ok
}

// optional reports whether a field that a file may lack is handled: when writing, whether it
// has something to hold.
func (c *coder) optional(key string, holds bool) bool {
	if c.out != nil {
		return holds
	}
	_, there := c.in[key]
	return there
}

// field writes a value by put, or reads it by get.
func field[T any](c *coder, key string, v *T, put func(*msgbin.Writer, T), get func(*msgbin.Reader) (T, error)) {
	if c.out != nil {
		c.out.String(key)
		c.pairs++
		put(c.out, *v)
	}
	if _, ok := c.value(key); ok {
		got, err := get(c.r)
		if err != nil {
			c.fail(key, err.Error())
			return
		}
		*v = got
	}
}

func (c *coder) text(key string, v *string) {
	field(c, key, v, (*msgbin.Writer).String, func(r *msgbin.Reader) (string, error) { return r.String(maxText) })
}

func (c *coder) float(key string, v *float64) {
	field(c, key, v, (*msgbin.Writer).Float64, (*msgbin.Reader).Float64)
}

func (c *coder) flag(key string, v *bool) {
	field(c, key, v, (*msgbin.Writer).Bool, (*msgbin.Reader).Bool)
}

func (c *coder) uint(key string, v *uint64) {
	field(c, key, v, (*msgbin.Writer).Uint, (*msgbin.Reader).Uint64)
}

func (c *coder) int(key string, v *int) {
	field(c, key, v, putInt, func(r *msgbin.Reader) (int, error) { return getInt(r, maxFloats) })
}

func putInt(w *msgbin.Writer, v int) { w.Int(int64(v)) }

// getInt reads an integer from 0 to last.
func getInt(r *msgbin.Reader, last int) (int, error) {
	v, err := r.Int64()
	if err == nil && (v < 0 || v > int64(last)) {
		err = fmt.Errorf("%d is outside 0…%d", v, last)
	}
	return int(v), err
}

// decodes reports whether what the fields have is read, not written: nothing else may change what is encoded, since models
// share parts and are encoded at once.
func (c *coder) decodes() bool { return c.out == nil }

// choice is one of the numbered choices 0…last.
func choice[T ~uint8](c *coder, key string, v *T, last T) {
	i := int(*v)
	field(c, key, &i, putInt, func(r *msgbin.Reader) (int, error) { return getInt(r, int(last)) })
	if c.decodes() {
		*v = T(i)
	}
}

// precision is how the numbers of a vector are stored.
type precision struct {
	put func(*msgbin.Writer, []float64)
	get func(r *msgbin.Reader, dst []float64, max int) ([]float64, error)
}

// short is for the factors of random features, and single for the numbers of direct maps, which are
// most of a file and whose rounding costs no accuracy. Everything else is double.
var (
	short  = precision{(*msgbin.Writer).Floats24, (*msgbin.Reader).AppendFloats24}
	double = precision{(*msgbin.Writer).Floats, (*msgbin.Reader).AppendFloats}
	single = precision{(*msgbin.Writer).Floats32, (*msgbin.Reader).AppendFloats32}
)

func (c *coder) floats(key string, v *[]float64) {
	field(c, key, v, double.put, func(r *msgbin.Reader) ([]float64, error) { return double.get(r, nil, maxFloats) })
}

// singles handles a vector in single precision.
func (c *coder) singles(key string, v *[]float64) {
	field(c, key, v, single.put, func(r *msgbin.Reader) ([]float64, error) { return single.get(r, nil, maxFloats) })
}

// array handles an array, one element after the other.
func array[T any](c *coder, key string, v *[]T, put func(*msgbin.Writer, T), get func(*msgbin.Reader) (T, error)) {
	field(c, key, v, func(w *msgbin.Writer, list []T) {
		w.Array(len(list))
		for _, x := range list {
			put(w, x)
		}
	}, func(r *msgbin.Reader) ([]T, error) {
		n, err := r.Array(maxList)
		list := make([]T, 0, n)
		for i := 0; err == nil && i < n; i++ {
			x, err := get(r)
			if err != nil {
				return nil, fmt.Errorf("element %d: %w", i, err)
			}
			list = append(list, x)
		}
		return list, err
	})
}

// matrix handles a list of vectors.
func (c *coder) matrix(key string, v *[][]float64, p precision) {
	array(c, key, v, p.put, func(r *msgbin.Reader) ([]float64, error) { return p.get(r, nil, maxFloats) })
	if c.decodes() && len(*v) == 0 {
		*v = nil // none
	}
}

// ints handles a list of integers from 0 to last.
func (c *coder) ints(key string, v *[]int, last int) {
	array(c, key, v, putInt, func(r *msgbin.Reader) (int, error) { return getInt(r, last) })
}

// object handles a nested map.
func (c *coder) object(key string, fields func(*coder)) {
	if c.out != nil {
		c.out.String(key)
		c.pairs++
		c.out.Raw(encodeMap(fields))
	}
	if raw, ok := c.value(key); ok {
		c.err = decodeMap(raw, c.at(key), fields)
	}
}

// list handles an array of maps.
func list[T any](c *coder, key string, v *[]T, fields func(*T, *coder)) {
	if c.out != nil {
		c.out.String(key)
		c.pairs++
		c.out.Array(len(*v))
		for i := range *v {
			c.out.Raw(encodeMap(func(o *coder) { fields(&(*v)[i], o) }))
		}
	}
	raw, ok := c.value(key)
	if !ok {
		return
	}
	n, err := c.r.Array(maxList)
	for i := 0; err == nil && i < n; i++ {
		var part msgbin.Raw
		if part, err = next(c.r, raw); err != nil {
			break
		}
		var item T
		if c.err = decodeMap(part, fmt.Sprintf("%s[%d]", c.at(key), i), func(o *coder) { fields(&item, o) }); c.err != nil {
			return
		}
		*v = append(*v, item)
	}
	if err != nil {
		c.fail(key, err.Error())
	}
}
