// void accumulate_f32_f16_avx2(float *o, const float *p, const uint16_t *v, size_t n, size_t d)
//
// rdi o  rsi p  rdx v  rcx n  r8 d, then columns left
// r9 bytes of a row of v, r10 row, r11 its number, rax scratch
// ymm0-ymm7 o, ymm8 p, ymm9 v, ymm10 mask of the tail
// Clobbers rax, rdx, rdi, r8-r11, ymm0-ymm10.
//
// 64 columns of o stay in registers while the rows go by, each once; then the columns left over
// by eights. 64 columns of a row take 8 conversions and 8 fmas: aims at 9 cycles.
#include "kernels/x86_64/asm.h"

#define out rdi
#define shares rsi
#define values rdx
#define n_rows rcx
#define left r8
#define left_32 r8d
#define row_bytes r9
#define row r10
#define number r11

func accumulate_f32_f16_avx2
    test    n_rows, n_rows
    jz      9f
    lea     row_bytes, [left + left]
    sub     left, 64
    jb      3f
1:
.irp n, 0, 1, 2, 3, 4, 5, 6, 7
    vmovups ymm\n, [out + 32*\n]
.endr
    mov     row, values
    xor     r11d, r11d
2:
    vbroadcastss ymm8, dword ptr [shares + 4*number]
.irp n, 0, 1, 2, 3, 4, 5, 6, 7
    vcvtph2ps ymm9, xmmword ptr [row + 16*\n]
    vfmadd231ps ymm\n, ymm8, ymm9
.endr
    add     row, row_bytes
    inc     number
    cmp     number, n_rows
    jb      2b
.irp n, 0, 1, 2, 3, 4, 5, 6, 7
    vmovups [out + 32*\n], ymm\n
.endr
    add     out, 256
    add     values, 128
    sub     left, 64
    jae     1b
3:
    add     left, 64
    sub     left, 8
    jb      6f
4:
    vmovups ymm0, [out]
    mov     row, values
    xor     r11d, r11d
5:
    vbroadcastss ymm8, dword ptr [shares + 4*number]
    vcvtph2ps ymm9, xmmword ptr [row]
    add     row, row_bytes
    inc     number
    vfmadd231ps ymm0, ymm8, ymm9
    cmp     number, n_rows
    jb      5b
    vmovups [out], ymm0
    add     out, 32
    add     values, 16
    sub     left, 8
    jae     4b
6:
    add     left, 8
    jz      9f
    mov     number, left
    lane_mask 10, number
    vmaskmovps ymm0, ymm10, [out]
    xor     r11d, r11d
7:
    vbroadcastss ymm8, dword ptr [shares + 4*number]
    load_ragged_halves 9, values, left_32
    vcvtph2ps ymm9, xmm9
    add     values, row_bytes
    inc     number
    vfmadd231ps ymm0, ymm8, ymm9
    cmp     number, n_rows
    jb      7b
    vmaskmovps [out], ymm10, ymm0
9:
endfunc accumulate_f32_f16_avx2
