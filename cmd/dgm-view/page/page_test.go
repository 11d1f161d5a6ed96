package page_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dgm-robotics/dgm/cmd/dgm-view/page"
)

func TestServers(t *testing.T) {
	got, err := page.ParseServers("ws://viewer:secret@127.0.0.1:8222, wss://[::1]:443")
	want := page.Settings{Servers: []string{"ws://127.0.0.1:8222", "wss://[::1]:443"}, User: "viewer", Password: "secret"}
	if d := cmp.Diff(want, got); err != nil || d != "" {
		t.Errorf("%v, -want +got:\n%s", err, d)
	}
	for _, wrong := range []string{"", "nats://127.0.0.1:4222", "ws://", "127.0.0.1:8222", "ws://u:secret@h:port"} {
		if _, err := page.ParseServers(wrong); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: %v", wrong, err)
		}
	}
}

// All of the page is at most 120 kB on the network, and has its policy.
func TestSizeAndPolicy(t *testing.T) {
	h, err := page.Handler(page.Settings{Servers: []string{"ws://127.0.0.1:8222"}})
	if err != nil {
		t.Fatal(err)
	}
	total := 0
	for _, path := range []string{"/", "/page.js", "/page.css", "/settings.json", "/licences.txt"} {
		packed, plain := httptest.NewRecorder(), httptest.NewRecorder()
		r := httptest.NewRequest("GET", path, nil)
		h.ServeHTTP(plain, r)
		r.Header.Set("Accept-Encoding", "gzip")
		h.ServeHTTP(packed, r)
		total += packed.Body.Len()
		for _, directive := range []string{"default-src 'none'", "script-src 'self'", "connect-src 'self' ws://127.0.0.1:8222;", "require-trusted-types-for 'script'"} {
			if policy := packed.Header().Get("Content-Security-Policy"); !strings.Contains(policy, directive) {
				t.Errorf("%s: %q is not in the policy %q", path, directive, policy)
			}
		}
		z, err := gzip.NewReader(packed.Body)
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		content, err := io.ReadAll(z)
		if err != nil || !bytes.Equal(content, plain.Body.Bytes()) || len(content) == 0 {
			t.Errorf("%s: unpacked it differs: %v", path, err)
		}
	}
	if t.Logf("%d bytes in all", total); total > 120_000 {
		t.Errorf("%d bytes are more than 120 kB", total)
	}
	for _, path := range []string{"/dist/page.js", "/src/page.js", "/../go.mod"} {
		w := httptest.NewRecorder()
		if h.ServeHTTP(w, httptest.NewRequest("GET", path, nil)); w.Code == http.StatusOK {
			t.Errorf("%s is served", path)
		}
	}
}

// The pages on the server's configuration permit the page's user what it needs.
func TestPagesPermit(t *testing.T) {
	const path = "../../../docs/view.md"
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range slices.Concat(page.Reads, page.Asks) {
		stores := strings.HasPrefix(s, "$JS.") // needs an account of its own: see package fleet, Authority
		if named := regexp.MustCompile("[`\"]" + regexp.QuoteMeta(s) + "[`\"]").Match(text); named == stores {
			t.Errorf("%s names %s: %v", path, s, named)
		}
	}
}

// A foreign name that resolves to the loopback does not read the settings.
func TestHosts(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	defer func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}()
	go func() { ended <- page.Serve(ctx, l, page.Settings{Servers: []string{"ws://h:1"}}) }()
	for host, want := range map[string]int{"localhost:80": 200, "127.0.0.1": 200, "[::1]:80": 200, "foreign.example": 403, "127.0.0.1.example:80": 403} {
		r, err := http.NewRequest("GET", "http://"+l.Addr().String()+"/settings.json", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Host = host
		a, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		if a.Body.Close(); a.StatusCode != want {
			t.Errorf("%s: %s", host, a.Status)
		}
	}
}

// What is committed is what the sources give with the pinned versions.
func TestBuilt(t *testing.T) {
	if os.Getenv("DGM_SLOW") == "" {
		t.Skip("installs modules of npm; DGM_SLOW=1 runs it")
	}
	npm, err := exec.LookPath("npm")
	if err != nil {
		t.Skip("npm is not installed: the page was not built again")
	}
	dir := t.TempDir()
	for _, name := range []string{"package.json", "package-lock.json", "build.mjs"} {
		content, err := os.ReadFile(name)
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), content, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := os.CopyFS(filepath.Join(dir, "src"), os.DirFS("src")); err != nil {
		t.Fatal(err)
	}
	install := exec.Command(npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund")
	install.Dir = dir
	if text, err := install.CombinedOutput(); err != nil {
		t.Skipf("the modules cannot be installed: the page was not built again: %v\n%s", err, text)
	}
	build := exec.Command(npm, "run", "build")
	build.Dir = dir
	if text, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	for _, name := range []string{"page.js", "page.css", "licences.txt"} {
		built, err := os.ReadFile(filepath.Join(dir, "dist", name))
		if err != nil {
			t.Fatal(err)
		}
		committed, err := os.ReadFile(filepath.Join("dist", name))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(built, committed) {
			t.Errorf("dist/%s has %d bytes, built from the sources it has %d; run task page", name, len(committed), len(built))
		}
	}
}
