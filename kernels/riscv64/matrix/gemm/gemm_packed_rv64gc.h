/* Loops of a scalar gemm that prepares the activations of 4 tokens once for SEGMENT blocks of
 * columns. Records of RECORD_BYTES stay above the frame while all rows are computed; y keeps the
 * sums between segments. Registers, frame and the parts of a block are those of gemm_rv64gc.h.
 *
 * The including file defines pack_block, which writes a record from the block of x at "from" to "to"
 * and advances only "to"; pack_block may use all integer registers except s0. */
#ifndef INGOT_KERNELS_RISCV64_GEMM_PACKED_RV64GC_H
#define INGOT_KERNELS_RISCV64_GEMM_PACKED_RV64GC_H

#define FRAME_ALL_BLOCKS 304
#define FRAME_BLOCKS 312    /* blocks left, from this segment on */
#define FRAME_NOW 320       /* blocks in this segment */
#define FRAME_ROW_BYTES 328 /* bytes of a group of rows */
#define FRAME_SEGMENT_W 336 /* first rows of W in this segment */
#define FRAME_GROUP 344     /* the current group of these rows */
#define FRAME_LATER 352     /* 0 in the first segment */
#ifndef FRAME_BYTES
#define FRAME_BYTES 368
#endif

#include "kernels/riscv64/matrix/gemm/gemm_rv64gc.h"

#define RECORDS_BYTES (SEGMENT * RECORD_BYTES)
#ifndef RECORD_STEP
#define RECORD_STEP RECORD_BYTES /* bytes from where a block leaves act to the next record */
#endif

#define from a4
#define to a5
#define blocks_now s0

.macro open_packed_frame
    li t0, -RECORDS_BYTES
    add sp, sp, t0
    .cfi_adjust_cfa_offset RECORDS_BYTES
    open_frame
.endm

.macro close_packed_frame
    close_frame
    li t0, RECORDS_BYTES
    add sp, sp, t0
    .cfi_adjust_cfa_offset -RECORDS_BYTES
.endm

/* Store the sums of the rows and tokens that exist to y or, with \load, load them from there. */
.macro copy_sums load
    ld out, FRAME_OUT(sp)
    ld tokens_now, FRAME_TOKENS(sp)
    ld y_bytes, FRAME_SHAPE(sp)
    ld y_bytes, SHAPE_Y_STRIDE(y_bytes)
    ld rows_now, FRAME_ROWS(sp)
    slli y_bytes, y_bytes, 2
    li temp, 8
    bleu rows_now, temp, .Lrows_known\@
    mv rows_now, temp
.Lrows_known\@:
    li temp, 4
    bleu tokens_now, temp, .Ltokens_known\@
    mv tokens_now, temp
.Ltokens_known\@:
    mv sums_at, sp
.Ltoken\@:
    mv out_row, out
    mv from_row, sums_at
    mv floats_left, rows_now
.Lrow\@:
    .if \load
    flw ft0, 0(out_row)
    fsw ft0, 0(from_row)
    .else
    flw ft0, 0(from_row)
    fsw ft0, 0(out_row)
    .endif
    addi from_row, from_row, 4
    addi out_row, out_row, 4
    addi floats_left, floats_left, -1
    bnez floats_left, .Lrow\@
    add out, out, y_bytes
    addi sums_at, sums_at, 32
    addi tokens_now, tokens_now, -1
    bnez tokens_now, .Ltoken\@
.endm

/* Compute all tokens in fours, segments of columns, and rows in eights; \block_macro adds one block
 * to the sums, from block and the record at act. */
