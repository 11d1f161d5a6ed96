package link

import (
	"testing"

	"github.com/spf13/pflag"
)

func TestFlagsReachTheLink(t *testing.T) {
	var f Flags
	set := pflag.NewFlagSet("", pflag.ContinueOnError)
	f.Add(set)
	if l := f.Link("", nil); l.URL != "nats://127.0.0.1:4222" || l.Creds+l.NKey+l.CA+l.Cert+l.Key != "" {
		t.Errorf("by default %+v", l)
	}
	if err := set.Parse([]string{"--nats", "nats://a,nats://b", "--creds", "1", "--nkey", "2", "--tls-ca", "3", "--tls-cert", "4", "--tls-key", "5"}); err != nil {
		t.Fatal(err)
	}
	f.Inbox = "6"
	event := ""
	l := f.Link("me", func(s string) { event = s })
	l.Log("x")
	l.Log = nil
	got := [...]string{l.URL, l.Name, l.Creds, l.NKey, l.CA, l.Cert, l.Key, l.Inbox, event}
	if want := [...]string{"nats://a,nats://b", "me", "1", "2", "3", "4", "5", "6", "x"}; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
