package mavlink

import (
	"encoding/binary"
	"errors"
	"fmt"
)

const (
	magic1   = 0xFE // first byte of a packet of version 1
	magic2   = 0xFD
	signed   = 0x01 // incompatibility flag of version 2
	maxFrame = 10 + 255 + 2 + 13
)

// packet is one packet of any version.
type packet struct {
	size    int // bytes, with header, checksum and signature
	system  byte
	sender  byte // component
	id      uint32
	payload []byte
	summed  []byte // bytes that the checksum covers
	sum     uint16
}

var (
	errShort    = errors.New("cut off")
	errNoPacket = errors.New("shorter than a time")
)

// parsePacket reads the packet at the start of b, in place. errShort means that b
// ends before it does. The reader of gomavlib's package tlog allocates at every packet,
// see docs/notes/bridge.md.
func parsePacket(b []byte) (p packet, err error) {
	if len(b) < 2 {
		return p, errShort
	}
	head, tail := 6, 2
	switch b[0] {
	case magic1:
	case magic2:
		head = 10
		if len(b) < 3 {
			return p, errShort
		}
		if b[2]&^signed != 0 {
			return p, fmt.Errorf("incompatibility flags %#02x are not known", b[2])
		}
		if b[2]&signed != 0 {
			tail += 13
		}
	default:
		return p, fmt.Errorf("a packet begins with %#02x or %#02x, not with %#02x", magic1, magic2, b[0])
	}
	n := int(b[1])
	p.size = head + n + tail
	if len(b) < p.size {
		return p, errShort
	}
	if head == 6 {
		p.system, p.sender, p.id = b[3], b[4], uint32(b[5])
	} else {
		p.system, p.sender, p.id = b[5], b[6], uint32(b[7])|uint32(b[8])<<8|uint32(b[9])<<16
	}
	p.payload, p.summed = b[head:head+n], b[1:head+n]
	p.sum = binary.LittleEndian.Uint16(b[head+n:])
	return p, nil
}

// fits reports whether the checksum fits a message's definition.
func (p *packet) fits(l *layout) bool {
	sum := uint16(0xFFFF)
	for _, b := range p.summed {
		sum = sum>>8 ^ sums[byte(sum)^b]
	}
	return sum>>8^sums[byte(sum)^l.crcExtra] == p.sum
}

// sums is the checksum of each byte: CRC-16 with the polynomial 0x1021, reflected,
// as MAVLink uses it (https://mavlink.io/en/guide/serialization.html#checksum).
var sums = func() (t [256]uint16) {
	for i := range t {
		t[i] = uint16(i)
		for range 8 {
			t[i] = t[i]>>1 ^ t[i]&1*0x8408
		}
	}
	return t
}()
