package db3

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
)

// wal is what the name of the file ends in that holds the pages which a recorder had not yet
// brought into the database when it was ended.
const wal = "-wal"

// A file of such pages is a header and frames, each a head and a page. Numbers are big-endian.
const (
	walHead   = 32 // magic, version, size of a page, count, two salts, two sums
	frameHead = 24 // number of the page, pages of the database where the frame ends a change or 0, salts, sums
	walMagic  = 0x377f0682
	mostPage  = 1 << 16 // bytes
)

// overlaid is a bag with the pages beside it in their places, as SQLite would bring them there; it
// is read only, and no copy. It implements fs.FS for any name that is not of a file beside a bag.
type overlaid struct {
	base, side *os.File
	page       int64
	size       int64            // of the whole
	at         map[uint32]int64 // pages beside the bag, by number: their places there
	there      int64            // bytes of the bag itself, where it was cut off; else 0
}

// overlay opens a bag with the pages beside it, or one that was cut off; nil of any other.
func overlay(path string) (o *overlaid, err error) {
	if info, err := os.Stat(path + wal); err != nil || info.Size() < walHead {
		return cutOff(path)
	}
	o = &overlaid{at: map[uint32]int64{}}
	if o.side, err = os.Open(path + wal); err != nil {
		return nil, err
	}
	if err = o.scan(); err == nil && len(o.at) > 0 {
		if o.base, err = os.Open(path); err == nil {
			return o, nil
		}
	}
	return nil, errors.Join(err, o.Close())
}

// cutOff opens a bag that has fewer pages than its header says, which SQLite refuses, as one whose further pages cannot be read; nil of
// a whole bag.
func cutOff(path string) (*overlaid, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	head := make([]byte, 100)
	if _, short := f.ReadAt(head, 0); err != nil || short != nil || !bytes.HasPrefix(head, Magic) {
		return nil, errors.Join(err, f.Close())
	}
	u := func(i int) int64 { return int64(binary.BigEndian.Uint32(head[i:])) }
	o := &overlaid{base: f, page: int64(binary.BigEndian.Uint16(head[16:])), at: map[uint32]int64{}}
	if o.page == 1 {
		o.page = mostPage
	}
	if o.size = u(28) * o.page; u(24) != u(92) || info.Size() >= o.size { // the count of pages is of another version, or they are there
		return nil, f.Close()
	}
	o.there = info.Size()
	return o, nil
}

// scan finds the last version of each page up to the end of the last whole change.
func (o *overlaid) scan() error {
	head := make([]byte, walHead)
	if _, err := o.side.ReadAt(head, 0); err != nil {
		return err
	}
	u := func(b []byte, i int) uint32 { return binary.BigEndian.Uint32(b[4*i:]) }
	var order binary.ByteOrder = binary.LittleEndian
	if u(head, 0)&1 == 1 {
		order = binary.BigEndian
	}
	sums := [2]uint32{}
	sum(&sums, order, head[:24])
	o.page = int64(u(head, 2))
	if u(head, 0)&^1 != walMagic || sums != [2]uint32{u(head, 6), u(head, 7)} || o.page < 512 || o.page > mostPage || o.page&(o.page-1) != 0 {
		return nil // nothing of it was whole
	}
	frame := make([]byte, frameHead+o.page)
	change := map[uint32]int64{}
	for at := int64(walHead); ; at += int64(len(frame)) {
		if _, err := o.side.ReadAt(frame, at); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		sum(&sums, order, frame[:8])
		sum(&sums, order, frame[frameHead:])
		if u(frame, 2) != u(head, 4) || u(frame, 3) != u(head, 5) || sums != [2]uint32{u(frame, 4), u(frame, 5)} {
			return nil // of an earlier round, or not written to its end
		}
		change[u(frame, 0)] = at + frameHead
		if pages := u(frame, 1); pages > 0 {
			for n, place := range change {
				o.at[n] = place
			}
			clear(change)
			o.size = int64(pages) * o.page
		}
	}
}

// sum adds bytes, of pairs of words, to the sums of a file of pages.
func sum(s *[2]uint32, order binary.ByteOrder, b []byte) {
	for ; len(b) >= 8; b = b[8:] {
		s[0] += order.Uint32(b) + s[1]
		s[1] += order.Uint32(b[4:]) + s[0]
	}
}

// Open opens the whole.
func (o *overlaid) Open(name string) (fs.File, error) {
	if strings.HasSuffix(name, wal) || strings.HasSuffix(name, "-journal") {
		return nil, fs.ErrNotExist
	}
	return &opened{overlaid: o}, nil
}

// Close closes both files.
func (o *overlaid) Close() (err error) {
	for _, f := range []*os.File{o.base, o.side} {
		if f != nil {
			err = errors.Join(err, f.Close())
		}
	}
	return err
}

// opened is a place in the whole.
type opened struct {
	*overlaid
	place int64
}

// sized is a file of another size.
type sized struct {
	fs.FileInfo
	n int64
}

func (s sized) Size() int64 { return s.n }

func (f *opened) Stat() (fs.FileInfo, error) {
	info, err := f.base.Stat()
	return sized{info, f.size}, err
}

func (f *opened) Close() error { return nil }

func (f *opened) Seek(offset int64, whence int) (int64, error) {
	if whence != io.SeekStart || offset < 0 {
		return 0, fmt.Errorf("a place of %d from %d is not known", offset, whence)
	}
	f.place = offset
	return offset, nil
}

// formats are where the header of a database says how it is written and read: 2 is with pages beside
// it, 1 without.
var formats = [2]int64{18, 19}

var errMissing = errors.New("the page is missing")

// Read fills b; it reads less only at the end of the whole.
func (f *opened) Read(b []byte) (n int, err error) {
	for n < len(b) && f.place < f.size {
		within := f.place % f.page
		part := b[n:min(int64(len(b)), int64(n)+f.page-within)]
		from, at := f.base, f.place
		if place, ok := f.at[uint32(f.place/f.page)+1]; ok {
			from, at = f.side, place+within
		}
		if o := f.overlaid; o.there > 0 && from == o.base && at+int64(len(part)) > o.there {
			return n, errMissing
		}
		k, err := from.ReadAt(part, at)
		if k == 0 && err != nil && !errors.Is(err, io.EOF) {
			return n, err
		}
		clear(part[k:])
		for _, i := range formats {
			if i >= f.place && i < f.place+int64(len(part)) {
				part[i-f.place] = 1
			}
		}
		n, f.place = n+len(part), f.place+int64(len(part))
	}
	return n, nil
}
