package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nkeys"

	"github.com/dgm-robotics/dgm/bridge/fleet"
	"github.com/dgm-robotics/dgm/estimator/durable"
)

// Names of keys that are of no role: that of the operator signs accounts, that of an account its users. The server has their public
// halves alone.
const (
	signerKey     = "signer"
	accountKey    = "account."
	systemAccount = "SYS"
	revokedFile   = "revoked.json"
)

// revocations are public keys of users and since when they are refused, Unix time in s, by role.
type revocations map[string]map[string]int64

func readRevocations(dir string) (revocations, error) {
	r := revocations{}
	b, err := os.ReadFile(filepath.Join(dir, revokedFile))
	if err == nil {
		err = json.Unmarshal(b, &r)
	} else if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return r, err
}

// rotated moves the keys of roles out of the way, so that they get new ones, and notes that the old ones are refused.
func rotated(dir string, roles []string) error {
	revoked, err := readRevocations(dir)
	if err != nil {
		return err
	}
	keys := filepath.Join(dir, keyFolder)
	for _, role := range roles {
		pair, err := readKey(keys, role)
		if err != nil {
			return fmt.Errorf("the key of %s: %w: --rotate takes roles such as robot.drone-1, planner.drone-1, worker, viewer and operator", role, err)
		}
		public, err := pair.PublicKey()
		if err != nil {
			return err
		}
		if revoked[role] == nil {
			revoked[role] = map[string]int64{}
		}
		revoked[role][public] = time.Now().Unix()
	}
	b, err := json.Marshal(revoked)
	if err == nil {
		err = durable.WriteFile(filepath.Join(dir, revokedFile), b) // before the keys are gone
	}
	for _, role := range roles {
		err = errors.Join(err, os.Remove(keyFile(keys, role)))
	}
	return err
}

// credentials are accounts and users that a signer vouches for, in place of public keys in the configuration: users end.
type credentials struct {
	dir     string // of the keys
	until   time.Time
	revoked revocations
	files   []string // that were written

	signer   nkeys.KeyPair
	accounts map[string]nkeys.KeyPair // by name
	public   map[string]string        // by name
}

// write writes the credentials of all roles, and returns the part of a server's configuration that has the accounts.
func (c *credentials) write(a *fleet.Authority) (config string, err error) {
	if c.signer, err = c.key(signerKey, nkeys.CreateOperator); err != nil {
		return "", err
	}
	all := append(a.Accounts(), fleet.Account{Name: systemAccount})
	c.accounts, c.public = map[string]nkeys.KeyPair{}, map[string]string{}
	for _, acc := range all {
		if c.accounts[acc.Name], err = c.key(accountKey+acc.Name, nkeys.CreateAccount); err == nil {
			c.public[acc.Name], err = c.accounts[acc.Name].PublicKey()
		}
		if err != nil {
			return "", fmt.Errorf("account %s: %w", acc.Name, err)
		}
	}
	token, err := c.trusted()
	if err != nil {
		return "", err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "operator: %s\nsystem_account: %s\nresolver: MEMORY\nresolver_preload {\n", token, c.public[systemAccount])
	for i := range all {
		if token, err = c.account(&all[i]).Encode(c.signer); err != nil {
			return "", fmt.Errorf("account %s: %w", all[i].Name, err)
		}
		fmt.Fprintf(&b, "  %s: %s # %s\n", c.public[all[i].Name], token, all[i].Name)
		for _, u := range all[i].Users {
			if err := c.user(u, all[i].Name, a.Keys[u.Role]); err != nil {
				return "", fmt.Errorf("the credentials of %s: %w", u.Role, err)
			}
		}
	}
	b.WriteString("}\n")
	return b.String(), nil
}

// trusted returns what the signer says of itself, the same every time: a running server takes no other.
func (c *credentials) trusted() (string, error) {
	name := filepath.Join(c.dir, signerKey+".jwt")
	if token, err := os.ReadFile(name); !errors.Is(err, fs.ErrNotExist) {
		return string(token), err
	}
	public, err := c.signer.PublicKey()
	if err != nil {
		return "", err
	}
	o := jwt.NewOperatorClaims(public)
	o.Name, o.SystemAccount = "dgm-fleet", c.public[systemAccount]
	token, err := o.Encode(c.signer)
	if err != nil {
		return "", err
	}
	c.files = append(c.files, name)
	return token, durable.WriteFile(name, []byte(token))
}

// key reads a key, or makes one where there is none.
func (c *credentials) key(name string, create func() (nkeys.KeyPair, error)) (nkeys.KeyPair, error) {
	pair, made, err := haveKey(c.dir, name, create)
	if made {
		c.files = append(c.files, keyFile(c.dir, name))
	}
	return pair, err
}

// account returns what the signer says of an account. Its exports are for all accounts: nobody else can make one, which would import them.
func (c *credentials) account(of *fleet.Account) *jwt.AccountClaims {
	a := jwt.NewAccountClaims(c.public[of.Name])
	a.Name = of.Name
	if of.Stores {
		a.Limits.JetStreamLimits = jwt.JetStreamLimits{MemoryStorage: jwt.NoLimit, DiskStorage: jwt.NoLimit, Streams: jwt.NoLimit, Consumer: jwt.NoLimit}
	}
	kind := map[bool]jwt.ExportType{false: jwt.Stream, true: jwt.Service}
	for _, e := range of.Exports {
		if slices.ContainsFunc(of.Exports, func(wide fleet.Export) bool {
			return wide.Subject != e.Subject && jwt.Subject(e.Subject).IsContainedIn(jwt.Subject(wide.Subject))
		}) {
			continue // a server takes no two that overlap; who asks for the narrow one is said where it is imported
		}
		x := &jwt.Export{Name: e.Subject, Subject: jwt.Subject(e.Subject), Type: kind[e.Service]}
		if e.Many {
			x.ResponseType, x.ResponseThreshold = jwt.ResponseTypeStream, fleet.ManyFor
		}
		a.Exports.Add(x)
	}
	for _, i := range of.Imports {
		a.Imports.Add(&jwt.Import{Name: i.Subject, Account: c.public[i.Account], Subject: jwt.Subject(i.Subject), LocalSubject: jwt.RenamingSubject(i.Local), Type: kind[i.Service]})
	}
	for _, u := range of.Users {
		for _, key := range slices.Sorted(maps.Keys(c.revoked[u.Role])) {
			a.RevokeAt(key, time.Unix(c.revoked[u.Role][key], 0))
		}
	}
	return a
}

// user writes the credentials of a role, which the server refuses and disconnects after their end.
func (c *credentials) user(of fleet.User, account, public string) error {
	u := jwt.NewUserClaims(public)
	u.Name, u.Expires = of.Role, c.until.Unix()
	u.Pub.Allow.Add(of.Publish...)
	u.Sub.Allow.Add(of.Subscribe...)
	token, err := u.Encode(c.accounts[account])
	if err != nil {
		return err
	}
	pair, err := readKey(c.dir, of.Role)
	if err != nil {
		return err
	}
	seed, err := pair.Seed()
	if err != nil {
		return err
	}
	file, err := jwt.FormatUserConfig(token, seed)
	if err != nil {
		return err
	}
	name := credsFile(c.dir, of.Role)
	c.files = append(c.files, name)
	if err := os.WriteFile(name+".new", file, 0o600); err != nil {
		return err
	}
	return os.Rename(name+".new", name)
}
