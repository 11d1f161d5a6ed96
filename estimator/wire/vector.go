package wire

import "github.com/dgm-robotics/dgm/estimator/msgbin"

// Vectors of a state come from senders in any language: as a bin of float64, as a
// bin of float32 where the message says so, or as a plain array of numbers. The
// length of a bin does not say which: half a state in float64 is as long as a
// whole one in float32.

// width is the size of the floats in the bins of a message, in bytes.
type width int

// The names of the widths, as values of the field dtype.
const (
	float64s = "f8"
	float32s = "f4"
)

// vector reads exactly n numbers from span into dst's memory; an empty span gives
// an empty vector. what says how n came about.
func vector(dst *[]float64, span []byte, field string, n int, w width, what string) error {
	*dst = (*dst)[:0]
	if len(span) == 0 {
		return nil
	}
	got, err := count(span, field, w)
	if err != nil {
		return err
	}
	if got != n {
		return fail(WrongSize, field, "%d numbers, expected %d (%s)%s", got, n, what, mend(span, n, w))
	}
	*dst = resize(*dst, n)
	r := msgbin.NewReader(span)
	if err := r.Floats(*dst); err != nil {
		return malformed(field, err)
	}
	return nil
}

// plan reads any number of rows of P numbers from span into dst's memory.
func plan(dst *[]float64, span []byte, P int, w width) error {
	*dst = (*dst)[:0]
	if len(span) == 0 {
		return nil
	}
	n, err := count(span, "plan", w)
	switch {
	case err != nil:
		return err
	case n == 0:
		return nil
	case P == 0:
		return fail(WrongSize, "plan", "%d numbers, and the model has no inputs", n)
	case n%P != 0:
		return fail(WrongSize, "plan", "%d numbers, which is no whole number of rows of %d inputs", n, P)
	case n/P > MaxPlan:
		return fail(WrongSize, "plan", "%d rows, at most %d", n/P, MaxPlan)
	}
	return vector(dst, span, "plan", n, w, "rows of inputs")
}

// count returns how many numbers a span holds.
func count(span []byte, field string, w width) (int, error) {
	r := msgbin.NewReader(span)
	if raw, err := r.Bin(len(span)); err == nil {
		if len(raw)%int(w) != 0 {
			return 0, fail(WrongSize, field, "%d bytes, which is no whole number of floats of %d bytes", len(raw), w)
		}
		return len(raw) / int(w), nil
	}
	n, err := r.Array(len(span))
	if err != nil {
		return 0, fail(Malformed, field, "is neither a bin of floats nor an array of numbers")
	}
	return n, nil
}

// mend is what may have been meant by a vector of the wrong length.
func mend(span []byte, n int, w width) string {
	r := msgbin.NewReader(span)
	if raw, err := r.Bin(len(span)); err == nil && w == 8 && len(raw) == 4*n {
		return `; if they are float32, say so by "dtype": "f4"`
	}
	return ""
}
