package main

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/coder/websocket"
)

// A browser is a headless Chromium with one page, driven by its debugging protocol.
type browser struct {
	t    *testing.T
	ctx  context.Context
	conn *websocket.Conn
	last int
	pid  int

	target string // the tab of the page
}

// openBrowser starts Chromium; the test skips where none is installed.
func openBrowser(t *testing.T, width, height int) *browser {
	t.Helper()
	if testing.Short() {
		t.Skip("needs a browser")
	}
	var program string
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			program = path
			break
		}
	}
	if program == "" {
		t.Skip("no Chromium is installed: the page was not tried in a browser")
	}
	dir, err := os.MkdirTemp("", "dgm-view-")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-extensions", "--disable-dev-shm-usage",
		"--hide-scrollbars", "--remote-debugging-port=0", "--user-data-dir="+dir, fmt.Sprintf("--window-size=%d,%d", width, height), "about:blank")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // with its children
		_ = cmd.Wait()
		for range 50 { // children may write until they end
			if os.RemoveAll(dir) == nil {
				break
			}
			time.Sleep(20 * time.Millisecond)
		}
	})
	b := &browser{t: t, ctx: t.Context(), pid: cmd.Process.Pid}
	var port []byte
	b.await("Chromium to listen", func() bool {
		port, _ = os.ReadFile(filepath.Join(dir, "DevToolsActivePort"))
		return bytes.Contains(port, []byte("\n"))
	})
	first, _, _ := strings.Cut(string(port), "\n")
	var pages []struct{ ID, Type, WebSocketDebuggerURL string }
	b.await("a page", func() bool {
		r, err := http.Get("http://127.0.0.1:" + first + "/json/list")
		if err != nil {
			return false
		}
		defer r.Body.Close()
		return json.NewDecoder(r.Body).Decode(&pages) == nil && len(pages) > 0 && pages[0].Type == "page"
	})
	conn, _, err := websocket.Dial(b.ctx, pages[0].WebSocketDebuggerURL, nil)
	if err != nil {
		t.Fatal(err)
	}
	conn.SetReadLimit(1 << 26)
	t.Cleanup(func() { _ = conn.CloseNow() })
	b.conn, b.target = conn, pages[0].ID
	b.call("Runtime.enable", nil, nil)
	b.call("Emulation.setDeviceMetricsOverride", map[string]any{"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500}, nil)
	return b
}

// patience is how long a test waits for what must come, on a busy computer too. The page asks an estimator again 30 s after
// it was not answered.
const patience = 2 * time.Minute

// await polls until done returns true.
func (b *browser) await(what string, done func() bool) {
	b.t.Helper()
	for begin := time.Now(); !done(); time.Sleep(50 * time.Millisecond) {
		if time.Since(begin) > patience {
			b.t.Fatalf("waited %v for %s", patience, what)
		}
	}
}

// call runs a method of the debugging protocol.
func (b *browser) call(method string, params, result any) {
	b.t.Helper()
	b.last++
	message, err := json.Marshal(map[string]any{"id": b.last, "method": method, "params": params})
	if err != nil {
		b.t.Fatal(err)
	}
	if err := b.conn.Write(b.ctx, websocket.MessageText, message); err != nil {
		b.t.Fatal(err)
	}
	for {
		_, text, err := b.conn.Read(b.ctx)
		if err != nil {
			b.t.Fatal(err)
		}
		var answer struct {
			ID     int
			Method string
			Params json.RawMessage
			Result json.RawMessage
			Error  *struct{ Message string }
		}
		if err := json.Unmarshal(text, &answer); err != nil {
			b.t.Fatal(err)
		}
		if answer.Method == "Runtime.exceptionThrown" {
			b.t.Errorf("the page fails: %s", answer.Params)
		}
		if answer.ID != b.last {
			continue // an event
		}
		if answer.Error != nil {
			b.t.Fatalf("%s: %s", method, answer.Error.Message)
		}
		if result != nil {
			if err := json.Unmarshal(answer.Result, result); err != nil {
				b.t.Fatal(err)
			}
		}
		return
	}
}

// run runs an expression in the page and decodes its value.
func (b *browser) run(expression string, value any) {
	b.t.Helper()
	var r struct {
		Result           struct{ Value json.RawMessage }
		ExceptionDetails json.RawMessage
	}
	b.call("Runtime.evaluate", map[string]any{"expression": expression, "returnByValue": true, "awaitPromise": true}, &r)
	if r.ExceptionDetails != nil {
		b.t.Fatalf("%s: %s", expression, r.ExceptionDetails)
	}
	if value != nil {
		if err := json.Unmarshal(r.Result.Value, value); err != nil {
			b.t.Fatalf("%s: %v: %s", expression, err, r.Result.Value)
		}
	}
}

// text returns the text of the first element that a selector matches.
func (b *browser) text(selector string) (s string) {
	b.t.Helper()
	b.run(fmt.Sprintf("document.querySelector(%q)?.textContent ?? ''", selector), &s)
	return s
}

// open loads an address.
func (b *browser) open(url string) {
	b.t.Helper()
	b.call("Page.navigate", map[string]any{"url": url}, nil)
	b.await("the page", func() bool {
		var ready bool
		b.run("typeof dgmView === 'function'", &ready)
		return ready
	})
}

// picture writes a PNG of the page into the folder of DGM_VIEW_PICTURES, if that is set.
func (b *browser) picture(name string, whole bool) {
	b.t.Helper()
	dir := os.Getenv("DGM_VIEW_PICTURES")
	if dir == "" {
		return
	}
	var r struct{ Data string }
	b.call("Page.captureScreenshot", map[string]any{"format": "png", "captureBeyondViewport": whole}, &r)
	content, err := base64.StdEncoding.DecodeString(r.Data)
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, name+".png"), content, 0o644)
	}
	if err != nil {
		b.t.Fatal(err)
	}
}

