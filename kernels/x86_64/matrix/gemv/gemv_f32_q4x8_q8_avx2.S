// void gemv_f32_q4x8_q8_avx2(float *y, const void *w, const struct block_q8 *x, size_t rows,
//                            size_t cols, size_t ahead)
//
// Registers of the loops: gemv_rows.h.
// ymm1, ymm2 sums in int16  ymm3-ymm6 weights and x  ymm7 8 * sum of x  ymm14 ones  ymm15 low
// nibbles
// Clobbers what gemv_rows.h does, ymm2-ymm7, ymm14, ymm15.
//
// 32 bytes are 8 rows by 4 columns, so that a lane of 32 bits is a row. A nibble stays unsigned, as
// vpmaddubsw wants it; a pair of products lies within 2 * 15 * 128 = 3840, and an int16 collects
// the 8 of a block: 30720. One vpmaddwd by ones makes the integers of 8 rows, and 8 * sum(x) comes
// off once: 8 multiplications and about 40 other vector operations for 144 bytes.
#include "kernels/x86_64/matrix/gemv/gemv_rows.h"

#define acc ymm0
#define sums_low ymm1
#define sums_high ymm2
#define low ymm3
#define high ymm4
#define eights ymm7
#define ones ymm14
#define nibble ymm15

// One chunk of 8 rows: nibbles of columns c and c + 16 by x of these.
.macro chunk at
    vmovdqu low, [weights + QUANTS + 32*\at]
    vpbroadcastd ymm5, dword ptr [block + 4*\at]
    vpbroadcastd ymm6, dword ptr [block + 16 + 4*\at]
    vpsrlw  high, low, 4
    vpand   low, low, nibble
    vpand   high, high, nibble
    .if \at
    vpmaddubsw low, low, ymm5
    vpmaddubsw high, high, ymm6
    vpaddw  sums_low, sums_low, low
    vpaddw  sums_high, sums_high, high
    .else
    vpmaddubsw sums_low, low, ymm5
    vpmaddubsw sums_high, high, ymm6
    .endif
.endm

.macro block_q4
    chunk   0
    chunk   1
    chunk   2
    chunk   3
    vpbroadcastd eights, dword ptr [block + Q8_SUM]
    vpaddw  sums_low, sums_low, sums_high
    vpslld  eights, eights, 3
    vcvtph2ps low, [weights]
    vpmaddwd sums_low, sums_low, ones
    vbroadcastss high, dword ptr [block + Q8_SCALE]
    vpsubd  sums_low, sums_low, eights
    vmulps  low, low, high          // scale of a row and of x
    vcvtdq2ps sums_low, sums_low
    vfmadd231ps acc, sums_low, low
.endm

func gemv_f32_q4x8_q8_avx2
    broadcast_word 15, 0x0f0f0f0f
    broadcast_word 14, 0x00010001
    gemv_rows block_q4, 5, Q4X8_BYTES, Q8_BYTES
endfunc gemv_f32_q4x8_q8_avx2
