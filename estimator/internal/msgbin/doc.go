// Package msgbin is the msgpack of logs, messages and model files: a thin layer
// over the Decoder and the Encoder of github.com/vmihailenco/msgpack/v5 for values
// in memory.
//
// The layer adds what the library leaves to its caller. Data comes from a network
// or a damaged disk, and a length may claim gigabytes: a [Reader] compares every
// length with the bytes that are left and with the limit of the caller before
// anything is allocated. The types are strict: the library takes nil for a number
// or a bool, a bin for a string, and wraps integers that do not fit. Messages are
// decoded at control rate: with a Reader and a [Writer] that are used again,
// decoding into the buffers of the caller and encoding into a reused slice
// allocate nothing. Strings and bins are read in place. Skip is the code of this
// package: the library's recurses, and nested arrays would exhaust the stack.
//
// A list of [Field] describes a map ([Writer.Fields], [Reader.Fields]) or an array
// ([Writer.Elements], [Reader.Elements]) once for both directions. Logs and
// recordings are sequences of a [Record] with a checksum, read through a [Stream].
//
// # Vectors of floats
//
// A vector or a matrix (row-major) is a bin holding little-endian IEEE 754
// floats, nothing else: no count, no type. Both follow from the shape that the
// page of the format states, so a bin of 8 bytes an element is float64 and one of
// 4 bytes an element is float32. A plain msgpack array of numbers is accepted
// wherever such a bin is, because that is what Python and JavaScript write with
// the least effort; there nil stands for NaN. Writers here always write bins.
//
// # Numbers
//
// Numbers are accepted in every width and sign that holds the value, since every
// msgpack library chooses its own: an integer may come as a whole float
// (JavaScript has no other), a float as an integer. A Writer chooses the shortest
// form of an integer.
//
// # Errors
//
// Every error is an [*Error], with the offset in the slice and the reason, or a
// [*FieldError] that adds the key of a map. The caller adds the file and the
// record. After an error the Reader stays where the offending value starts, except
// in vectors, maps of fields and Skip, where it is somewhere within.
package msgbin
