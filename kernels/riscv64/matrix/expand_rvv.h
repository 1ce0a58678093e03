/* expand_f32_f16 for RVV, with and without Zvfhmin, and expand_f32_f32.
 *
 * void expand_f32(float *restrict y, const void *restrict b, const float *restrict u, size_t rows,
 *                 size_t rank)
 *
 * a0 y, a1 b, a2 u, a3 rows, a4 rank. Clobbers a0, a1, a3-a7, t0-t6, ft0-ft4, v0-v23.
 *
 * B is stored in groups of 8 rows as [rank][8]. Four columns of a group are 32 elements, loaded and
 * widened as one vector: 8 registers at VLEN 128, 4 at 256. So each column starts a register (fills
 * two at 128) and is added separately. Four registers of sums are 2 groups side by side at VLEN 128
 * and 4 at 256. If a column is less than half a register, groups and columns are taken one by one.
 *
 * \kind is f16, f16_zvfh or f32. fp16 is widened as in f16_rvv.h, but one instruction replaces the
 * first two: a widening product with 2^13 extends the sign, too. Overflow is not checked, because B
 * is finite. */
#ifndef INGOT_KERNELS_RISCV64_EXPAND_RVV_H
#define INGOT_KERNELS_RISCV64_EXPAND_RVV_H

#include "kernels/riscv64/vector/f16_rvv.h"

#define out a0
#define column0 a1     /* b, of the first of these groups */
#define vector a2
#define rows_left a3
#define fours_end a4   /* first the argument rank */
#define group_bytes a5
#define vector_end a6
#define many a7        /* rows of four registers */
#define vector_at t0
#define column1 t1     /* t2 is sign_bits */
#define column2 t3
#define column3 t4
#define temp t5
#define shift13 t6

#define sums v16       /* m4: one group takes m2 at VLEN 128, else m1 */

/* Set vl to 32 elements of B, and later of their floats. */
.macro set_32_elements kind, lmul
    .ifc \kind, f32
    .if \lmul == 2
    vsetvli temp, zero, e32, m8, ta, ma
    .else
    vsetvli temp, zero, e32, m4, ta, ma
    .endif
    .else
    .if \lmul == 2
    vsetvli temp, zero, e16, m4, ta, ma
    .else
    vsetvli temp, zero, e16, m2, ta, ma
    .endif
    .endif
.endm

.macro set_8_floats lmul
    vsetivli zero, 8, e32, m\lmul, ta, ma
.endm

/* \wide = the vl halves in \half; vtype is for halves before and for floats after. */
.macro widen_one kind, lmul, wide, half
    .ifc \kind, f16
    vwmul.vx \wide, \half, shift13
    vsetvli zero, zero, e32, m\lmul, ta, ma
    vand.vx \wide, \wide, sign_bits
    vfmul.vf \wide, \wide, scale_up
    .else
    vfwcvt.f.f.v \wide, \half
    vsetvli zero, zero, e32, m\lmul, ta, ma
    .endif
.endm

/* v0 and v8 (m8) = the halves in v4 and v12 (m4). */
.macro widen_two kind
    .ifc \kind, f16
    vwmul.vx v0, v4, shift13
    vwmul.vx v8, v12, shift13
    vsetvli zero, zero, e32, m8, ta, ma
    vand.vx v0, v0, sign_bits
    vand.vx v8, v8, sign_bits
    vfmul.vf v0, v0, scale_up
    vfmul.vf v8, v8, scale_up
    .else
    vfwcvt.f.f.v v0, v4
    vfwcvt.f.f.v v8, v12
    .endif
.endm

.macro load_factors
    flw ft1, 0(vector_at)
    flw ft2, 4(vector_at)
    flw ft3, 8(vector_at)
    flw ft4, 12(vector_at)
    addi vector_at, vector_at, 16
.endm

/* Add one column of the groups whose sums fill four registers. */
.macro add_to_128 factor, b0, b1
    vfmacc.vf v16, \factor, \b0
    vfmacc.vf v18, \factor, \b1
.endm

.macro add_to_256 factor, b0, b1, b2, b3
    vfmacc.vf v16, \factor, \b0
    vfmacc.vf v17, \factor, \b1
    vfmacc.vf v18, \factor, \b2
    vfmacc.vf v19, \factor, \b3
.endm

/* Add four columns of two groups, VLEN 128. */
.macro add_fours_128 kind
    set_32_elements \kind, 2
    .ifc \kind, f32
    vle32.v v0, (column0)
    vle32.v v8, (column1)
    addi column0, column0, 128
    addi column1, column1, 128
    .else
    vle16.v v4, (column0)
    vle16.v v12, (column1)
    addi column0, column0, 64
    addi column1, column1, 64
    widen_two \kind
    .endif
    load_factors
    set_8_floats 2
    add_to_128 ft1, v0, v8
    add_to_128 ft2, v2, v10
    add_to_128 ft3, v4, v12
    add_to_128 ft4, v6, v14
.endm

/* Add four columns of four groups, VLEN 256. */
.macro add_fours_256 kind
    set_32_elements \kind, 1
    .ifc \kind, f32
    vle32.v v0, (column0)
    vle32.v v4, (column1)
    vle32.v v8, (column2)
    vle32.v v12, (column3)
    .else
    vle16.v v4, (column0)
    vle16.v v6, (column1)
    vle16.v v12, (column2)
    vle16.v v14, (column3)
    .endif
    .irp column, column0, column1, column2, column3
    .ifc \kind, f32
    addi \column, \column, 128
    .else
    addi \column, \column, 64
    .endif
    .endr
    .ifnc \kind, f32
    vsetvli temp, zero, e16, m4, ta, ma
    widen_two \kind
    .endif
    load_factors
    set_8_floats 1
    add_to_256 ft1, v0, v4, v8, v12
    add_to_256 ft2, v1, v5, v9, v13
    add_to_256 ft3, v2, v6, v10, v14
    add_to_256 ft4, v3, v7, v11, v15
