package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"time"

	"github.com/dgm-robotics/dgm/cmd/dgm-view/page"
	"github.com/dgm-robotics/dgm/trainer/report"
)

// run goes through the stages. However it ends, it lists what was written, and concludes where
// a model was judged.
func run(ctx context.Context, o options, sc *scene, w io.Writer) (err error) {
	began := time.Now()
	out, err := openOutput(o.out)
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0") // of the page
	if err != nil {
		return err
	}
	defer l.Close()
	origins := page.Origins(l.Addr())
	s, err := serve(o, origins)
	if err != nil {
		return err
	}
	defer stop(s)
	screen := newScreen(w)
	if o.keep {
		fmt.Fprintf(screen, "A NATS server listens at %s from now on, until Ctrl-C; the page %s/ shows the flight.\n", s.ClientURL(), origins[0])
		go func() { _ = page.Serve(ctx, l, page.Settings{Servers: []string{s.WebsocketURL()}}) }() // until the end of the demo
	}
	var verdict *report.Verdict // nil before there is one
	defer func() {
		out.list(screen)
		if err == nil {
			fmt.Fprintf(screen, "Done in %.0f s.\n", time.Since(began).Seconds())
		}
		if verdict != nil {
			conclusion(screen, verdict, out.path(pageName))
		}
	}()
	if err := recordFlights(ctx, sc, o.seed, out, screen); err != nil {
		return err
	}
	if verdict, err = learn(ctx, sc, out, screen); err != nil {
		return err
	}
	return fly(ctx, o, sc, s, out, screen)
}
