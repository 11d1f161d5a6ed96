#include "textflag.h"

// Vectors of four equal numbers.
#define FOUR(name, at, value) \
	DATA name<>+at+0(SB)/8, value  \
	DATA name<>+at+8(SB)/8, value  \
	DATA name<>+at+16(SB)/8, value \
	DATA name<>+at+24(SB)/8, value

FOUR(rff, 0, $0x3fe45f306dc9c883)   // 2/π
FOUR(rff, 32, $0x3ff921fb54442d18)  // π/2, three parts
FOUR(rff, 64, $0x3c91a62633145c07)
FOUR(rff, 96, $0xb91f1976b7ed8fbc)
FOUR(rff, 128, $0x4338000000000000) // 1.5·2⁵²
FOUR(rff, 160, $0x8000000000000000) // a sign
FOUR(rff, 192, $0x0000000000000001)
FOUR(rff, 224, $0x3de5d8fd1fd19ccd) // sine: z⁵ … 1, of r³
FOUR(rff, 256, $0xbe5ae5e5a9291f5d)
FOUR(rff, 288, $0x3ec71de3567d48a1)
FOUR(rff, 320, $0xbf2a01a019bfdf03)
FOUR(rff, 352, $0x3f8111111110f7d0)
FOUR(rff, 384, $0xbfc5555555555548)
FOUR(rff, 416, $0xbda8fa49a0861a9b) // cosine: z⁵ … 1, of z²
FOUR(rff, 448, $0x3e21ee9d7b4e3f05)
FOUR(rff, 480, $0xbe927e4f7eac4bc6)
FOUR(rff, 512, $0x3efa01a019c844f5)
FOUR(rff, 544, $0xbf56c16c16c14f91)
FOUR(rff, 576, $0x3fa555555555554b)
FOUR(rff, 608, $0xbfe0000000000000) // −½
FOUR(rff, 640, $0x3ff0000000000000) // 1
FOUR(rff, 672, $0x40f86a0000000000) // maxAngle
GLOBL rff<>(SB), RODATA|NOPTR, $704

// The first 0, 1, 2 or 3 of four: from 24, 16, 8 or 0 on.
DATA first<>+0(SB)/8, $-1
DATA first<>+8(SB)/8, $-1
DATA first<>+16(SB)/8, $-1
DATA first<>+24(SB)/8, $0
DATA first<>+32(SB)/8, $0
DATA first<>+40(SB)/8, $0
DATA first<>+48(SB)/8, $0
GLOBL first<>(SB), RODATA|NOPTR, $56

// MASK sets Y11 to the first CX of four, CX being less.
#define MASK \
	LEAQ first<>(SB), R15 \
	MOVQ $3, R14 \
	SUBQ CX, R14 \
	VMOVUPD (R15)(R14*8), Y11

// AGAIN goes back to the last four of at least four, CX of which are left: masked stores
// are slow, and those that were there are the same once more. BX is by how much.
#define AGAIN(pointer) \
	MOVQ $4, BX \
	SUBQ CX, BX \
	SHLQ $3, BX \
	XORQ CX, CX \
	SUBQ BX, pointer

// ANGLES sets Y0 to four of Ωz and Y13 to four of Ωż; R10 walks through Ω.
#define ANGLES(label) \
	VXORPD Y0, Y0, Y0 \
	VXORPD Y13, Y13, Y13 \
	MOVQ R9, R10 \
	XORQ BX, BX \
label: \
	VMOVUPD (R10), Y2 \
	VBROADCASTSD (R11)(BX*8), Y1 \
	VFMADD231PD Y1, Y2, Y0 \
	VBROADCASTSD (R12)(BX*8), Y1 \
	VFMADD231PD Y1, Y2, Y13 \
	ADDQ R13, R10 \
	INCQ BX \
	CMPQ BX, d+72(FP) \
	JLT label

