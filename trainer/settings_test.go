package trainer

import "testing"

// A report has every setting that a settings file has.
func TestReportHasAllSettings(t *testing.T) {
	cfg := Default()
	got := map[string]string{}
	for _, s := range settings(cfg) {
		got[s.Name] = s.Value
	}
	for name, want := range map[string]string{"horizon": "1s", "seed": "1", "folds.motion": "true", "equation.windows": "1500", "net.core": "[32, 32]", "training.steps": "120"} {
		if got[name] != want {
			t.Errorf("%s is %q, want %q (all: %v)", name, got[name], want, got)
		}
	}
	if len(got) < 30 {
		t.Errorf("%d settings", len(got))
	}
}