.macro packed_loops block_macro, block_bytes, act_bytes, cols_shift
    sd shape, FRAME_SHAPE(sp)
    ld temp, SHAPE_ROWS(shape)
    ld temp_1, SHAPE_TOKENS(shape)
    sd dst, FRAME_Y(sp)
    sd block, FRAME_W(sp)
    sd act, FRAME_X(sp)
    sd temp_1, FRAME_TOKENS(sp)
    beqz temp, .Ldone
    beqz temp_1, .Ldone
    ld temp, SHAPE_COLS(shape)
    li temp_1, \block_bytes
    srli temp, temp, \cols_shift
    mul temp_1, temp_1, temp
    sd temp, FRAME_ALL_BLOCKS(sp)
    sd temp_1, FRAME_ROW_BYTES(sp)
    start
.Ltokens:
    ld temp, FRAME_ALL_BLOCKS(sp)
    ld temp_1, FRAME_W(sp)
    sd temp, FRAME_BLOCKS(sp)
    sd temp_1, FRAME_SEGMENT_W(sp)
    sd zero, FRAME_LATER(sp)
.Lsegment:
    ld blocks_now, FRAME_BLOCKS(sp)
    li temp, SEGMENT
    bleu blocks_now, temp, .Lpack
    mv blocks_now, temp
.Lpack:
    sd blocks_now, FRAME_NOW(sp)
    ld from, FRAME_X(sp)
    addi to, sp, FRAME_BYTES
    beqz blocks_now, .Lpacked
.Lpack_block:
    pack_block
    addi from, from, \act_bytes
    addi blocks_now, blocks_now, -1
    bnez blocks_now, .Lpack_block
.Lpacked:
    sd from, FRAME_X(sp)
    sd to, FRAME_X_END(sp)
    ld temp, FRAME_SHAPE(sp)
    ld temp, SHAPE_ROWS(temp)
    ld temp_1, FRAME_Y(sp)
    ld block, FRAME_SEGMENT_W(sp)
    sd temp, FRAME_ROWS(sp)
    sd temp_1, FRAME_OUT(sp)
.Lrows:
    sd block, FRAME_GROUP(sp)
    .irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
    sd zero, 8*\n(sp)
    .endr
    ld temp, FRAME_LATER(sp)
    beqz temp, .Lfirst
    copy_sums 1
.Lfirst:
    addi act, sp, FRAME_BYTES
    ld temp, FRAME_X_END(sp)
    beq act, temp, .Lstore
.Lblock:
    \block_macro
    addi block, block, \block_bytes
    addi act, act, RECORD_STEP
    ld temp, FRAME_X_END(sp)
    bne act, temp, .Lblock
.Lstore:
    copy_sums 0
    ld temp, FRAME_ROWS(sp)
    ld temp_1, FRAME_OUT(sp)
    ld block, FRAME_GROUP(sp)
    ld temp_2, FRAME_ROW_BYTES(sp)
    addi temp, temp, -8
    addi temp_1, temp_1, 32
    add block, block, temp_2
    sd temp, FRAME_ROWS(sp)
    sd temp_1, FRAME_OUT(sp)
    bgtz temp, .Lrows
    ld temp, FRAME_BLOCKS(sp)
    ld temp_1, FRAME_NOW(sp)
    ld block, FRAME_SEGMENT_W(sp)
    li temp_2, \block_bytes
    sub temp, temp, temp_1
    mul temp_1, temp_1, temp_2
    add block, block, temp_1
    sd temp, FRAME_BLOCKS(sp)
    sd block, FRAME_SEGMENT_W(sp)
    sd sp, FRAME_LATER(sp)
    bnez temp, .Lsegment
    ld temp, FRAME_TOKENS(sp)
    ld temp_1, FRAME_SHAPE(sp)
    ld temp_1, SHAPE_Y_STRIDE(temp_1)
    ld temp_2, FRAME_Y(sp)
    slli temp_1, temp_1, 4             /* bytes of four */
    addi temp, temp, -4
    add temp_2, temp_2, temp_1
    sd temp, FRAME_TOKENS(sp)
    sd temp_2, FRAME_Y(sp)
    bgtz temp, .Ltokens
.Ldone:
.endm

#endif
