package study

import (
	"context"
	"testing"
)

// merging is a study of which rows are merged.
var merging = Study{Name: "s", Sets: []string{"a", "b"}, Kinds: []string{"x"}, Needs: []string{"loglik"}, Run: func(context.Context, *Unit) error { return nil }}

func TestRowsAreMergedOnce(t *testing.T) {
	dir := t.TempDir()
	const rows = `{"set":"a","variant":"x","seed":1,"loglik":1}
{"set":"a","variant":"x/more","seed":1}
{"set":"b","variant":"x","seed":1,"settings":"--steps 5","loglik":2}
`
	for _, want := range []int{3, 0} {
		store, err := Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		if n, err := merging.Merge(store, []byte(rows)); err != nil || n != want {
			t.Errorf("%d rows, %v, expected %d", n, err, want)
		}
	}
	store, err := Open(dir)
	if err != nil || len(store.Rows("s")) != 3 || store.Rows("s")[2].Number("loglik") != 2 {
		t.Errorf("%+v, %v", store, err)
	}
	for _, bad := range []string{"{", `{"set":"c","variant":"x","loglik":1}`, `{"set":"a","variant":"y","loglik":1}`, `{"set":"a","variant":"x"}`, "{}\n"} {
		if n, err := merging.Merge(store, []byte(`{"set":"a","variant":"x","seed":9,"loglik":1}`+"\n"+bad)); err == nil || n != 0 {
			t.Errorf("%s: %d rows, %v", bad, n, err)
		}
	}
	if n := len(store.Rows("s")); n != 3 {
		t.Errorf("%d rows", n)
	}
}

// What is merged can be read again.
func FuzzMerge(f *testing.F) {
	f.Add([]byte(`{"set":"a","variant":"x","seed":1,"loglik":1,"n":[1,2],"in":{"t":["a"]}}`))
	f.Add([]byte("{\"set\":\"a\",\"variant\":\"x\",\"loglik\":1,\"in.t\":1,\"in\":{\"t\":2}}\n\n"))
	f.Fuzz(func(t *testing.T, lines []byte) {
		store, err := Open(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		n, err := merging.Merge(store, lines)
		if err != nil {
			return
		}
		again, err := Open(store.Dir)
		if err != nil || len(again.Rows("s")) > n {
			t.Errorf("%d rows of %d: %v", len(again.Rows("s")), n, err)
		}
	})
}
