// void gemv_f32_q8x8_q8_avx2(float *y, const void *w, const struct block_q8 *x, size_t rows,
//                            size_t cols, size_t ahead)
//
// Registers of the loops: gemv_rows.h; rax h and l of a block.
// ymm1-ymm3 sums in int16  ymm4-ymm7 weights, x and scratch  ymm11 16 in every int16  ymm12 ones
// ymm13 sign of bytes  ymm14 eights  ymm15 low nibbles
// Clobbers what gemv_rows.h does, ymm2-ymm7, ymm11-ymm15; 127 bytes of red zone.
//
// vpmaddubsw takes unsigned by signed bytes and saturates at 16 bits, which 255 * 127 twice would
// pass. So w becomes w + 128, unsigned, and x = 16 h + l is split, h in -8..7 and l in 0..15:
// a pair with h lies within 2 * 255 * 8 = 4080 and an int16 collects the 8 of a block: 32640; a
// pair with l is at most 7650 and an int16 collects 4: 30600. The sum is exact for every byte:
// sum w x = 16 sum (w + 128) h + sum (w + 128) l - 128 sum x.
// h and l of a block go through the red zone, as only memory is broadcast by fours for nothing,
// in one cache line: a store across two is not forwarded to loads, which took three times as long.
// 16 multiplications and about 45 other vector operations for 272 bytes.
#include "kernels/x86_64/matrix/gemv/gemv_rows.h"

#define acc ymm0
#define sums_first ymm1
#define sums_second ymm2
#define sums_high ymm3
#define biased ymm4
#define sixteens ymm11
#define ones ymm12
#define sign ymm13
#define eights ymm14
#define nibble ymm15

#define split rax
#define x_low split
#define x_high split + 32

// One chunk of 8 rows by 4 columns; begin_low and begin_high say whose sums it begins.
.macro chunk at, sums_low, begin_low=0, begin_high=0
    vpxor   biased, sign, [weights + QUANTS + 32*\at]
    vpbroadcastd ymm5, dword ptr [x_low + 4*\at]
    vpbroadcastd ymm6, dword ptr [x_high + 4*\at]
    .if \begin_low
    vpmaddubsw \sums_low, biased, ymm5
    .else
    vpmaddubsw ymm5, biased, ymm5
    vpaddw  \sums_low, \sums_low, ymm5
    .endif
    .if \begin_high
    vpmaddubsw sums_high, biased, ymm6
    .else
    vpmaddubsw ymm6, biased, ymm6
    vpaddw  sums_high, sums_high, ymm6
    .endif
.endm

.macro block_q8
    vmovdqu ymm5, [block]
    vpsrlw  ymm6, ymm5, 4
    vpand   ymm5, ymm5, nibble
    vpand   ymm6, ymm6, nibble
    vpxor   ymm6, ymm6, eights      // from 4 bits to 8 with the sign
    vpsubb  ymm6, ymm6, eights
    vmovdqu [x_low], ymm5
    vmovdqu [x_high], ymm6
    chunk   0, sums_first, 1, 1
    chunk   1, sums_first
    chunk   2, sums_first
    chunk   3, sums_first
    chunk   4, sums_second, 1
    chunk   5, sums_second
    chunk   6, sums_second
    chunk   7, sums_second
    vpbroadcastd ymm7, dword ptr [block + Q8_SUM]
    vpmaddwd sums_first, sums_first, ones
    vpmaddwd sums_second, sums_second, ones
    vpmaddwd sums_high, sums_high, sixteens
    vpslld  ymm7, ymm7, 7           // 128 * sum of x
    vcvtph2ps ymm5, [weights]
    vbroadcastss ymm6, dword ptr [block + Q8_SCALE]
    vpaddd  sums_first, sums_first, sums_second
    vpsubd  sums_high, sums_high, ymm7
    vpaddd  sums_first, sums_first, sums_high
    vmulps  ymm5, ymm5, ymm6        // scale of a row and of x
    vcvtdq2ps sums_first, sums_first
    vfmadd231ps acc, sums_first, ymm5
.endm

func gemv_f32_q8x8_q8_avx2
    broadcast_word 15, 0x0f0f0f0f
    broadcast_word 14, 0x08080808
    broadcast_word 13, 0x80808080
    broadcast_word 12, 0x00010001
    vpsllw  sixteens, ones, 4
    lea     split, [rsp - 64]
    and     split, -64
    gemv_rows block_q8, 5, Q8X8_BYTES, Q8_BYTES
endfunc gemv_f32_q8x8_q8_avx2
