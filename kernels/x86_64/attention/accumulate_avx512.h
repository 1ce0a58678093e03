// Accumulation of fp16 and int8 values with AVX-512.
//
// rdi o; rsi s; rdx v; rcx n_q; r8 n, then bytes of the tile; r9 d, then bytes of a row of o;
// rax mask, then scale of a position; r10 v of a position; r11 s of a position;
// rbx positions left; rbp bytes of a row of v; r12-r14 multiples of r9; r15 o;
// zmm0-zmm15 outputs, zmm16-zmm19 values, zmm20 a factor or weight, zmm21, zmm22 scales;
// k1-k4 masks of 64 dimensions: those below d.
//
// Takes 8 queries by 32 dimensions, or 4 or fewer by 64: 16 chains of fma. Dimensions beyond d are
// masked. Zen 4 can do one fma per cycle. With a prompt, fp16 values reach 0.99 fma per cycle; int8
// values reach 0.66, because each weight takes one more product. The next tile is prefetched
// meanwhile, as in score_f32_f16_avx2.S.
#ifndef INGOT_KERNELS_X86_64_ACCUMULATE_AVX512_H
#define INGOT_KERNELS_X86_64_ACCUMULATE_AVX512_H

#include "kernels/x86_64/attention/attention.h"

#define values rdx
#define n_queries rcx
#define tile_bytes r8
#define mask rax
#define scale rax
#define value r10
#define weight r11
#define positions_left rbx
#define value_bytes rbp

// The frame: n, dimensions left, v and scales of the current dimensions, scales of a position.
#define N_POSITIONS 0
#define N_LEFT 8
#define VALUES 16
#define SCALES 24
#define SCALE_BYTES 32
#define FRAME 40

// zmm reg = 16 values of vector v; lanes that the mask excludes are zero.
.macro load_values_f16 v, reg, number
    vcvtph2ps zmm\reg{k\number}{z}, [value + 32 * \v]
.endm

.macro load_scale reg, v, number
    vbroadcastss zmm\reg{k\number}{z}, dword ptr [scale + 2 * \v]
.endm

.macro load_values_q8 v, reg, number
    vpmovsxbd zmm\reg{k\number}{z}, [value + 16 * \v]
    vcvtdq2ps zmm\reg, zmm\reg
    .if \v % 2 == 0
    load_scale %(21 + \v / 2), \v, \number
    .endif
.endm

.macro begin_zmm a, v, acc, number
    .if \v == 0
    vbroadcastss zmm20, dword ptr [rows + SCORE_ROW_BYTES * \a + SCORE_ROW_FACTOR]
    .endif
    at_row  <vmulps zmm\acc{k\number}{z}, zmm20,>, \a, out, (64 * \v)
.endm

.macro end_zmm a, v, acc, number
    at_row  <vmovups>, \a, out, (64 * \v), <{k\number}, zmm\acc>
.endm

.macro add_value_f16 a, v, acc, from, scales
    vfmadd231ps zmm\acc, zmm\from, dword ptr [weight + SCORE_ROW_BYTES * \a]{1to16}
.endm

.macro add_value_q8 a, v, acc, from, scales
    .if \v % 2 == 0
    vmulps  zmm20, zmm\scales, dword ptr [weight + SCORE_ROW_BYTES * \a]{1to16}
    .endif
    vfmadd231ps zmm\acc, zmm\from, zmm20
.endm

// Run `op a, v, number of the zmm, number of the mask` for each query a of n_q and vector v of n_v.
.macro for_outputs n_q, n_v, op
    .irp    a, 0, 1, 2, 3, 4, 5, 6, 7
    .irp    v, 0, 1, 2, 3
    .if (\a < \n_q) && (\v < \n_v)
    \op     \a, \v, %(\n_v * \a + \v), %(\v + 1)
    .endif
    .endr
    .endr
.endm

