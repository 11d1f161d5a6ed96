#include "textflag.h"

// A tile is four rows of c. Y4 … Y15 hold its sums, Y3 a number of a.
//
//	BX tiles left   R12, R8 rows of c and their distance   R13, R14 what is added, its distance
//	SI tile of a    R9, DX one and three rows of a         R10 a step of a
//	DI row of b     R11 its distance                       AX number of a   CX steps left

// ARGUMENTS loads them, distances in bytes.
#define ARGUMENTS \
	MOVQ tiles+0(FP), BX    \
	MOVQ a+16(FP), SI       \
	MOVQ rs+24(FP), R9      \
	SHLQ $3, R9             \
	LEAQ (R9)(R9*2), DX     \
	MOVQ cs+32(FP), R10     \
	SHLQ $3, R10            \
	MOVQ bs+48(FP), R11     \
	SHLQ $3, R11            \
	MOVQ c+56(FP), R12      \
	MOVQ stride+64(FP), R8  \
	SHLQ $3, R8             \
	MOVQ plus+80(FP), R13   \
	MOVQ ps+88(FP), R14     \
	SHLQ $3, R14

#define CLEAR8 \
	VXORPD Y4, Y4, Y4    \
	VXORPD Y5, Y5, Y5    \
	VXORPD Y6, Y6, Y6    \
	VXORPD Y7, Y7, Y7    \
	VXORPD Y8, Y8, Y8    \
	VXORPD Y9, Y9, Y9    \
	VXORPD Y10, Y10, Y10 \
	VXORPD Y11, Y11, Y11

// ROW12 adds a number of a times a row of b.
#define ROW12(a, x, y, z) \
	VBROADCASTSD a, Y3     \
	VFMADD231PD  Y0, Y3, x \
	VFMADD231PD  Y1, Y3, y \
	VFMADD231PD  Y2, Y3, z

// ADD12 scales a row of the tile by Y0 and adds what R13 points to.
#define ADD12(x, y, z) \
	VFMADD213PD 0(R13), Y0, x  \
	VFMADD213PD 32(R13), Y0, y \
	VFMADD213PD 64(R13), Y0, z \
	ADDQ        R14, R13

#define SCALE12(x, y, z) \
	VMULPD x, Y0, x \
	VMULPD y, Y0, y \
	VMULPD z, Y0, z

#define STORE12(x, y, z) \
	VMOVUPD x, 0(R12)  \
	VMOVUPD y, 32(R12) \
	VMOVUPD z, 64(R12) \
	ADDQ    R8, R12

// func kernel12(tiles, k int, a *float64, rs, cs int, b *float64, bs int, c *float64, stride int, alpha float64, plus *float64, ps int)
//
// Y0 … Y2 hold a row of b.
TEXT ·kernel12(SB), NOSPLIT, $0-96
	ARGUMENTS

tile:
	MOVQ SI, AX
	MOVQ b+40(FP), DI
	MOVQ k+8(FP), CX
	CLEAR8
	VXORPD Y12, Y12, Y12
	VXORPD Y13, Y13, Y13
	VXORPD Y14, Y14, Y14
	VXORPD Y15, Y15, Y15
	TESTQ CX, CX
	JZ    sum

loop:
	VMOVUPD 0(DI), Y0
	VMOVUPD 32(DI), Y1
	VMOVUPD 64(DI), Y2
	ADDQ R11, DI
	ROW12((AX), Y4, Y5, Y6)
	ROW12((AX)(R9*1), Y7, Y8, Y9)
	ROW12((AX)(R9*2), Y10, Y11, Y12)
	ROW12((AX)(DX*1), Y13, Y14, Y15)
	ADDQ R10, AX
	DECQ CX
	JNZ  loop

sum:
	VBROADCASTSD alpha+72(FP), Y0
	TESTQ R13, R13
	JZ    alone
	ADD12(Y4, Y5, Y6)
	ADD12(Y7, Y8, Y9)
	ADD12(Y10, Y11, Y12)
	ADD12(Y13, Y14, Y15)
	JMP store

alone:
	SCALE12(Y4, Y5, Y6)
	SCALE12(Y7, Y8, Y9)
	SCALE12(Y10, Y11, Y12)
	SCALE12(Y13, Y14, Y15)

