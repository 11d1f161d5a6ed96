package flightlog

import (
	"bytes"
	"errors"
	"fmt"
)

// skipDamage moves to the next whole record, or to the end of the log, and
// reports what it passed. reason is what is wrong with the place it starts from.
//
// Records are found by their checksum. Any byte may look like the start of a
// record of a megabyte, so summing every candidate could take time quadratic in
// the length of the log; a budget keeps it linear.
func (r *Reader) skipDamage(reason error) error {
	d := &DamageError{Path: r.path, Offset: r.src.base, Record: r.records, Err: reason}
	sums := newSumBudget()
	zeros := r.src.bytes()[0] == 0
	r.src.advance(1)
	for {
		window := r.src.bytes()
		n := bytes.IndexByte(window, frameStart)
		if n < 0 {
			n = len(window)
		}
		zeros = zeros && allZero(window[:n])
		sums.earn(n)
		r.src.advance(n)
		if n == len(window) {
			if r.src.fill(1) {
				continue
			}
			break
		}
		zeros = false
		if r.recordHere(&sums) {
			d.End = r.src.base
			return d
		}
		sums.earn(1)
		r.src.advance(1)
	}
	if err := r.src.failed(); err != nil {
		return fmt.Errorf("%s: reading at byte %d: %w", r.path, r.src.base, err)
	}
	d.End, d.Tail = r.src.base, true
	if zeros {
		d.Err = errZeros
	}
	return d
}

// recordHere says whether a whole record starts at the window, reading more as
// it needs to.
func (r *Reader) recordHere(sums *sumBudget) bool {
	for {
		window := r.src.bytes()
		_, sum, err := parseFrame(window, sums.left())
		if err == nil {
			return true
		}
		sums.spend(sum)
		if !errors.Is(err, errTorn) || !r.src.fill(len(window)+1) {
			return false
		}
	}
}

// sumBudget bounds the bytes that are summed in vain: a fixed part, so that no
// record is missed in ordinary damage, and a part for each byte passed.
type sumBudget struct{ bytes int }

func newSumBudget() sumBudget { return sumBudget{16 << 20} }

func (b *sumBudget) left() int   { return b.bytes }
func (b *sumBudget) spend(n int) { b.bytes -= n }
func (b *sumBudget) earn(n int)  { b.bytes += 64 * n }

func allZero(b []byte) bool {
	for _, v := range b {
		if v != 0 {
			return false
		}
	}
	return true
}
