package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// What the package is made of is there, and the unit asks for what the program
// gives: readiness, a watchdog, a reload.
func TestDeployment(t *testing.T) {
	unit, err := os.ReadFile("deploy/dgm-estimator.service")
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{
		"Type=notify", "WatchdogSec=5", "Restart=always", "ExecReload=/bin/kill -HUP $MAINPID", "User=dgm",
		"ProtectSystem=strict", "LimitRTPRIO=99", "LimitMEMLOCK=infinity", "StateDirectory=dgm-estimator",
		"ExecStart=/usr/bin/dgm-estimator --config /etc/dgm/estimator.toml",
	} {
		if !strings.Contains(string(unit), "\n"+line+"\n") {
			t.Errorf("the unit has no line %s", line)
		}
	}
	upload, err := os.ReadFile("deploy/dgm-estimator-upload.service")
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"PartOf=dgm-estimator.service", "User=dgm", "WorkingDirectory=/var/lib/dgm-estimator", "ExecStart=/usr/bin/dgm-bridge upload --config /etc/dgm/estimator.toml"} {
		if !strings.Contains(string(upload), "\n"+line+"\n") || !strings.Contains(string(unit), "Wants=network-online.target dgm-estimator-upload.service\n") {
			t.Errorf("the unit of uploads has no line %s, or that of the estimator does not start it", line)
		}
	}
	list, err := os.ReadFile("deploy/nfpm.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, program := range []string{"dgm-estimator", "dgm-bridge"} {
		if !strings.Contains(string(list), "src: ${STAGE}/"+program+"\n    expand: true\n    dst: /usr/bin/"+program+"\n") {
			t.Errorf("the package has no %s", program)
		}
	}
	sources := 0
	for _, m := range regexp.MustCompile(`(?m)(?:src|install|remove): (\S+)$`).FindAllStringSubmatch(string(list), -1) {
		if strings.HasPrefix(m[1], "$") {
			continue // made by the script
		}
		sources++
		if _, err := os.Stat(filepath.Join("..", "..", m[1])); err != nil {
			t.Error(err)
		}
	}
	if sources < 6 {
		t.Errorf("only %d sources found", sources)
	}
	// The settings that the script changes are those of the template.
	script, err := os.ReadFile("deploy/package")
	if err != nil {
		t.Fatal(err)
	}
	changes := regexp.MustCompile(`s\|\^(\w+) = \.\*\|(.*?)\|'`).FindAllStringSubmatch(string(script), -1)
	text := template
	for _, c := range changes {
		re := regexp.MustCompile(`(?m)^` + c[1] + ` = .*$`)
		if !re.MatchString(text) {
			t.Errorf("the template has no %s", c[1])
		}
		text = re.ReplaceAllString(text, c[2])
	}
	s := defaults()
	if err := s.parse(text, "packaged"); err != nil || len(changes) != 2 || s.Model != "/var/lib/dgm-estimator/flight.dgm" || s.TrustFile == "" {
		t.Errorf("the packaged settings: %+v, %v", s, err)
	}
}

func TestUnitIsOneThatSystemdTakes(t *testing.T) {
	if _, err := exec.LookPath("systemd-analyze"); err != nil {
		t.Skip("the unit as systemd reads it: systemd-analyze is not here")
	}
	out, err := exec.Command("systemd-analyze", "security", "--offline=true", "--threshold=20", "deploy/dgm-estimator.service", "deploy/dgm-estimator-upload.service").CombinedOutput()
	if err != nil {
		t.Errorf("exposure above 2.0, or not readable: %v: %s", err, out)
	}
}

func TestManualPagesAndCompletions(t *testing.T) {
	for _, args := range [][]string{{"man"}, {"man", "replay"}, {"completion", "bash"}, {"completion", "zsh"}, {"completion", "fish"}} {
		code, out, failed := execute(args...)
		if code != 0 || len(out) < 500 || failed != "" {
			t.Errorf("%v: code %d, %d bytes, %s", args, code, len(out), failed)
		}
	}
	_, out, _ := execute("man")
	for _, flag := range []string{"rate", "record", "tls\\-ca", "config"} {
		if !strings.Contains(out, ".B \\-\\-"+flag) {
			t.Errorf("--%s is not in the manual", flag)
		}
	}
	for _, part := range []string{"\\-\\-version", "dgm\\-train \\-\\-sign", ".SH COMMANDS\n.TP\n.B replay", "(default 0"} {
		if strings.Contains(out, part) == (part == "(default 0") {
			t.Errorf("%q: not as it should be in the manual", part)
		}
	}
	if code, _, _ := execute("man", "nothing"); code != 2 {
		t.Errorf("the manual of nothing: code %d", code)
	}
}
