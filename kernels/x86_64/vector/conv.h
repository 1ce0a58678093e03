// The causal convolution; AVX2 and AVX-512 share one body.
//
// rdi y; rsi x; rdx w; rcx bias or 0; r8 channels, first the shape; all are changed;
// r9 taps; r10, r11 bytes from tap to tap of x and w; rax, rbx pointers to a tap; rbp taps left;
// ymm or zmm: 0-3 x; 8-11 sums; masks as in vectors.h.
// Clobbers rax, rcx, rdx, rsi, rdi, r8-r11, ymm0-ymm3, ymm8-ymm11, ymm13, ymm15 (AVX2), zmm0-zmm3,
// zmm8-zmm11, k1 (AVX-512); rbx and rbp are saved.
//
// All taps of a strip of channels are added before the next strip starts.
#ifndef INGOT_KERNELS_X86_64_CONV_H
#define INGOT_KERNELS_X86_64_CONV_H

#include "kernels/blocks.h"
#include "kernels/x86_64/vector/strips.h"

#define out rdi
#define vectors rsi
#define weights rdx
#define bias rcx
#define left r8
#define left_32 r8d
#define n_taps r9
#define vector_bytes r10
#define weight_bytes r11
#define vector rax
#define weight rbx
#define taps_left rbp

.macro clear_sum v, x, unused, sum, at, tail
    vxorps  xmm\sum, xmm\sum, xmm\sum
.endm

.macro load_bias v, x, unused, sum, at, tail
    load    \v, \sum, bias+\at, \tail
.endm

.macro add_product v, x, unused, sum, at, tail
    load    \v, \x, vector+\at, \tail
    apply   vfmadd231ps, \v, \sum, \x, weight+\at, \tail
.endm

.macro store_sum v, x, unused, sum, at, tail
    store   \v, \sum, out+\at, \tail
.endm

.macro conv_columns v, count, tail
    for_strip \v, \count, clear_sum
    test    bias, bias
    jz      .Lstart\@
    for_strip \v, \count, load_bias, \tail
    add     bias, 4 * \count * \v\()_lanes
.Lstart\@:
    mov     vector, vectors
    mov     weight, weights
    mov     taps_left, n_taps
.Ltap\@:
    for_strip \v, \count, add_product, \tail
    add     vector, vector_bytes
    add     weight, weight_bytes
    dec     taps_left
    jnz     .Ltap\@
    for_strip \v, \count, store_sum, \tail
    add     vectors, 4 * \count * \v\()_lanes
    add     weights, 4 * \count * \v\()_lanes
    add     out, 4 * \count * \v\()_lanes
.endm

.macro conv name, v
func \name
    push_saved rbx, rbp
    mov     n_taps, [left + CONV_TAPS]
    mov     vector_bytes, [left + CONV_X_STRIDE]
    mov     weight_bytes, [left + CONV_W_STRIDE]
    mov     left, [left + CONV_CHANNELS]
    shl     vector_bytes, 2
    shl     weight_bytes, 2
    for_columns \v, left, left_32, conv_columns
    pop_saved rbp, rbx
endfunc \name
.endm

#endif
