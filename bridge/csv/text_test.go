package csv

import (
	"encoding/binary"
	"io"
	"strings"
	"testing"
	"unicode/utf16"
)

// Pairs of 16 bits may be at the end of what is read at once.
func TestPairsOfUTF16(t *testing.T) {
	for ahead := range 3 {
		want := strings.Repeat("x", ahead) + strings.Repeat("\U0001f916°", 3000)
		var b []byte
		for _, u := range utf16.Encode([]rune(want)) {
			b = binary.LittleEndian.AppendUint16(b, u)
		}
		got, err := io.ReadAll(&utf8Of{r: strings.NewReader(string(b) + "\x01"), order: binary.LittleEndian})
		if err != nil || string(got) != want {
			t.Errorf("%d: %d bytes, want %d; %v", ahead, len(got), len(want), err)
		}
	}
}
