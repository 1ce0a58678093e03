// void gemv_f32_q4x8_q8_avx2(float *y, const void *w, const struct block_q8 *x, size_t rows,
//                            size_t cols)
//
// rdi y  rsi w  rdx x  rcx rows  r8 cols, then blocks of a row
// r9 block of x, r10 blocks left, rax scratch
// ymm0 y of 8 rows, ymm1 and ymm2 sums in int16, ymm3-ymm6 weights and x, ymm7 8 * sum of x,
// ymm14 ones, ymm15 low nibbles
// Clobbers rax, rcx, rdi, rsi, r8-r10, ymm0-ymm7, ymm14, ymm15.
//
// Eight rows at a time: 32 bytes are 8 rows by 4 columns, so that a lane of 32 bits is a row. A
// nibble stays unsigned, as vpmaddubsw wants it; a pair of products lies within 2 * 15 * 128 =
// 3840, and an int16 collects the 8 of a block: 30720. One vpmaddwd by ones makes the integers of
// 8 rows, and 8 * sum(x) comes off once. A block of 144 bytes takes 8 multiplications and about 40
// other vector operations: aims at 14 cycles, so that memory is what one waits for.
#include "kernels/x86_64/asm.h"

#define out rdi
#define weights rsi
#define blocks rdx
#define n_rows rcx
#define n_blocks r8
#define block r9
#define left r10

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
    vmovdqu low, [weights + 16 + 32*\at]
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

func gemv_f32_q4x8_q8_avx2
    test    n_rows, n_rows
    jz      5f
    shr     n_blocks, 5
    broadcast_word 15, 0x0f0f0f0f
    broadcast_word 14, 0x00010001
1:
    vpxor   xmm0, xmm0, xmm0
    mov     block, blocks
    mov     left, n_blocks
    test    left, left
    jz      3f
2:
    chunk   0
    chunk   1
    chunk   2
    chunk   3
    vpbroadcastd eights, dword ptr [block + 36]
    vpaddw  sums_low, sums_low, sums_high
    vpslld  eights, eights, 3
    vcvtph2ps low, [weights]
    vpmaddwd sums_low, sums_low, ones
    vbroadcastss high, dword ptr [block + 32]
    vpsubd  sums_low, sums_low, eights
    vmulps  low, low, high          // scale of a row and of x
    vcvtdq2ps sums_low, sums_low
    vfmadd231ps acc, sums_low, low
    add     weights, 144
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
endfunc gemv_f32_q4x8_q8_avx2
