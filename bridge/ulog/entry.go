package ulog

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strings"
)

// checkEntry checks the start of information or of a parameter: the length of the
// key, and "type key".
func checkEntry(b []byte) error {
	if len(b) < 1 || int(b[0])+1 > len(b) {
		return errors.New("its key is longer than the message")
	}
	kind, key, ok := strings.Cut(string(b[1:1+int(b[0])]), " ")
	if !ok || kind == "" || key == "" {
		return fmt.Errorf("its key %q is not a type and a name", clip(kind))
	}
	return nil
}

// flags are the flag bits of a log.
type flags struct {
	compat, incompat [8]byte
	appended         []int64 // offsets at which appended data begin, ascending
}

func parseFlags(b []byte) (f flags, err error) {
	if len(b) < 40 {
		return f, fmt.Errorf("%d bytes, expected 40", len(b))
	}
	copy(f.compat[:], b)
	copy(f.incompat[:], b[8:])
	for i := range 3 {
		v := binary.LittleEndian.Uint64(b[16+8*i:])
		if v == 0 {
			continue
		}
		if v > math.MaxInt64 || (len(f.appended) > 0 && int64(v) <= f.appended[len(f.appended)-1]) {
			return f, fmt.Errorf("appended data at byte %d, which is not behind those before", v)
		}
		f.appended = append(f.appended, int64(v))
	}
	return f, nil
}

// unknown reports whether the log uses something without which it cannot be read.
func (f *flags) unknown() bool {
	for i, b := range f.incompat {
		if i == 0 {
			b &^= 1 // appended data
		}
		if b != 0 {
			return true
		}
	}
	return false
}
