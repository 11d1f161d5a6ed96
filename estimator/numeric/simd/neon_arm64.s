#include "go_asm.h"
#include "textflag.h"

// What the assembler has no name for, on four single precision numbers (".4S"):
// d = n op m.
#define VFADD(m, n, d) WORD $(0x4E20D400 | (m)<<16 | (n)<<5 | (d))
#define VFSUB(m, n, d) WORD $(0x4EA0D400 | (m)<<16 | (n)<<5 | (d))
#define VFMUL(m, n, d) WORD $(0x6E20DC00 | (m)<<16 | (n)<<5 | (d))
#define VFDIV(m, n, d) WORD $(0x6E20FC00 | (m)<<16 | (n)<<5 | (d))
#define VFMIN(m, n, d) WORD $(0x4EA0F400 | (m)<<16 | (n)<<5 | (d))
#define VFMAX(m, n, d) WORD $(0x4E20F400 | (m)<<16 | (n)<<5 | (d))
#define VFRINTN(n, d) WORD $(0x4E218800 | (n)<<5 | (d)) // to nearest
#define VFCVTNS(n, d) WORD $(0x4E21A800 | (n)<<5 | (d)) // to nearest integer

// d += n · V20[0], …, n · V20[3].
#define VFMLA0(n, d) WORD $(0x4F941000 | (n)<<5 | (d))
#define VFMLA1(n, d) WORD $(0x4FB41000 | (n)<<5 | (d))
#define VFMLA2(n, d) WORD $(0x4F941800 | (n)<<5 | (d))
#define VFMLA3(n, d) WORD $(0x4FB41800 | (n)<<5 | (d))

// Four rows of a panel by sixteen lanes are the sums V0 to V15, row after row.
//
//	R0 dst   R1 panels left   R2, R3 parts and their number
//	R4, R5 part and parts left   R6 L   R7 X   R8 columns left   R9, R10 scratch
//
// PANEL leaves the sum of all parts for the present panel in V0 to V15 and moves
// them to the next.
#define PANEL \
	VEOR V0.B16, V0.B16, V0.B16    \
	VEOR V1.B16, V1.B16, V1.B16    \
	VEOR V2.B16, V2.B16, V2.B16    \
	VEOR V3.B16, V3.B16, V3.B16    \
	VEOR V4.B16, V4.B16, V4.B16    \
	VEOR V5.B16, V5.B16, V5.B16    \
	VEOR V6.B16, V6.B16, V6.B16    \
	VEOR V7.B16, V7.B16, V7.B16    \
	VEOR V8.B16, V8.B16, V8.B16    \
	VEOR V9.B16, V9.B16, V9.B16    \
	VEOR V10.B16, V10.B16, V10.B16 \
	VEOR V11.B16, V11.B16, V11.B16 \
	VEOR V12.B16, V12.B16, V12.B16 \
	VEOR V13.B16, V13.B16, V13.B16 \
	VEOR V14.B16, V14.B16, V14.B16 \
	VEOR V15.B16, V15.B16, V15.B16 \
	MOVD R2, R4                    \
	MOVD R3, R5                    \
part:                              \
	MOVD Part_at(R4), R9           \
	MOVD Part_k(R4), R8            \
	MOVD Part_L(R4), R6            \
	ADD  R9<<2, R6, R6             \
	ADD  R8<<2, R9, R9             \
	MOVD Part_Skip(R4), R10        \
	ADD  R10, R9, R9               \
	MOVD R9, Part_at(R4)           \
	MOVD Part_Grow(R4), R10        \
	ADD  R8, R10, R10              \
	MOVD R10, Part_k(R4)           \
	MOVD Part_X(R4), R7            \
	CBZ  R8, done                  \
column:                            \
	VLD1.P 64(R7), [V16.S4, V17.S4, V18.S4, V19.S4] \
	VLD1.P 16(R6), [V20.S4]        \
	VFMLA0(16, 0)                  \
	VFMLA0(17, 1)                  \
	VFMLA0(18, 2)                  \
	VFMLA0(19, 3)                  \
	VFMLA1(16, 4)                  \
	VFMLA1(17, 5)                  \
	VFMLA1(18, 6)                  \
	VFMLA1(19, 7)                  \
	VFMLA2(16, 8)                  \
	VFMLA2(17, 9)                  \
	VFMLA2(18, 10)                 \
	VFMLA2(19, 11)                 \
	VFMLA3(16, 12)                 \
	VFMLA3(17, 13)                 \
	VFMLA3(18, 14)                 \
	VFMLA3(19, 15)                 \
	SUBS $1, R8, R8                \
	BNE  column                    \
