package flightlog

// count is what a reader knows of the count of the records.
type count struct {
	any     bool
	open    bool  // the log must not end here: there must be a count after this
	n       int64 // records since the first count of the writer, that one included
	damaged bool  // some of them may be lost in damage that was reported
}

// add counts a record other than a count.
func (c *count) add() {
	c.n++
	c.open = c.any
}

// compare compares with a count in the log, 0 being the first of a writer. It returns how
// many records are missing; less than 0 = there are too many.
func (c *count) compare(n int64) (missing int64) {
	switch {
	case n == 0:
		*c = count{any: true, open: true}
	case !c.any: // the first count is lost, and what was before it
		c.any, c.n = true, n
	default:
		c.open = false
		if !c.damaged {
			missing = n - c.n
		}
		c.n, c.damaged = n, false
	}
	c.n++
	return missing
}

// damage notes that damage was reported, tail: to the end of the log.
func (c *count) damage(tail bool) {
	c.damaged = true
	c.open = c.open && !tail
}
