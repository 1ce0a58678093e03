// void score_f32_f16_avx2(float *y, const float *q, const uint16_t *k, size_t n, size_t d,
//                         float scale)
//
// rdi y  rsi q  rdx k  rcx n  r8 d  xmm0 scale
// r9 bytes of a row of k, r10 of three, r11 columns left and scratch, rax bytes into q
// ymm0-ymm7 16 lanes each of four rows, ymm8 and ymm9 q, ymm10 and ymm11 k, ymm13 and ymm14 masks
// of the tail, ymm15 scale
// Clobbers rax, rcx, rdx, rdi, r9-r11, ymm0-ymm11, ymm13-ymm15.
//
// Four rows of k at a time, so that eight sums hide the latency of fma and q is loaded once for
// four; the rows left over go one by one. In a tail the lanes beyond it are put back, because a
// lane may be -0, which adding a zero would change. 16 columns of four rows take 8 conversions
// and 8 fmas: aims at 9 cycles.
#include "kernels/x86_64/asm.h"

#define out rdi
#define query rsi
#define keys rdx
#define n_rows rcx
#define columns r8
#define columns_32 r8d
#define row_bytes r9
#define three_rows r10
#define left r11
#define position rax
#define mask_low ymm13
#define mask_high ymm14

.macro row low, high, key:vararg
    vcvtph2ps ymm10, xmmword ptr [\key]
    vcvtph2ps ymm11, xmmword ptr [\key + 16]
    vfmadd231ps ymm\low, ymm8, ymm10
    vfmadd231ps ymm\high, ymm9, ymm11
.endm

// The same of the last columns % 16.
.macro ragged_row low, high, key:vararg
    lea     left, [\key]
    test    columns_32, 8
    jz      911f
    vcvtph2ps ymm10, xmmword ptr [left]
    add     left, 16
    load_ragged_halves 11, left, columns_32
    vcvtph2ps ymm11, xmm11
    vfmadd213ps ymm11, ymm9, ymm\high
    vfmadd231ps ymm\low, ymm8, ymm10
    vblendvps ymm\high, ymm\high, ymm11, mask_high
    jmp     912f
911:
    load_ragged_halves 10, left, columns_32
    vcvtph2ps ymm10, xmm10
    vfmadd213ps ymm10, ymm8, ymm\low
    vblendvps ymm\low, ymm\low, ymm10, mask_low
912:
.endm

func score_f32_f16_avx2
    vbroadcastss ymm15, xmm0
    lea     row_bytes, [columns + columns]
    lea     three_rows, [row_bytes + 2*row_bytes]
    mov     left, columns
    and     left, 15
    lane_masks 13, 14, left
1:
    sub     n_rows, 4
    jb      5f
.irp sum, 0, 1, 2, 3, 4, 5, 6, 7
    vxorps  xmm\sum, xmm\sum, xmm\sum
.endr
    xor     eax, eax
    mov     left, columns
    sub     left, 16
    jb      3f
2:
    vmovups ymm8, [query + position]
    vmovups ymm9, [query + position + 32]
    row     0, 1, keys
    row     2, 3, keys + row_bytes
    row     4, 5, keys + 2*row_bytes
    row     6, 7, keys + three_rows
    add     position, 64
    add     keys, 32
    sub     left, 16
    jae     2b
3:
    test    columns_32, 15
    jz      4f
    vmaskmovps ymm8, mask_low, [query + position]
    vmaskmovps ymm9, mask_high, [query + position + 32]
    ragged_row 0, 1, keys
    ragged_row 2, 3, keys + row_bytes
    ragged_row 4, 5, keys + 2*row_bytes
    ragged_row 6, 7, keys + three_rows
    mov     left, columns
    and     left, 15
    lea     keys, [keys + 2*left]
4:
    add     keys, three_rows        // the loop went over one row
    fold_four_rows
    vmulps  xmm0, xmm0, xmm15
    vmovups [out], xmm0
    add     out, 16
    jmp     1b
5:
    add     n_rows, 4
    jz      9f
6:
    vxorps  xmm0, xmm0, xmm0
    vxorps  xmm1, xmm1, xmm1
    xor     eax, eax
    mov     left, columns
    sub     left, 16
    jb      8f
7:
    vmovups ymm8, [query + position]
    vmovups ymm9, [query + position + 32]
    row     0, 1, keys
    add     position, 64
    add     keys, 32
    sub     left, 16
    jae     7b
8:
    test    columns_32, 15
    jz      81f
    vmaskmovps ymm8, mask_low, [query + position]
    vmaskmovps ymm9, mask_high, [query + position + 32]
    ragged_row 0, 1, keys
    mov     left, columns
    and     left, 15
    lea     keys, [keys + 2*left]
81:
    fold_lanes 0, 1
    vmulss  xmm0, xmm0, xmm15
    vmovss  dword ptr [out], xmm0
    add     out, 4
    dec     n_rows
    jnz     6b
9:
endfunc score_f32_f16_avx2
