#include "textflag.h"

// Vectors of four equal numbers.
#define FOUR(name, at, value) \
	DATA name<>+at+0(SB)/8, value  \
	DATA name<>+at+8(SB)/8, value  \
	DATA name<>+at+16(SB)/8, value \
	DATA name<>+at+24(SB)/8, value

FOUR(powers, 0, $0x4086200000000000)   // 708: the largest exponent, either sign
FOUR(powers, 32, $0xc086200000000000)
FOUR(powers, 64, $0x3ff71547652b82fe)  // 1/log 2
FOUR(powers, 96, $0x3fe62e42fefa39ef)  // log 2, two parts
FOUR(powers, 128, $0x3c7abc9e3b39803f)
FOUR(powers, 160, $0x4338000000000000) // 1.5·2⁵²
FOUR(powers, 192, $1023)
FOUR(powers, 224, $0x3ff0000000000000) // 1
FOUR(powers, 256, $0x4000000000000000) // 2
FOUR(powers, 288, $0x3de6124613a86d09) // 1/13! … 1/2!
FOUR(powers, 320, $0x3e21eed8eff8d898)
FOUR(powers, 352, $0x3e5ae64567f544e4)
FOUR(powers, 384, $0x3e927e4fb7789f5c)
FOUR(powers, 416, $0x3ec71de3a556c734)
FOUR(powers, 448, $0x3efa01a01a01a01a)
FOUR(powers, 480, $0x3f2a01a01a01a01a)
FOUR(powers, 512, $0x3f56c16c16c16c17)
FOUR(powers, 544, $0x3f81111111111111)
FOUR(powers, 576, $0x3fa5555555555555)
FOUR(powers, 608, $0x3fc5555555555555)
FOUR(powers, 640, $0x3fe0000000000000)
GLOBL powers<>(SB), RODATA|NOPTR, $672

// The first 1, 2 or 3 of four: from 16, 8 or 0 on.
DATA first<>+0(SB)/8, $-1
DATA first<>+8(SB)/8, $-1
DATA first<>+16(SB)/8, $-1
DATA first<>+24(SB)/8, $0
DATA first<>+32(SB)/8, $0
DATA first<>+40(SB)/8, $0
GLOBL first<>(SB), RODATA|NOPTR, $48

// ACTIVATE replaces Y0; Y13 = c, Y12 = a, Y11 = b. c y = n log 2 + r, |r| ≤ ½ log 2,
// and t = 2ⁿ(eʳ − 1) + (2ⁿ − 1), so that t keeps its digits near nought. n stands in the
// last bits of n + 1.5·2⁵². What is not a number stays so.
#define ACTIVATE \
	VMULPD Y13, Y0, Y0 \
	VMINPD Y0, Y15, Y0 \
	VMAXPD Y0, Y14, Y0 \
	VMOVAPD Y10, Y1 \
	VFMADD231PD 64(AX), Y0, Y1 \
	VSUBPD Y10, Y1, Y2 \
	VFNMADD231PD 96(AX), Y2, Y0 \
	VFNMADD231PD 128(AX), Y2, Y0 \
	VMOVUPD 288(AX), Y3 \
	VFMADD213PD 320(AX), Y0, Y3 \
	VFMADD213PD 352(AX), Y0, Y3 \
	VFMADD213PD 384(AX), Y0, Y3 \
	VFMADD213PD 416(AX), Y0, Y3 \
	VFMADD213PD 448(AX), Y0, Y3 \
	VFMADD213PD 480(AX), Y0, Y3 \
	VFMADD213PD 512(AX), Y0, Y3 \
	VFMADD213PD 544(AX), Y0, Y3 \
	VFMADD213PD 576(AX), Y0, Y3 \
	VFMADD213PD 608(AX), Y0, Y3 \
	VFMADD213PD 640(AX), Y0, Y3 \
	VMULPD Y0, Y0, Y4 \
	VFMADD213PD Y0, Y4, Y3 \
	VPADDQ 192(AX), Y1, Y1 \
	VPSLLQ $52, Y1, Y1 \
	VSUBPD 224(AX), Y1, Y5 \
	VFMADD213PD Y5, Y1, Y3 \
	VADDPD 256(AX), Y3, Y4 \
	VFMADD213PD Y11, Y12, Y3 \
	VDIVPD Y4, Y3, Y0

// func activateAVX2(y *float64, n int, c, a, b float64)
TEXT ·activateAVX2(SB), NOSPLIT, $0-40
	MOVQ y+0(FP), DI
	MOVQ n+8(FP), CX
	VBROADCASTSD c+16(FP), Y13
	VBROADCASTSD a+24(FP), Y12
	VBROADCASTSD b+32(FP), Y11
	LEAQ powers<>(SB), AX
	VMOVUPD 0(AX), Y15
	VMOVUPD 32(AX), Y14
	VMOVUPD 160(AX), Y10
	SUBQ $4, CX
	JLT  rest

four:
	VMOVUPD (DI), Y0
	ACTIVATE
	VMOVUPD Y0, (DI)
	ADDQ $32, DI
	SUBQ $4, CX
	JGE  four

rest:
	ADDQ $4, CX
	JZ   done
	LEAQ first<>(SB), BX
	MOVQ $3, DX
	SUBQ CX, DX
	VMOVUPD (BX)(DX*8), Y9
	VMASKMOVPD (DI), Y9, Y0
	ACTIVATE
	VMASKMOVPD Y0, Y9, (DI)

done:
	VZEROUPPER
	RET
