#include "go_asm.h"
#include "textflag.h"
#include "logistic_amd64.h"

// As with AVX2, but sixteen lanes are one vector: the sums of even columns, Z0 to
// Z3, and of odd ones, Z4 to Z7, are kept apart, so that there are eight too.

// COLUMN adds a column: four numbers at o(SI) by sixteen lanes at x(DX).
#define COLUMN(o, x, s0, s1, s2, s3) \
	VMOVUPS      (x)(DX), Z8     \
	VBROADCASTSS (o)(SI), Z10    \
	VBROADCASTSS (o+4)(SI), Z11  \
	VBROADCASTSS (o+8)(SI), Z12  \
	VBROADCASTSS (o+12)(SI), Z13 \
	VFMADD231PS  Z8, Z10, s0     \
	VFMADD231PS  Z8, Z11, s1     \
	VFMADD231PS  Z8, Z12, s2     \
	VFMADD231PS  Z8, Z13, s3

// PANEL leaves the sum of all parts for the present panel in Z0 to Z3 and moves them to
// the next.
#define PANEL \
	VPXORD Z0, Z0, Z0         \
	VPXORD Z1, Z1, Z1         \
	VPXORD Z2, Z2, Z2         \
	VPXORD Z3, Z3, Z3         \
	VPXORD Z4, Z4, Z4         \
	VPXORD Z5, Z5, Z5         \
	VPXORD Z6, Z6, Z6         \
	VPXORD Z7, Z7, Z7         \
	MOVQ   R8, R12            \
	MOVQ   R9, R13            \
part:                         \
	MOVQ   Part_at(R12), AX   \
	MOVQ   Part_k(R12), CX    \
	MOVQ   Part_L(R12), SI    \
	LEAQ   (SI)(AX*4), SI     \
	LEAQ   (AX)(CX*4), AX     \
	ADDQ   Part_Skip(R12), AX \
	MOVQ   AX, Part_at(R12)   \
	MOVQ   Part_Grow(R12), AX \
	ADDQ   CX, AX             \
	MOVQ   AX, Part_k(R12)    \
	MOVQ   Part_X(R12), DX    \
	SUBQ   $2, CX             \
	JLT    last               \
two:                          \
	COLUMN(0, 0, Z0, Z1, Z2, Z3) \
	COLUMN(16, 64, Z4, Z5, Z6, Z7) \
	ADDQ   $128, DX           \
	ADDQ   $32, SI            \
	SUBQ   $2, CX             \
	JGE    two                \
last:                         \
	ADDQ   $2, CX             \
	JZ     done               \
	COLUMN(0, 0, Z0, Z1, Z2, Z3) \
done:                         \
	ADDQ   $Part__size, R12   \
	DECQ   R13                \
	JNZ    part               \
	VADDPS Z4, Z0, Z0         \
	VADDPS Z5, Z1, Z1         \
	VADDPS Z6, Z2, Z2         \
	VADDPS Z7, Z3, Z3

// func productAVX512(dst *float32, panels int, parts *Part, n int)
TEXT ·productAVX512(SB), NOSPLIT, $0-32
	MOVQ dst+0(FP), DI
	MOVQ panels+8(FP), BX
	MOVQ parts+16(FP), R8
	MOVQ n+24(FP), R9

panel:
	PANEL
	VMOVUPS Z0, (DI)
	VMOVUPS Z1, 64(DI)
	VMOVUPS Z2, 128(DI)
	VMOVUPS Z3, 192(DI)
	ADDQ    $256, DI
	DECQ    BX
	JNZ     panel
	VZEROUPPER
	RET

// func squaresAVX512(dst *float32, panels int, parts *Part, n int)
TEXT ·squaresAVX512(SB), NOSPLIT, $0-32
	MOVQ    dst+0(FP), DI
	MOVQ    panels+8(FP), BX
	MOVQ    parts+16(FP), R8
	MOVQ    n+24(FP), R9
	VMOVUPS (DI), Z14

