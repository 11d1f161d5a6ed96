package durable

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// needUnnamed skips a test where the file system of dir has no files without a name.
func needUnnamed(t *testing.T, dir string) {
	t.Helper()
	f := unnamed(dir)
	if f == nil {
		t.Skip("files without a name: this file system has none")
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

// A writer that is killed leaves nothing in the folder.
func TestAKilledWriterLeavesNothing(t *testing.T) {
	const variable = "DGM_TEST_WRITE"
	if path := os.Getenv(variable); path != "" {
		f, err := Create(path)
		if err == nil {
			_, err = f.Write(make([]byte, 100000))
		}
		if err == nil {
			err = f.Sync()
		}
		fmt.Println("written:", err)
		select {}
	}
	dir := t.TempDir()
	needUnnamed(t, dir)
	c := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
	c.Env = append(os.Environ(), variable+"="+filepath.Join(dir, "a.bin"))
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	_ = c.Process.Kill()
	_ = c.Wait() // killed
	if err != nil || line != "written: <nil>\n" {
		t.Fatalf("%q, %v", line, err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
		t.Errorf("left over: %v, %v", left, err)
	}
}

// Where a file may not be linked it is copied.
func TestALinkThatIsForbiddenIsACopy(t *testing.T) {
	dir := t.TempDir()
	needUnnamed(t, dir)
	f := unnamed(dir)
	defer f.Close()
	if _, err := f.WriteString("content"); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a", "b"} {
		path := filepath.Join(dir, name)
		if err := link(f, path); err != nil {
			t.Fatal(err)
		}
		if err := link(f, path); !os.IsExist(err) {
			t.Errorf("a name that is taken: %v", err)
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != "content" {
			t.Errorf("%s holds %q, %v", name, got, err)
		}
		if err := os.Remove(path); err != nil { // the last name: another link is forbidden
			t.Fatal(err)
		}
	}
}
