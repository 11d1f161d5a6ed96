//go:build !amd64

package feature

const vector = false

func wavesAVX2(_, _, _, _, _, _, _ *float64, _, _, _ int, _, _, _ float64) bool { panic(noUnit) }

func wavesBackAVX2(_, _, _, _ *float64, _ int, _, _ float64) float64 { panic(noUnit) }

func wavesAlongAVX2(_, _, _, _, _, _ *float64, _ int, _, _, _, _, _ float64) float64 { panic(noUnit) }

func wavesSumAVX2(_, _, _ *float64, _ int, _, _ float64) { panic(noUnit) }

func turnBackAVX2(_, _, _ *float64, _, _, _ int) { panic(noUnit) }

const noUnit = "feature: there is no such unit"