store:
	STORE12(Y4, Y5, Y6)
	STORE12(Y7, Y8, Y9)
	STORE12(Y10, Y11, Y12)
	STORE12(Y13, Y14, Y15)
	LEAQ (SI)(R9*4), SI
	DECQ BX
	JNZ  tile
	VZEROUPPER
	RET

// Sixteen times yes, sixteen times no.
DATA flags<>+0(SB)/8, $-1
DATA flags<>+8(SB)/8, $-1
DATA flags<>+16(SB)/8, $-1
DATA flags<>+24(SB)/8, $-1
DATA flags<>+32(SB)/8, $-1
DATA flags<>+40(SB)/8, $-1
DATA flags<>+48(SB)/8, $-1
DATA flags<>+56(SB)/8, $-1
DATA flags<>+64(SB)/8, $-1
DATA flags<>+72(SB)/8, $-1
DATA flags<>+80(SB)/8, $-1
DATA flags<>+88(SB)/8, $-1
DATA flags<>+96(SB)/8, $-1
DATA flags<>+104(SB)/8, $-1
DATA flags<>+112(SB)/8, $-1
DATA flags<>+120(SB)/8, $-1
GLOBL flags<>(SB), RODATA|NOPTR, $256

// ROW8 adds a number of a times a row of b.
#define ROW8(a, x, y) \
	VBROADCASTSD a, Y3     \
	VFMADD231PD  Y0, Y3, x \
	VFMADD231PD  Y1, Y3, y

// ADD8 scales a row of the tile by Y2 and adds what R13 points to.
#define ADD8(x, y) \
	VMASKMOVPD  0(R13), Y12, Y0  \
	VMASKMOVPD  32(R13), Y13, Y1 \
	VFMADD213PD Y0, Y2, x        \
	VFMADD213PD Y1, Y2, y        \
	ADDQ        R14, R13

#define SCALE8(x, y) \
	VMULPD x, Y2, x \
	VMULPD y, Y2, y

#define STORE8(x, y) \
	VMASKMOVPD x, Y12, 0(R12)  \
	VMASKMOVPD y, Y13, 32(R12) \
	ADDQ       R8, R12

// func kernel8(tiles, k int, a *float64, rs, cs int, b *float64, bs int, c *float64, stride int, alpha float64, plus *float64, ps, n int)
//
// Y0 and Y1 hold a row of b, Y12 and Y13 which of its numbers there are: what is not
// there is neither read nor written.
TEXT ·kernel8(SB), NOSPLIT, $0-104
	LEAQ flags<>+128(SB), AX
	MOVQ n+96(FP), CX
	SHLQ $3, CX
	SUBQ CX, AX
	VMOVUPD 0(AX), Y12
	VMOVUPD 32(AX), Y13
	ARGUMENTS

tile:
	MOVQ SI, AX
	MOVQ b+40(FP), DI
	MOVQ k+8(FP), CX
	CLEAR8
	TESTQ CX, CX
	JZ    sum

loop:
	VMASKMOVPD 0(DI), Y12, Y0
	VMASKMOVPD 32(DI), Y13, Y1
	ADDQ R11, DI
	ROW8((AX), Y4, Y5)
	ROW8((AX)(R9*1), Y6, Y7)
	ROW8((AX)(R9*2), Y8, Y9)
	ROW8((AX)(DX*1), Y10, Y11)
	ADDQ R10, AX
	DECQ CX
	JNZ  loop

sum:
	VBROADCASTSD alpha+72(FP), Y2
	TESTQ R13, R13
	JZ    alone
	ADD8(Y4, Y5)
	ADD8(Y6, Y7)
	ADD8(Y8, Y9)
	ADD8(Y10, Y11)
	JMP store

alone:
	SCALE8(Y4, Y5)
	SCALE8(Y6, Y7)
	SCALE8(Y8, Y9)
	SCALE8(Y10, Y11)

store:
	STORE8(Y4, Y5)
	STORE8(Y6, Y7)
	STORE8(Y8, Y9)
	STORE8(Y10, Y11)
	LEAQ (SI)(R9*4), SI
	DECQ BX
	JNZ  tile
	VZEROUPPER
	RET

