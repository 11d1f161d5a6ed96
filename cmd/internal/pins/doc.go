// Package pins holds what must not change without being noticed: the SHA-256 of
// models trained by the default recipe, two of them with fewer steps of nets, and their predictions. Its tests compare
// with the committed files in testdata; -update writes them anew, which is a change
// of behaviour that a commit explains.
package pins
