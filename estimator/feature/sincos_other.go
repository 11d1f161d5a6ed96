//go:build !amd64

package feature

const vector = false

func sincosAVX2(_, _, _ *float64, _ int) { panic("feature: there is no such unit") }
