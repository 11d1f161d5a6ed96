package stored

import (
	"encoding/json"
	"strings"
	"testing"
)

// A description names chunks of one subject: another one would read what is not the object's.
func TestADescriptionNamesItsChunks(t *testing.T) {
	for text, good := range map[string]bool{
		`{"name":"a","nuid":"x","chunks":1}`: true, `{"name":"a","nuid":"*","chunks":1}`: false, `{"name":"a","nuid":"x.y","chunks":1}`: false,
		`{"name":"a","nuid":">","chunks":1}`: false, `{"name":"a","nuid":"","chunks":1}`: false, `{"name":"a","nuid":"","chunks":0}`: true,
		`[]`: false,
	} {
		if _, err := decode([]byte(text)); (err == nil) != good {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func FuzzInfo(f *testing.F) {
	f.Add([]byte(`{"name":"a","nuid":"x","size":3,"chunks":1,"digest":"SHA-256=x","options":{"link":{"bucket":"b"}}}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		info, err := decode(b)
		if err != nil {
			return
		}
		if strings.ContainsAny(info.NUID, ".*>") {
			t.Errorf("chunks of %q", info.NUID)
		}
		if _, err := json.Marshal(info); err != nil {
			t.Error(err)
		}
	})
}
