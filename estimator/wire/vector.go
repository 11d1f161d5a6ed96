package wire

import "github.com/dgm-robotics/dgm/estimator/msgbin"

// Vectors of a state come from senders in any language: as a bin of float64, as
// a bin of float32, or as a plain array of numbers. The length asked for tells
// the bins apart. Only a plan has any number of rows; there the width is that of
// the message's other bins, or follows from the field rows.

// width is the size of a float in bytes; 0 = an array, which has none.
type width int

// vector reads exactly n numbers from span into dst's memory; an empty span gives
// an empty vector. what says how n came about.
func vector(dst *[]float64, span []byte, field string, n int, what string) (width, error) {
	*dst = (*dst)[:0]
	if len(span) == 0 {
		return 0, nil
	}
	r := msgbin.NewReader(span)
	if raw, err := r.Bin(len(span)); err == nil {
		if len(raw) != 8*n && len(raw) != 4*n {
			return 0, fail(WrongSize, field, "%d bytes, expected %d numbers (%s) of 8 bytes as float64 or of 4 as float32", len(raw), n, what)
		}
	} else if got, err := r.Array(len(span)); err != nil {
		return 0, fail(Malformed, field, "is neither a bin of floats nor an array of numbers")
	} else if got != n {
		return 0, fail(WrongSize, field, "%d numbers, expected %d (%s)", got, n, what)
	}
	*dst = resize(*dst, n)
	r.Reset(span)
	if err := r.Floats(*dst); err != nil {
		return 0, malformed(field, err)
	}
	return binWidth(span, n), nil
}

// binWidth returns the width of the floats of a span that holds n numbers.
func binWidth(span []byte, n int) width {
	r := msgbin.NewReader(span)
	raw, err := r.Bin(len(span))
	if err != nil || n == 0 {
		return 0
	}
	return width(len(raw) / n)
}

// plan reads rows×P numbers from span into dst's memory. w is the width of the
// message's other bins; rows, where not 0, is what the sender says.
func plan(dst *[]float64, span []byte, P int, w width, rows uint64) error {
	*dst = (*dst)[:0]
	if len(span) == 0 {
		return nil
	}
	if rows > MaxPlan {
		return fail(WrongSize, "rows", "%d, at most %d", rows, MaxPlan)
	}
	r := msgbin.NewReader(span)
	raw, err := r.Bin(len(span))
	if err != nil {
		n, err := r.Array(len(span))
		if err != nil {
			return fail(Malformed, "plan", "is neither a bin of floats nor an array of numbers")
		}
		return rowsOf(dst, span, P, n, rows)
	}
	if w == 0 {
		w = 8
	}
	if said := int(rows) * P; rows > 0 && (len(raw) == 8*said || len(raw) == 4*said) {
		return rowsOf(dst, span, P, said, rows)
	}
	if len(raw)%int(w) != 0 {
		return fail(WrongSize, "plan", "%d bytes, which is no whole number of floats of %d bytes", len(raw), w)
	}
	return rowsOf(dst, span, P, len(raw)/int(w), rows)
}

// rowsOf reads n numbers that must be whole rows.
func rowsOf(dst *[]float64, span []byte, P, n int, rows uint64) error {
	switch {
	case n == 0:
		return nil
	case P == 0:
		return fail(WrongSize, "plan", "%d numbers, and the model has no inputs", n)
	case n%P != 0:
		return fail(WrongSize, "plan", "%d numbers, which is no whole number of rows of %d inputs", n, P)
	case n/P > MaxPlan:
		return fail(WrongSize, "plan", "%d rows, at most %d", n/P, MaxPlan)
	case rows > 0 && uint64(n/P) != rows:
		return fail(WrongSize, "plan", "%d rows of %d inputs, and the field rows says %d", n/P, P, rows)
	}
	_, err := vector(dst, span, "plan", n, "rows of inputs")
	return err
}