// SINCOS sets Y8 and Y9 to sine and cosine of Y0, and Y12 where it is too far.
//
// θ = n π/2 + r, |r| ≤ π/4. n stands in the last bits of n + 1.5·2⁵².
#define SINCOS \
	VANDNPD Y0, Y14, Y1 \
	VCMPPD $6, 672(AX), Y1, Y1 \
	VORPD Y1, Y12, Y12 \
	VMOVAPD Y15, Y1 \
	VFMADD231PD 0(AX), Y0, Y1 \
	VSUBPD Y15, Y1, Y2 \
	VFNMADD231PD 32(AX), Y2, Y0 \
	VFNMADD231PD 64(AX), Y2, Y0 \
	VFNMADD231PD 96(AX), Y2, Y0 \
	VMULPD Y0, Y0, Y3 \
	VMOVUPD 224(AX), Y4 \
	VFMADD213PD 256(AX), Y3, Y4 \
	VFMADD213PD 288(AX), Y3, Y4 \
	VFMADD213PD 320(AX), Y3, Y4 \
	VFMADD213PD 352(AX), Y3, Y4 \
	VFMADD213PD 384(AX), Y3, Y4 \
	VMULPD Y0, Y3, Y5 \
	VFMADD213PD Y0, Y5, Y4 \
	VMOVUPD 416(AX), Y6 \
	VFMADD213PD 448(AX), Y3, Y6 \
	VFMADD213PD 480(AX), Y3, Y6 \
	VFMADD213PD 512(AX), Y3, Y6 \
	VFMADD213PD 544(AX), Y3, Y6 \
	VFMADD213PD 576(AX), Y3, Y6 \
	VFMADD213PD 608(AX), Y3, Y6 \
	VFMADD213PD 640(AX), Y3, Y6 \
	VPSLLQ $63, Y1, Y7 \
	VBLENDVPD Y7, Y6, Y4, Y8 \
	VBLENDVPD Y7, Y4, Y6, Y9 \
	VPADDQ 192(AX), Y1, Y10 \
	VPSLLQ $62, Y1, Y1 \
	VPAND Y14, Y1, Y1 \
	VXORPD Y1, Y8, Y8 \
	VPSLLQ $62, Y10, Y10 \
	VPAND Y14, Y10, Y10 \
	VXORPD Y10, Y9, Y9

// SCALE makes of sine and cosine what is stored: Y8 and Y9 of trig, Y1 and Y2 of Phi,
// Y4 and Y5 of DPhi, always the sine first.
#define SCALE \
	VBROADCASTSD unit+80(FP), Y0 \
	VMULPD Y0, Y8, Y8 \
	VMULPD Y0, Y9, Y9 \
	VBROADCASTSD gate+88(FP), Y0 \
	VMULPD Y0, Y8, Y1 \
	VMULPD Y0, Y9, Y2 \
	VBROADCASTSD dgate+96(FP), Y0 \
	VMULPD Y0, Y8, Y4 \
	VMULPD Y0, Y9, Y5 \
	VFMADD231PD Y2, Y13, Y4 \
	VFNMADD231PD Y1, Y13, Y5

// func rffAVX2(trig, phi, dphi, rate, omega, z, dz *float64, half, stride, d int, unit, gate, dgate float64) (ok bool)
//
// The first of cos and sin stand half numbers apart.
TEXT ·rffAVX2(SB), NOSPLIT, $0-105
	MOVQ trig+0(FP), DI
	MOVQ phi+8(FP), SI
	MOVQ dphi+16(FP), DX
	MOVQ rate+24(FP), R8
	MOVQ omega+32(FP), R9
	MOVQ z+40(FP), R11
	MOVQ dz+48(FP), R12
	MOVQ half+56(FP), CX
	MOVQ stride+64(FP), R13
	SHLQ $3, R13
	LEAQ rff<>(SB), AX
	VMOVUPD 128(AX), Y15
	VMOVUPD 160(AX), Y14
	VXORPD Y12, Y12, Y12
	MOVQ CX, R15
	SHLQ $3, R15
	SUBQ $4, CX
	JLT  rest

four:
	ANGLES(turn)
	SINCOS
	SCALE
	VMOVUPD Y9, (DI)
	VMOVUPD Y8, (DI)(R15*1)
	VMOVUPD Y2, (SI)
	VMOVUPD Y1, (SI)(R15*1)
	ADDQ $32, DI
	ADDQ $32, SI
	ADDQ $32, R9
	TESTQ DX, DX
	JZ   next
	VMOVUPD Y5, (DX)
	VMOVUPD Y4, (DX)(R15*1)
	VMOVUPD Y13, (R8)
	ADDQ $32, DX
	ADDQ $32, R8