.macro add_position n_q, n_v, type
    .irp    v, 0, 1, 2, 3
    .if \v < \n_v
    load_values_\type \v, %(16 + \v), %(\v + 1)
    .endif
    .endr
    .irp    a, 0, 1, 2, 3, 4, 5, 6, 7
    .irp    v, 0, 1, 2, 3
    .if (\a < \n_q) && (\v < \n_v)
    add_value_\type \a, \v, %(\n_v * \a + \v), %(16 + \v), %(21 + \v / 2)
    .endif
    .endr
    .endr
.endm

// Set k1-k4 for the dimensions left. Destroys r10 and rax.
.macro mask_dimensions
    mov     mask, -1
    mov     value, [rsp + N_LEFT]
    cmp     value, 64
    jae     .Lmasked\@
    bzhi    mask, mask, value
.Lmasked\@:
    kmovq   k1, mask
    kshiftrq k2, k1, 16
    kshiftrq k3, k1, 32
    kshiftrq k4, k1, 48
.endm

// Compute all dimensions of the next n_q queries, n_v vectors at a time.
.macro accumulate_vectors n_q, n_v, type
    mov     out, stride
    shr     out, 2
    mov     [rsp + N_LEFT], out
    mov     out, outs
    .ifc \type, q8
    mov     [rsp + SCALES], values
    lea     value, [values + 2*stride]  // skip the KV_TILE scales of 32 dimensions
    mov     [rsp + VALUES], value
    .else
    mov     [rsp + VALUES], values
    .endif
.Lcolumn\@:
    mask_dimensions
    for_outputs \n_q, \n_v, begin_zmm
    mov     value, [rsp + VALUES]
    .ifc \type, q8
    mov     scale, [rsp + SCALES]
    .endif
    mov     weight, rows
    mov     positions_left, [rsp + N_POSITIONS]
    test    positions_left, positions_left
    jz      .Lend\@
.Lposition\@:
    prefetcht1 [value + tile_bytes]
    .ifc \type, f16
    .if \n_v > 2
    prefetcht1 [value + tile_bytes + 64]
    .endif
    .endif
    add_position \n_q, \n_v, \type
    add     value, value_bytes
    .ifc \type, q8
    add     scale, [rsp + SCALE_BYTES]
    .endif
    add     weight, 4
    dec     positions_left
    jnz     .Lposition\@
.Lend\@:
    for_outputs \n_q, \n_v, end_zmm
    .ifc \type, q8
    add     qword ptr [rsp + VALUES], 16 * \n_v
    add     qword ptr [rsp + SCALES], 2 * \n_v
    .else
    add     qword ptr [rsp + VALUES], 32 * \n_v
    .endif
    add     out, 64 * \n_v
    sub     qword ptr [rsp + N_LEFT], 16 * \n_v
    ja      .Lcolumn\@
    add     rows, \n_q * SCORE_ROW_BYTES
    next_rows outs, \n_q
.endm

.macro accumulate_queries_f16 n_q
    .if \n_q > 4
    accumulate_vectors \n_q, 2, f16
    .else
    accumulate_vectors \n_q, 4, f16
    .endif
.endm

.macro accumulate_queries_q8 n_q
    .if \n_q > 4
    accumulate_vectors \n_q, 2, q8
    .else
    accumulate_vectors \n_q, 4, q8
    .endif
.endm

.macro accumulate_avx512 name, type
func \name
    push_saved rbx, rbp, r12, r13, r14, r15
    take_stack FRAME
    mov     [rsp + N_POSITIONS], r8
    .ifc \type, q8
    mov     value_bytes, stride
    imul    tile_bytes, stride, KV_TILE + KV_TILE / 8
    mov     rax, stride
    shr     rax, 3
    mov     [rsp + SCALE_BYTES], rax
    .else
    lea     value_bytes, [2*stride]
    mov     tile_bytes, stride
    shl     tile_bytes, 7
    .endif
    prepare_strides
    test    value_bytes, value_bytes
    jz      .Ldone\@
    for_queries n_queries, 8, accumulate_queries_\type
.Ldone\@:
    give_stack FRAME
    pop_saved r15, r14, r13, r12, rbp, rbx
endfunc \name
.endm

#endif
