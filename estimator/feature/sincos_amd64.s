#include "textflag.h"

// Sixteen vectors of four equal numbers, as sincosAVX2 loads them.
#define FOUR(name, at, value) \
	DATA name<>+at+0(SB)/8, value  \
	DATA name<>+at+8(SB)/8, value  \
	DATA name<>+at+16(SB)/8, value \
	DATA name<>+at+24(SB)/8, value

FOUR(waves, 0, $0x3fe45f306dc9c883)   // 2/π
FOUR(waves, 32, $0x3ff921fb54442d18)  // π/2, three parts
FOUR(waves, 64, $0x3c91a62633145c07)
FOUR(waves, 96, $0xb91f1976b7ed8fbc)
FOUR(waves, 128, $0x4338000000000000) // 1.5·2⁵²
FOUR(waves, 160, $0x8000000000000000) // a sign
FOUR(waves, 192, $0x0000000000000001)
FOUR(waves, 224, $0x3de5d8fd1fd19ccd) // sine: z⁵ … 1, of r³
FOUR(waves, 256, $0xbe5ae5e5a9291f5d)
FOUR(waves, 288, $0x3ec71de3567d48a1)
FOUR(waves, 320, $0xbf2a01a019bfdf03)
FOUR(waves, 352, $0x3f8111111110f7d0)
FOUR(waves, 384, $0xbfc5555555555548)
FOUR(waves, 416, $0xbda8fa49a0861a9b) // cosine: z⁵ … 1, of z²
FOUR(waves, 448, $0x3e21ee9d7b4e3f05)
FOUR(waves, 480, $0xbe927e4f7eac4bc6)
FOUR(waves, 512, $0x3efa01a019c844f5)
FOUR(waves, 544, $0xbf56c16c16c14f91)
FOUR(waves, 576, $0x3fa555555555554b)
FOUR(waves, 608, $0xbfe0000000000000) // −½
FOUR(waves, 640, $0x3ff0000000000000) // 1
GLOBL waves<>(SB), RODATA|NOPTR, $672

// func sincosAVX2(sin, cos, theta *float64, fours int)
//
// θ = n π/2 + r, |r| ≤ π/4. n stands in the last bits of n + 1.5·2⁵².
TEXT ·sincosAVX2(SB), NOSPLIT, $0-32
	MOVQ sin+0(FP), DI
	MOVQ cos+8(FP), SI
	MOVQ theta+16(FP), DX
	MOVQ fours+24(FP), CX
	LEAQ waves<>(SB), AX
	VMOVUPD 128(AX), Y15
	VMOVUPD 160(AX), Y14
	TESTQ CX, CX
	JZ   done

four:
	VMOVUPD (DX), Y0
	VMOVAPD Y15, Y1
	VFMADD231PD 0(AX), Y0, Y1    // n + 1.5·2⁵², rounded to an integer
	VSUBPD Y15, Y1, Y2           // n
	VFNMADD231PD 32(AX), Y2, Y0
	VFNMADD231PD 64(AX), Y2, Y0
	VFNMADD231PD 96(AX), Y2, Y0  // r
	VMULPD Y0, Y0, Y3            // z

	VMOVUPD 224(AX), Y4
	VFMADD213PD 256(AX), Y3, Y4
	VFMADD213PD 288(AX), Y3, Y4
	VFMADD213PD 320(AX), Y3, Y4
	VFMADD213PD 352(AX), Y3, Y4
	VFMADD213PD 384(AX), Y3, Y4
	VMULPD Y0, Y3, Y5
	VFMADD213PD Y0, Y5, Y4       // sin r

	VMOVUPD 416(AX), Y6
	VFMADD213PD 448(AX), Y3, Y6
	VFMADD213PD 480(AX), Y3, Y6
	VFMADD213PD 512(AX), Y3, Y6
	VFMADD213PD 544(AX), Y3, Y6
	VFMADD213PD 576(AX), Y3, Y6
	VFMADD213PD 608(AX), Y3, Y6
	VFMADD213PD 640(AX), Y3, Y6  // cos r

	VPSLLQ $63, Y1, Y7           // n odd: they change places
	VBLENDVPD Y7, Y6, Y4, Y8
	VBLENDVPD Y7, Y4, Y6, Y9
	VPADDQ 192(AX), Y1, Y10
	VPSLLQ $62, Y1, Y1           // n mod 4 > 1: −sin
	VPAND Y14, Y1, Y1
	VXORPD Y1, Y8, Y8
	VPSLLQ $62, Y10, Y10         // (n + 1) mod 4 > 1: −cos
	VPAND Y14, Y10, Y10
	VXORPD Y10, Y9, Y9
	VMOVUPD Y8, (DI)
	VMOVUPD Y9, (SI)
	ADDQ $32, DX
	ADDQ $32, DI
	ADDQ $32, SI
	DECQ CX
	JNZ  four

done:
	VZEROUPPER
	RET
