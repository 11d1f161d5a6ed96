package adapt

import (
	"bytes"
	"hash/crc32"
	"slices"
	"testing"
)

// What was saved is restored, aged; damaged or of another time or robot it is not, and nothing
// has changed then.
func TestSavedState(t *testing.T) {
	m := adaptable()
	a := filter(t, m)
	newRobot(t, m, []float64{0.2, 0, -0.2, 0, 0}[:len(a.state.Theta)]).fly(a, 5)
	const at = 1_772_682_400_000_000_000
	saved := a.State().Append(nil, at)
	b := filter(t, m)
	if err := b.RestoreSaved(saved, at); err != nil || !slices.Equal(a.State().Numbers(nil), b.State().Numbers(nil)) {
		t.Errorf("%v", err)
	}
	later := filter(t, m)
	if err := later.RestoreSaved(saved, at+100e9); err != nil {
		t.Fatal(err)
	}
	if err := b.Restore(a.State(), 100); err != nil || !slices.Equal(later.State().Numbers(nil), b.State().Numbers(nil)) {
		t.Errorf("%v", err)
	}
	fresh := filter(t, m)
	before := fresh.State().Clone()
	if fresh.RestoreSaved(saved, at-1) == nil {
		t.Error("a state from the future was restored")
	}
	for i := range saved {
		if fresh.RestoreSaved(saved[:i], at) == nil {
			t.Errorf("cut at %d it was restored", i)
		}
		damaged := bytes.Clone(saved)
		damaged[i] ^= 1
		if fresh.RestoreSaved(damaged, at) == nil {
			t.Errorf("damaged at %d it was restored", i)
		}
	}
	if !slices.Equal(fresh.State().Numbers(nil), before.Numbers(nil)) {
		t.Error("what was refused has changed something")
	}
}

// Whatever is restored: what is refused changes nothing, and what is accepted is finite. The bytes are tried
// as they are, and with a checksum that fits.
func FuzzRestoreSaved(f *testing.F) {
	m := adaptable()
	const at = 1_772_682_400_000_000_000
	saved := filter(f, m).State().Append(nil, at)
	f.Add(saved)
	f.Add(saved[:len(saved)-5])
	f.Fuzz(func(t *testing.T, b []byte) {
		a := filter(t, m)
		before := a.State().Numbers(nil)
		sum := crc32.Checksum(b, castagnoli)
		for _, file := range [][]byte{b, append(bytes.Clone(b), 0xce, byte(sum>>24), byte(sum>>16), byte(sum>>8), byte(sum))} {
			err := a.RestoreSaved(file, at)
			after := a.State().Numbers(nil)
			if err != nil && !slices.Equal(before, after) {
				t.Fatalf("%v, and the state is another", err)
			}
			for _, v := range after {
				if v-v != 0 {
					t.Fatalf("restored %v", after)
				}
			}
			before = after
		}
	})
}