next:
	SUBQ $4, CX
	JGE  four

rest:
	ADDQ $4, CX
	JZ   done
	CMPQ R15, $32
	JLT  few
	AGAIN(DI)
	SUBQ BX, SI
	SUBQ BX, R9
	TESTQ DX, DX
	JZ   four
	SUBQ BX, DX
	SUBQ BX, R8
	JMP  four

few:
	ANGLES(turnrest)
	SINCOS
	SCALE
	MOVQ R15, BX
	MASK
	VMASKMOVPD Y9, Y11, (DI)
	VMASKMOVPD Y8, Y11, (DI)(BX*1)
	VMASKMOVPD Y2, Y11, (SI)
	VMASKMOVPD Y1, Y11, (SI)(BX*1)
	TESTQ DX, DX
	JZ   done
	VMASKMOVPD Y5, Y11, (DX)
	VMASKMOVPD Y4, Y11, (DX)(BX*1)
	VMASKMOVPD Y13, Y11, (R8)

done:
	VMOVMSKPD Y12, AX
	TESTQ AX, AX
	SETEQ ok+104(FP)
	VZEROUPPER
	RET

// BACK takes Y0 and Y1, the adjoints of the value's cosine and sine, Y2 and Y3, those
// of the derivative's, Y4 and Y5, cosine and sine, Y6, the rate, Y14 = g and Y13 = dg,
// to Y8, the adjoint of the angle, and Y9, that of the rate, and adds to Y15 and Y12 what
// the amplitude's is the sum of.
#define BACK \
	VMULPD Y14, Y0, Y0 \
	VFMADD231PD Y13, Y2, Y0 \
	VMULPD Y14, Y1, Y1 \
	VFMADD231PD Y13, Y3, Y1 \
	VMULPD Y14, Y2, Y2 \
	VMULPD Y14, Y3, Y3 \
	VMULPD Y4, Y3, Y9 \
	VFNMADD231PD Y5, Y2, Y9 \
	VMULPD Y4, Y2, Y10 \
	VFMADD231PD Y5, Y3, Y10 \
	VMULPD Y4, Y1, Y8 \
	VFNMADD231PD Y5, Y0, Y8 \
	VFNMADD231PD Y6, Y10, Y8 \
	VFMADD231PD Y4, Y0, Y15 \
	VFMADD231PD Y5, Y1, Y12 \
	VFMADD231PD Y6, Y9, Y15

// TOTAL sets X15 to the sum of all that Y15 and Y12 hold.
#define TOTAL \
	VADDPD Y12, Y15, Y15 \
	VEXTRACTF128 $1, Y15, X1 \
	VADDPD X1, X15, X15 \
	VUNPCKHPD X15, X15, X1 \
	VADDSD X1, X15, X15

// ANGLE is BACK without a derivative.
#define ANGLE \
	VMULPD Y14, Y0, Y0 \
	VMULPD Y14, Y1, Y1 \
	VMULPD Y4, Y1, Y8 \
	VFNMADD231PD Y5, Y0, Y8 \
	VFMADD231PD Y4, Y0, Y15 \
	VFMADD231PD Y5, Y1, Y12

// func rffAdjointAVX2(bar, dbar, trig, rate *float64, half int, gate, dgate float64) (amp float64)
TEXT ·rffAdjointAVX2(SB), NOSPLIT, $0-64
	MOVQ bar+0(FP), DI
	MOVQ dbar+8(FP), SI
	MOVQ trig+16(FP), R8
	MOVQ rate+24(FP), R11
	MOVQ half+32(FP), CX
	VBROADCASTSD gate+40(FP), Y14
	VBROADCASTSD dgate+48(FP), Y13
	VXORPD Y15, Y15, Y15
	VXORPD Y12, Y12, Y12
	MOVQ CX, DX
	SHLQ $3, DX
	SUBQ $4, CX
	JLT  rest

four:
	VMOVUPD (DI), Y0
	VMOVUPD (DI)(DX*1), Y1
	VMOVUPD (R8), Y4
	VMOVUPD (R8)(DX*1), Y5
	TESTQ SI, SI
	JNZ  both
	ANGLE
	JMP  next

