package csv

import "fmt"

// Rows is a table that is not written as text: of numbers that are stored as such. Its cells
// are given as text, exactly.
type Rows interface {
	// Columns returns the names of the columns, and their units where the file has them, ""
	// where it does not.
	Columns() (names, units []string)
	// Next returns the cells of the next row, valid until the next call, or io.EOF.
	Next() ([]string, error)
	// LeftOut returns what of the file is no column, with the reason.
	LeftOut() []string
	// Consumed returns how many bytes of the file were read, of Size.
	Consumed() int64
	Size() int64
	// Until has reading end once done is closed.
	Until(done <-chan struct{})
	Close() error
}

// Counted is the part of Rows of a table whose rows are counted before they are read.
type Counted struct {
	Bytes int64 // of the file
	Rows  int
	Read  int // rows

	left []string
	done <-chan struct{}
}

// Leave notes something of the file that is no column.
func (c *Counted) Leave(name, why string) {
	if len(c.left) < mostLeft {
		c.left = append(c.left, fmt.Sprintf("%q: %s", name, why))
	}
}

// mostLeft is how much is noted of what is left out.
const mostLeft = 100

// LeftOut returns what is noted of the file as no column.
func (c *Counted) LeftOut() []string { return c.left }

// Ended reports whether reading is to end.
func (c *Counted) Ended() bool {
	select {
	case <-c.done:
		return true
	default:
		return false
	}
}

// Another counts a row that is read, and reports false where there is none, or reading has ended.
func (c *Counted) Another() bool {
	if c.Ended() || c.Read == c.Rows {
		return false
	}
	c.Read++
	return true
}

// Longest returns the length that most arrays have, the longer one of two, by how many have each; 0 without any.
func Longest(arrays map[int]int) (most int) {
	for n, of := range arrays {
		if of > arrays[most] || of == arrays[most] && n > most {
			most = n
		}
	}
	return most
}

// Consumed returns how much of the file was read, by the rows.
func (c *Counted) Consumed() int64 {
	return int64(float64(c.Bytes) * float64(c.Read) / float64(max(1, c.Rows)))
}

// Size returns the bytes of the file.
func (c *Counted) Size() int64 { return c.Bytes }

// Until has reading end once done is closed.
func (c *Counted) Until(done <-chan struct{}) { c.done = done }

// Opener opens a table that is not written as text; both results are nil where a file is of
// another kind.
type Opener func(path string) (Rows, error)
