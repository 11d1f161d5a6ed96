package timebase

import (
	"bufio"
	"cmp"
	"container/heap"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"os"
	"slices"
)

// Sample is one message of a track.
type Sample struct {
	Epoch  int
	Time   int64 // ns
	Track  int
	Values []float64
}

// Sorter puts samples into the order of epochs and times, and of their arrival where these
// are equal. It holds so many numbers in memory as Limit says and writes the others, sorted,
// to temporary files.
type Sorter struct {
	Limit int // numbers; defaults to 8 million

	widths []int
	held   []Sample
	values []float64
	size   int // numbers that are held
	runs   []*run
}

// run is a sorted part in a temporary file.
type run struct {
	file *os.File
	r    *bufio.Reader
	next Sample
	n    int // of the run: the order of arrival
}

// NewSorter returns a Sorter of tracks with so many values each.
func NewSorter(widths []int) *Sorter { return &Sorter{Limit: 8 << 20, widths: widths} }

// Add adds a sample. Its values are copied.
func (s *Sorter) Add(x Sample) error {
	if s.size += len(x.Values) + 6; s.size > s.Limit && len(s.held) > 0 {
		if err := s.spill(); err != nil {
			return err
		}
	}
	if cap(s.values)-len(s.values) < len(x.Values) { // samples keep what they have
		s.values = make([]float64, 0, 1<<16+len(x.Values))
	}
	at := len(s.values)
	s.values = append(s.values, x.Values...)
	x.Values = s.values[at:len(s.values):len(s.values)]
	s.held = append(s.held, x)
	return nil
}

func before(a, b *Sample) int {
	return cmp.Or(cmp.Compare(a.Epoch, b.Epoch), cmp.Compare(a.Time, b.Time))
}

// spill writes what is held to a temporary file.
func (s *Sorter) spill() (err error) {
	file, err := os.CreateTemp("", "dgm-sort-*")
	if err != nil {
		return err
	}
	s.runs = append(s.runs, &run{file: file, n: len(s.runs)})
	slices.SortStableFunc(s.held, func(a, b Sample) int { return before(&a, &b) })
	w := bufio.NewWriterSize(file, 1<<20)
	var b []byte
	for i := range s.held {
		x := &s.held[i]
		b = binary.LittleEndian.AppendUint64(b[:0], uint64(x.Epoch))
		b = binary.LittleEndian.AppendUint64(b, uint64(x.Time))
		b = binary.LittleEndian.AppendUint64(b, uint64(x.Track))
		for _, v := range x.Values {
			b = binary.LittleEndian.AppendUint64(b, math.Float64bits(v))
		}
		if _, err := w.Write(b); err != nil {
			return err
		}
	}
	s.held, s.values, s.size = s.held[:0], nil, 0
	return w.Flush()
}

// Each calls f with every sample in order, and forgets them. The values are valid until f
// returns.
func (s *Sorter) Each(f func(*Sample) error) error {
	if len(s.runs) == 0 {
		slices.SortStableFunc(s.held, func(a, b Sample) int { return before(&a, &b) })
		for i := range s.held {
			if err := f(&s.held[i]); err != nil {
				return err
			}
		}
		s.held, s.values, s.size = nil, nil, 0
		return nil
	}
	if err := s.spill(); err != nil {
		return err
	}
	var h merge
	for _, r := range s.runs {
		if _, err := r.file.Seek(0, io.SeekStart); err != nil {
			return err
		}
		r.r = bufio.NewReaderSize(r.file, 1<<18)
		if more, err := r.read(s.widths); err != nil {
			return err
		} else if more {
			h = append(h, r)
		}
	}
	heap.Init(&h)
	for len(h) > 0 {
		if err := f(&h[0].next); err != nil {
			return err
		}
		more, err := h[0].read(s.widths)
		if err != nil {
			return err
		}
		if more {
			heap.Fix(&h, 0)
		} else {
			heap.Pop(&h)
		}
	}
	return s.Close()
}

// read reads the next sample; more is false at the end.
func (r *run) read(widths []int) (more bool, err error) {
	var head [24]byte
	if _, err := io.ReadFull(r.r, head[:]); err != nil {
		if errors.Is(err, io.EOF) {
			return false, nil
		}
		return false, err
	}
	le := binary.LittleEndian
	r.next.Epoch, r.next.Time, r.next.Track = int(le.Uint64(head[:])), int64(le.Uint64(head[8:])), int(le.Uint64(head[16:]))
	r.next.Values = r.next.Values[:0]
	for range widths[r.next.Track] {
		if _, err := io.ReadFull(r.r, head[:8]); err != nil {
			return false, err
		}
		r.next.Values = append(r.next.Values, math.Float64frombits(le.Uint64(head[:])))
	}
	return true, nil
}

// Close removes the temporary files.
func (s *Sorter) Close() (err error) {
	for _, r := range s.runs {
		err = errors.Join(err, r.file.Close(), os.Remove(r.file.Name()))
	}
	s.runs = nil
	return err
}

// merge is the heap of runs by their next samples.
type merge []*run

func (h merge) Len() int { return len(h) }
func (h merge) Less(i, k int) bool {
	return cmp.Or(before(&h[i].next, &h[k].next), cmp.Compare(h[i].n, h[k].n)) < 0
}
func (h merge) Swap(i, k int) { h[i], h[k] = h[k], h[i] }
func (h *merge) Push(x any)   { *h = append(*h, x.(*run)) }
func (h *merge) Pop() any {
	old := *h
	last := old[len(old)-1]
	*h = old[:len(old)-1]
	return last
}
