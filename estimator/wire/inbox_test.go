package wire_test

import (
	"testing"

	"github.com/dgm-robotics/dgm/estimator/wire"
)

func TestIsInbox(t *testing.T) {
	for subject, want := range map[string]bool{
		"_INBOX.Vk2.a": true, "_INBOX_viewer.a.b": true, wire.EstimatorInbox("v1") + ".a": true, "_R_.abc.d": true,
		"": false, "dgm.predict.v1": false, "dgm._INBOX.a": false, "_INBOX": false, "_INBOXES.a": false, "_R_": false, "$JS.API.STREAM.DELETE.KV_fleet-jobs": false,
	} {
		if got := wire.IsInbox(subject); got != want {
			t.Errorf("%q: %v", subject, got)
		}
	}
}