done:                              \
	ADD  $Part__size, R4, R4       \
	SUBS $1, R5, R5                \
	BNE  part

// func productNEON(dst *float32, panels int, parts *Part, n int)
TEXT ·productNEON(SB), NOSPLIT, $0-32
	MOVD dst+0(FP), R0
	MOVD panels+8(FP), R1
	MOVD parts+16(FP), R2
	MOVD n+24(FP), R3

panel:
	PANEL
	VST1.P [V0.S4, V1.S4, V2.S4, V3.S4], 64(R0)
	VST1.P [V4.S4, V5.S4, V6.S4, V7.S4], 64(R0)
	VST1.P [V8.S4, V9.S4, V10.S4, V11.S4], 64(R0)
	VST1.P [V12.S4, V13.S4, V14.S4, V15.S4], 64(R0)
	SUBS   $1, R1, R1
	BNE    panel
	RET

// func squaresNEON(dst *float32, panels int, parts *Part, n int)
TEXT ·squaresNEON(SB), NOSPLIT, $0-32
	MOVD dst+0(FP), R0
	MOVD panels+8(FP), R1
	MOVD parts+16(FP), R2
	MOVD n+24(FP), R3
	VLD1 (R0), [V24.S4, V25.S4, V26.S4, V27.S4]

panel:
	PANEL
	VFMLA V0.S4, V0.S4, V24.S4
	VFMLA V1.S4, V1.S4, V25.S4
	VFMLA V2.S4, V2.S4, V26.S4
	VFMLA V3.S4, V3.S4, V27.S4
	VFMLA V4.S4, V4.S4, V24.S4
	VFMLA V5.S4, V5.S4, V25.S4
	VFMLA V6.S4, V6.S4, V26.S4
	VFMLA V7.S4, V7.S4, V27.S4
	VFMLA V8.S4, V8.S4, V24.S4
	VFMLA V9.S4, V9.S4, V25.S4
	VFMLA V10.S4, V10.S4, V26.S4
	VFMLA V11.S4, V11.S4, V27.S4
	VFMLA V12.S4, V12.S4, V24.S4
	VFMLA V13.S4, V13.S4, V25.S4
	VFMLA V14.S4, V14.S4, V26.S4
	VFMLA V15.S4, V15.S4, V27.S4
	SUBS  $1, R1, R1
	BNE   panel
	VST1  [V24.S4, V25.S4, V26.S4, V27.S4], (R0)
	RET

// func addScaledNEON(dst, scale, src *float32, rows int)
TEXT ·addScaledNEON(SB), NOSPLIT, $0-32
	MOVD dst+0(FP), R0
	MOVD scale+8(FP), R1
	MOVD src+16(FP), R2
	MOVD rows+24(FP), R3
	VLD1 (R1), [V16.S4, V17.S4, V18.S4, V19.S4]

row:
	VLD1.P 64(R2), [V0.S4, V1.S4, V2.S4, V3.S4]
	VLD1   (R0), [V4.S4, V5.S4, V6.S4, V7.S4]
	VFMLA  V0.S4, V16.S4, V4.S4
	VFMLA  V1.S4, V17.S4, V5.S4
	VFMLA  V2.S4, V18.S4, V6.S4
	VFMLA  V3.S4, V19.S4, V7.S4
	VST1.P [V4.S4, V5.S4, V6.S4, V7.S4], 64(R0)
	SUBS   $1, R3, R3
	BNE    row
	RET

// Eight lanes at a time, all features; the means stay in V28 and V29 (cosines), V30
// and V31 (sines), the constants in V16 to V26.
//
//	R0 x   R1 omega   R2 z   R3 weights   R4 features left   R5 rows of z left
//	R6 bytes to the lanes   R7 bytes from cosine to sine   R8, R9 scratch
//
// func rffNEON(x, mean, omega, weights, z *float32, half, d int, table *table)
TEXT ·rffNEON(SB), NOSPLIT, $0-64
	MOVD table+56(FP), R8
	VLD1 (R8), [V16.S4]      // sin0
	ADD  $64, R8
	VLD1 (R8), [V17.S4]
	ADD  $64, R8
	VLD1 (R8), [V18.S4]
	ADD  $64, R8
	VLD1 (R8), [V19.S4]
	ADD  $64, R8
	VLD1 (R8), [V20.S4]
	ADD  $64, R8
	VLD1 (R8), [V21.S4]      // cos0
	ADD  $64, R8
	VLD1 (R8), [V22.S4]
	ADD  $64, R8
	VLD1 (R8), [V23.S4]
	ADD  $64, R8
	VLD1 (R8), [V24.S4]
	ADD  $64, R8
	VLD1 (R8), [V25.S4]
	ADD  $64, R8
	VLD1 (R8), [V26.S4]
	MOVD half+40(FP), R7
	LSL  $6, R7, R7
	MOVD $0, R6

