package ulog

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/dgm-robotics/dgm/bridge/internal/number"
)

// Entry is an information message about a log, or a parameter.
type Entry struct {
	Key       string
	Type      string // such as "char[40]", "int32_t", "float"
	Value     []byte // little-endian
	Time      int64  // ns, of the data before it; 0 in the definitions
	Continued bool   // of information in several parts: this one continues the one before
	Defaults  byte   // of a default value: bit 0 the system's, bit 1 this setup's
}

// Text returns the value of an entry that is text.
func (e *Entry) Text() string { return strings.ToValidUTF8(string(e.Value), "\uFFFD") }

// Number returns the value of an entry that is one number.
func (e *Entry) Number() (v float64, ok bool) {
	kind := kinds[e.Type]
	if kind == number.None || len(e.Value) < kind.Size() {
		return math.NaN(), false
	}
	return kind.Little(e.Value), true
}

// parseEntry reads the length of the key, "type key", and the value.
func parseEntry(b []byte) (Entry, error) {
	if len(b) < 1 || int(b[0])+1 > len(b) {
		return Entry{}, errors.New("its key is longer than the message")
	}
	kind, key, ok := strings.Cut(string(b[1:1+int(b[0])]), " ")
	if !ok || kind == "" || key == "" {
		return Entry{}, fmt.Errorf("its key %q is not a type and a name", clip(kind))
	}
	return Entry{Key: key, Type: kind, Value: append([]byte(nil), b[1+int(b[0]):]...)}, nil
}

// entries is a bounded list.
type entries struct {
	list []Entry
	mem  int // bytes of values and keys
}

var errFull = fmt.Errorf("more than %d of its kind, or more than %d bytes: not kept", maxEntries, maxEntryMem)

func (l *entries) add(e Entry) error {
	n := len(e.Key) + len(e.Type) + len(e.Value)
	if len(l.list) >= maxEntries || l.mem+n > maxEntryMem {
		return errFull
	}
	l.mem += n
	l.list = append(l.list, e)
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
