// Package msgbin reads and writes the msgpack subset that logs, messages and
// model files are made of, over a byte slice, without reflection.
//
// It exists beside a general msgpack library for two reasons. First, what is
// read here comes from a network or a damaged disk, and a length field may claim
// gigabytes: a [Reader] compares every length with the bytes that are left and
// with the caller's limit before anything is allocated. Second, messages are
// decoded at control rate: reading into the caller's buffers allocates nothing.
//
// # Vectors of floats
//
// A vector or a matrix (row-major) is a bin holding little-endian IEEE 754
// floats, nothing else: no count, no type. Both follow from the shape that the
// format's page states, so a bin of 8 bytes an element is float64 and one of 4
// bytes an element is float32. A plain msgpack array of numbers is accepted
// wherever such a bin is, because that is what Python and JavaScript write with
// the least effort; there nil stands for NaN. Writers here always write bins.
//
// # Leniency
//
// Numbers are accepted in every width and sign that holds the value, since every
// msgpack library chooses its own: an integer may come as a whole float
// (JavaScript has no other), a float as an integer. Map keys may come in any
// order; what is unknown is skipped by [Reader.Skip].
//
// # Errors
//
// Every error is an [*Error]: the offset in the slice and the reason. The caller
// adds the file, the record and the field. After an error the position of the
// Reader is where the offending value starts, save in vectors and Skip, where it
// is somewhere within.
package msgbin