lanes:
	MOVD mean+8(FP), R8
	ADD  R6, R8, R8
	VLD1 (R8), [V28.S4, V29.S4]
	VEOR V30.B16, V30.B16, V30.B16
	VEOR V31.B16, V31.B16, V31.B16
	MOVD x+0(FP), R0
	MOVD omega+16(FP), R1
	MOVD weights+24(FP), R3
	MOVD half+40(FP), R4

feature:
	MOVD z+32(FP), R2
	ADD  R6, R2, R2
	MOVD d+48(FP), R5
	VEOR V0.B16, V0.B16, V0.B16
	VEOR V1.B16, V1.B16, V1.B16

turns:
	VLD1R.P 4(R1), [V2.S4]
	VLD1    (R2), [V3.S4, V4.S4]
	VFMLA   V3.S4, V2.S4, V0.S4
	VFMLA   V4.S4, V2.S4, V1.S4
	ADD     $64, R2
	SUBS    $1, R5, R5
	BNE     turns

	VFRINTN(0, 2)
	VFRINTN(1, 3)
	VFSUB(2, 0, 0)                 // f
	VFSUB(3, 1, 1)
	VFCVTNS(2, 2)
	VFCVTNS(3, 3)
	VSHL    $31, V2.S4, V2.S4      // the sign of an odd number
	VSHL    $31, V3.S4, V3.S4
	VFMUL(0, 0, 4)                 // g
	VFMUL(1, 1, 5)
	VMOV    V19.B16, V6.B16        // sin3 + sin4 g, …
	VMOV    V19.B16, V7.B16
	VMOV    V25.B16, V8.B16        // cos4 + cos5 g, …
	VMOV    V25.B16, V9.B16
	VFMLA   V20.S4, V4.S4, V6.S4
	VFMLA   V20.S4, V5.S4, V7.S4
	VFMLA   V26.S4, V4.S4, V8.S4
	VFMLA   V26.S4, V5.S4, V9.S4
	VMOV    V18.B16, V10.B16
	VMOV    V18.B16, V11.B16
	VMOV    V24.B16, V12.B16
	VMOV    V24.B16, V13.B16
	VFMLA   V6.S4, V4.S4, V10.S4
	VFMLA   V7.S4, V5.S4, V11.S4
	VFMLA   V8.S4, V4.S4, V12.S4
	VFMLA   V9.S4, V5.S4, V13.S4
	VMOV    V17.B16, V6.B16
	VMOV    V17.B16, V7.B16
	VMOV    V23.B16, V8.B16
	VMOV    V23.B16, V9.B16
	VFMLA   V10.S4, V4.S4, V6.S4
	VFMLA   V11.S4, V5.S4, V7.S4
	VFMLA   V12.S4, V4.S4, V8.S4
	VFMLA   V13.S4, V5.S4, V9.S4
	VMOV    V16.B16, V10.B16
	VMOV    V16.B16, V11.B16
	VMOV    V22.B16, V12.B16
	VMOV    V22.B16, V13.B16
	VFMLA   V6.S4, V4.S4, V10.S4
	VFMLA   V7.S4, V5.S4, V11.S4
	VFMLA   V8.S4, V4.S4, V12.S4
	VFMLA   V9.S4, V5.S4, V13.S4
	VMOV    V21.B16, V8.B16
	VMOV    V21.B16, V9.B16
	VFMUL(0, 10, 10)               // sine
	VFMUL(1, 11, 11)
	VFMLA   V12.S4, V4.S4, V8.S4   // cosine
	VFMLA   V13.S4, V5.S4, V9.S4
	VEOR    V2.B16, V10.B16, V10.B16
	VEOR    V3.B16, V11.B16, V11.B16
	VEOR    V2.B16, V8.B16, V8.B16
	VEOR    V3.B16, V9.B16, V9.B16
	VLD1R.P 4(R3), [V2.S4]
	VLD1R.P 4(R3), [V3.S4]
	VFMLA   V8.S4, V2.S4, V28.S4
	VFMLA   V9.S4, V2.S4, V29.S4
	VFMLA   V10.S4, V3.S4, V30.S4
	VFMLA   V11.S4, V3.S4, V31.S4
	CBZ     R0, unkept
	ADD     R6, R0, R8
	VST1    [V8.S4, V9.S4], (R8)
	ADD     R7, R8, R8
	VST1    [V10.S4, V11.S4], (R8)
	ADD     $64, R0

