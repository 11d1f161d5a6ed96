package parquet

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/bits"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// What a page has at most: writers make pages of 1 MB, and a page is decoded as a whole.
const (
	mostInPage = 1 << 24 // values
	pageBytes  = 1 << 28 // unpacked
	tail       = 8       // bytes behind the description at the end: its length and the magic
	headBytes  = 1 << 14 // in which the head of a page is
	padding    = 8 * 64  // values by which numbers that are packed in groups may be more than a page has
)

// plainDictionary is what older writers call indices of a dictionary.
const plainDictionary format.Encoding = 2

// errLZ4 is of pages that the library unpacks wrongly: where they are packed to more than a third, it returns
// memory that holds anything.
var errLZ4 = errors.New("it is packed with LZ4, which is not read: in Python: import pandas; pandas.read_parquet('IN').to_parquet('OUT', compression='zstd')")

// described returns an error where a file does not hold the description that its end announces.
func described(file io.ReaderAt, size int64) error {
	var end [tail]byte
	if _, err := file.ReadAt(end[:], max(0, size-tail)); err != nil {
		return fmt.Errorf("this is no whole file of Parquet (%w)", err)
	}
	if !bytes.HasSuffix(end[:], Magic) {
		return errors.New("it was cut off: what describes a file of Parquet is at its end, and is missing; write the file again, as it is only whole once its writer is closed")
	}
	if n := binary.LittleEndian.Uint32(end[:]); int64(n) > size-tail-int64(len(Magic)) {
		return fmt.Errorf("this is no whole file of Parquet: %d bytes do not hold a description of %d", size, n)
	}
	return nil
}

// pages checks those of one column of a group before they are decoded: work and memory are as large
// as what their heads and the lengths in them say.
type pages struct {
	file     io.ReaderAt
	end      int64
	codec    format.CompressionCodec
	repeated int // levels
	defined  int
	buf      []byte
}

// checkPages returns an error where pages of a group are not where it has them, or are too large.
func checkPages(file io.ReaderAt, size int64, group *format.RowGroup, leaves []parquet.LeafColumn) error {
	for c := range min(len(group.Columns), len(leaves)) {
		m := &group.Columns[c].MetaData
		if m.Codec == format.Lz4Raw || m.Codec == format.Lz4 {
			return errLZ4
		}
		at := m.DataPageOffset
		if d := m.DictionaryPageOffset; d > 0 && d < at {
			at = d
		}
		p := pages{file: file, end: at + m.TotalCompressedSize, codec: m.Codec, repeated: leaves[c].MaxRepetitionLevel, defined: leaves[c].MaxDefinitionLevel}
		if at < 0 || p.end < at || p.end > size {
			return fmt.Errorf("it is damaged: column %d is at bytes %d to %d of %d", c, at, p.end, size)
		}
		for at < p.end {
			next, err := p.check(at, headBytes)
			if err != nil {
				return fmt.Errorf("it is damaged: column %d, byte %d: %w", c, at, err)
			}
			at = next
		}
	}
	return nil
}

// check checks the page at a byte, whose head is within some bytes, and returns where it ends.
func (p *pages) check(at, within int64) (next int64, err error) {
	raw, err := p.read(at, min(within, p.end-at))
	if err != nil {
		return 0, err
	}
	var protocol thrift.CompactProtocol
	var page format.PageHeader
	r := protocol.NewReaderFromBytes(raw)
	if err := thrift.NewDecoder(r).Decode(&page); err != nil {
		if within < min(p.end-at, pageBytes) { // texts of statistics may be long
			return p.check(at, 16*within)
		}
		return 0, err
	}
	begin := at + int64(r.BytesRead())
	next = begin + int64(page.CompressedPageSize)
	values := max(page.DataPageHeader.V.NumValues, page.DataPageHeaderV2.V.NumValues, page.DictionaryPageHeader.V.NumValues)
	switch {
	case page.CompressedPageSize < 0 || next > p.end:
		return 0, fmt.Errorf("a page of %d bytes does not end where its column does", page.CompressedPageSize)
	case page.UncompressedPageSize < 0 || page.UncompressedPageSize > pageBytes || values > mostInPage:
		return 0, fmt.Errorf("a page of %d values and %d bytes is more than the limits of %d and %d: write smaller pages", values, page.UncompressedPageSize, mostInPage, pageBytes)
	case page.DataPageHeader.Valid || page.DataPageHeaderV2.Valid:
		if raw, err = p.read(begin, next-begin); err == nil {
			err = p.checkValues(&page, raw)
		}
	}
	return next, err
}

