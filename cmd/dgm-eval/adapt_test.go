package main

import (
	"strings"
	"testing"
)

func TestAdaptIsRefused(t *testing.T) {
	dir := t.TempDir()
	writeModel(t, dir+"/a.dgm")
	writeLog(t, dir+"/b.msgpack", shaft, 400)
	for message, args := range map[string][]string{
		"nothing to adapt":      {"--model", dir + "/a.dgm", "--log", dir + "/b.msgpack", "--adapt"},
		"--adapt evaluates one": {"--compare", "--model", dir + "/a.dgm", "--log", dir + "/b.msgpack", "--adapt"},
	} {
		c := command()
		c.SetArgs(args)
		c.SetOut(new(strings.Builder))
		c.SetErr(new(strings.Builder))
		if err := c.Execute(); err == nil || !strings.Contains(err.Error(), message) {
			t.Errorf("%v: %v", args, err)
		}
	}
}
