package decisionlog

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"encoding/json"
	"math"
	"strconv"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/node/stored"
)

var key = ed25519.NewKeyFromSeed(bytes.Repeat([]byte{1}, ed25519.SeedSize))

func public() ed25519.PublicKey { return key.Public().(ed25519.PublicKey) }

// What was seen is read as it was written, by the same vehicle with the same key alone.
func TestWhatWasSeenIsKept(t *testing.T) {
	v := NewVehicle("v1", public())
	if v.Encode() != nil {
		t.Error("nothing was read, and something is to be kept")
	}
	text := model.SignDecision(model.Statement{Purpose: model.ForInstallation, Vehicle: "v1", Number: 1, Content: []byte(`{"flown":{"model":"m","sequence":3}}`)}, key)
	d, err := v.log.next(&stored.Message{Subject: Prefix + "installation.v1", Sequence: 1, Data: text})
	if err != nil || d.Fault != nil {
		t.Fatal(d, err)
	}
	v.take(d)
	kept := v.Encode()
	if kept == nil || v.Encode() != nil {
		t.Error("it is to be kept once")
	}
	again := NewVehicle("v1", public())
	if err := again.Decode(kept); err != nil || again.log.head.Number != 1 || !bytes.Equal(again.log.head.Hash, d.Hash) || !bytes.Equal(again.content, d.Content) || again.Encode() != nil {
		t.Errorf("%+v, %v", again, err)
	}
	for name, other := range map[string]*Vehicle{"another vehicle": NewVehicle("v2", public()), "another key": NewVehicle("v1", bytes.Repeat([]byte{7}, ed25519.PublicKeySize))} {
		if err := other.Decode(kept); err != nil || other.log.head.Number != 0 {
			t.Errorf("%s: %+v, %v", name, other, err)
		}
	}
}

// A message that decides nothing hides nothing: the next decision names it and all before it, for who has the key and who has not.
func TestAFaultKeepsTheChain(t *testing.T) {
	at := func(n uint64, data []byte) *stored.Message {
		return &stored.Message{Subject: Prefix + "installation.v1", Sequence: n, Data: data, Time: time.Unix(1, 0)}
	}
	decision := func(n uint64, reason string, after []byte, key ed25519.PrivateKey) []byte {
		return model.SignDecision(model.Statement{Purpose: model.ForInstallation, Vehicle: "v1", Number: n, Decision: after, Content: []byte(reason)}, key)
	}
	read := func(l *Log, messages ...[]byte) (last *Decision) {
		t.Helper()
		for i, m := range messages {
			var err error
			if last, err = l.next(at(uint64(i+1), m)); err != nil {
				t.Fatal(err)
			}
		}
		return last
	}
	stranger := ed25519.NewKeyFromSeed(bytes.Repeat([]byte{2}, ed25519.SeedSize))
	first, other := decision(1, "one", nil, key), decision(1, "another one", nil, key)
	for name, fault := range map[string][]byte{"no statement": []byte("x"), "nothing": nil, "of a stranger": decision(2, "stolen", model.DecisionHash(first), stranger), "repeated": first} {
		l := New(public(), Head{})
		if d := read(l, first, fault); d.Fault == nil {
			t.Errorf("%s: it decides", name)
		}
		third := decision(3, "three", l.head.Hash, key)
		for _, verified := range []ed25519.PublicKey{public(), nil} {
			if d := read(New(verified, Head{}), first, fault, third); d.Fault != nil {
				t.Errorf("%s: the decision behind it: %v", name, d.Fault)
			}
			if d := read(New(verified, Head{}), other, fault, third); d.Fault == nil {
				t.Errorf("%s: the decision before it can be exchanged", name)
			}
		}
	}
}

// Any bytes are read or refused; what is read is written as it was.
func FuzzVehicle(f *testing.F) {
	v := NewVehicle("v1", public())
	v.log.head, v.content = Head{Number: 7, Hash: bytes.Repeat([]byte{1}, 32), Message: bytes.Repeat([]byte{2}, 32)}, []byte("{}")
	f.Add(v.Encode())
	f.Fuzz(func(t *testing.T, b []byte) {
		v := NewVehicle("v1", public())
		if v.Decode(b) != nil || v.log.head.Number == 0 {
			return
		}
		v.kept = 0
		kept, again := v.Encode(), NewVehicle("v1", public())
		if err := again.Decode(kept); err != nil || again.log.head.Number != v.log.head.Number || !bytes.Equal(again.log.head.Message, v.log.head.Message) || !bytes.Equal(again.content, v.content) {
			t.Errorf("%+v, %+v, %v", v, again, err)
		}
	})
}

// Who answers in place of the server, without the key, makes a vehicle take nothing: neither without an end, nor with another sequence, nor
// with messages of no log.
func TestAForeignAnswer(t *testing.T) {
	s, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: -1, NoLog: true, NoSigs: true})
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	if !s.ReadyForConnections(10 * time.Second) {
		t.Fatal("the server does not start")
	}
	connect := func() *nats.Conn {
		nc, err := nats.Connect(s.ClientURL())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(nc.Close)
		return nc
	}
	vehicle, thief := connect(), connect()
	answer := func(reply string, sequence uint64, data []byte) {
		h := nats.Header{"Nats-Sequence": {strconv.FormatUint(sequence, 10)}, "Nats-Subject": {Prefix + "installation.v1"}, "Nats-Time-Stamp": {"2026-01-01T00:00:00Z"}}
		_ = thief.PublishMsg(&nats.Msg{Subject: reply, Header: h, Data: data})
	}
	for name, do := range map[string]func(reply string, from uint64){
		"without an end": func(reply string, from uint64) {
			for i := range uint64(300) {
				answer(reply, from+i, []byte("x"))
			}
		},
		"the largest sequence": func(reply string, from uint64) { answer(reply, math.MaxUint64, nil) },
		"no sequence":          func(reply string, from uint64) { _ = thief.Publish(reply, []byte("{}")) },
		"a decision of nobody": func(reply string, from uint64) {
			answer(reply, from, model.SignDecision(model.Statement{Purpose: model.ForInstallation, Vehicle: "v1", Number: from, Content: []byte(`{"flown":{"model":"m","sequence":3}}`)}, ed25519.NewKeyFromSeed(bytes.Repeat([]byte{2}, ed25519.SeedSize))))
			_ = thief.PublishMsg(&nats.Msg{Subject: reply, Header: nats.Header{"Status": {"204"}}})
		},
	} {
		sub, err := thief.Subscribe("$JS.API.DIRECT.GET."+Stream, func(m *nats.Msg) {
			var asked struct {
				From uint64 `json:"seq"`
			}
			if json.Unmarshal(m.Data, &asked) == nil {
				do(m.Reply, asked.From)
			}
		})
		if err == nil {
			err = thief.Flush()
		}
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		v := NewVehicle("v1", public())
		err = v.Check(ctx, vehicle, &model.Statement{Vehicle: "v1", Model: "m", Sequence: 3, Decision: make([]byte, 32)}, false)
		if cancel(); err == nil || v.content != nil {
			t.Errorf("%s: it is taken: %v", name, err)
		}
		if err := sub.Unsubscribe(); err != nil {
			t.Fatal(err)
		}
	}
}