// read returns bytes of the file, valid until the next call.
func (p *pages) read(at, n int64) ([]byte, error) {
	if int64(cap(p.buf)) < n {
		p.buf = make([]byte, n)
	}
	_, err := p.file.ReadAt(p.buf[:n], at)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return p.buf[:n], err
}

// checkValues checks the lengths in a page of values: of levels, of indices of a dictionary, of truth
// values, and of differences.
func (p *pages) checkValues(page *format.PageHeader, raw []byte) error {
	h, second := &page.DataPageHeader.V, &page.DataPageHeaderV2.V
	x := &content{raw: raw, values: int(h.NumValues)}
	encoding := h.Encoding
	if page.DataPageHeaderV2.Valid {
		x.values, encoding = int(second.NumValues), second.Encoding
		x.levels(p.repeated, int(second.RepetitionLevelsByteLength))
		x.levels(p.defined, int(second.DefinitionLevelsByteLength))
	}
	if p.codec != format.Uncompressed && len(x.raw) > 0 && (!page.DataPageHeaderV2.Valid || !second.IsCompressed.Valid || second.IsCompressed.V) {
		if x.raw, x.err = parquet.LookupCompressionCodec(p.codec).Decode(nil, x.raw); x.err != nil {
			return x.err
		}
	}
	if page.DataPageHeader.Valid {
		if h.RepetitionLevelEncoding == format.BitPacked || h.DefinitionLevelEncoding == format.BitPacked {
			return nil // of the first writers, with no lengths in them
		}
		x.levels(p.repeated, prefixed)
		x.levels(p.defined, prefixed)
	}
	x.numbers(encoding)
	return x.err
}

// content is what of a page is not yet checked.
type content struct {
	raw    []byte
	values int
	err    error
}

// prefixed is the length of levels that stands before them.
const prefixed = -1

// levels checks levels up to one, in n bytes.
func (x *content) levels(highest, n int) {
	if highest == 0 || x.err != nil {
		return
	}
	if n == prefixed && len(x.raw) >= 4 {
		n, x.raw = int(binary.LittleEndian.Uint32(x.raw)), x.raw[4:]
	}
	if n < 0 || n > len(x.raw) {
		x.err = io.ErrUnexpectedEOF
		return
	}
	x.err = runs(x.raw[:n], bits.Len(uint(highest)), x.values)
	x.raw = x.raw[n:]
}

// numbers checks the values themselves.
func (x *content) numbers(encoding format.Encoding) {
	if x.err != nil || len(x.raw) == 0 {
		return
	}
	switch encoding {
	case plainDictionary, format.RLEDictionary:
		x.err = runs(x.raw[1:], int(x.raw[0]), x.values)
	case format.RLE:
		x.levels(1, prefixed)
	case format.DeltaBinaryPacked, format.DeltaLengthByteArray, format.DeltaByteArray:
		var n uint64
		for range 3 { // the size of a block, its parts, and the number of values
			k := 0
			if n, k = binary.Uvarint(x.raw); k <= 0 {
				x.err = io.ErrUnexpectedEOF
				return
			}
			x.raw = x.raw[k:]
		}
		if n > uint64(x.values) {
			x.err = fmt.Errorf("%d differences of %d values", n, x.values)
		}
	}
}

// runs checks numbers of some bits that are packed or repeated: that they are not more than a page has.
func runs(raw []byte, width, values int) error {
	for n := 0; len(raw) > 0; {
		head, k := binary.Uvarint(raw)
		if k <= 0 {
			return io.ErrUnexpectedEOF
		}
		raw = raw[k:]
		count, size := head>>1, uint64(width+7)/8
		if head&1 == 1 {
			size = count * uint64(width)
			count *= 8
		}
		if count > mostInPage+padding || n+int(count) > values+padding {
			return fmt.Errorf("a run of %d in a page of %d values", count, values)
		}
		n += int(count)
		raw = raw[min(size, uint64(len(raw))):]
	}
	return nil
}
