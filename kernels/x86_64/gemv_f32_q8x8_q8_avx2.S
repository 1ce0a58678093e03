// void gemv_f32_q8x8_q8_avx2(float *y, const void *w, const struct block_q8 *x, size_t rows,
//                            size_t cols)
//
// rdi y  rsi w  rdx x  rcx rows  r8 cols, then blocks of a row
// r9 block of x, r10 blocks left, r11 h and l of a block, rax scratch
// ymm0 y of 8 rows, ymm1-ymm3 sums in int16, ymm4-ymm7 weights, x and scratch, ymm11 16 in every
// int16, ymm12 ones, ymm13 sign of bytes, ymm14 eights, ymm15 low nibbles
// Clobbers rax, rcx, rdi, rsi, r8-r11, ymm0-ymm7, ymm11-ymm15; 127 bytes of red
// zone.
//
// vpmaddubsw takes unsigned by signed bytes and saturates at 16 bits, which 255 * 127 twice would
// pass. So w becomes w + 128, unsigned, and x = 16 h + l is split, h in -8..7 and l in 0..15:
// a pair with h lies within 2 * 255 * 8 = 4080 and an int16 collects the 8 of a block: 32640; a
// pair with l is at most 7650 and an int16 collects 4: 30600. The sum is exact for every byte:
// sum w x = 16 sum (w + 128) h + sum (w + 128) l - 128 sum x.
// h and l of a block go through the red zone, as only memory is broadcast by fours for nothing,
// in one cache line: a store across two is not forwarded to loads, which took three times as long.
// A block of 272 bytes takes 16 multiplications and about 45 other vector operations: aims at
// 20 cycles, so that memory is what one waits for.
#include "kernels/x86_64/asm.h"

#define out rdi
#define weights rsi
#define blocks rdx
#define n_rows rcx
#define n_blocks r8
#define block r9
#define left r10

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

#define x_low r11
#define x_high r11 + 32

// One chunk of 8 rows by 4 columns; begin_low and begin_high say whose sums it begins.
.macro chunk at, sums_low, begin_low=0, begin_high=0
    vpxor   biased, sign, [weights + 16 + 32*\at]
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

func gemv_f32_q8x8_q8_avx2
    test    n_rows, n_rows
    jz      5f
    shr     n_blocks, 5
    lea     r11, [rsp - 64]
    and     r11, -64
    broadcast_word 15, 0x0f0f0f0f
    broadcast_word 14, 0x08080808
    broadcast_word 13, 0x80808080
    broadcast_word 12, 0x00010001
    vpsllw  sixteens, ones, 4
1:
    vpxor   xmm0, xmm0, xmm0
    mov     block, blocks
    mov     left, n_blocks
    test    left, left
    jz      3f
2:
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
    vpbroadcastd ymm7, dword ptr [block + 36]
    vpmaddwd sums_first, sums_first, ones
    vpmaddwd sums_second, sums_second, ones
    vpmaddwd sums_high, sums_high, sixteens
    vpslld  ymm7, ymm7, 7           // 128 * sum of x
    vcvtph2ps ymm5, [weights]
    vbroadcastss ymm6, dword ptr [block + 32]
    vpaddd  sums_first, sums_first, sums_second
    vpsubd  sums_high, sums_high, ymm7
    vpaddd  sums_first, sums_first, sums_high
    vmulps  ymm5, ymm5, ymm6        // scale of a row and of x
    vcvtdq2ps sums_first, sums_first
    vfmadd231ps acc, sums_first, ymm5
    add     weights, 272
    add     block, 40
    dec     left
    jnz     2b
3:
    sub     n_rows, 8
    jb      4f
    vmovups [out], acc
    lea     out, [out + 32]         // leaves the flags
    jnz     1b
    jmp     5f
4:
    add     n_rows, 8
    lane_mask 1, n_rows
    vmaskmovps [out], ymm1, acc
5:
endfunc gemv_f32_q8x8_q8_avx2
