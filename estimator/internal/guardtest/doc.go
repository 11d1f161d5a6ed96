// Package guardtest lays numbers beside memory that cannot be touched, so that a kernel in
// assembly that reads or writes out of its views stops its test. Only tests import it, on
// Linux.
package guardtest
