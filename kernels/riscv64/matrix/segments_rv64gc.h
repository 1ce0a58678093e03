/* Loops of the scalar gemvs that prepare their activations once for SEGMENT blocks of x. Records
 * of RECORD_BYTES stay in the frame while all rows are computed; y keeps the sums between
 * segments. Preparing records for each 8 rows would be a quarter of the work, because a weight takes
 * few instructions. A gemm runs these loops for each token; x stores TOKENS (1 or 4) tokens
 * together.
 *
 * The including file may define the blocks of x (ACT_BYTES and ACT_COLS_LOG2; without them, x is
 * Q8K) and their number in a segment. It must define pack_block, which reads the block of x at
 * "from", writes a record at "to" and advances only "to". With four tokens, from one token to the next `from` grows by 4 bytes and `lane`
 * by 2. */
#ifndef INGOT_KERNELS_RISCV64_SEGMENTS_RV64GC_H
#define INGOT_KERNELS_RISCV64_SEGMENTS_RV64GC_H

#include "kernels/riscv64/matrix/gemv_rv64gc.h"

#ifdef ACT_BYTES
#elif TOKENS == 4
#define ACT_SUM Q8KX4_SUM
#define ACT_SCALE Q8KX4_SCALE
#define ACT_BYTES Q8KX4_BYTES
#else
#define ACT_SUM Q8K_SUM
#define ACT_SCALE Q8K_SCALE
#define ACT_BYTES Q8K_BYTES
#endif

#ifndef SEGMENT
#define ACT_COLS_LOG2 COLS_K_LOG2
#define SEGMENT 4
#endif
#define RECORDS_BYTES (SEGMENT * RECORD_BYTES)

#define FRAME_RA 96
#define FRAME_X 104    /* of the next segment */
#define FRAME_Y 112
#define FRAME_W 120    /* first rows of W in this segment */
#define FRAME_ROWS 128
#define FRAME_LEFT 136 /* bytes of a group of rows from this segment on */
#define FRAME_END 144  /* end of this segment's records */
#define FRAME_GROUP 152 /* of these rows */
#define FRAME_GROUP_BYTES 160
#define FRAME_FIRST 168 /* 0 in the first segment */
#define FRAME_PARKED 176 /* the kernel's */
#define FRAME_ALL_W 216  /* for each token */
#define FRAME_TOKEN_X 224
#define FRAME_LANE 232   /* of four in x */
#define FRAME_Y_BYTES 240
#define FRAME_TOKENS 248 /* left */
#define FRAME_BYTES 256

.macro open_frame
    li t0, -RECORDS_BYTES
    add sp, sp, t0
    .cfi_adjust_cfa_offset RECORDS_BYTES
    push FRAME_BYTES, ALL_SAVED
    sd ra, FRAME_RA(sp)
    .cfi_rel_offset ra, FRAME_RA
.endm

.macro close_frame
    ld ra, FRAME_RA(sp)
    .cfi_restore ra
    pop FRAME_BYTES, ALL_SAVED
    li t0, RECORDS_BYTES
    add sp, sp, t0
    .cfi_adjust_cfa_offset -RECORDS_BYTES
.endm

/* ---- a segment of x ---- */

#define from a2
#define to a5
#define x_left s0      /* blocks left in this segment */
#define lane s5        /* of TOKENS == 4 */
#define temp s9        /* between blocks */

/* Make the records of x_left blocks. */
.macro pack_segment starts
    ld from, FRAME_X(sp)
    addi to, sp, FRAME_BYTES
    .if TOKENS == 4
    ld lane, FRAME_LANE(sp)
    slli lane, lane, 1
    add from, from, lane
    add from, from, lane
    .endif
.Lpack_block:
    pack_block \starts
    addi from, from, ACT_BYTES
    addi x_left, x_left, -1
    bnez x_left, .Lpack_block
    .if TOKENS == 4
    sub from, from, lane
    sub from, from, lane
    .endif
    sd from, FRAME_X(sp)
    sd to, FRAME_END(sp)
.endm

/* ---- rows ---- */

/* Load the sums so far of the existing rows. */
.macro load_sums count
    mv \count, rows_left
    .irp n, 0, 1, 2, 3, 4, 5, 6, 7
    flw fa\n, 4*\n(dst)
    addi \count, \count, -1
    beqz \count, .Lblock
    .endr
.endm

