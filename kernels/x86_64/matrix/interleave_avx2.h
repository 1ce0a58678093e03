// Shared by the two kernels that interleave four tokens. A step takes
// one block of four tokens: 11 cycles for 32 columns, 77 for 256.
#ifndef INGOT_KERNELS_X86_64_INTERLEAVE_AVX2_H
#define INGOT_KERNELS_X86_64_INTERLEAVE_AVX2_H

#include "kernels/blocks.h"
#include "kernels/x86_64/asm.h"

// rdi y; rsi x; rdx tokens left; rcx columns, then blocks of a token; rax scratch;
// r8 blocks left; r9-r11 bytes from the first token of four to the others, 0 for a missing token;
// ymm0-ymm7 columns, sums and scales; ymm13-ymm15 of tokens 1 to 3: all ones, or zeros if the token
// is missing.
// Clobbers rax, rcx, rdx, rsi, rdi, r8-r11, ymm0-ymm7, ymm13-ymm15.
#define out rdi
#define tokens rsi
#define tokens_left rdx
#define n_blocks rcx
#define blocks_left r8
#define second r9
#define third r10
#define fourth r11

// rax = n_blocks * block_bytes = the bytes of a token. Tokens 0 to 3 are at 0, 1, 2 and 3 times
// rax. A missing token is read from the address of token 0, and the mask clears what was read.
.macro find_tokens block_bytes
    imul    rax, n_blocks, \block_bytes
    find_token second, 13, 1
    find_token third, 14, 2
    find_token fourth, 15, 3
.endm

.macro find_token offset, mask, number
    imul    \offset, rax, \number
    vpcmpeqd ymm\mask, ymm\mask, ymm\mask
    cmp     tokens_left, \number
    ja      .Lfound\@
    xor     \offset, \offset
    vpxor   ymm\mask, ymm\mask, ymm\mask
.Lfound\@:
.endm

// ymm0-ymm3 = 32 bytes of four tokens at `at`.
.macro load_tokens at
    vmovdqu ymm0, [tokens + \at]
    vpand   ymm1, ymm13, [tokens + second + \at]
    vpand   ymm2, ymm14, [tokens + third + \at]
    vpand   ymm3, ymm15, [tokens + fourth + \at]
.endm

// Store ymm4-ymm7, in the order of the tokens, to 128 bytes at `at`: low halves, then high halves.
.macro store_halves at
    vmovdqu [out + \at], xmm4
    vmovdqu [out + \at + 16], xmm5
    vmovdqu [out + \at + 32], xmm6
    vmovdqu [out + \at + 48], xmm7
    vextracti128 [out + \at + 64], ymm4, 1
    vextracti128 [out + \at + 80], ymm5, 1
    vextracti128 [out + \at + 96], ymm6, 1
    vextracti128 [out + \at + 112], ymm7, 1
.endm

// Interleave 32 columns of four tokens, four columns at a time, from `at` to `to`. Destroys
// ymm0-ymm7.
.macro interleave_columns at, to
    load_tokens \at
    vpunpckldq ymm4, ymm0, ymm1
    vpunpckhdq ymm6, ymm0, ymm1
    vpunpckldq ymm5, ymm2, ymm3
    vpunpckhdq ymm7, ymm2, ymm3
    vpunpckhqdq ymm1, ymm4, ymm5
    vpunpcklqdq ymm4, ymm4, ymm5
    vpunpckhqdq ymm3, ymm6, ymm7
    vpunpcklqdq ymm6, ymm6, ymm7
    vmovdqa ymm5, ymm1
    vmovdqa ymm7, ymm3
    store_halves \to
.endm

// xmm0 = the first words at `at` of tokens 0 and 1, then their second words if
// mov loads two words. xmm2 = the same of tokens 2 and 3. Destroys xmm1, xmm3.
.macro interleave_words mov, size, at
    \mov    xmm0, \size ptr [tokens + \at]
    \mov    xmm1, \size ptr [tokens + second + \at]
    \mov    xmm2, \size ptr [tokens + third + \at]
    \mov    xmm3, \size ptr [tokens + fourth + \at]
    vpand   xmm1, xmm1, xmm13
    vpand   xmm2, xmm2, xmm14
    vpand   xmm3, xmm3, xmm15
    vpunpckldq xmm0, xmm0, xmm1
    vpunpckldq xmm2, xmm2, xmm3
.endm

// `body` interleaves one block. `columns` is log2 of the columns in a block.
.macro interleave name, body, columns, x_bytes, y_bytes
func \name
    shr     n_blocks, \columns
    jz      .Ldone\@
    test    tokens_left, tokens_left
    jz      .Ldone\@
.Ltokens\@:
    find_tokens \x_bytes
    mov     blocks_left, n_blocks
.Lblock\@:
    \body
    add     tokens, \x_bytes
    add     out, \y_bytes
    dec     blocks_left
    jnz     .Lblock\@
    imul    rax, n_blocks, 3 * \x_bytes
    add     tokens, rax             // the next four
    sub     tokens_left, 4
    ja      .Ltokens\@
.Ldone\@:
endfunc \name
.endm

#endif