panel:
	PANEL
	VMULPS      Z1, Z1, Z1
	VFMADD231PS Z0, Z0, Z14
	VFMADD231PS Z3, Z3, Z1
	VFMADD231PS Z2, Z2, Z14
	VADDPS      Z1, Z14, Z14
	DECQ        BX
	JNZ         panel
	VMOVUPS     Z14, (DI)
	VZEROUPPER
	RET

// A cosine of each feature: 13 of the multiplications and additions of rffAVX512's 19.
//
// func cosinesAVX512(mean, omega, cosines, z *float32, half, d int, table *table)
TEXT ·cosinesAVX512(SB), NOSPLIT, $0-56
	MOVQ    table+48(FP), R13
	MOVQ    mean+0(FP), R11
	MOVQ    omega+8(FP), SI
	MOVQ    cosines+16(FP), R8
	MOVQ    half+32(FP), R9
	VMOVUPS 320(R13), Z21 // cos0
	VMOVUPS 384(R13), Z22
	VMOVUPS 448(R13), Z23
	VMOVUPS 512(R13), Z24
	VMOVUPS 576(R13), Z25
	VMOVUPS 640(R13), Z26
	VMOVUPS (R11), Z12

feature:
	MOVQ         z+24(FP), DX
	MOVQ         d+40(FP), R10
	VBROADCASTSS (R8), Z0    // the phase

turns:
	VBROADCASTSS (SI), Z1
	VFMADD231PS  (DX), Z1, Z0
	ADDQ         $4, SI
	ADDQ         $64, DX
	DECQ         R10
	JNZ          turns

	VRNDSCALEPS  $8, Z0, Z1  // to nearest
	VSUBPS       Z1, Z0, Z0  // f
	VCVTPS2DQ    Z1, Z1
	VPSLLD       $31, Z1, Z1 // the sign of an odd number
	VMULPS       Z0, Z0, Z2  // g
	VMOVAPS      Z26, Z4
	VFMADD213PS  Z25, Z2, Z4
	VFMADD213PS  Z24, Z2, Z4
	VFMADD213PS  Z23, Z2, Z4
	VFMADD213PS  Z22, Z2, Z4
	VFMADD213PS  Z21, Z2, Z4
	VPXORD       Z1, Z4, Z4
	VBROADCASTSS 4(R8), Z5
	VFMADD231PS  Z4, Z5, Z12
	ADDQ         $8, R8
	DECQ         R9
	JNZ          feature
	VMOVUPS      Z12, (R11)
	VZEROUPPER
	RET

// All sixteen lanes at once; all constants stay in registers.
//
// func rffAVX512(x, mean, omega, weights, z *float32, half, d int, table *table)
TEXT ·rffAVX512(SB), NOSPLIT, $0-64
	MOVQ table+56(FP), R13
	MOVQ    x+0(FP), DI
	MOVQ    mean+8(FP), R11
	MOVQ    omega+16(FP), SI
	MOVQ    weights+24(FP), R8
	MOVQ    half+40(FP), R9
	MOVQ    R9, R12
	SHLQ    $6, R12
	VMOVUPS (R13), Z16   // sin0
	VMOVUPS 64(R13), Z17
	VMOVUPS 128(R13), Z18
	VMOVUPS 192(R13), Z19
	VMOVUPS 256(R13), Z20
	VMOVUPS 320(R13), Z21 // cos0
	VMOVUPS 384(R13), Z22
	VMOVUPS 448(R13), Z23
	VMOVUPS 512(R13), Z24
	VMOVUPS 576(R13), Z25
	VMOVUPS 640(R13), Z26
	VMOVUPS (R11), Z12
	VPXORD  Z13, Z13, Z13

feature:
	MOVQ   z+32(FP), DX
	MOVQ   d+48(FP), R10
	VPXORD Z0, Z0, Z0

