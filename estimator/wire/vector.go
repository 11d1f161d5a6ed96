package wire

import (
	"math"

	"github.com/dgm-robotics/dgm/estimator/internal/msgbin"
)

// The widths of the floats in the bins of a message, as values of the field dtype.
const (
	float64s = "f8"
	float32s = "f4"
)

// vectors decodes vectors from senders in any language: a bin of float64, a bin of
// float32 where the message has a dtype for it, or a plain array of numbers. The
// length of a bin does not distinguish the widths: half a state in float64 is as
// long as a whole one in float32.
type vectors struct {
	r     *msgbin.Reader
	width int // bytes of a float in a bin
}

func vectorsOf(r *msgbin.Reader) vectors { return vectors{r: r, width: 8} }

// setWidth sets the width by the dtype of the message, a field of a name; absent is float64.
func (v *vectors) setWidth(dtype []byte, name string) error {
	switch string(dtype) {
	case "", float64s:
		v.width = 8
	case float32s:
		v.width = 4
	default:
		return fail(Malformed, name, "%q, expected %q or %q", dtype, float64s, float32s)
	}
	return nil
}

// all reads what is deferred of a message whose dtype is a field of a name.
func (v vectors) all(deferred []msgbin.Deferred, dtype, name string) error {
	if err := v.setWidth([]byte(dtype), name); err != nil {
		return err
	}
	for i := range deferred {
		if d := &deferred[i]; d.Vector != nil {
			if err := v.atMost(d.Vector, d.Raw, d.Name, d.Most); err != nil {
				return err
			}
		}
	}
	return nil
}

// exactly reads n numbers into the memory of dst; an absent vector gives none.
// what describes n.
func (v *vectors) exactly(dst *[]float64, raw msgbin.Raw, field string, n int, what string) error {
	got, err := v.count(raw, field)
	if err != nil {
		return err
	}
	if len(raw.Bytes) > 0 && got != n {
		return fail(WrongSize, field, "%d numbers, expected %d (%s)%s", got, n, what, v.remedy(raw, n))
	}
	return v.read(dst, raw, field, got)
}

// rows reads up to MaxPlan rows of P numbers into the memory of dst.
func (v *vectors) rows(dst *[]float64, raw msgbin.Raw, P int) error {
	n, err := v.count(raw, "plan")
	switch {
	case err != nil:
		return err
	case n > 0 && P == 0:
		return fail(WrongSize, "plan", "%d numbers, and the model has no inputs", n)
	case n > 0 && n%P != 0:
		return fail(WrongSize, "plan", "%d numbers, which is no whole number of rows of %d inputs", n, P)
	case n > MaxPlan*P:
		return fail(WrongSize, "plan", "%d rows, at most %d", n/P, MaxPlan)
	}
	return v.read(dst, raw, "plan", n)
}

// atMost reads up to most numbers into the memory of dst.
func (v *vectors) atMost(dst *[]float64, raw msgbin.Raw, field string, most int) error {
	n, err := v.count(raw, field)
	if err != nil {
		return err
	}
	if n > most {
		return fail(WrongSize, field, "%d numbers, at most %d", n, most)
	}
	return v.read(dst, raw, field, n)
}

// read reads the n numbers of a vector into the memory of dst.
func (v *vectors) read(dst *[]float64, raw msgbin.Raw, field string, n int) error {
	*dst = msgbin.Resize(*dst, n)
	if n == 0 {
		return nil
	}
	v.r.ResetRaw(raw)
	if err := v.r.Floats(*dst); err != nil {
		return refused(field, err)
	}
	return nil
}

// count returns how many numbers a vector holds.
func (v *vectors) count(raw msgbin.Raw, field string) (int, error) {
	if len(raw.Bytes) == 0 {
		return 0, nil
	}
	v.r.ResetRaw(raw)
	if b, err := v.r.Bin(math.MaxInt); err == nil {
		if len(b)%v.width != 0 {
			return 0, fail(WrongSize, field, "%d bytes, which is no whole number of floats of %d bytes", len(b), v.width)
		}
		return len(b) / v.width, nil
	}
	n, err := v.r.Array(math.MaxInt)
	if err != nil {
		return 0, fail(Malformed, field, "is neither a bin of floats nor an array of numbers")
	}
	return n, nil
}

// remedy returns what the sender may have to change for a vector of the wrong
// length.
func (v *vectors) remedy(raw msgbin.Raw, n int) string {
	v.r.ResetRaw(raw)
	if b, err := v.r.Bin(math.MaxInt); err == nil && v.width == 8 && len(b) == 4*n {
		return `; if they are float32, add "dtype": "f4"`
	}
	return ""
}
