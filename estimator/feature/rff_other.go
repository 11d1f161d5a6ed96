//go:build !amd64

package feature

const vector = false

func rffAVX2(_, _, _, _, _, _, _ *float64, _, _, _ int, _, _, _ float64) bool { panic(noUnit) }

func rffAdjointAVX2(_, _, _, _ *float64, _ int, _, _ float64) float64 { panic(noUnit) }

func rffCombinedAVX2(_, _, _, _, _, _ *float64, _ int, _, _, _, _, _ float64) float64 { panic(noUnit) }

func rffSumAVX2(_, _, _ *float64, _ int, _, _ float64) { panic(noUnit) }

func omegaTransposeAVX2(_, _, _ *float64, _, _, _ int) { panic(noUnit) }

const noUnit = "feature: no vector unit on this processor"
