package fleet

import (
	"testing"
	"time"

	"github.com/nats-io/nats.go"
)

// Whoever may write one entry or one part cannot remove all others by the header that replaces a whole stream.
func TestOneWriterDoesNotReplaceAStream(t *testing.T) {
	r := secured(t)
	logs, err := OpenLogs(t.Context(), r.as("operator"))
	if err != nil {
		t.Fatal(err)
	}
	other, _, err := logs.Upload(t.Context(), writeLog(t, "drone-2", 50, 1), nil)
	if err != nil {
		t.Fatal(err)
	}
	models, err := OpenModels(t.Context(), r.as("operator"))
	if err != nil {
		t.Fatal(err)
	}
	m := registered(t, models, "drone-2", 1)
	for role, subjects := range map[string][]string{
		"robot":  {"$KV.fleet-log-index.drone-1.x", "$O.fleet-logs.M.x", "$O.fleet-logs.C.x"},
		"worker": {"$KV.fleet-model-index.drone-1.x", "$KV.fleet-jobs.x", "$O.fleet-models.M.x", "$O.fleet-models.C.x"},
	} {
		nc := r.as(role)
		for _, s := range subjects {
			msg := nats.NewMsg(s)
			msg.Header.Set("Nats-Rollup", "all")
			if _, err := nc.RequestMsg(msg, 2*time.Second); err != nil {
				t.Fatal(err)
			}
		}
	}
	if _, err := logs.Fetch(t.Context(), "drone-2", other.ID, t.TempDir()); err != nil {
		t.Error(err)
	}
	if all, _, err := models.List(t.Context()); err != nil || len(all) != 1 {
		t.Errorf("%d models, %v", len(all), err)
	} else if _, err := models.objects.GetInfo(t.Context(), m.Job.ID+"/"+m.ID); err != nil {
		t.Error(err)
	}
}
