#include "go_asm.h"
#include "textflag.h"
#include "logistic_amd64.h"

// Four rows of a panel by sixteen lanes are eight sums, Y0 to Y7: as many as keep
// two FMA units of four cycles busy. A column takes six loads for its eight
// multiply-adds, below the two that can be made in a cycle.
//
//	DI dst   BX panels left   R8, R9 parts and their number
//	R12, R13 part and parts left   SI L   DX X   CX columns left

// COLUMN adds a column: four numbers at o(SI) by sixteen lanes at x(DX).
#define COLUMN(o, x) \
	VMOVUPS      (x)(DX), Y8     \
	VMOVUPS      (x+32)(DX), Y9  \
	VBROADCASTSS (o)(SI), Y10    \
	VBROADCASTSS (o+4)(SI), Y11  \
	VBROADCASTSS (o+8)(SI), Y12  \
	VBROADCASTSS (o+12)(SI), Y13 \
	VFMADD231PS  Y8, Y10, Y0     \
	VFMADD231PS  Y9, Y10, Y1     \
	VFMADD231PS  Y8, Y11, Y2     \
	VFMADD231PS  Y9, Y11, Y3     \
	VFMADD231PS  Y8, Y12, Y4     \
	VFMADD231PS  Y9, Y12, Y5     \
	VFMADD231PS  Y8, Y13, Y6     \
	VFMADD231PS  Y9, Y13, Y7

// PANEL leaves the sum of all parts for the present panel in Y0 to Y7 and moves
// them to the next.
#define PANEL \
	VXORPS Y0, Y0, Y0         \
	VXORPS Y1, Y1, Y1         \
	VXORPS Y2, Y2, Y2         \
	VXORPS Y3, Y3, Y3         \
	VXORPS Y4, Y4, Y4         \
	VXORPS Y5, Y5, Y5         \
	VXORPS Y6, Y6, Y6         \
	VXORPS Y7, Y7, Y7         \
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
	COLUMN(0, 0)              \
	COLUMN(16, 64)            \
	ADDQ   $128, DX           \
	ADDQ   $32, SI            \
	SUBQ   $2, CX             \
	JGE    two                \
last:                         \
	ADDQ   $2, CX             \
	JZ     done               \
	COLUMN(0, 0)              \
done:                         \
	ADDQ   $Part__size, R12   \
	DECQ   R13                \
	JNZ    part

// func productAVX2(dst *float32, panels int, parts *Part, n int)
TEXT ·productAVX2(SB), NOSPLIT, $0-32
	MOVQ dst+0(FP), DI
	MOVQ panels+8(FP), BX
	MOVQ parts+16(FP), R8
	MOVQ n+24(FP), R9

panel:
	PANEL
	VMOVUPS Y0, (DI)
	VMOVUPS Y1, 32(DI)
	VMOVUPS Y2, 64(DI)
	VMOVUPS Y3, 96(DI)
	VMOVUPS Y4, 128(DI)
	VMOVUPS Y5, 160(DI)
	VMOVUPS Y6, 192(DI)
	VMOVUPS Y7, 224(DI)
	ADDQ    $256, DI
	DECQ    BX
	JNZ     panel
	VZEROUPPER
	RET

// func squaresAVX2(dst *float32, panels int, parts *Part, n int)
TEXT ·squaresAVX2(SB), NOSPLIT, $0-32
	MOVQ    dst+0(FP), DI
	MOVQ    panels+8(FP), BX
	MOVQ    parts+16(FP), R8
	MOVQ    n+24(FP), R9
	VMOVUPS (DI), Y14
	VMOVUPS 32(DI), Y15

panel:
	PANEL
	VFMADD231PS Y0, Y0, Y14
	VFMADD231PS Y1, Y1, Y15
	VMULPS      Y2, Y2, Y2
	VMULPS      Y3, Y3, Y3
	VFMADD231PS Y4, Y4, Y14
	VFMADD231PS Y5, Y5, Y15
	VFMADD231PS Y6, Y6, Y2
	VFMADD231PS Y7, Y7, Y3
	VADDPS      Y2, Y14, Y14
	VADDPS      Y3, Y15, Y15
	DECQ        BX
	JNZ         panel
	VMOVUPS     Y14, (DI)
	VMOVUPS     Y15, 32(DI)
	VZEROUPPER
	RET

