package mapfile

import (
	"fmt"
	"io"
	"os"
)

// most is the size of a file that is no map, bytes.
const most = 1 << 20

// Read returns the text of a map. A recording that was given in its place is not
// read to its end. Errors are *Error, or of package os.
func Read(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, most+1))
	if err != nil {
		return nil, err
	}
	if len(b) > most {
		return nil, &Error{File: path, Reason: fmt.Sprintf("more than %d bytes are no map", most), Mend: "give a map.toml here, and the recording as an argument"}
	}
	return b, nil
}
