//go:build !amd64

package mlp

func use(bool) {}