both:
	VMOVUPD (SI), Y2
	VMOVUPD (SI)(DX*1), Y3
	VMOVUPD (R11), Y6
	BACK
	VMOVUPD Y9, (SI)
	ADDQ $32, SI
	ADDQ $32, R11

next:
	VMOVUPD Y8, (DI)
	ADDQ $32, DI
	ADDQ $32, R8
	SUBQ $4, CX
	JGE  four

rest:
	ADDQ $4, CX
	JZ   done
	MASK
	VMASKMOVPD (DI), Y11, Y0
	VMASKMOVPD (DI)(DX*1), Y11, Y1
	VMASKMOVPD (R8), Y11, Y4
	VMASKMOVPD (R8)(DX*1), Y11, Y5
	TESTQ SI, SI
	JNZ  bothrest
	ANGLE
	JMP  last

bothrest:
	VMASKMOVPD (SI), Y11, Y2
	VMASKMOVPD (SI)(DX*1), Y11, Y3
	VMASKMOVPD (R11), Y11, Y6
	BACK
	VMASKMOVPD Y9, Y11, (SI)

last:
	VMASKMOVPD Y8, Y11, (DI)

done:
	TOTAL
	VMOVSD X15, amp+56(FP)
	VZEROUPPER
	RET

// BARS sets Y0 … Y3 to the adjoints of cosine and sine, a·w, and of those of the derivative,
// b·w + c·row, where Y4 and Y5 are w's and x and y the row's.
#define BARS(x, y, a, b, c) \
	VBROADCASTSD a, Y7 \
	VMULPD Y4, Y7, Y0 \
	VMULPD Y5, Y7, Y1 \
	VBROADCASTSD b, Y7 \
	VMULPD Y4, Y7, Y2 \
	VMULPD Y5, Y7, Y3 \
	VBROADCASTSD c, Y7 \
	VFMADD231PD x, Y7, Y2 \
	VFMADD231PD y, Y7, Y3

// func rffCombinedAVX2(theta, dtheta, trig, rate, w, row *float64, half int, gate, dgate, a, b, c float64) (amp float64)
TEXT ·rffCombinedAVX2(SB), NOSPLIT, $0-104
	MOVQ theta+0(FP), DI
	MOVQ dtheta+8(FP), SI
	MOVQ trig+16(FP), R8
	MOVQ rate+24(FP), R11
	MOVQ w+32(FP), R9
	MOVQ row+40(FP), R10
	MOVQ half+48(FP), CX
	VBROADCASTSD gate+56(FP), Y14
	VBROADCASTSD dgate+64(FP), Y13
	VXORPD Y15, Y15, Y15
	VXORPD Y12, Y12, Y12
	MOVQ CX, DX
	SHLQ $3, DX
	SUBQ $4, CX
	JLT  rest

four:
	VMOVUPD (R9), Y4
	VMOVUPD (R9)(DX*1), Y5
	BARS((R10), (R10)(DX*1), a+72(FP), b+80(FP), c+88(FP))
	VMOVUPD (R8), Y4
	VMOVUPD (R8)(DX*1), Y5
	VMOVUPD (R11), Y6
	BACK
	VMOVUPD Y8, (DI)
	VMOVUPD Y9, (SI)
	ADDQ $32, DI
	ADDQ $32, SI
	ADDQ $32, R8
	ADDQ $32, R9
	ADDQ $32, R10
	ADDQ $32, R11
	SUBQ $4, CX
	JGE  four

rest:
	ADDQ $4, CX
	JZ   done
	MASK
	VMASKMOVPD (R9), Y11, Y4
	VMASKMOVPD (R9)(DX*1), Y11, Y5
	VMASKMOVPD (R10), Y11, Y8
	VMASKMOVPD (R10)(DX*1), Y11, Y9
	BARS(Y8, Y9, a+72(FP), b+80(FP), c+88(FP))
	VMASKMOVPD (R8), Y11, Y4
	VMASKMOVPD (R8)(DX*1), Y11, Y5
	VMASKMOVPD (R11), Y11, Y6
	BACK
	VMASKMOVPD Y8, Y11, (DI)
	VMASKMOVPD Y9, Y11, (SI)

