// Package report is the last stage of a training: it turns plain values into a verdict
// (Verdict), the selection of the model (SelectionOf), one HTML page and the same content
// as JSON.
//
// The page fetches nothing and runs nothing: it can be mailed, archived beside the model
// and read offline. Its first line is the verdict. Numbers must be finite; unknown
// numbers are left out, never written as NaN.
package report
