package cli

import (
	"fmt"
	"io"
	"os"
)

// mostSettings is the size of a file that holds no settings, bytes.
const mostSettings = 1 << 20

// ReadSettings returns the text of a settings or key file. A log or a device that
// was given in its place is not read to its end.
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
		return nil, fmt.Errorf("%s: more than %d bytes are no settings and no key; name another file", path, mostSettings)
	}
	return b, nil
}
