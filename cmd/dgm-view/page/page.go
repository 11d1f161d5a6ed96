// Package page serves the page that shows vehicles live: their predictions, live trust, and what a fleet has stored.
// The page itself connects to NATS by WebSocket, with credentials that can only read.
//
// Its sources are beside this file; dist holds what "task page" makes of them with the pinned versions of the modules.
package page

import (
	"bytes"
	"compress/gzip"
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"path"
	"strings"
	"time"
)

//go:embed index.html dist
var files embed.FS

// served are the files of the page, by path of the request.
var served = map[string]string{
	"{$}": "index.html", "page.js": "dist/page.js", "page.css": "dist/page.css", "licences.txt": "dist/licences.txt",
}

// Settings of the connection that the page makes. Who can load the page can read them.
type Settings struct {
	Servers  []string `json:"servers"`            // ws:// or wss://, without user and password
	User     string   `json:"user,omitempty"`     // (optional)
	Password string   `json:"password,omitempty"` // (optional)
	Creds    string   `json:"creds,omitempty"`    // (optional) content of a credentials file
	Fleet    bool     `json:"fleet,omitempty"`    // whether to read what a fleet has stored

	PublicKey []byte `json:"public_key,omitempty"` // (optional) of the operator, ed25519: the page verifies decisions of the fleet with it
}

// Reads and Asks are what the page's user subscribes and publishes to: nothing that it publishes changes anything. Asks is for
// Settings.Fleet; Queries of them, of which the page needs no answer, for the correlation of positions.
var (
	Reads   = []string{"dgm.status.*", "dgm.predict.*", "dgm.state.*", "dgm.estimate.*", "_INBOX_viewer.>"}
	Queries = "dgm.query.*"
	Asks    = []string{
		"$JS.API.DIRECT.GET.DGM_DECISIONS",
		"$JS.API.DIRECT.GET.KV_fleet-jobs", "$JS.API.DIRECT.GET.KV_fleet-model-index", "$JS.API.DIRECT.GET.KV_fleet-log-index",
		Queries,
	}
)

// ParseServers returns the settings of a list of URLs separated by commas. User and password are those of the first.
func ParseServers(list string) (Settings, error) {
	var s Settings
	for i, text := range strings.Split(list, ",") {
		u, err := url.Parse(strings.TrimSpace(text))
		switch {
		case err != nil:
			return s, errors.New("the address of the server is not a URL") // without it: it may hold a password
		case u.Scheme != "ws" && u.Scheme != "wss" || u.Host == "":
			return s, fmt.Errorf("%s is not the address of a WebSocket: browsers need ws://host:port or wss://host:port, that of the section websocket of the server's configuration", u.Redacted())
		}
		if i == 0 && u.User != nil {
			s.User = u.User.Username()
			s.Password, _ = u.User.Password()
		}
		s.Servers = append(s.Servers, u.Scheme+"://"+u.Host)
	}
	return s, nil
}

// Handler returns the page. It may run scripts and styles of its own only, and connect to its servers only.
func Handler(s Settings) (http.Handler, error) {
	settings, err := json.Marshal(s)
	if err != nil {
		return nil, err
	}
	policy := "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; connect-src 'self' " + strings.Join(s.Servers, " ") +
		"; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'"
	mux := http.NewServeMux()
	add := func(at, name string, content []byte) error {
		var packed bytes.Buffer
		w, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
		if err != nil {
			return err
		}
		if _, err := w.Write(content); err != nil {
			return err
		}
		if err := w.Close(); err != nil {
			return err
		}
		mux.HandleFunc("GET /"+at, func(w http.ResponseWriter, r *http.Request) {
			h := w.Header()
			h.Set("Content-Type", mime.TypeByExtension(path.Ext(name)))
			h.Set("Content-Security-Policy", policy)
			h.Set("X-Content-Type-Options", "nosniff")
			h.Set("Referrer-Policy", "no-referrer")
			h.Set("Cross-Origin-Resource-Policy", "same-origin")
			h.Set("Cache-Control", "no-store") // another version may be served next
			body := content
			if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
				h.Set("Content-Encoding", "gzip")
				body = packed.Bytes()
			}
			_, _ = w.Write(body) // who has left needs no answer
		})
		return nil
	}
	for at, name := range served {
		content, err := files.ReadFile(name)
		if err != nil {
			return nil, err
		}
		if err := add(at, name, content); err != nil {
			return nil, err
		}
	}
	return mux, add("settings.json", "settings.json", settings)
}

// Serve serves the page until ctx ends. On the loopback it answers only requests to names of the loopback, so that no foreign
// name that resolves to it reads the settings.
func Serve(ctx context.Context, l net.Listener, s Settings) error {
	h, err := Handler(s)
	if err != nil {
		return err
	}
	if a, ok := l.Addr().(*net.TCPAddr); ok && a.IP.IsLoopback() {
		h = onlyLoopback(h)
	}
	server := &http.Server{Handler: h, ReadHeaderTimeout: 10 * time.Second, WriteTimeout: time.Minute, IdleTimeout: time.Minute, MaxHeaderBytes: 1 << 14}
	stop := context.AfterFunc(ctx, func() { _ = server.Close() })
	defer stop()
	if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

func onlyLoopback(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host := r.Host
		if name, _, err := net.SplitHostPort(host); err == nil {
			host = name
		}
		ip, err := netip.ParseAddr(strings.Trim(host, "[]"))
		if host != "localhost" && (err != nil || !ip.IsLoopback()) {
			w.WriteHeader(http.StatusForbidden)
			_, _ = io.WriteString(w, "this page is served to localhost only; --listen with another address serves it to others\n")
			return
		}
		h.ServeHTTP(w, r)
	})
}

// Origins returns the origins of a page that is served at the address a of the loopback: it can be opened by
// either of its names.
func Origins(a net.Addr) []string {
	_, port, _ := net.SplitHostPort(a.String())
	return []string{"http://127.0.0.1:" + port, "http://localhost:" + port}
}
