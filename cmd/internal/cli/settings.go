package cli

import (
	"fmt"
	"io"
	"os"
)

// mostSettings bounds the size of a settings file, bytes.
const mostSettings = 1 << 20

// ReadSettings returns the text of a settings or key file. A log or a device in its
// place is not read to its end.
func ReadSettings(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, mostSettings+1))
	if err != nil {
		return nil, err
	}
	if len(b) > mostSettings {
		return nil, fmt.Errorf("%s: larger than %d bytes, not a settings or key file; name another file", path, mostSettings)
	}
	return b, nil
}