// func kernel1(n, k int, a *float64, cs int, b *float64, bs int, c *float64, alpha float64, plus *float64)
//
// 32 columns at a time while there are as many, then up to 16. Y3 holds a number of a,
// Y4 … Y11 the sums, Y12 … Y15 which of the columns there are.
//
//	BX columns left   DX, R12, R13 b, c and what is added from the present column on
TEXT ·kernel1(SB), NOSPLIT, $0-72
	MOVQ n+0(FP), BX
	MOVQ cs+24(FP), R10
	SHLQ $3, R10
	MOVQ b+32(FP), DX
	MOVQ bs+40(FP), R11
	SHLQ $3, R11
	MOVQ c+48(FP), R12
	MOVQ plus+64(FP), R13
	CMPQ BX, $32
	JLT  some

many:
	MOVQ a+16(FP), AX
	MOVQ DX, DI
	MOVQ k+8(FP), CX
	CLEAR8
	TESTQ CX, CX
	JZ    manysum

manyloop:
	VBROADCASTSD (AX), Y3
	VFMADD231PD 0(DI), Y3, Y4
	VFMADD231PD 32(DI), Y3, Y5
	VFMADD231PD 64(DI), Y3, Y6
	VFMADD231PD 96(DI), Y3, Y7
	VFMADD231PD 128(DI), Y3, Y8
	VFMADD231PD 160(DI), Y3, Y9
	VFMADD231PD 192(DI), Y3, Y10
	VFMADD231PD 224(DI), Y3, Y11
	ADDQ R11, DI
	ADDQ R10, AX
	DECQ CX
	JNZ  manyloop

manysum:
	VBROADCASTSD alpha+56(FP), Y3
	TESTQ R13, R13
	JZ    manyalone
	VFMADD213PD 0(R13), Y3, Y4
	VFMADD213PD 32(R13), Y3, Y5
	VFMADD213PD 64(R13), Y3, Y6
	VFMADD213PD 96(R13), Y3, Y7
	VFMADD213PD 128(R13), Y3, Y8
	VFMADD213PD 160(R13), Y3, Y9
	VFMADD213PD 192(R13), Y3, Y10
	VFMADD213PD 224(R13), Y3, Y11
	ADDQ $256, R13
	JMP manystore

manyalone:
	VMULPD Y4, Y3, Y4
	VMULPD Y5, Y3, Y5
	VMULPD Y6, Y3, Y6
	VMULPD Y7, Y3, Y7
	VMULPD Y8, Y3, Y8
	VMULPD Y9, Y3, Y9
	VMULPD Y10, Y3, Y10
	VMULPD Y11, Y3, Y11

manystore:
	VMOVUPD Y4, 0(R12)
	VMOVUPD Y5, 32(R12)
	VMOVUPD Y6, 64(R12)
	VMOVUPD Y7, 96(R12)
	VMOVUPD Y8, 128(R12)
	VMOVUPD Y9, 160(R12)
	VMOVUPD Y10, 192(R12)
	VMOVUPD Y11, 224(R12)
	ADDQ $256, R12
	ADDQ $256, DX
	SUBQ $32, BX
	CMPQ BX, $32
	JGE  many

some:
	TESTQ BX, BX
	JLE   done
	MOVQ BX, CX
	CMPQ CX, $16
	JLE  masks
	MOVQ $16, CX

masks:
	LEAQ flags<>+128(SB), AX
	SHLQ $3, CX
	SUBQ CX, AX
	VMOVUPD 0(AX), Y12
	VMOVUPD 32(AX), Y13
	VMOVUPD 64(AX), Y14
	VMOVUPD 96(AX), Y15
	MOVQ a+16(FP), AX
	MOVQ DX, DI
	MOVQ k+8(FP), CX
	CLEAR8
	TESTQ CX, CX
	JZ    somesum

someloop:
	VBROADCASTSD (AX), Y3
	VMASKMOVPD 0(DI), Y12, Y8
	VMASKMOVPD 32(DI), Y13, Y9
	VMASKMOVPD 64(DI), Y14, Y10
	VMASKMOVPD 96(DI), Y15, Y11
	VFMADD231PD Y8, Y3, Y4
	VFMADD231PD Y9, Y3, Y5
	VFMADD231PD Y10, Y3, Y6
	VFMADD231PD Y11, Y3, Y7
	ADDQ R11, DI
	ADDQ R10, AX
	DECQ CX
	JNZ  someloop