unkept:
	SUBS $1, R4, R4
	BNE  feature
	VFADD(30, 28, 28)
	VFADD(31, 29, 29)
	MOVD mean+8(FP), R8
	ADD  R6, R8, R8
	VST1 [V28.S4, V29.S4], (R8)
	ADD  $32, R6
	CMP  $64, R6
	BLT  lanes
	RET

// func logisticNEON(x *float32, n int, rate, gain, shift float32, table *table)
TEXT ·logisticNEON(SB), NOSPLIT, $0-40
	MOVD  x+0(FP), R0
	MOVD  n+8(FP), R1
	FMOVS rate+16(FP), F0
	FMOVS gain+20(FP), F1
	FMOVS shift+24(FP), F2
	VDUP  V0.S[0], V29.S4
	VDUP  V1.S[0], V30.S4
	VDUP  V2.S[0], V31.S4
	MOVD  table+32(FP), R8
	VLD1  (R8), [V16.S4]      // exp0
	ADD   $64, R8
	VLD1  (R8), [V17.S4]
	ADD   $64, R8
	VLD1  (R8), [V18.S4]
	ADD   $64, R8
	VLD1  (R8), [V19.S4]
	ADD   $64, R8
	VLD1  (R8), [V20.S4]
	ADD   $64, R8
	VLD1  (R8), [V21.S4]
	ADD   $64, R8
	VLD1  (R8), [V22.S4]
	ADD   $64, R8
	VLD1  (R8), [V23.S4]      // log2e
	ADD   $64, R8
	VLD1  (R8), [V24.S4]      // ln2High
	ADD   $64, R8
	VLD1  (R8), [V25.S4]      // ln2Low
	ADD   $64, R8
	VLD1  (R8), [V26.S4]      // most
	ADD   $64, R8
	VLD1  (R8), [V27.S4]      // least

four:
	VLD1  (R0), [V0.S4]
	VEOR  V1.B16, V1.B16, V1.B16
	VFMLS V29.S4, V0.S4, V1.S4   // −rate·x
	VFMIN(26, 1, 1)              // what is not a number stays so
	VFMAX(27, 1, 1)
	VFMUL(23, 1, 2)
	VFRINTN(2, 2)                // n
	VFCVTNS(2, 3)
	VSHL  $23, V3.S4, V3.S4
	VADD  V16.S4, V3.S4, V3.S4   // 2ⁿ
	VFMLS V24.S4, V2.S4, V1.S4
	VFMLS V25.S4, V2.S4, V1.S4   // r
	VMOV  V21.B16, V4.B16
	VFMLA V22.S4, V1.S4, V4.S4
	VMOV  V20.B16, V5.B16
	VFMLA V4.S4, V1.S4, V5.S4
	VMOV  V19.B16, V4.B16
	VFMLA V5.S4, V1.S4, V4.S4
	VMOV  V18.B16, V5.B16
	VFMLA V4.S4, V1.S4, V5.S4
	VMOV  V17.B16, V4.B16
	VFMLA V5.S4, V1.S4, V4.S4
	VMOV  V16.B16, V5.B16
	VFMLA V4.S4, V1.S4, V5.S4
	VMOV  V16.B16, V4.B16
	VFMLA V5.S4, V3.S4, V4.S4    // 1 + e
	VFDIV(4, 30, 4)
	VFADD(31, 4, 4)
	VST1.P [V4.S4], 16(R0)
	SUBS  $4, R1, R1
	BNE   four
	RET

// func clampNEON(dst, x, low, high *float32, rows int)
TEXT ·clampNEON(SB), NOSPLIT, $0-40
	MOVD dst+0(FP), R0
	MOVD x+8(FP), R1
	MOVD low+16(FP), R2
	MOVD high+24(FP), R3
	MOVD rows+32(FP), R4

row:
	VLD1.P 64(R1), [V0.S4, V1.S4, V2.S4, V3.S4]
	VLD1.P 64(R2), [V4.S4, V5.S4, V6.S4, V7.S4]
	VLD1.P 64(R3), [V16.S4, V17.S4, V18.S4, V19.S4]
	VFMAX(4, 0, 0)            // what is not a number stays so
	VFMAX(5, 1, 1)
	VFMAX(6, 2, 2)
	VFMAX(7, 3, 3)
	VFMIN(16, 0, 0)
	VFMIN(17, 1, 1)
	VFMIN(18, 2, 2)
	VFMIN(19, 3, 3)
	VST1.P [V0.S4, V1.S4, V2.S4, V3.S4], 64(R0)
	SUBS   $1, R4, R4
	BNE    row
	RET
