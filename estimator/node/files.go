package node

import (
	"fmt"
	"io"
	"os"
)

// mostTrust is the size of a file that no monitor writes, bytes.
const mostTrust = 64 << 20

// readSmall reads a file of at most so many bytes.
func readSmall(path string, most int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, most+1))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if int64(len(b)) > most {
		return nil, fmt.Errorf("%s: more than %d bytes", path, most)
	}
	return b, nil
}
