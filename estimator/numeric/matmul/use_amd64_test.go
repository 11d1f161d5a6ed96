package matmul

func use(kernels bool) { fast = kernels }
