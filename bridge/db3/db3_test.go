package db3_test

import (
	"database/sql"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dgm-robotics/dgm/bridge/cdr/cdrtest"
	"github.com/dgm-robotics/dgm/bridge/db3"
	"github.com/dgm-robotics/dgm/bridge/telemetry"
)

// bag writes a bag of joint states, and of a type that only its own definition describes.
func bag(t testing.TB, definitions bool) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a #1.db3")
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	do := func(text string, args ...any) {
		t.Helper()
		if _, err := db.Exec(text, args...); err != nil {
			t.Fatal(err)
		}
	}
	do("CREATE TABLE topics(id INTEGER PRIMARY KEY, name TEXT NOT NULL, type TEXT NOT NULL, serialization_format TEXT NOT NULL, offered_qos_profiles TEXT NOT NULL)")
	do("CREATE TABLE messages(id INTEGER PRIMARY KEY, topic_id INTEGER NOT NULL, timestamp INTEGER NOT NULL, data BLOB NOT NULL)")
	do("INSERT INTO topics VALUES (1, '/joint_states', 'sensor_msgs/msg/JointState', 'cdr', ''), (7, '/own', 'own/msg/Thing', 'cdr', '')")
	if definitions {
		do("CREATE TABLE message_definitions(id INTEGER PRIMARY KEY, topic_type TEXT, encoding TEXT, encoded_message_definition TEXT, type_description_hash TEXT)")
		do("INSERT INTO message_definitions VALUES (1, 'own/msg/Thing', 'ros2msg', 'float64 x', '')")
	}
	for i := range 50 {
		joints := cdrtest.New().U32(uint32(i+1), 0).Text("").Seq(1).Text("elbow").Seq(1).F64(float64(i) / 2).Seq(0).Seq(0).B
		do("INSERT INTO messages(topic_id, timestamp, data) VALUES (1, ?, ?), (7, ?, ?)", int64(i+1)*1e9+5, joints, int64(i+1)*1e9+6, cdrtest.New().F64(float64(-i)).B)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestBag(t *testing.T) {
	for _, definitions := range []bool{true, false} {
		path := bag(t, definitions)
		r, err := db3.Open(path, telemetry.Wants{Select: func(t *telemetry.Topic) []string {
			switch {
			case t.Unread != nil:
				return nil
			case t.Name == "/own":
				return []string{"x"}
			}
			return []string{"position[name=elbow]"}
		}})
		if err != nil {
			t.Fatal(err)
		}
		var x, own []float64
		unread := 0
		for {
			m, err := r.Next()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			switch {
			case m.Topic.Unread != nil && strings.Contains(m.Topic.Unread.Error(), "type own/msg/Thing is not defined in the bag"):
				unread++
			case m.Topic.Name == "/own":
				own = append(own, m.Values[0])
			default:
				x = append(x, m.Values[0])
				if !m.Stamped || m.Logged != m.Time+5 {
					t.Errorf("%+v", m)
				}
			}
		}
		want := make([]float64, 50)
		for i := range want {
			want[i] = float64(i) / 2
		}
		if !slices.Equal(x, want) || len(own)+unread != 50 || (len(own) == 50) != definitions || math.Abs(float64(r.Consumed()-r.Size())) > 1 || r.Problems().Count() != 0 {
			t.Error(definitions, len(x), len(own), unread, r.Consumed(), r.Size(), r.Problems().All())
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
		if all, err := os.ReadDir(filepath.Dir(path)); err != nil || len(all) != 1 {
			t.Error("something was left beside the bag:", all, err)
		}
	}
}

// Wherever the file beside a bag was cut off or damaged, the messages are those that SQLite itself finds
// in a copy.
func TestChangesCutOff(t *testing.T) {
	live := bag(t, true)
	db, err := sql.Open("sqlite", live)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	for i, text := range []string{"PRAGMA journal_mode=WAL", "PRAGMA wal_autocheckpoint=0", "INSERT INTO messages SELECT id + 100, topic_id, timestamp, data FROM messages",
		"DELETE FROM messages WHERE id % 3 = 0", "PRAGMA wal_checkpoint(RESTART)", "INSERT INTO messages SELECT id + 1000, topic_id, timestamp, data FROM messages", "DELETE FROM messages WHERE id > 1100"} {
		if _, err := db.Exec(text); err != nil {
			t.Fatal(i, err)
		}
	}
	base, err := os.ReadFile(live)
	side, err2 := os.ReadFile(live + "-wal")
	if err := errors.Join(err, err2); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for i := 0; i < len(side)+1777; i += 1777 {
		damaged := slices.Clone(side)
		if i < len(side) && i%2 == 1 {
			damaged[i] ^= 4
		} else {
			damaged = damaged[:min(i, len(side))]
		}
		counts := [2]int{}
		for k, name := range []string{"own.db3", "sqlite.db3"} {
			path := filepath.Join(dir, name)
			if err := errors.Join(os.WriteFile(path, base, 0o666), os.WriteFile(path+"-wal", damaged, 0o666)); err != nil {
				t.Fatal(err)
			}
			if k == 1 {
				copied, err := sql.Open("sqlite", path)
				if err == nil {
					err = errors.Join(copied.QueryRow("SELECT COUNT(*) FROM messages").Scan(&counts[k]), copied.Close())
				}
				if err != nil {
					t.Fatal(err)
				}
				continue
			}
			r, err := db3.Open(path, telemetry.Wants{})
			if err != nil {
				t.Fatal(err)
			}
			for _, err = r.Next(); err == nil; _, err = r.Next() {
				counts[k]++
			}
			if err := r.Close(); err != nil {
				t.Fatal(err)
			}
		}
		if counts[0] != counts[1] || counts[0] == 0 {
			t.Errorf("at byte %d of %d: %d messages, SQLite finds %d", i, len(side), counts[0], counts[1])
		}
	}
}

// Messages that an ended recorder left in the file beside the bag are read, and nothing is
// written there.
func TestMessagesBesideTheBag(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	whole := bag(t, true)
	db, err := sql.Open("sqlite", whole)
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	for _, text := range []string{"PRAGMA journal_mode=WAL", "PRAGMA wal_autocheckpoint=0", "INSERT INTO messages SELECT id + 100, topic_id, timestamp + 50000000000, data FROM messages"} {
		if _, err := db.Exec(text); err != nil {
			t.Fatal(err)
		}
	}
	ended := filepath.Join(t.TempDir(), "a.db3")
	for _, end := range []string{"", "-wal"} {
		b, err := os.ReadFile(whole + end)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(ended+end, b, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	r, err := db3.Open(ended, telemetry.Wants{})
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, err = r.Next(); err == nil; _, err = r.Next() {
		n++
	}
	if n != 200 || !errors.Is(err, io.EOF) || r.Problems().Count() != 0 {
		t.Error(n, err, r.Problems().All())
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	for dir, want := range map[string]int{filepath.Dir(ended): 2, os.TempDir(): 0} {
		if all, err := os.ReadDir(dir); err != nil || len(all) != want {
			t.Error(dir, all, err)
		}
	}
}

// What is no bag, or is cut off, is refused or reported.
func TestDamage(t *testing.T) {
	path := bag(t, true)
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, size := range []int{0, 100, 5000, len(b) / 2, len(b) - 100} {
		if err := os.WriteFile(path, b[:size], 0o666); err != nil {
			t.Fatal(err)
		}
		r, err := db3.Open(path, telemetry.Wants{})
		if err != nil {
			if !strings.Contains(err.Error(), "a #1.db3: ") {
				t.Error(err)
			}
			continue
		}
		n := 0
		for err == nil {
			if _, err = r.Next(); err == nil {
				n++
			}
		}
		if !errors.Is(err, io.EOF) || n < 100 && r.Problems().Count() == 0 {
			t.Errorf("%d bytes: %d messages, %v, %v", size, n, err, r.Problems().All())
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
}

// Whatever is beside a bag, its messages are read, or that they cannot is an error.
func FuzzBeside(f *testing.F) {
	f.Add([]byte{0x37, 0x7f, 6, 0x82, 0, 0x2d, 0xe2, 0x18, 0, 0, 0x10, 0})
	path := bag(f, true)
	f.Fuzz(func(t *testing.T, side []byte) {
		if err := os.WriteFile(path+"-wal", side, 0o666); err != nil {
			t.Fatal(err)
		}
		r, err := db3.Open(path, telemetry.Wants{})
		if err != nil {
			return
		}
		defer r.Close()
		for n := 0; ; n++ {
			if _, err := r.Next(); err != nil {
				return
			}
			if n > 10_000 {
				t.Fatal("messages without an end")
			}
		}
	})
}
