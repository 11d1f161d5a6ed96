package node

import (
	"sync"
	"testing"
)

func TestMailboxKeepsTheNewest(t *testing.T) {
	b := newMailbox()
	if b.get() != nil {
		t.Fatal("something in a new mailbox")
	}
	for i := range 3 {
		b.blank().state.Seq = uint64(i)
		if replaced := b.put(); replaced != (i > 0) {
			t.Errorf("put %d: replaced %v", i, replaced)
		}
	}
	a := b.get()
	if a == nil || a.state.Seq != 2 {
		t.Fatalf("got %+v", a)
	}
	if b.get() != nil {
		t.Error("the same arrival twice")
	}
	b.blank().state.Seq = 3
	if b.put() {
		t.Error("replaced what was read")
	}
	if a.state.Seq != 2 {
		t.Error("what is being read was changed")
	}
}

// One goroutine writes as fast as it can, one reads: every arrival is whole, newer
// than the one before, and either read or known as replaced.
func TestMailboxBetweenGoroutines(t *testing.T) {
	const n = 20000
	b := newMailbox()
	var replaced, read int
	var done sync.WaitGroup
	done.Go(func() {
		for i := range n {
			a := b.blank()
			a.state.Seq, a.state.T, a.at = uint64(i+1), int64(i+1), int64(i+1)
			if b.put() {
				replaced++
			}
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