turns:
	VBROADCASTSS (SI), Z1
	VFMADD231PS  (DX), Z1, Z0
	ADDQ         $4, SI
	ADDQ         $64, DX
	DECQ         R10
	JNZ          turns

	VRNDSCALEPS  $8, Z0, Z1  // to nearest
	VSUBPS       Z1, Z0, Z0  // f
	VCVTPS2DQ    Z1, Z1
	VPSLLD       $31, Z1, Z1 // the sign of an odd number
	VMULPS       Z0, Z0, Z2  // g
	VMOVAPS      Z20, Z3
	VMOVAPS      Z26, Z4
	VFMADD213PS  Z19, Z2, Z3
	VFMADD213PS  Z25, Z2, Z4
	VFMADD213PS  Z18, Z2, Z3
	VFMADD213PS  Z24, Z2, Z4
	VFMADD213PS  Z17, Z2, Z3
	VFMADD213PS  Z23, Z2, Z4
	VFMADD213PS  Z16, Z2, Z3
	VFMADD213PS  Z22, Z2, Z4
	VMULPS       Z0, Z3, Z3
	VFMADD213PS  Z21, Z2, Z4
	VPXORD       Z1, Z3, Z3
	VPXORD       Z1, Z4, Z4
	VBROADCASTSS (R8), Z5
	VFMADD231PS  Z4, Z5, Z12
	VBROADCASTSS 4(R8), Z5
	VFMADD231PS  Z3, Z5, Z13
	ADDQ         $8, R8
	TESTQ        DI, DI      // no x
	JZ           unkept
	VMOVUPS      Z4, (DI)
	VMOVUPS      Z3, (DI)(R12*1)
	ADDQ         $64, DI

unkept:
	DECQ    R9
	JNZ     feature
	VADDPS  Z13, Z12, Z12
	VMOVUPS Z12, (R11)
	VZEROUPPER
	RET

// func logisticAVX512(x *float32, n int, rate, gain, shift float32, table *table)
TEXT ·logisticAVX512(SB), NOSPLIT, $0-40
	MOVQ         table+32(FP), R13
	MOVQ         x+0(FP), DI
	MOVQ         n+8(FP), CX
	VBROADCASTSS rate+16(FP), Z15
	VBROADCASTSS gain+20(FP), Z14
	VBROADCASTSS shift+24(FP), Z13
	LOGISTIC(VPXORD, VRNDSCALEPS, 16, 64, Z0, Z1, Z2, Z3, Z8, Z9, Z10, Z11, Z12, Z13, Z14, Z15)

// As with AVX2, but a row is Z0 and Z1.
//
// func addTermsAVX512(dst, a, b *float64, terms *Term, n int, sparse bool)
TEXT ·addTermsAVX512(SB), NOSPLIT, $0-41
	MOVQ    dst+0(FP), DI
	MOVQ    a+8(FP), SI
	MOVQ    b+16(FP), DX
	MOVQ    terms+24(FP), R8
	MOVQ    n+32(FP), R9
	MOVBLZX sparse+40(FP), R10

term:
	MOVQ    Term_A(R8), AX
	SHLQ    $7, AX
	VMOVUPD (SI)(AX*1), Z0
	VMOVUPD 64(SI)(AX*1), Z1
	TESTL   R10, R10
	JZ      add
	VPORQ   Z0, Z1, Z4
	VPTESTMQ Z4, Z4, K1
	KORTESTW K1, K1
	JZ      next

add:
	MOVQ         Term_B(R8), BX
	MOVQ         Term_Row(R8), CX
	SHLQ         $7, BX
	SHLQ         $7, CX
	VBROADCASTSD Term_S(R8), Z4
	VMULPD       Z4, Z0, Z0
	VMULPD       Z4, Z1, Z1
	VMULPD       (DX)(BX*1), Z0, Z0
	VMULPD       64(DX)(BX*1), Z1, Z1
	VADDPD       (DI)(CX*1), Z0, Z0
	VADDPD       64(DI)(CX*1), Z1, Z1
	VMOVUPD      Z0, (DI)(CX*1)
	VMOVUPD      Z1, 64(DI)(CX*1)

next:
	ADDQ $Term__size, R8
	DECQ R9
	JNZ  term
	VZEROUPPER
	RET
