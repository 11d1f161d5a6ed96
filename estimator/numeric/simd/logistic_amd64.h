// LOGISTIC replaces the numbers at DI, CX of them in steps of so many lanes and bytes, by gain/(1 + exp(−rate·x)) + shift, by the
// table at R13. x is bounded so that what is not a number stays so; n becomes the nearest multiple of log 2, p is 2ⁿ, x the
// rest, and q the polynomial of it, then 1 + e.
#define LOGISTIC(XOR, ROUND, lanes, bytes, x, n, p, q, zero, one, log2e, least, most, shift, gain, rate) \
	VMOVUPS      640(R13), most   \
	VMOVUPS      704(R13), least  \
	VMOVUPS      448(R13), log2e  \
	VMOVUPS      (R13), one       \
	XOR          zero, zero, zero \
step:                             \
	VMULPS       (DI), rate, x    \
	VSUBPS       x, zero, x       \
	VMINPS       x, most, x       \
	VMAXPS       x, least, x      \
	VMULPS       x, log2e, n      \
	ROUND        $8, n, n         \
	VCVTPS2DQ    n, p             \
	VPSLLD       $23, p, p        \
	VPADDD       one, p, p        \
	VFNMADD231PS 512(R13), n, x   \
	VFNMADD231PS 576(R13), n, x   \
	VMOVUPS      384(R13), q      \
	VFMADD213PS  320(R13), x, q   \
	VFMADD213PS  256(R13), x, q   \
	VFMADD213PS  192(R13), x, q   \
	VFMADD213PS  128(R13), x, q   \
	VFMADD213PS  64(R13), x, q    \
	VFMADD213PS  one, x, q        \
	VFMADD213PS  one, p, q        \
	VDIVPS       q, gain, q       \
	VADDPS       shift, q, q      \
	VMOVUPS      q, (DI)          \
	ADDQ         $bytes, DI       \
	SUBQ         $lanes, CX       \
	JNZ          step             \
	VZEROUPPER                    \
	RET
