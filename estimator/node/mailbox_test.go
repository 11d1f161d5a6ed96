package node

import (
	"sync"
	"testing"
)

// As many as it holds are handed on in order; one more, and the newest is left.
func TestMailboxHandsOnABurstAndDropsAFlood(t *testing.T) {
	for _, holds := range []int{1, burst} {
		b := newMailbox(holds)
		if b.get() != nil {
			t.Fatal("something in a new mailbox")
		}
		put := func(seq int) (dropped int) {
			b.blank().state.Seq = uint64(seq)
			return b.put()
		}
		for i := range holds {
			if put(i) != 0 {
				t.Errorf("of %d: number %d dropped something", holds, i)
			}
		}
		for i := range holds {
			if a := b.get(); a == nil || a.state.Seq != uint64(i) {
				t.Fatalf("of %d: number %d is %+v", holds, i, a)
			}
		}
		if b.get() != nil {
			t.Error("the same arrival twice")
		}
		for i := range holds + 1 {
			want := 0
			if i == holds {
				want = holds
			}
			if got := put(10 + i); got != want {
				t.Errorf("of %d: %d dropped for number %d, want %d", holds, got, i, want)
			}
		}
		a := b.get()
		if a == nil || a.state.Seq != uint64(10+holds) {
			t.Fatalf("after a flood: %+v", a)
		}
		if put(30) != 0 {
			t.Error("dropped what was read")
		}
		if a.state.Seq != uint64(10+holds) {
			t.Error("what is being read was changed")
		}
	}
}

// One goroutine writes as fast as it can, one reads: every arrival is whole, newer
// than the one before, and either read or known as dropped.
func TestMailboxBetweenGoroutines(t *testing.T) {
	const n = 20000
	b := newMailbox(burst)
	var replaced, read int
	var done sync.WaitGroup
	done.Go(func() {
		for i := range n {
			a := b.blank()
			a.state.Seq, a.state.T, a.at = uint64(i+1), int64(i+1), int64(i+1)
			replaced += b.put()
		}
	})
	last := uint64(0)
	for last < n {
		<-b.ready
		for a := b.get(); a != nil; a = b.get() {
			if a.state.Seq <= last || a.state.T != int64(a.state.Seq) || a.at != a.state.T {
				t.Fatalf("after %d came %+v", last, a)
			}
			last = a.state.Seq
			read++
		}
	}
	done.Wait()
	if read+replaced != n {
		t.Errorf("%d read and %d replaced of %d", read, replaced, n)
	}
}
