package msgbin

import "github.com/vmihailenco/msgpack/v5/msgpcode"

// kind is the type of a value, which its first byte gives.
type kind uint8

const (
	invalid kind = iota
	integer
	float
	text
	bin
	array
	mapping
	boolean
	null
	extension
)

// String names the kind in messages.
func (k kind) String() string {
	return [...]string{
		"0xc1, which no msgpack value starts with", "an integer", "a float", "a string", "a bin",
		"an array", "a map", "a bool", "nil", "an extension",
	}[k]
}

// kinds holds the kind of each first byte.
var kinds = func() (k [256]kind) {
	for i := range k {
		switch c := byte(i); {
		case msgpcode.IsFixedNum(c) || c >= msgpcode.Uint8 && c <= msgpcode.Int64:
			k[i] = integer
		case c == msgpcode.Float || c == msgpcode.Double:
			k[i] = float
		case msgpcode.IsString(c):
			k[i] = text
		case msgpcode.IsBin(c):
			k[i] = bin
		case msgpcode.IsFixedArray(c) || c == msgpcode.Array16 || c == msgpcode.Array32:
			k[i] = array
		case msgpcode.IsFixedMap(c) || c == msgpcode.Map16 || c == msgpcode.Map32:
			k[i] = mapping
		case c == msgpcode.True || c == msgpcode.False:
			k[i] = boolean
		case c == msgpcode.Nil:
			k[i] = null
		case msgpcode.IsExt(c):
			k[i] = extension
		}
	}
	return k
}()
