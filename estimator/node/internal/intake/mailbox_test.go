package intake

import (
	"sync"
	"testing"
)

// As many as it holds are handed on in order; one more, and the newest is left.
func TestMailboxHandsOnABurstAndDropsAFlood(t *testing.T) {
	for _, holds := range []int{1, 32} {
		b := NewMailbox(holds)
		if b.Get() != nil {
			t.Fatal("something in a new mailbox")
		}
		put := func(seq int) (dropped int) {
			b.Blank().State.Seq = uint64(seq)
			return b.Put()
		}
		for i := range holds {
			if put(i) != 0 {
				t.Errorf("of %d: number %d dropped something", holds, i)
			}
		}
		for i := range holds {
			if a := b.Get(); a == nil || a.State.Seq != uint64(i) {
				t.Fatalf("of %d: number %d is %+v", holds, i, a)
			}
		}
		if b.Get() != nil {
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
		a := b.Get()
		if a == nil || a.State.Seq != uint64(10+holds) {
			t.Fatalf("after a flood: %+v", a)
		}
		if put(30) != 0 {
			t.Error("dropped what was read")
		}
		if a.State.Seq != uint64(10+holds) {
			t.Error("what is being read was changed")
		}
	}
}

// One goroutine writes as fast as it can, one reads: every arrival is whole, newer
// than the one before, and either read or known as dropped.
func TestMailboxBetweenGoroutines(t *testing.T) {
	const n = 20000
	b := NewMailbox(32)
	var replaced, read int
	var done sync.WaitGroup
	done.Go(func() {
		for i := range n {
			a := b.Blank()
			a.State.Seq, a.State.T, a.At = uint64(i+1), int64(i+1), int64(i+1)
			replaced += b.Put()
		}
	})
	last := uint64(0)
	for last < n {
		<-b.Ready
		for a := b.Get(); a != nil; a = b.Get() {
			if a.State.Seq <= last || a.State.T != int64(a.State.Seq) || a.At != a.State.T {
				t.Fatalf("after %d came %+v", last, a)
			}
			last = a.State.Seq
			read++
		}
	}
	done.Wait()
	if read+replaced != n {
		t.Errorf("%d read and %d replaced of %d", read, replaced, n)
	}
}
