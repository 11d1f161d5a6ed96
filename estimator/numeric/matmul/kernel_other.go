//go:build !amd64

package matmul

const fast = false

func kernel12(int, int, *float64, int, int, *float64, int, *float64, int, float64, *float64, int) {
	panic(noKernel)
}

func kernel8(int, int, *float64, int, int, *float64, int, *float64, int, float64, *float64, int, int) {
	panic(noKernel)
}

func kernel1(int, int, *float64, int, *float64, int, *float64, float64, *float64) { panic(noKernel) }

func pack12(int, *float64, *float64, int, *float64, int) { panic(noKernel) }

func pack8(int, *float64, *float64, int, *float64, int, int) { panic(noKernel) }

func linearCombination(int, *float64, float64, *float64, float64, *float64, float64, *float64) {
	panic(noKernel)
}

func dots(int, int, *float64, *float64, int, *float64, int) { panic(noKernel) }

const noKernel = "matmul: no kernel for this processor"
