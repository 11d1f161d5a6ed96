package node

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// checkAddresses returns an error for a list in which something cannot be an address.
func checkAddresses(list string) error {
	for a := range strings.SplitSeq(list, ",") {
		if err := checkAddress(strings.TrimSpace(a)); err != nil {
			return err
		}
	}
	return nil
}

func checkAddress(a string) error {
	if a == "" {
		return errors.New("an address is empty; write nats://host:4222, several separated by commas")
	}
	if !strings.Contains(a, "://") {
		a = "nats://" + a
	}
	u, err := url.Parse(a)
	if err != nil {
		if e, ok := errors.AsType[*url.Error](err); ok {
			err = e.Err // the address may hold a password
		}
		return err
	}
	switch {
	case !slices.Contains([]string{"nats", "tls", "ws", "wss"}, u.Scheme):
		return fmt.Errorf("%s:// is no address of NATS; write nats://host:4222, or tls, ws, wss", u.Scheme)
	case u.Hostname() == "":
		return errors.New("a host is missing; write nats://host:4222")
	case strings.Contains(u.Hostname(), ":") && !strings.HasPrefix(u.Host, "["):
		return errors.New("a host has too many colons; write nats://host:4222, or nats://[::1]:4222 for IPv6")
	}
	if p := u.Port(); p != "" {
		if n, err := strconv.ParseUint(p, 10, 16); err != nil || n == 0 {
			return fmt.Errorf("there is no port %s; they go from 1 to 65535", p)
		}
	}
	return nil
}

// Address returns the URL of the link, or several, without passwords and tokens.
func (l Link) Address() string { return withoutSecrets(l.URL) }

// withoutSecrets hides passwords and tokens in a list of URLs.
func withoutSecrets(list string) string {
	parts := strings.Split(list, ",")
	for i, p := range parts {
		scheme, rest, ok := strings.Cut(p, "://")
		if !ok {
			scheme, rest = "", p
		}
		if at := strings.LastIndex(rest, "@"); at >= 0 {
			rest = "…" + rest[at:]
		}
		if parts[i] = rest; ok {
			parts[i] = scheme + "://" + rest
		}
	}
	return strings.Join(parts, ",")
}