// func addScaledAVX2(dst, scale, src *float32, rows int)
TEXT ·addScaledAVX2(SB), NOSPLIT, $0-32
	MOVQ    dst+0(FP), DI
	MOVQ    scale+8(FP), AX
	MOVQ    src+16(FP), SI
	MOVQ    rows+24(FP), CX
	VMOVUPS (AX), Y0
	VMOVUPS 32(AX), Y1

row:
	VMOVUPS     (DI), Y2
	VMOVUPS     32(DI), Y3
	VFMADD231PS (SI), Y0, Y2
	VFMADD231PS 32(SI), Y1, Y3
	VMOVUPS     Y2, (DI)
	VMOVUPS     Y3, 32(DI)
	ADDQ        $64, SI
	ADDQ        $64, DI
	DECQ        CX
	JNZ         row
	VZEROUPPER
	RET

// A row is sixteen numbers, Y0 to Y3. Rows of the terms are turned into bytes: 128 each.
//
//	DI dst   SI a   DX b   R8 term   R9 terms left   R10 sparse
//
// func addTermsAVX2(dst, a, b *float64, terms *Term, n int, sparse bool)
TEXT ·addTermsAVX2(SB), NOSPLIT, $0-41
	MOVQ    dst+0(FP), DI
	MOVQ    a+8(FP), SI
	MOVQ    b+16(FP), DX
	MOVQ    terms+24(FP), R8
	MOVQ    n+32(FP), R9
	MOVBLZX sparse+40(FP), R10

term:
	MOVQ    Term_A(R8), AX
	SHLQ    $7, AX
	VMOVUPD (SI)(AX*1), Y0
	VMOVUPD 32(SI)(AX*1), Y1
	VMOVUPD 64(SI)(AX*1), Y2
	VMOVUPD 96(SI)(AX*1), Y3
	TESTL   R10, R10
	JZ      add
	VORPD   Y0, Y1, Y4
	VORPD   Y2, Y3, Y5
	VORPD   Y4, Y5, Y4
	VPTEST  Y4, Y4
	JZ      next

add:
	MOVQ         Term_B(R8), BX
	MOVQ         Term_Row(R8), CX
	SHLQ         $7, BX
	SHLQ         $7, CX
	VBROADCASTSD Term_S(R8), Y4
	VMULPD       Y4, Y0, Y0
	VMULPD       Y4, Y1, Y1
	VMULPD       Y4, Y2, Y2
	VMULPD       Y4, Y3, Y3
	VMULPD       (DX)(BX*1), Y0, Y0
	VMULPD       32(DX)(BX*1), Y1, Y1
	VMULPD       64(DX)(BX*1), Y2, Y2
	VMULPD       96(DX)(BX*1), Y3, Y3
	VADDPD       (DI)(CX*1), Y0, Y0
	VADDPD       32(DI)(CX*1), Y1, Y1
	VADDPD       64(DI)(CX*1), Y2, Y2
	VADDPD       96(DI)(CX*1), Y3, Y3
	VMOVUPD      Y0, (DI)(CX*1)
	VMOVUPD      Y1, 32(DI)(CX*1)
	VMOVUPD      Y2, 64(DI)(CX*1)
	VMOVUPD      Y3, 96(DI)(CX*1)

next:
	ADDQ $Term__size, R8
	DECQ R9
	JNZ  term
	VZEROUPPER
	RET

// Eight lanes at a time, all features, so that the mean stays in Y12 and Y13. The
// constants take Y6 to Y11, Y14, Y15, and what is left of them memory.
//
//	DI x   SI omega   DX z of these lanes   R8 weights   R9 features left
//	R10 rows of z left   R11 bytes to the lanes   R12 bytes from cosine to sine
//
// func rffAVX2(x, mean, omega, weights, z *float32, half, d int, table *table)
TEXT ·rffAVX2(SB), NOSPLIT, $0-64
	MOVQ table+56(FP), R13
	MOVQ    half+40(FP), R12
	SHLQ    $6, R12
	VMOVUPS (R13), Y6    // sin0
	VMOVUPS 64(R13), Y7   // sin1
	VMOVUPS 128(R13), Y8  // sin2
	VMOVUPS 320(R13), Y9  // cos0
	VMOVUPS 384(R13), Y10 // cos1
	VMOVUPS 448(R13), Y11 // cos2
	VMOVUPS 256(R13), Y14 // sin4
	VMOVUPS 640(R13), Y15 // cos5
	XORQ    R11, R11

