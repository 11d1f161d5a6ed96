// Package input owns the bytes of a log file: it opens it, unpacks .gz and .zst
// by what the file begins with, and hands the bytes out through a window that
// knows its place in the unpacked file.
//
// A [Window] never holds more than its capacity, whatever a file claims about
// its lengths, and never reads a file twice: everything that is built on it
// streams.
package input
