// Package report writes what a training run found: one HTML page that holds
// everything, and the same content as JSON.
//
// It owns the page and the JSON's shape, and computes nothing: whoever trained
// fills a Report with plain numbers. The page fetches nothing and runs nothing,
// so that it can be mailed, archived beside the model, and read on a phone in the
// field. Its first line is the verdict. Numbers must be finite; what is not known
// is left out, never written as NaN.
package report