/* The parts that only a gemm has: its shape, and the next token. */
.macro open_tokens
    ld t0, SHAPE_Y_STRIDE(rows_left)
    ld t1, SHAPE_TOKENS(rows_left)
    ld act_end, SHAPE_COLS(rows_left)
    ld rows_left, SHAPE_ROWS(rows_left)
    slli t0, t0, 2
    sd act_start, FRAME_TOKEN_X(sp)
    sd zero, FRAME_LANE(sp)
    sd t0, FRAME_Y_BYTES(sp)
    sd t1, FRAME_TOKENS(sp)
    beqz t1, .Ldone
.endm

.macro next_token
    ld t0, FRAME_TOKENS(sp)
    ld t1, FRAME_LANE(sp)
    ld t2, FRAME_Y(sp)
    ld t3, FRAME_Y_BYTES(sp)
    addi t0, t0, -1
    addi t1, t1, 1
    andi t1, t1, 3
    add t2, t2, t3
    sd t0, FRAME_TOKENS(sp)
    sd t1, FRAME_LANE(sp)
    sd t2, FRAME_Y(sp)
    beqz t0, .Ldone
    bnez t1, .Ltoken
    ld t0, FRAME_X(sp)                 /* after the last block of these four */
    sd t0, FRAME_TOKEN_X(sp)
    j .Ltoken
.endm

.macro start_token
    ld t0, FRAME_TOKEN_X(sp)
    ld t1, FRAME_ALL_W(sp)
    ld t2, FRAME_GROUP_BYTES(sp)
    sd t0, FRAME_X(sp)
    sd t1, FRAME_W(sp)
    sd t2, FRAME_LEFT(sp)
    sd zero, FRAME_FIRST(sp)
.endm

/* Compute all segments of x; in each segment, all rows in eights. \block_macro
 * adds one block to fa0-fa7: it gets block and act and advances them; it keeps
 * dst, rows_left, mask and scale_up. The arguments are those of a gemv or a gemm. */
.macro gemv_loops block_macro, block_bytes, starts
    .if TOKENS == 4
    open_tokens
    .else
    sd act_start, FRAME_TOKEN_X(sp)
    .endif
    beqz rows_left, .Ldone
    srli act_end, act_end, ACT_COLS_LOG2
    li t0, \block_bytes
    mul t0, t0, act_end
    sd dst, FRAME_Y(sp)
    sd block, FRAME_ALL_W(sp)
    sd rows_left, FRAME_ROWS(sp)
    sd t0, FRAME_GROUP_BYTES(sp)
    load_float scale_up, F32_2P112, t0
.Ltoken:
    start_token
    ld t0, FRAME_LEFT(sp)
    beqz t0, .Lempty
.Lsegment:
    li t1, SEGMENT*\block_bytes
    bleu t0, t1, .Lpack
    mv t0, t1
.Lpack:
    li t1, \block_bytes
    divu x_left, t0, t1
    pack_segment \starts
    ld dst, FRAME_Y(sp)
    ld rows_left, FRAME_ROWS(sp)
    ld block, FRAME_W(sp)
    make_masks
.Lgroup:
    sd block, FRAME_GROUP(sp)
    addi act, sp, FRAME_BYTES
    ld temp, FRAME_FIRST(sp)
    clear_sums
    beqz temp, .Lblock
    load_sums temp
.Lblock:
    \block_macro
    ld temp, FRAME_END(sp)
    bne act, temp, .Lblock
    store_sums .Lnext_segment
    ld block, FRAME_GROUP(sp)
    ld temp, FRAME_GROUP_BYTES(sp)
    add block, block, temp
    j .Lgroup
.Lnext_segment:
    li t1, SEGMENT*\block_bytes
    ld t0, FRAME_LEFT(sp)
    ld t2, FRAME_W(sp)
    sub t0, t0, t1
    add t2, t2, t1
    sd t0, FRAME_LEFT(sp)
    sd t2, FRAME_W(sp)
    sd t1, FRAME_FIRST(sp)
    bgtz t0, .Lsegment
.Lnext_token:
    .if TOKENS == 4
    next_token
    .else
    j .Ldone
    .endif
.Lempty:
    ld t1, FRAME_Y(sp)
    ld t2, FRAME_ROWS(sp)
.Lzero:
    sw zero, 0(t1)
    addi t1, t1, 4
    addi t2, t2, -1
    bnez t2, .Lzero
    j .Lnext_token
.Ldone:
.endm

#endif
