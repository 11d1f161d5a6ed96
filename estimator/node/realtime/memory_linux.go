package realtime

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"strconv"
)

// Available returns how many bytes this process may still take: what the kernel reports as
// available, within the limit of its control group; math.MaxInt64 where nothing is reported.
func Available() int64 {
	most := int64(math.MaxInt64)
	if b, err := os.ReadFile("/proc/meminfo"); err == nil {
		if kb, ok := number(b, "MemAvailable:"); ok {
			most = kb << 10
		}
	}
	b, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return most
	}
	for line := range bytes.Lines(b) {
		path, ok := bytes.CutPrefix(bytes.TrimSpace(line), []byte("0::"))
		if !ok {
			continue
		}
		folder := filepath.Join("/sys/fs/cgroup", string(path))
		limit, ok := numberIn(filepath.Join(folder, "memory.max")) // the text max means none
		used, known := numberIn(filepath.Join(folder, "memory.current"))
		if ok && known {
			most = min(most, max(limit-used, 0))
		}
	}
	return most
}

func number(b []byte, name string) (int64, bool) {
	_, after, _ := bytes.Cut(b, []byte(name))
	fields := bytes.Fields(after)
	if len(fields) == 0 {
		return 0, false
	}
	v, err := strconv.ParseInt(string(fields[0]), 10, 64)
	return v, err == nil
}

func numberIn(path string) (int64, bool) {
	b, err := os.ReadFile(path)
	if err != nil {
		return 0, false
	}
	return number(b, "")
}
