package main

import (
	"bufio"
	"cmp"
	"context"
	"crypto/ed25519"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/dgm-robotics/dgm/cmd/internal/bar"
	"github.com/dgm-robotics/dgm/cmd/internal/cli"
	"github.com/dgm-robotics/dgm/cmd/internal/keys"
	"github.com/dgm-robotics/dgm/cmd/internal/logs"
	"github.com/dgm-robotics/dgm/estimator/durable"
	"github.com/dgm-robotics/dgm/estimator/flightlog"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/wire"
	"github.com/dgm-robotics/dgm/trainer"
	"github.com/dgm-robotics/dgm/trainer/report"
	"github.com/dgm-robotics/dgm/trainer/summary"
)

// run checks, trains, evaluates and writes. Text goes to out unless --json asks for
// one document there; progress and warnings go to errs.
func run(ctx context.Context, o options, cfg trainer.Config, out, errs io.Writer) error {
	modelPath, htmlPath, jsonPath := o.outputs()
	files := []string{modelPath, htmlPath, jsonPath}
	if !o.check {
		if err := cli.Outputs("--out", append([]string{o.config, o.sign}, o.logs...), files); err != nil {
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
	all, err := readLogs(o.logs, errs)
	if err != nil {
		return err
	}
	data, err := trainer.Load(all, cfg)
	if data == nil {
		return err
	}
	if o.check {
		return o.checkOnly(all, data, err, cfg, out)
	}
	text := out
	if o.json {
		text = io.Discard
	}
	if e := printProblems(text, data, o.logs); err == nil {
		err = e
	}
	if err != nil {
		return err
	}
	res, err := train(ctx, data, cfg, errs)
	if err != nil {
		return err
	}
	statement, err := o.statement(res.Model.Vehicle)
	if err != nil && key != nil {
		return err
	}
	if err := writeModel(modelPath, res.Model, key, statement); err != nil {
		return err
	}
	page, err := trainer.Report(data, cfg, res, o.logs, files)
	if err != nil {
		return err
	}
	page.CPUSeconds = processorTime().Seconds()
	if err := report.Write(htmlPath, page); err != nil {
		return err
	}
	if err := report.WriteJSON(jsonPath, page); err != nil {
		return err
	}
	if o.json {
		return report.JSON(out, page)
	}
	return printResult(out, res, files)
}

func readLogs(paths []string, errs io.Writer) (all []*flightlog.Log, err error) {
	for _, path := range paths {
		log, err := logs.Read(path)
		if err != nil {
			return nil, err
		}
		if log.Damage != nil {
			fmt.Fprintf(errs, "%v\n", log.Damage)
		}
		all = append(all, log)
	}
	return all, nil
}

// train trains with a progress bar and acknowledges an interrupt.
func train(ctx context.Context, data *trainer.Data, cfg trainer.Config, errs io.Writer) (*trainer.Result, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	progress := bar.New(errs, cli.Terminal(errs))
	defer progress.Clear()
	stop := context.AfterFunc(ctx, func() {
		progress.Print("Stopping: the model trained so far is completed and written; a second Ctrl-C ends at once and writes nothing.")
	})
	defer stop()
	return trainer.Train(ctx, data, cfg, progress.Show)
}

func printResult(out io.Writer, res *trainer.Result, files []string) error {
	w := bufio.NewWriter(out) // keeps the first error
	fmt.Fprintln(w)
	fmt.Fprintf(w, "%s\n\n", res.Verdict.Text())
	if res.Partial != "" {
		fmt.Fprintf(w, "PARTIAL: %s. The files are written, and marked.\n", res.Partial)
	}
	if warning := res.Warning(); warning != "" {
		fmt.Fprintf(w, "WARNING: %s\n", warning)
	}
	if res.Table != nil {
		_ = res.Table.WriteText(w) // the error is Flush's
		if n := res.Table.Networks; n != nil {
			fmt.Fprintln(w, n)
		}
		fmt.Fprintln(w)
	}
	if e := summary.Equation(res); e != nil {
		fmt.Fprintf(w, "equation of motion: %s; its parameters are in the report\n", e.Line())
	}
	for j, l := range res.Model.Latency {
		used := ""
		if of, ok := res.Model.Response(j); ok {
			used = fmt.Sprintf("; the model's equations read it with %.3g ms and %.3g ms", 1000*of.Dead, 1000*of.Lag)
		}
		fmt.Fprintf(w, "latency of %s: %s%s\n", res.Model.Channels[res.Model.K+j].Name, l, used)
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

// signOnly signs an existing model file.
func (o *options) signOnly(out io.Writer) error {
	switch {
	case o.sign == "":
		return cli.Usage("--model needs --sign, the private key to sign it with")
	case len(o.logs) > 0 || o.out != "" || o.check:
		return cli.Usage("--model signs a file in its place: no --log, --out or --check goes with it")
	}
	key, err := keys.Private(o.sign)
	if err != nil {
		return err
	}
	m, err := model.ReadFile(o.model)
	if err != nil {
		return err
	}
	statement, err := o.statement(m.Vehicle)
	if err != nil {
		return err
	}
	if err := model.SignFile(o.model, key, statement); err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "signed %s\n", o.model)
	return err
}

// statement returns what is signed beside a model of a vehicle.
func (o *options) statement(vehicle string) (model.Statement, error) {
	now := time.Now()
	s := model.Statement{Vehicle: cmp.Or(o.vehicle, vehicle), Sequence: cmp.Or(o.sequence, uint64(now.Unix())), Created: now.UnixNano()}
	if o.fleet != "" {
		s.Vehicle, s.Fleet = "", o.fleet
	}
	if o.valid > 0 {
		s.Expires = now.Add(o.valid).UnixNano()
	}
	if s.Vehicle == "" && s.Fleet == "" {
		return s, cli.Usage("the model names no vehicle to sign it for: give --vehicle or --fleet")
	}
	return s, nil
}

// checkRecipient returns an error if what is signed would be for a vehicle and for a fleet, or
// if nothing is signed for them.
func (o *options) checkRecipient() error {
	switch {
	case o.valid < 0:
		return cli.Usage("--valid %v is negative", o.valid)
	case o.fleet != "" && o.vehicle != "":
		return cli.Usage("--vehicle and --fleet are both given; a signature is for one of them")
	case o.sign == "" && (o.fleet != "" || o.vehicle != "" || o.sequence != 0 || o.valid != 0):
		return cli.Usage("--vehicle, --fleet, --sequence and --valid need --sign, the private key; the vehicle of a model is that of its logs")
	case o.vehicle != "":
		if err := wire.CheckVehicle(o.vehicle); err != nil {
			return cli.Usage("--vehicle: %v; no estimator has such a name", err)
		}
	}
	return nil
}

// rollbackValid is the default of --valid for a command to go back.
const rollbackValid = 24 * time.Hour

// writeRollback writes the signed command to go back to a model.
func (o *options) writeRollback(out io.Writer) error {
	if o.sign == "" || o.out == "" {
		return cli.Usage("--rollback needs --sign, the private key, and --out, the file to write")
	}
	key, err := keys.Private(o.sign)
	if err != nil {
		return err
	}
	s, err := o.statement("")
	if err != nil {
		return err
	}
	s.Model = o.rollback
	if o.valid == 0 {
		s.Expires = s.Created + int64(rollbackValid)
	}
	c := wire.Command{Action: wire.Rollback}
	c.Statement, c.Signature = model.SignRollback(s, key)
	if err := durable.WriteFile(o.out, c.Append(nil)); err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "wrote %s, for dgm.model.<vehicle>: nats req dgm.model.<vehicle> < %s\n", o.out, o.out)
	return err
}

// writeModel writes the model. If its folder fails that was writable when the training
// began (a full disk, a removed drive), the model is saved among the temporary files,
// and the error names the place: a training of hours is not lost.
func writeModel(path string, m *model.Model, key ed25519.PrivateKey, s model.Statement) error {
	err := model.WriteSigned(path, m, key, s)
	if err == nil {
		return nil
	}
	dir, e := os.MkdirTemp("", "dgm-train-")
	if e != nil {
		return err
	}
	saved := filepath.Join(dir, filepath.Base(path))
	if e := model.WriteSigned(saved, m, key, s); e != nil {
		_ = os.Remove(dir) // an empty folder among the temporary files
		return err
	}
	return fmt.Errorf("%w; the model was saved as %s", err, saved)
}

// outputs are the names of the files to write.
func (o *options) outputs() (model, html, json string) {
	model = o.out
	if model == "" {
		model = stem(o.logs[0]) + ".dgm"
	}
	s := stem(model)
	return model, s + ".report.html", s + ".report.json"
}

func stem(path string) string { return strings.TrimSuffix(path, filepath.Ext(path)) }