lanes:
	MOVQ    mean+8(FP), AX
	VMOVUPS (AX)(R11*1), Y12
	VXORPS  Y13, Y13, Y13
	MOVQ    x+0(FP), DI
	ADDQ    R11, DI
	MOVQ    omega+16(FP), SI
	MOVQ    weights+24(FP), R8
	MOVQ    half+40(FP), R9

feature:
	MOVQ   z+32(FP), DX
	ADDQ   R11, DX
	MOVQ   d+48(FP), R10
	VXORPS Y0, Y0, Y0

turns:
	VBROADCASTSS (SI), Y1
	VFMADD231PS  (DX), Y1, Y0
	ADDQ         $4, SI
	ADDQ         $64, DX
	DECQ         R10
	JNZ          turns

	VROUNDPS     $8, Y0, Y1                 // to nearest
	VSUBPS       Y1, Y0, Y0                 // f
	VCVTPS2DQ    Y1, Y1
	VPSLLD       $31, Y1, Y1                // the sign of an odd number
	VMULPS       Y0, Y0, Y2                 // g
	VMOVAPS      Y14, Y3
	VMOVAPS      Y15, Y4
	VFMADD213PS  192(R13), Y2, Y3 // sin3
	VFMADD213PS  576(R13), Y2, Y4 // cos4
	VFMADD213PS  Y8, Y2, Y3
	VFMADD213PS  512(R13), Y2, Y4 // cos3
	VFMADD213PS  Y7, Y2, Y3
	VFMADD213PS  Y11, Y2, Y4
	VFMADD213PS  Y6, Y2, Y3
	VFMADD213PS  Y10, Y2, Y4
	VMULPS       Y0, Y3, Y3
	VFMADD213PS  Y9, Y2, Y4
	VXORPS       Y1, Y3, Y3
	VXORPS       Y1, Y4, Y4
	VBROADCASTSS (R8), Y5
	VFMADD231PS  Y4, Y5, Y12
	VBROADCASTSS 4(R8), Y5
	VFMADD231PS  Y3, Y5, Y13
	ADDQ         $8, R8
	CMPQ         DI, R11                    // no x
	JE           unkept
	VMOVUPS      Y4, (DI)
	VMOVUPS      Y3, (DI)(R12*1)
	ADDQ         $64, DI

unkept:
	DECQ    R9
	JNZ     feature
	VADDPS  Y13, Y12, Y12
	MOVQ    mean+8(FP), AX
	VMOVUPS Y12, (AX)(R11*1)
	ADDQ    $32, R11
	CMPQ    R11, $64
	JLT     lanes
	VZEROUPPER
	RET

// func logisticAVX2(x *float32, n int, rate, gain, shift float32, table *table)
TEXT ·logisticAVX2(SB), NOSPLIT, $0-40
	MOVQ         table+32(FP), R13
	MOVQ         x+0(FP), DI
	MOVQ         n+8(FP), CX
	VBROADCASTSS rate+16(FP), Y15
	VBROADCASTSS gain+20(FP), Y14
	VBROADCASTSS shift+24(FP), Y13
	LOGISTIC(VXORPS, VROUNDPS, 8, 32, Y0, Y1, Y2, Y3, Y8, Y9, Y10, Y11, Y12, Y13, Y14, Y15)

// func clampAVX2(dst, x, low, high *float32, rows int)
TEXT ·clampAVX2(SB), NOSPLIT, $0-40
	MOVQ dst+0(FP), DI
	MOVQ x+8(FP), SI
	MOVQ low+16(FP), AX
	MOVQ high+24(FP), BX
	MOVQ rows+32(FP), CX

row:
	VMOVUPS (SI), Y0
	VMOVUPS 32(SI), Y1
	VMOVUPS (AX), Y2
	VMOVUPS 32(AX), Y3
	VMOVUPS (BX), Y4
	VMOVUPS 32(BX), Y5
	VMAXPS  Y0, Y2, Y0 // what is not a number stays so
	VMAXPS  Y1, Y3, Y1
	VMINPS  Y0, Y4, Y0
	VMINPS  Y1, Y5, Y1
	VMOVUPS Y0, (DI)
	VMOVUPS Y1, 32(DI)
	ADDQ    $64, SI
	ADDQ    $64, AX
	ADDQ    $64, BX
	ADDQ    $64, DI
	DECQ    CX
	JNZ     row
	VZEROUPPER
	RET
