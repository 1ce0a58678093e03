/* void score_f32_f16_rv64gc(struct score_row *restrict s, const float *restrict q,
 *                           const uint16_t *restrict k, size_t n_q, size_t n, size_t d)
 *
 * a0 s, at the strip, a1 q and a2 k, at the current dimensions, a3 n_q, a4 positions left, a5 d; s10 q,
 * s11 k, at the strip; the rest as in panel_rv64gc.h. Clobbers a0-a2, a4-a7, t0-t6, ft0-ft11, fa0-fa7,
 * fflags; saves s0-s11 and fs0-fs11, and uses 2.2 KiB of stack.
 *
 * A strip is 8 positions. One dimension of three queries takes 80 instructions, 24 of them products;
 * with more queries, the first three take 89 and each further three 40. A strip with an infinite or
 * NaN key takes the slow path. */
#include "kernels/riscv64/attention/panel_rv64gc.h"

#define positions_left a4
#define dim a5
#define queries s10
#define keys s11

#define KEY_BYTES (2 * KV_TILE)

.macro load_four at
    load_four_halves \at
.endm

.macro check_four
    scale_four
.endm

.macro begin_strip
    fsflagsi 0
.endm

.macro end_strip slow
    check_overflow \slow
.endm

.macro keep_slowly
    keep_halves_slowly
.endm

.macro load_mults count
    load_moving_mults \count
.endm

.macro steps_begin
.endm

/* Start from zero, or from the sums over earlier dimensions. */
.macro start_row row, factor, sums:vararg
    beq mult, queries, .Lfirst\@
    load_row \row, \factor, \sums
    j .Lstarted\@
.Lfirst\@:
    zero_row \row, \factor, \sums
.Lstarted\@:
.endm

func score_f32_f16_rv64gc
    push_panel
    widen_start temp
    mv queries, mult
    mv keys, source
    slli mult_stride, dim, 2
    li source_stride, KEY_BYTES
    li out_stride, SCORE_ROW_BYTES
    beqz n_rows, .Ldone
    beqz positions_left, .Ldone
.Lstrip:
    mv mult, queries
    mv source, keys
.Lchunk:
    add depth_bytes, queries, mult_stride
    sub depth_bytes, depth_bytes, mult
    li temp, 4*PANEL_DEPTH
    bleu depth_bytes, temp, .Lfits
    mv depth_bytes, temp
.Lfits:
    panel_rows
    add mult, mult, depth_bytes
    slli temp, depth_bytes, 5          /* KEY_BYTES for each 4 bytes of q */
    add source, source, temp
    sub temp, mult, queries
    bne temp, mult_stride, .Lchunk
    addi out, out, 32
    addi keys, keys, 16
    addi positions_left, positions_left, -8
    bnez positions_left, .Lstrip
.Ldone:
    pop_panel
    ret
endfunc
