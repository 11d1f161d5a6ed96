package csv

import (
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"strconv"
	"time"
)

// dateOrder is whether dates such as 3/1/2024 have the day or the month first.
type dateOrder int8

const (
	anyOrder   dateOrder = iota // as a part above 12 shows it; others are refused
	dayFirst                    // in all
	monthFirst                  // in all
)

// datesIn returns the order that a map says.
func (t *Time) datesIn() dateOrder {
	switch {
	case t.DayFirst == nil:
		return anyOrder
	case *t.DayFirst:
		return dayFirst
	}
	return monthFirst
}

// orders is what the dates of a column show of their order.
type orders struct {
	last       [3]int // of the date before
	either     string // the first cell that may have the day or the month first
	day, month string // the first cell, or the step of a day, that shows the one or the other
}

// yearLast matches the beginning of dates that end with the year, and so may have the day or the month first.
var yearLast = regexp.MustCompile(`^\[?(\d{1,2})([/-])(\d{1,2})([/-])(\d{4})\b`)

// parts returns the numbers of a date that ends with the year.
func parts(cell string) (p [3]int, ok bool) {
	m := yearLast.FindStringSubmatch(cell)
	if m == nil || m[2] != m[4] {
		return p, false
	}
	for i, k := range []int{1, 3, 5} {
		p[i], _ = strconv.Atoi(m[k]) // of digits
	}
	return p, true
}

// add takes a cell that is a date: a part above 12 shows the order of all, and so does the first date behind a midnight, which is the
// next day in one order, and another month in the other.
func (o *orders) add(cell string) {
	p, ok := parts(cell)
	if !ok || p == o.last {
		return
	}
	before := o.last
	o.last = p
	switch {
	case p[0] == p[1]:
	case p[0] > 12:
		o.show(&o.day, cell)
		return
	case p[1] > 12:
		o.show(&o.month, cell)
		return
	case o.either == "":
		o.either = string([]byte(cell))
	}
	if before == [3]int{} {
		return
	}
	next := func(day, month int) bool {
		at := func(p [3]int) time.Time { return time.Date(p[2], time.Month(p[month]), p[day], 0, 0, 0, 0, time.UTC) }
		return at(p).Sub(at(before)) == 24*time.Hour
	}
	if asDay, asMonth := next(0, 1), next(1, 0); asDay != asMonth {
		step := fmt.Sprintf("%d/%d behind %d/%d", p[0], p[1], before[0], before[1])
		if asDay {
			o.show(&o.day, step)
		} else {
			o.show(&o.month, step)
		}
	}
}

// show keeps the first cell that shows an order.
func (o *orders) show(where *string, cell string) {
	if *where == "" {
		*where = string([]byte(cell))
	}
}

// dated matches a date in the name of a file.
var dated = regexp.MustCompile(`(?:^|\D)((?:19|20)\d\d)[-_.]?(\d\d)[-_.]?(\d\d)`)

// of returns the order of the dates of a file, and what shows it, or that it is a guess. Without a
// reason no date is ambiguous, or cells contradict each other.
func (o *orders) of(path string) (first dateOrder, why string) {
	switch {
	case o.either == "" || o.day != "" && o.month != "":
		return anyOrder, ""
	case o.day != "":
		return dayFirst, o.day + " shows it"
	case o.month != "":
		return monthFirst, o.month + " shows it"
	}
	if m := dated.FindStringSubmatch(filepath.Base(path)); m != nil {
		p, _ := parts(o.either)
		is := func(year, month, day int) bool {
			return m[1] == strconv.Itoa(p[year]) && m[2] == fmt.Sprintf("%02d", p[month]) && m[3] == fmt.Sprintf("%02d", p[day])
		}
		switch {
		case is(2, 1, 0):
			return dayFirst, "by the date in the name of the file"
		case is(2, 0, 1):
			return monthFirst, "by the date in the name of the file"
		}
	}
	return dayFirst, fmt.Sprintf("GUESSED: %s may have the month first, for which write false", quote(o.either))
}

// isDate reports whether a cell is a date and a time, in whatever order it has the day and the month.
func isDate(cell string) bool {
	_, err := parseDate(cell, anyOrder)
	return err == nil || errors.Is(err, errDayMonth)
}

// dayFirst finds the order of the dates in a column of them.
func (o *Outline) dayFirst(c *Column) {
	first, why := c.order.of(o.path)
	if o.DayFirstBy = why; why != "" {
		o.DayFirst = strconv.FormatBool(first == dayFirst)
	}
}
