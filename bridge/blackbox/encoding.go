package blackbox

// encoding is how the values of a field are written.
type encoding int

// The encodings, by the numbers that headers have.
const (
	signedVB       encoding = 0
	unsignedVB     encoding = 1
	negative14     encoding = 3
	tag8of8        encoding = 6
	tag2of3        encoding = 7
	tag8of4        encoding = 8
	nothing        encoding = 9
	tag2of3Varying encoding = 10
)

// group returns how many values of an encoding are written together; of tag8of8 it is the most.
func (e encoding) group() int {
	switch e {
	case tag8of8:
		return 8
	case tag2of3, tag2of3Varying:
		return 3
	case tag8of4:
		return 4
	}
	return 1
}

func (e encoding) known() bool {
	switch e {
	case signedVB, unsignedVB, negative14, tag8of8, tag2of3, tag8of4, nothing, tag2of3Varying:
		return true
	}
	return false
}

// cursor reads values; short is set where they end too early, and wrong where they cannot be.
type cursor struct {
	b     []byte
	at    int
	short bool
	wrong bool
}

func (c *cursor) byte() byte {
	if c.at >= len(c.b) {
		c.short = true
		return 0
	}
	c.at++
	return c.b[c.at-1]
}

// varying reads seven bits a byte, the lowest first.
func (c *cursor) varying() uint32 {
	var v uint32
	for shift := 0; shift < 35; shift += 7 {
		b := c.byte()
		v |= uint32(b&0x7f) << shift
		if b < 0x80 {
			return v
		}
	}
	c.wrong = true
	return 0
}

// zigzag reads a signed value.
func (c *cursor) zigzag() int32 {
	v := c.varying()
	return int32(v>>1) ^ -int32(v&1)
}

// little reads so many bytes of a signed number, the lowest first.
func (c *cursor) little(bytes int) int32 {
	var v uint32
	for i := range bytes {
		v |= uint32(c.byte()) << (8 * i)
	}
	return extend(v, 8*bytes)
}

// extend returns the signed number in the lowest bits.
func extend(v uint32, bits int) int32 { return int32(v<<(32-bits)) >> (32 - bits) }

// read reads the values of one group.
func (c *cursor) read(e encoding, out []int32) {
	switch e {
	case signedVB:
		out[0] = c.zigzag()
	case unsignedVB:
		out[0] = int32(c.varying())
	case negative14:
		out[0] = -extend(c.varying(), 14)
	case tag8of8:
		c.nonzero(out)
	case tag2of3:
		c.three(out, [3][3]int{{2, 2, 2}, {4, 4, 4}, {6, 6, 6}})
	case tag2of3Varying:
		c.three(out, [3][3]int{{2, 2, 2}, {5, 5, 4}, {8, 7, 7}})
	case tag8of4:
		c.four(out)
	default:
		clear(out)
	}
}

// nonzero reads values of which a byte has the places of those that are not zero; one alone has no such byte.
func (c *cursor) nonzero(out []int32) {
	if len(out) == 1 {
		out[0] = c.zigzag()
		return
	}
	tags := c.byte()
	for i := range out {
		if out[i] = 0; tags>>i&1 != 0 {
			out[i] = c.zigzag()
		}
	}
}

// three reads three values whose size the first two bits give: narrow ones of so many bits, packed from the highest on in one, two
// and three bytes, or of one to four bytes each.
func (c *cursor) three(out []int32, widths [3][3]int) {
	first := c.byte()
	size := int(first >> 6)
	if size == 3 {
		for i := range out {
			out[i] = c.little(1 + int(first>>(2*i)&3))
		}
		return
	}
	packed := uint32(first & 0x3f)
	for range size {
		packed = packed<<8 | uint32(c.byte())
	}
	total := 6 + 8*size
	if widths[size] == [3]int{6, 6, 6} { // each in a byte of its own
		for i := range out {
			out[i] = extend(packed>>(16-8*i), 6)
		}
		return
	}
	used := widths[size][0] + widths[size][1] + widths[size][2]
	at := min(total, used) // bits in front are not used
	for i, w := range widths[size] {
		at -= w
		out[i] = extend(packed>>at, w)
	}
}

// four reads four values of 0, 4, 8 or 16 bits, by the bits of the first byte, packed from the highest half byte on.
func (c *cursor) four(out []int32) {
	tags := c.byte()
	half, left := false, byte(0) // whether half a byte is left, and which
	nibble := func() uint32 {
		if half {
			half = false
			return uint32(left & 0x0f)
		}
		left, half = c.byte(), true
		return uint32(left >> 4)
	}
	for i := range out {
		bits := [4]int{0, 4, 8, 16}[tags>>(2*i)&3]
		var v uint32
		for range bits / 4 {
			v = v<<4 | nibble()
		}
		if out[i] = 0; bits > 0 {
			out[i] = extend(v, bits)
		}
	}
}
