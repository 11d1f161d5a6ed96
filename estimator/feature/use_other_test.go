//go:build !amd64

package feature

func use(bool) {}