somesum:
	VBROADCASTSD alpha+56(FP), Y3
	TESTQ R13, R13
	JZ    somealone
	VMASKMOVPD 0(R13), Y12, Y8
	VMASKMOVPD 32(R13), Y13, Y9
	VMASKMOVPD 64(R13), Y14, Y10
	VMASKMOVPD 96(R13), Y15, Y11
	VFMADD213PD Y8, Y3, Y4
	VFMADD213PD Y9, Y3, Y5
	VFMADD213PD Y10, Y3, Y6
	VFMADD213PD Y11, Y3, Y7
	ADDQ $128, R13
	JMP somestore

somealone:
	VMULPD Y4, Y3, Y4
	VMULPD Y5, Y3, Y5
	VMULPD Y6, Y3, Y6
	VMULPD Y7, Y3, Y7

somestore:
	VMASKMOVPD Y4, Y12, 0(R12)
	VMASKMOVPD Y5, Y13, 32(R12)
	VMASKMOVPD Y6, Y14, 64(R12)
	VMASKMOVPD Y7, Y15, 96(R12)
	ADDQ $128, R12
	ADDQ $128, DX
	SUBQ $16, BX
	JMP  some

done:
	VZEROUPPER
	RET

// func pack12(k int, dst, src *float64, stride int, scale *float64, step int)
TEXT ·pack12(SB), NOSPLIT, $0-48
	MOVQ k+0(FP), CX
	MOVQ dst+8(FP), DI
	MOVQ src+16(FP), SI
	MOVQ stride+24(FP), R8
	SHLQ $3, R8
	MOVQ scale+32(FP), DX
	MOVQ step+40(FP), R9
	SHLQ $3, R9

loop:
	VBROADCASTSD (DX), Y3
	VMULPD 0(SI), Y3, Y0
	VMULPD 32(SI), Y3, Y1
	VMULPD 64(SI), Y3, Y2
	VMOVUPD Y0, 0(DI)
	VMOVUPD Y1, 32(DI)
	VMOVUPD Y2, 64(DI)
	ADDQ $96, DI
	ADDQ R8, SI
	ADDQ R9, DX
	DECQ CX
	JNZ  loop
	VZEROUPPER
	RET

// func pack8(k int, dst, src *float64, stride int, scale *float64, step int, n int)
//
// Missing numbers become zero.
TEXT ·pack8(SB), NOSPLIT, $0-56
	MOVQ n+48(FP), CX
	SHLQ $3, CX
	LEAQ flags<>+128(SB), AX
	SUBQ CX, AX
	VMOVUPD 0(AX), Y12
	VMOVUPD 32(AX), Y13
	MOVQ k+0(FP), CX
	MOVQ dst+8(FP), DI
	MOVQ src+16(FP), SI
	MOVQ stride+24(FP), R8
	SHLQ $3, R8
	MOVQ scale+32(FP), DX
	MOVQ step+40(FP), R9
	SHLQ $3, R9

loop:
	VBROADCASTSD (DX), Y3
	VMASKMOVPD 0(SI), Y12, Y0
	VMASKMOVPD 32(SI), Y13, Y1
	VMULPD Y0, Y3, Y0
	VMULPD Y1, Y3, Y1
	VMOVUPD Y0, 0(DI)
	VMOVUPD Y1, 32(DI)
	ADDQ $64, DI
	ADDQ R8, SI
	ADDQ R9, DX
	DECQ CX
	JNZ  loop
	VZEROUPPER
	RET