done:
	TOTAL
	VMOVSD X15, amp+96(FP)
	VZEROUPPER
	RET

// SUM adds to Y0 and Y1, sums of cosines and sines, what Y4 and Y5, cosine and sine, and
// Y6, the rate, say: Y14 = x, Y13 = y.
#define SUM \
	VMULPD Y13, Y6, Y6 \
	VFMADD231PD Y4, Y14, Y0 \
	VFMADD231PD Y5, Y14, Y1 \
	VFNMADD231PD Y5, Y6, Y0 \
	VFMADD231PD Y4, Y6, Y1

// func rffSumAVX2(dst, trig, rate *float64, half int, x, y float64)
TEXT ·rffSumAVX2(SB), NOSPLIT, $0-48
	MOVQ dst+0(FP), DI
	MOVQ trig+8(FP), R8
	MOVQ rate+16(FP), R11
	MOVQ half+24(FP), CX
	VBROADCASTSD x+32(FP), Y14
	VBROADCASTSD y+40(FP), Y13
	MOVQ CX, DX
	SHLQ $3, DX
	SUBQ $4, CX
	JLT  rest

four:
	VMOVUPD (DI), Y0
	VMOVUPD (DI)(DX*1), Y1
	VMOVUPD (R8), Y4
	VMOVUPD (R8)(DX*1), Y5
	VMOVUPD (R11), Y6
	SUM
	VMOVUPD Y0, (DI)
	VMOVUPD Y1, (DI)(DX*1)
	ADDQ $32, DI
	ADDQ $32, R8
	ADDQ $32, R11
	SUBQ $4, CX
	JGE  four

rest:
	ADDQ $4, CX
	JZ   done
	MASK
	VMASKMOVPD (DI), Y11, Y0
	VMASKMOVPD (DI)(DX*1), Y11, Y1
	VMASKMOVPD (R8), Y11, Y4
	VMASKMOVPD (R8)(DX*1), Y11, Y5
	VMASKMOVPD (R11), Y11, Y6
	SUM
	VMASKMOVPD Y0, Y11, (DI)
	VMASKMOVPD Y1, Y11, (DI)(DX*1)

done:
	VZEROUPPER
	RET

// func omegaTransposeAVX2(zbar, omega, theta *float64, half, stride, d int)
TEXT ·omegaTransposeAVX2(SB), NOSPLIT, $0-48
	MOVQ zbar+0(FP), DI
	MOVQ omega+8(FP), SI
	MOVQ stride+32(FP), R13
	SHLQ $3, R13
	MOVQ d+40(FP), DX
	TESTQ DX, DX
	JZ   done
	MOVQ half+24(FP), CX
	ANDQ $3, CX
	MASK

row:
	MOVQ theta+16(FP), R8
	MOVQ SI, R9
	MOVQ half+24(FP), CX
	VXORPD Y0, Y0, Y0
	VXORPD Y1, Y1, Y1

eight:
	SUBQ $8, CX
	JLT  four
	VMOVUPD (R8), Y2
	VMOVUPD 32(R8), Y3
	VFMADD231PD (R9), Y2, Y0
	VFMADD231PD 32(R9), Y3, Y1
	ADDQ $64, R8
	ADDQ $64, R9
	JMP  eight

four:
	ADDQ $8, CX
	CMPQ CX, $4
	JLT  rest
	VMOVUPD (R8), Y2
	VFMADD231PD (R9), Y2, Y0
	ADDQ $32, R8
	ADDQ $32, R9
	SUBQ $4, CX

rest:
	TESTQ CX, CX
	JZ   sum
	VMASKMOVPD (R8), Y11, Y2
	VFMADD231PD (R9), Y2, Y1

sum:
	VADDPD Y1, Y0, Y0
	VEXTRACTF128 $1, Y0, X1
	VADDPD X1, X0, X0
	VUNPCKHPD X0, X0, X1
	VADDSD X1, X0, X0
	VADDSD (DI), X0, X0
	VMOVSD X0, (DI)
	ADDQ $8, DI
	ADDQ R13, SI
	DECQ DX
	JNZ  row

done:
	VZEROUPPER
	RET
