package db3_test

import (
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dgm-robotics/dgm/bridge/cdr/cdrtest"
	"github.com/dgm-robotics/dgm/bridge/db3"
	"github.com/dgm-robotics/dgm/bridge/telemetry"
)

// Of a bag that was cut off, as by a full disk, the messages ahead of the cut are read, each as it was written, also of several pages
// each, and the cut is reported once.
func TestCutBag(t *testing.T) {
	path := bag(t, true)
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	const n = 400
	for i := range n {
		values := make([]float64, 400) // of 3,200 bytes, more than a page for every other message
		if i%2 == 0 {
			values = make([]float64, 800)
		}
		for k := range values {
			values[k] = float64(i)
		}
		data := cdrtest.New().U32(uint32(100+i), 0).Text("").Seq(1).Text("elbow").Seq(len(values)).F64(values...).Seq(0).Seq(0).B
		if _, err := db.Exec("INSERT INTO messages(topic_id, timestamp, data) VALUES (1, ?, ?)", int64(100+i)*1e9, data); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	cut := filepath.Join(t.TempDir(), "cut.db3")
	for _, share := range []float64{0.3, 0.5, 0.77, 0.999} {
		if err := os.WriteFile(cut, whole[:int(share*float64(len(whole)))], 0o666); err != nil {
			t.Fatal(err)
		}
		r, err := db3.Open(cut, telemetry.Wants{Select: func(x *telemetry.Topic) []string {
			if x.Name == "/own" {
				return nil
			}
			return []string{"position[0]", "position[399]"}
		}})
		if err != nil {
			t.Fatal(share, err)
		}
		read := 0
		for m, err := r.Next(); ; m, err = r.Next() {
			if err != nil {
				break
			}
			if m.Logged >= 100e9 && len(m.Values) == 2 {
				if i := float64(m.Logged/1e9 - 100); m.Values[0] != i || m.Values[1] != i {
					t.Fatalf("%g: message %g has %v", share, i, m.Values)
				}
				read++
			}
		}
		if p := r.Problems().All(); float64(read) < share*n-10 || read >= n || len(p) != 1 || !strings.Contains(p[0].Reason, "messages ahead of the first that is missing are read") {
			t.Errorf("%g: %d messages, %v", share, read, p)
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
	if err := os.WriteFile(cut, whole[:5000], 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := db3.Open(cut, telemetry.Wants{}); err == nil || !strings.Contains(err.Error(), "it was cut off: 5000 of") {
		t.Error(err)
	}
	// Damage within a bag costs what is behind it.
	for k := len(whole) / 2; k < len(whole)/2+4096; k++ {
		whole[k] = 0xff
	}
	if err := os.WriteFile(cut, whole, 0o666); err != nil {
		t.Fatal(err)
	}
	r, err := db3.Open(cut, telemetry.Wants{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	read := 0
	for _, err = r.Next(); err == nil; _, err = r.Next() {
		read++
	}
	if p := r.Problems().All(); read < 150 || len(p) != 1 || !strings.Contains(p[0].Reason, "cannot be read further") {
		t.Errorf("%d messages, %v", read, p)
	}
}