// func dots(m, n int, dst, a *float64, as int, b *float64, bs int)
//
// Y4 … Y7 hold the sums of one row, Y12 … Y15 which of the last n % 16 columns there are.
TEXT ·dots(SB), NOSPLIT, $0-56
	MOVQ m+0(FP), BX
	MOVQ n+8(FP), R12
	MOVQ R12, R13
	ANDQ $15, R13
	SHRQ $4, R12
	LEAQ flags<>+128(SB), AX
	MOVQ R13, CX
	SHLQ $3, CX
	SUBQ CX, AX
	VMOVUPD 0(AX), Y12
	VMOVUPD 32(AX), Y13
	VMOVUPD 64(AX), Y14
	VMOVUPD 96(AX), Y15
	MOVQ dst+16(FP), DX
	MOVQ a+24(FP), SI
	MOVQ as+32(FP), R8
	SHLQ $3, R8
	MOVQ b+40(FP), R10
	MOVQ bs+48(FP), R9
	SHLQ $3, R9

row:
	VXORPD Y4, Y4, Y4
	VXORPD Y5, Y5, Y5
	VXORPD Y6, Y6, Y6
	VXORPD Y7, Y7, Y7
	MOVQ SI, AX
	MOVQ R10, DI
	MOVQ R12, CX
	TESTQ CX, CX
	JZ   rest

loop:
	VMOVUPD 0(AX), Y0
	VMOVUPD 32(AX), Y1
	VMOVUPD 64(AX), Y2
	VMOVUPD 96(AX), Y3
	VFMADD231PD 0(DI), Y0, Y4
	VFMADD231PD 32(DI), Y1, Y5
	VFMADD231PD 64(DI), Y2, Y6
	VFMADD231PD 96(DI), Y3, Y7
	ADDQ $128, AX
	ADDQ $128, DI
	DECQ CX
	JNZ  loop

rest:
	TESTQ R13, R13
	JZ    sum
	VMASKMOVPD 0(AX), Y12, Y0
	VMASKMOVPD 32(AX), Y13, Y1
	VMASKMOVPD 64(AX), Y14, Y2
	VMASKMOVPD 96(AX), Y15, Y3
	VMASKMOVPD 0(DI), Y12, Y8
	VMASKMOVPD 32(DI), Y13, Y9
	VMASKMOVPD 64(DI), Y14, Y10
	VMASKMOVPD 96(DI), Y15, Y11
	VFMADD231PD Y8, Y0, Y4
	VFMADD231PD Y9, Y1, Y5
	VFMADD231PD Y10, Y2, Y6
	VFMADD231PD Y11, Y3, Y7

sum:
	VADDPD Y5, Y4, Y4
	VADDPD Y7, Y6, Y6
	VADDPD Y6, Y4, Y4
	VEXTRACTF128 $1, Y4, X5
	VADDPD X5, X4, X4
	VHADDPD X4, X4, X4
	VMOVSD X4, (DX)
	ADDQ $8, DX
	ADDQ R8, SI
	ADDQ R9, R10
	DECQ BX
	JNZ  row
	VZEROUPPER
	RET

// func linearCombination(n int, dst *float64, a float64, x *float64, b float64, y *float64, c float64, z *float64)
TEXT ·linearCombination(SB), NOSPLIT, $0-64
	MOVQ n+0(FP), CX
	MOVQ dst+8(FP), DI
	VBROADCASTSD a+16(FP), Y4
	MOVQ x+24(FP), SI
	VBROADCASTSD b+32(FP), Y5
	MOVQ y+40(FP), R8
	VBROADCASTSD c+48(FP), Y6
	MOVQ z+56(FP), R9
	SUBQ $4, CX
	JLT  rest

four:
	VMULPD (SI), Y4, Y0
	VFMADD231PD (R8), Y5, Y0
	VFMADD231PD (R9), Y6, Y0
	VMOVUPD Y0, (DI)
	ADDQ $32, SI
	ADDQ $32, R8
	ADDQ $32, R9
	ADDQ $32, DI
	SUBQ $4, CX
	JGE  four

rest:
	ADDQ $4, CX
	JZ   done
	LEAQ flags<>+128(SB), AX
	SHLQ $3, CX
	SUBQ CX, AX
	VMOVUPD (AX), Y7
	VMASKMOVPD (SI), Y7, Y0
	VMASKMOVPD (R8), Y7, Y1
	VMASKMOVPD (R9), Y7, Y2
	VMULPD Y4, Y0, Y0
	VFMADD231PD Y5, Y1, Y0
	VFMADD231PD Y6, Y2, Y0
	VMASKMOVPD Y0, Y7, (DI)

done:
	VZEROUPPER
	RET
