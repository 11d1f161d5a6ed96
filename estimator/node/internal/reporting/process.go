package reporting

import "runtime/metrics"

// process reads what the runtime knows of this process.
type process struct{ samples [4]metrics.Sample }

func newProcess() *process {
	p := &process{}
	for i, name := range [...]string{
		"/memory/classes/total:bytes", "/memory/classes/heap/released:bytes", "/sched/goroutines:goroutines", "/gc/heap/allocs:objects",
	} {
		p.samples[i].Name = name
	}
	return p
}

// read returns the bytes that the runtime has from the operating system and has not
// given back, the goroutines, and the objects allocated so far; 0 where this runtime
// does not count them.
func (p *process) read() (memory, goroutines, allocs uint64) {
	metrics.Read(p.samples[:])
	value := func(i int) uint64 {
		if p.samples[i].Value.Kind() != metrics.KindUint64 {
			return 0
		}
		return p.samples[i].Value.Uint64()
	}
	return value(0) - value(1), value(2), value(3)
}
