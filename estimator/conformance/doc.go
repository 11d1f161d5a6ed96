// Package conformance holds the files by which a reader of another language is tested; README.md has the contract. Its tests
// run them against the readers in Go.
package conformance
