/* The path of gemv_f32_q6kx8_q8k_rvv (q6k.S.in) for VLEN 128, with its registers and macros:
 * tiles of 16 groups, y in memory. */
#ifndef INGOT_KERNELS_RISCV64_GEMV_Q6K_128_RVV_H
#define INGOT_KERNELS_RISCV64_GEMV_Q6K_128_RVV_H

/* ---- VLEN 128: tiles of up to 16 groups; x of a block is spread on the stack ---- */

#define TILE_128 128
#define tile_rows a4
#define x_at t3
#define bias_at t4
#define left s3
#define y_at s6
#define group_at_128 s7
#define biases v0      /* m8, as dots_low and dots_high */
#define x_low v20      /* m4: of two steps */
#define x_high v28

/* The frame from sp on: each word of x (4 columns), repeated 8 times; the start values of the dots
 * of two sub-blocks, as they are folded; and start values for a row, in the order of sub-blocks. */
#define SPREAD_AT 0
#define BIAS_AT 2048
#define ROW_BIAS_AT (BIAS_AT + 1024)
#define SPREAD_BYTES (ROW_BIAS_AT + 128)

.macro spread_x
    vsetvli temp, zero, e32, m8, ta, ma
    vid.v v0
    vsrl.vi v0, v0, 3
    vsll.vi v0, v0, 2                  /* broadcast four words to 8 lanes each */
    mv x_at, sp
    mv temp, act
    addi temp_1, act, 256
.Lspread:
    vluxei32.v v8, (temp), v0
    addi temp, temp, 16
    vse32.v v8, (x_at)
    addi x_at, x_at, 128
    bne temp, temp_1, .Lspread
.endm

/* For each of the four columns of a chunk, compute -32 times the sum of x over the sub-block's
 * four chunks, minus 2 for columns 0 and 2: sums of 8 products of q - 32 and x are then in -32514
 * to 32766. */
.macro find_biases
    vsetivli zero, 16, e32, m4, ta, ma
    vlse32.v v0, (act), sixteen        /* chunk 0 of all 16 sub-blocks */
    addi temp, act, 4
    vlse32.v v4, (temp), sixteen
    addi temp, act, 8
    vlse32.v v8, (temp), sixteen
    addi temp, act, 12
    vlse32.v v12, (temp), sixteen
    vsetvli temp, zero, e8, m4, ta, ma
    vwadd.vv v16, v0, v4
    vwadd.vv v24, v8, v12
    vsetvli zero, zero, e16, m8, ta, ma
    vid.v v0
    vadd.vv v16, v16, v24
    vand.vi v0, v0, 1
    vadd.vi v0, v0, -1
    vsll.vi v16, v16, 5
    vadd.vv v0, v0, v0
    li temp, ROW_BIAS_AT
    vsub.vv v16, v0, v16
    add temp, temp, sp
    vse16.v v16, (temp)
    vsetivli zero, 16, e16, m2, ta, ma
    vid.v v16
    vsrl.vi v16, v16, 3
    vsll.vi v16, v16, 4                /* sub-blocks j and j + 2, 8 rows each */
    vsetvli zero, zero, e64, m8, ta, ma
    .irp sub_block, 0, 1, 4, 5, 8, 9, 12, 13
    addi temp_1, temp, 8 * \sub_block
    vluxei16.v v0, (temp_1), v16
    vse64.v v0, (x_at)
    addi x_at, x_at, 128
    .endr
.endm

/* Do two steps, beginning with chunk \k. */
.macro two_spread part, k
    addi temp, low_at, 256*\part + 32*(\k)
    vsetvli temp_1, zero, e8, m4, ta, ma
    vle8.v packed, (temp)
    addi temp, high_at, 32*(\k)
    vle8.v upper, (temp)
    combine_bits \part
    addi temp, x_at, 32*(16*\part + \k)
    vle8.v x_low, (temp)
    addi temp, x_at, 32*(16*\part + \k + 8)
    vle8.v x_high, (temp)
    vsetvli temp_1, zero, e8, m2, ta, ma
    vwmaccsu.vv dots_low, x_low, values
    vwmaccsu.vv dots_high, x_high, packed
    vwmaccsu.vv dots_low, v22, values_1
    vwmaccsu.vv dots_high, v30, packed_1
.endm

.macro sub_blocks_128 part, half
    vsetvli temp, zero, e16, m8, ta, ma
    vle16.v biases, (bias_at)
    addi bias_at, bias_at, 128
    two_spread \part, 4*\half
    two_spread \part, 4*\half + 2
    vsetvli temp_1, zero, e16, m4, ta, ma
    fold \part, \half
    vwmacc.vx isum, four, v22          /* the amount by which the biases were too low */
.endm

.macro group_128
    mv x_at, sp
    li bias_at, BIAS_AT
    add bias_at, bias_at, sp
    halves group_at_128, sub_blocks_128, x_at, 1024
    li temp, 8
    bgeu left, temp, .Lwhole_group
    mv temp, left
.Lwhole_group:
    vsetvli zero, temp, e32, m2, ta, ma
    vle32.v sums, (y_at)
    vadd.vv isum, isum, v26            /* sub-blocks of the high nibbles: lanes 8-15 */
    vle16.v v4, (group_at_128)
    finish_rows isum, v4, v0, sums, m1, m2
    vse32.v sums, (y_at)
.endm

.macro tiles_128
    li temp, SPREAD_BYTES
    sub sp, sp, temp
    .cfi_adjust_cfa_offset SPREAD_BYTES
.Ltile_128:
    li tile_rows, TILE_128
    bltu tile_rows, rows_left, .Lsome_rows
    mv tile_rows, rows_left
.Lsome_rows:
    mv act, act_start
    mv tile_block, group
    mv y_at, dst
    mv left, tile_rows
.Lclear_128:
    vsetvli temp, left, e32, m8, ta, ma
    vmv.v.i v0, 0
    sub left, left, temp
    vse32.v v0, (y_at)
    slli temp, temp, 2
    add y_at, y_at, temp
    bnez left, .Lclear_128
    beq act, act_end, .Lnext_128
.Lblock_128:
    spread_x
    find_biases
    flw act_scale, Q8K_SCALE(act)
    mv group_at_128, tile_block
    mv y_at, dst
    mv left, tile_rows
.Lgroup_128:
    group_128
    add group_at_128, group_at_128, row_bytes
    addi y_at, y_at, 32
    addi left, left, -8
    bgtz left, .Lgroup_128
    addi tile_block, tile_block, Q6K_BYTES
    addi act, act, Q8K_BYTES
    bne act, act_end, .Lblock_128
.Lnext_128:
    slli temp, row_bytes, 4            /* TILE_128 / 8 groups; not used after the last tile */
    add group, group, temp
    slli temp, tile_rows, 2
    add dst, dst, temp
    sub rows_left, rows_left, tile_rows
    bnez rows_left, .Ltile_128
    li temp, SPREAD_BYTES
    add sp, sp, temp
    .cfi_adjust_cfa_offset -(SPREAD_BYTES)
.endm

#endif
