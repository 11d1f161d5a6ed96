package simd

// Unit is an instruction set that the kernels are written for.
type Unit uint8

// The units.
const (
	Plain  Unit = iota // Go, on any processor
	AVX2               // amd64: with FMA
	AVX512             // amd64: F and VL, with AVX2 and FMA
	NEON               // arm64
)

func (u Unit) String() string {
	switch u {
	case AVX2:
		return "AVX2"
	case AVX512:
		return "AVX-512"
	case NEON:
		return "NEON"
	}
	return "Go"
}

// Units returns those of this processor, the fastest first. Plain is always among
// them.
func Units() []Unit { return append(vector(), Plain) }

// Best returns the fastest unit of this processor.
func Best() Unit { return Units()[0] }

const (
	badLength = "simd: lengths do not agree"
	badRow    = "simd: a row is negative"
)