// processor returns how much time of processors Chromium has used, all its processes together.
func (b *browser) processor() time.Duration {
	b.t.Helper()
	return time.Duration(b.sum(11)+b.sum(12)) * 10 * time.Millisecond // utime and stime, hundredths of a second
}

// resident returns the bytes of memory of all processes of Chromium; what they share counts several times.
func (b *browser) resident() float64 {
	b.t.Helper()
	return float64(b.sum(21) * os.Getpagesize())
}

// sum returns the sum of a field of /proc/PID/stat over all processes of Chromium. Fields count from the one behind the name.
func (b *browser) sum(field int) (total int) {
	b.t.Helper()
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		b.t.Fatal(err)
	}
	for _, path := range stats {
		text, err := os.ReadFile(path)
		if err != nil {
			continue // it has ended
		}
		f := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
		if group, _ := strconv.Atoi(f[2]); group != b.pid {
			continue
		}
		v, err := strconv.Atoi(f[field])
		if err != nil {
			b.t.Fatal(err)
		}
		total += v
	}
	return total
}

// heap returns the bytes of the page's objects after a collection.
func (b *browser) heap() (bytes float64) {
	b.t.Helper()
	b.call("HeapProfiler.collectGarbage", nil, nil)
	var r struct{ UsedSize float64 }
	b.call("Runtime.getHeapUsage", nil, &r)
	return r.UsedSize
}

// hide puts another tab before the page; show puts the page back.
func (b *browser) hide() {
	b.t.Helper()
	var other struct{ TargetID string }
	b.call("Target.createTarget", map[string]any{"url": "about:blank"}, &other)
	b.call("Target.activateTarget", map[string]any{"targetId": other.TargetID}, nil)
}

func (b *browser) show() {
	b.t.Helper()
	b.call("Target.activateTarget", map[string]any{"targetId": b.target}, nil)
}

// colours makes the page light or dark.
func (b *browser) colours(scheme string) {
	b.t.Helper()
	b.call("Emulation.setEmulatedMedia", map[string]any{"features": []map[string]string{{"name": "prefers-color-scheme", "value": scheme}}}, nil)
}
