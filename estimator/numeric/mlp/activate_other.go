//go:build !amd64

package mlp

const vector = false

func activateAVX2(_ *float64, _ int, _, _, _ float64) { panic("mlp: no vector unit on this processor") }
