package mat

import (
	"encoding/binary"
	"math"
	"strconv"

	"github.com/dgm-robotics/dgm/bridge/internal/number"
)

// text writes number i; empty for NaN.
func (a *array) text(i int) string {
	b := a.data[i*a.kind.Size():]
	v := a.kind.Little(b)
	if a.order == binary.BigEndian {
		v = a.kind.Big(b)
	}
	switch {
	case math.IsNaN(v):
		return ""
	case a.kind == number.F32:
		return strconv.FormatFloat(v, 'g', -1, 32)
	case a.kind == number.I64: // times in ns have more digits than a double
		return strconv.FormatInt(int64(a.order.Uint64(b)), 10)
	case a.kind == number.U64:
		return strconv.FormatUint(a.order.Uint64(b), 10)
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}
