package telemetry_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/dgm-robotics/dgm/bridge/telemetry"
)

// replay is a source of given messages.
type replay struct {
	msgs []telemetry.Message
	err  error
	next int
	bad  telemetry.Problems
}

func (r *replay) Next() (*telemetry.Message, error) {
	if r.next == len(r.msgs) {
		return nil, r.err
	}
	r.next++
	return &r.msgs[r.next-1], nil
}

func (r *replay) Problems() *telemetry.Problems { return &r.bad }
func (r *replay) Consumed() int64               { return int64(r.next) }
func (r *replay) Size() int64                   { return int64(len(r.msgs)) }
func (r *replay) Until(<-chan struct{})         {}
func (r *replay) Close() error                  { return nil }

func TestSurvey(t *testing.T) {
	fast, slow, once := &telemetry.Topic{Name: "b", Seq: 0}, &telemetry.Topic{Name: "a", Instance: 1, Seq: 1}, &telemetry.Topic{Name: "a", Seq: 2}
	r := &replay{err: io.EOF}
	for i := range int64(10_000) {
		r.msgs = append(r.msgs, telemetry.Message{Topic: fast, Time: i * 1e6})
		if i%100 == 0 {
			at := i * 1e6
			if i >= 5000 {
				at += 3600e9 // a pause of an hour
			}
			r.msgs = append(r.msgs, telemetry.Message{Topic: slow, Time: at})
		}
	}
	r.msgs = append(r.msgs, telemetry.Message{Topic: once, Time: 5})
	n := 0
	var shares []float64
	all, err := telemetry.Survey(context.Background(), r, func(s float64) { shares = append(shares, s) }, func(*telemetry.Message) { n++ })
	if err != nil || n != len(r.msgs) || len(shares) < 3 || shares[0] != 0 || shares[len(shares)-1] > 1 {
		t.Fatal(err, n, shares)
	}
	var names []string
	for _, c := range all {
		names = append(names, fmt.Sprint(c.Topic, " ", c.N, " ", c.Step()))
	}
	if got := strings.Join(names, ", "); got != "a 1 0, a#1 100 100000000, b 10000 1000000" {
		t.Errorf("%s; a pause must not change the step", got)
	}
	if all[0].Rate() != 0 || all[2].Rate() != 1000 || all[1].First != 0 || all[1].Last != 3600e9+9900e6 {
		t.Errorf("%+v", all)
	}
	boom := errors.New("boom")
	if _, err := telemetry.Survey(context.Background(), &replay{err: boom}, nil, nil); !errors.Is(err, boom) {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := telemetry.Survey(ctx, &replay{err: io.EOF}, nil, nil); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestProblemsAreBounded(t *testing.T) {
	var p telemetry.Problems
	for i := range 5000 {
		p.Add(int64(i), "record", "number %d", i)
	}
	all := p.All()
	if p.Count() != 5000 || len(all) != telemetry.MaxProblems+1 || all[1].String() != "byte 1: record: number 1" || !strings.Contains(all[len(all)-1].Reason, "4000 more problems") {
		t.Errorf("%d, %d, %v", p.Count(), len(all), all[len(all)-1])
	}
	if len(p.All()) != len(all) || p.List[telemetry.MaxProblems-1].Record != "record" {
		t.Error("asking changes the list")
	}
}

func TestFieldErrorNamesWhatLooksAlike(t *testing.T) {
	topic := &telemetry.Topic{Name: "att", Instance: 2, Fields: func() []telemetry.Field {
		return []telemetry.Field{{Path: "timestamp"}, {Path: "q[0]"}, {Path: "q[1]"}}
	}}
	err := telemetry.NewFieldError("a.ulg", topic, "q", "q is an array")
	if want := `a.ulg: topic att#2: field "q": q is an array; correct the map, there are: q[0], q[1], timestamp`; err.Error() != want {
		t.Errorf("%v\nwant %s", err, want)
	}
}

func TestSampled(t *testing.T) {
	const wrap = 1000 << 32
	for _, c := range []struct{ sent, sample, want int64 }{
		{5e9, 4.9e9, 4.9e9}, {5e9, 0, 5e9}, {5e9, 6e9, 5e9}, {60e9, 5e9, 60e9},
		{wrap + 5e9, 4.9e9, wrap + 4.9e9}, {3*wrap + 1e6, wrap - 1e6, 3*wrap - 1e6}, {wrap + 60e9, 5e9, wrap + 60e9},
	} {
		if got := telemetry.Sampled(c.sent, c.sample); got != c.want {
			t.Errorf("%d, %d: %d, want %d", c.sent, c.sample, got, c.want)
		}
	}
}
