package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dgm-robotics/dgm/cmd/internal/cli"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/model/artificial"
)

func TestExportC(t *testing.T) {
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	m := artificial.New(artificial.Size{K: 2, P: 1, Features: 8, Points: 5, Horizon: 1}, 1)
	if err := model.WriteFile(in("m.dgm"), m); err != nil {
		t.Fatal(err)
	}
	for args, want := range map[string][]string{
		"":                       {"typedef float dgm_real;", "#define DGM_PLAN_ROWS 5 ", "#define DGM_T 5 "},
		"--plan-rows 3 --double": {"typedef double dgm_real;", "#define DGM_PLAN_ROWS 3 "},
	} {
		code, out, errs := run(append([]string{"export", "c", in("m.dgm"), "--out", in("c")}, strings.Fields(args)...)...)
		if code != cli.Done || errs != "" || !strings.HasPrefix(out, "wrote "+in("c/dgm_model.h")+": ") || !strings.Contains(out, "\n2 states at 5 times, plans of ") || !strings.Contains(out, "RAM ") {
			t.Errorf("%s: exit %d, %s%s", args, code, errs, out)
		}
		header, err := os.ReadFile(in("c/dgm_model.h"))
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range want {
			if !strings.Contains(string(header), text) {
				t.Errorf("%s: %q is missing in the header", args, text)
			}
		}
	}
	for want, args := range map[string][]string{
		"--plan-rows: -1":          {in("m.dgm"), "--out", in("c"), "--plan-rows", "-1"},
		"--plan-rows: 100000":      {in("m.dgm"), "--out", in("c"), "--plan-rows", "100000"},
		"required flag(s) \"out\"": {in("m.dgm")},
		"nothing can be written":   {in("m.dgm"), "--out", in("m.dgm")},
		"none.dgm":                 {in("none.dgm"), "--out", in("c")},
	} {
		if code, _, errs := run(append([]string{"export", "c"}, args...)...); code == cli.Done || !strings.Contains(errs, want) {
			t.Errorf("%v: exit %d, %s", args, code, errs)
		}
	}
}