.endm

/* Add four columns of one group. */
.macro add_fours_alone kind, lmul
    set_32_elements \kind, \lmul
    .ifc \kind, f32
    vle32.v v0, (column0)
    addi column0, column0, 128
    .else
    .if \lmul == 2
    vle16.v v4, (column0)
    addi column0, column0, 64
    widen_one \kind, 8, v0, v4
    .else
    vle16.v v2, (column0)
    addi column0, column0, 64
    widen_one \kind, 4, v0, v2
    .endif
    .endif
    load_factors
    set_8_floats \lmul
    vfmacc.vf sums, ft1, v0
    .if \lmul == 2
    vfmacc.vf sums, ft2, v2
    vfmacc.vf sums, ft3, v4
    vfmacc.vf sums, ft4, v6
    .else
    vfmacc.vf sums, ft2, v1
    vfmacc.vf sums, ft3, v2
    vfmacc.vf sums, ft4, v3
    .endif
.endm

/* Add ft1 times one group's column at \column to \sum, and advance \column. */
.macro add_one kind, lmul, column, sum
    .ifc \kind, f32
    vle32.v v0, (\column)
    addi \column, \column, 32
    .else
    .if \lmul == 2
    vsetvli zero, zero, e16, m1, ta, ma
    .else
    vsetvli zero, zero, e16, mf2, ta, ma
    .endif
    vle16.v v4, (\column)
    addi \column, \column, 16
    widen_one \kind, \lmul, v0, v4
    .endif
    vfmacc.vf \sum, ft1, v0
.endm

/* Add the remaining columns of the rank, after a multiple of four, for \groups; vl is 8, vtype is
 * for floats. */
.macro add_ones kind, lmul, groups
    beq vector_at, vector_end, .Ladded\@
.Lone\@:
    flw ft1, 0(vector_at)
    addi vector_at, vector_at, 4
    add_one \kind, \lmul, column0, v16
    .if \groups == 2
    add_one \kind, \lmul, column1, v18
    .elseif \groups == 4
    add_one \kind, \lmul, column1, v17
    add_one \kind, \lmul, column2, v18
    add_one \kind, \lmul, column3, v19
    .endif
    bne vector_at, vector_end, .Lone\@
.Ladded\@:
.endm

/* Add all columns of the groups that fill four registers. */
.macro add_many kind, lmul
    vsetvli temp, zero, e32, m4, ta, ma
    vle32.v sums, (out)
    mv vector_at, vector
    add column1, column0, group_bytes
    .if \lmul == 1
    add column2, column1, group_bytes
    add column3, column2, group_bytes
    .endif
    set_8_floats \lmul
    beq vector_at, fours_end, .Lones\@
.Lfour\@:
    .if \lmul == 2
    add_fours_128 \kind
    .else
    add_fours_256 \kind
    .endif
    bne vector_at, fours_end, .Lfour\@
.Lones\@:
    .if \lmul == 2
    add_ones \kind, \lmul, 2
    mv column0, column1
    .else
    add_ones \kind, \lmul, 4
    mv column0, column3
    .endif
    vsetvli temp, zero, e32, m4, ta, ma
    vse32.v sums, (out)
.endm

/* Add all columns of a group that has temp rows, up to 8. */
.macro add_alone kind, lmul
    vsetvli zero, temp, e32, m\lmul, ta, ma
    vle32.v sums, (out)
    mv vector_at, vector
    set_8_floats \lmul
    beq vector_at, fours_end, .Lones\@
.Lfour\@:
    add_fours_alone \kind, \lmul
    bne vector_at, fours_end, .Lfour\@
.Lones\@:
    add_ones \kind, \lmul, 1
    li temp, 8
    bgeu rows_left, temp, .Lwhole\@
    mv temp, rows_left
.Lwhole\@:
    vsetvli zero, temp, e32, m\lmul, ta, ma
    vse32.v sums, (out)
.endm

.macro expand_all kind, lmul
    li many, 16 * (3 - \lmul)
    .if \lmul == 1
    csrr temp, vlenb
    addi temp, temp, -32
    bnez temp, .Lwide\@
    .endif
    bltu rows_left, many, .Lgroup\@
.Lmany\@:
    add_many \kind, \lmul
    sub rows_left, rows_left, many
    slli temp, many, 2
    add out, out, temp
    bgeu rows_left, many, .Lmany\@
.Lgroup\@:
    beqz rows_left, .Ldone
    li temp, 8
    bgeu rows_left, temp, .Lstart\@
    mv temp, rows_left
.Lstart\@:
    add_alone \kind, \lmul
    sub rows_left, rows_left, temp
    addi out, out, 32
    j .Lgroup\@
    .if \lmul == 1
.Lwide\@:
    mv fours_end, vector
    j .Lgroup\@
    .endif
.endm

.macro expand kind
    .ifc \kind, f16
    widen_start temp
    li shift13, 1 << 13
    .endif
    .ifc \kind, f32
    slli group_bytes, fours_end, 5
    .else
    slli group_bytes, fours_end, 4
    .endif
    slli vector_end, fours_end, 2
    andi fours_end, vector_end, -16
    add fours_end, fours_end, vector
    add vector_end, vector_end, vector
    csrr temp, vlenb
    addi temp, temp, -16
    bnez temp, .Llonger
    expand_all \kind, 2
.Llonger:
    expand_all \kind, 1
.Ldone:
.endm

#endif
