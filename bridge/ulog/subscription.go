package ulog

import (
	"encoding/binary"
	"fmt"
)

// name names a kind of record in problems.
func name(kind byte) string {
	if n, ok := names[kind]; ok {
		return n
	}
	if kind > ' ' && kind < 0x7f {
		return fmt.Sprintf("record of kind %q", kind)
	}
	return fmt.Sprintf("record of kind %#02x", kind)
}

// subscribed returns the topic of a data message.
func (r *Reader) subscribed(b []byte) *subscription {
	if len(b) < dataHead {
		return nil
	}
	if id := int(binary.LittleEndian.Uint16(b)); id < len(r.byID) {
		return r.byID[id]
	}
	return nil
}
