package main

import (
	"bufio"
	"context"
	"crypto/ed25519"
	"fmt"
	"io"
	"os"

	"github.com/dgm-robotics/dgm/cmd/internal/cli"
	"github.com/dgm-robotics/dgm/cmd/internal/keys"
	"github.com/dgm-robotics/dgm/estimator/flightlog"
	"github.com/dgm-robotics/dgm/trainer"
	"github.com/dgm-robotics/dgm/trainer/report"
)

// run checks, trains, judges and writes. Text goes to out unless --json asks for
// one document there; progress and oddities go to errs.
func run(ctx context.Context, o options, cfg trainer.Config, out, errs io.Writer) error {
	modelPath, htmlPath, jsonPath := o.outputs()
	if !o.check {
		if err := cli.Outputs("--out", append([]string{o.config, o.sign}, o.logs...), []string{modelPath, htmlPath, jsonPath}); err != nil {
			return err
		}
	}
	var key ed25519.PrivateKey
	if o.sign != "" {
		var err error
		if key, err = keys.Private(o.sign); err != nil {
			return err
		}
	}
	text := out
	if o.json {
		text = io.Discard
	}
	var logs []*flightlog.Log
	for _, path := range o.logs {
		log, err := flightlog.ReadFile(path)
		if err != nil {
			return err
		}
		if log.Damage != nil {
			fmt.Fprintf(errs, "%v\n", log.Damage)
		}
		logs = append(logs, log)
	}
	data, err := trainer.Load(logs, cfg)
	if data == nil {
		return err
	}
	if o.check {
		return o.checked(logs, data, err, cfg, out)
	}
	if e := printProblems(text, data, o.logs); err == nil {
		err = e
	}
	if err != nil {
		return err
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	bar := newBar(errs)
	stop := context.AfterFunc(ctx, func() {
		bar.say("Stopping: what is trained so far is rounded off and written; Ctrl-C once more ends at once, with nothing written.")
	})
	res, err := trainer.Train(ctx, data, cfg, bar.show)
	stop()
	bar.end()
	if err != nil {
		return err
	}
	if err := keep(modelPath, res.Model, key); err != nil {
		return err
	}
	page, err := trainer.Report(data, cfg, res, o.logs, []string{modelPath, htmlPath, jsonPath})
	if err != nil {
		return err
	}
	if err := report.Write(htmlPath, page); err != nil {
		return err
	}
	if err := report.WriteJSON(jsonPath, page); err != nil {
		return err
	}
	if o.json {
		b, err := os.ReadFile(jsonPath)
		if err != nil {
			return err
		}
		_, err = out.Write(b)
		return err
	}
	return printResult(text, res, []string{modelPath, htmlPath, jsonPath})
}

func printResult(out io.Writer, res *trainer.Result, files []string) error {
	w := bufio.NewWriter(out)
	fmt.Fprintln(w)
	if res.Partial != "" {
		fmt.Fprintf(w, "PARTIAL: %s. The files are written, and marked.\n", res.Partial)
	}
	if warning := res.Warning(); warning != "" {
		fmt.Fprintf(w, "WARNING: %s\n", warning)
	}
	fmt.Fprintf(w, "%s\n\n", res.Verdict)
	if res.Table != nil {
		res.Table.WriteText(w)
		fmt.Fprintln(w)
	}
	for _, f := range files {
		size := int64(0)
		if info, err := os.Stat(f); err == nil {
			size = info.Size()
		}
		fmt.Fprintf(w, "wrote %s (%.0f kB)\n", f, float64(size)/1000)
	}
	return w.Flush()
}
